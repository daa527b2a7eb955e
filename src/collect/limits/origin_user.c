// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/limits/origin_user.h"

#include <string.h>

#define FIELDS 7 /* maximum number of fields in a line of passwd */

static size_t fields_of(struct span line, struct span *ret)
{
	struct span rest = line;
	size_t n = 0;

	while (n + 1 < FIELDS && text_split(rest, ':', &ret[n], &rest))
		n++;
	ret[n++] = rest;
	return n;
}

static bool is_number(struct span s, uint32_t number)
{
	uint64_t value;

	return !text_number(s, &value) && value == number;
}

static uint32_t number_of(struct span s)
{
	uint64_t value;

	return text_number(s, &value) ? UINT32_MAX : (uint32_t)value;
}

void user_scan(struct user *u, struct span passwd)
{
	struct text_lines lines = {.rest = passwd};
	struct span line, field[FIELDS];

	while (text_line(&lines, &line)) {
		if (fields_of(line, field) < 6 || !is_number(field[2], u->uid))
			continue;
		text_copy(field[0], u->name, sizeof(u->name));
		text_copy(field[5], u->home, sizeof(u->home));
		u->gid = number_of(field[3]);
		return;
	}
}

static bool is_member(struct span members, const char *name)
{
	struct span one = members, rest = {};

	while (members.len) {
		if (!text_split(members, ',', &one, &rest))
			one = members, rest.len = 0;
		if (text_is(one, name))
			return true;
		members = rest;
	}
	return false;
}

void user_scan_groups(struct user *u, struct span group)
{
	struct text_lines lines = {.rest = group};
	struct span line, field[FIELDS];

	while (text_line(&lines, &line) && u->groups < USER_GROUPS_MOST) {
		bool own;

		if (fields_of(line, field) < 4)
			continue;
		own = is_number(field[2], u->gid);
		if (!own && !is_member(field[3], u->name))
			continue;
		u->group[u->groups].gid = number_of(field[2]);
		text_copy(field[0], u->group[u->groups].name, USER_NAME_BYTES);
		u->groups++;
	}
}

static void scan_passwd(void *ctx, const char *path, struct span text)
{
	user_scan(ctx, text);
}

static void scan_group(void *ctx, const char *path, struct span text)
{
	user_scan_groups(ctx, text);
}

void user_find(struct files *f, uint32_t uid, struct user *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->uid = uid;
	ret->gid = UINT32_MAX;
	file_each(f, "/etc/passwd", scan_passwd, ret);
	if (ret->name[0])
		file_each(f, "/etc/group", scan_group, ret);
}

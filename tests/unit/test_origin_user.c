// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests users and their groups, from texts of /etc/passwd and /etc/group. */
#include "fakeroot.h"

#include "base/buf.h"
#include "collect/limits/origin_user.h"
#include "tap.h"

static struct span span_of(const char *s)
{
	return (struct span){s, strlen(s)};
}

static void test_lines(void)
{
	static const struct {
		const char *text, *name, *home;
		uint32_t gid;
	} rows[] = {
		{"anna:x:7:8:Anna:/home/anna:/bin/sh", "anna", "/home/anna", 8},
		{"anna:x:7:8:Anna:/home/anna", "anna", "/home/anna", 8},
		{"anna:x:7:8:Anna", "", "", UINT32_MAX},
		{"anna:x:7:8::/a:/b:/c:d", "anna", "/a", 8},
		{"anna:x:7:none::/a:", "anna", "/a", UINT32_MAX},
		{"anna:x:7:0::/a:", "anna", "/a", 0},
		{"anna:x:70:8::/a:", "", "", UINT32_MAX},
		{"anna:x:4294967303:8::/a:", "", "", UINT32_MAX},
		{"anna:x:x:8::/a:", "", "", UINT32_MAX},
		{"bert:x:6:8::/b:\nanna:x:7:8::/a:\ncarl:x:7:9::/c:", "anna", "/a", 8},
		{"", "", "", UINT32_MAX},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct user u = {.uid = 7, .gid = UINT32_MAX};

		user_scan(&u, span_of(rows[i].text));
		ok(!strcmp(u.name, rows[i].name) && !strcmp(u.home, rows[i].home) &&
			   u.gid == rows[i].gid,
		   "row %zu: \"%s\" in \"%s\", group %u", i, u.name, u.home, u.gid);
	}
}

/* Names and home directories that are too long are cut. */
static void test_long_texts(void)
{
	struct user u = {.uid = 7};
	char text[512];

	snprintf(text, sizeof(text), "%064d:x:7:8::/%0127d:", 0, 0);
	user_scan(&u, span_of(text));
	is_u64(strlen(u.name), USER_NAME_BYTES - 1, "a name");
	is_u64(strlen(u.home), sizeof(u.home) - 1, "a home directory");
}

static void test_members(void)
{
	static const struct {
		const char *text;
		size_t groups;
		const char *name;
	} rows[] = {
		{"g:x:5:anna", 1, "the only member"},
		{"g:x:5:anna,bert", 1, "the first member"},
		{"g:x:5:bert,anna", 1, "the last member"},
		{"g:x:5:bert,anna,carl", 1, "a member in the middle"},
		{"g:x:5:annas,ann", 0, "similar names"},
		{"g:x:5:", 0, "no members"},
		{"g:x:5:,,anna", 1, "empty names"},
		{"g:x:8:", 1, "the primary group"},
		{"g:x:8:bert", 1, "the primary group, with other members"},
		{"g:x:8", 0, "half a line"},
		{"g:x:5:anna\nh:x:8:\ni:x:6:bert\nj:x:7:anna", 3, "three of four groups"},
		{"", 0, "no groups"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct user u = {.gid = 8, .name = "anna"};

		user_scan_groups(&u, span_of(rows[i].text));
		is_u64(u.groups, rows[i].groups, rows[i].name);
		if (u.groups == 1)
			ok(!strcmp(u.group[0].name, "g") &&
				   u.group[0].gid == (strstr(rows[i].text, ":8:") ? 8 : 5),
			   "its name and number");
	}
}

/* A user has at most 64 groups that are read. */
static void test_many_groups(void)
{
	for (int groups = USER_GROUPS_MOST; groups <= USER_GROUPS_MOST + 1; groups++) {
		struct user u = {.gid = 8, .name = "anna"};
		struct buf text = {};

		for (int i = 0; i < groups; i++)
			buf_printf(&text, "g%d:x:%d:anna\n", i, 1000 + i);
		user_scan_groups(&u, span_of(text.s));
		is_u64(u.groups, USER_GROUPS_MOST, "groups");
		is_str(u.group[USER_GROUPS_MOST - 1].name, "g63", "the last one");
		is_u64(u.group[USER_GROUPS_MOST - 1].gid, 1063, "its number");
		buf_free(&text);
	}
}

static void test_files(void)
{
	struct fakeroot root = fakeroot_make();
	struct files f = {.root = root.fd};
	struct user u;

	fake_file(&root, "etc/group", "wheel:x:10:anna\n");
	user_find(&f, 7, &u);
	ok(!u.name[0] && u.gid == UINT32_MAX && !u.groups, "without passwd, no groups");
	fake_file(&root, "etc/passwd", "anna:x:7:8::/home/anna:\n");
	user_find(&f, 7, &u);
	ok(!strcmp(u.name, "anna") && u.gid == 8 && u.uid == 7, "a user");
	ok(u.groups == 1 && !strcmp(u.group[0].name, "wheel"), "its group");
	user_find(&f, 6, &u);
	ok(!u.name[0] && u.uid == 6 && !u.groups, "another user is not known");
	fakeroot_free(&root);
}

int main(void)
{
	test_lines();
	test_long_texts();
	test_members();
	test_many_groups();
	test_files();
	return tap_done();
}

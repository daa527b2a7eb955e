// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/limits/origin_pam.h"

/* Returns whether `id` is in "1000:2000", "1000:" or ":1000"; *ret_is_range is false for a name. */
static bool in_range(struct span s, uint32_t id, bool *ret_is_range)
{
	struct span low, high;
	uint64_t from = 0, to = UINT32_MAX;

	*ret_is_range = text_split(s, ':', &low, &high);
	if (!*ret_is_range || (!low.len && !high.len))
		return false;
	if ((low.len && text_number(low, &from)) || (high.len && text_number(high, &to)))
		return false;
	if (!low.len)
		from = to;
	return id != UINT32_MAX && id >= from && id <= to;
}

static bool is_of_group(const struct user *u, struct span name)
{
	bool range;

	if (in_range(name, u->gid, &range) || range)
		return range && in_range(name, u->gid, &range);
	for (size_t i = 0; i < u->groups; i++)
		if (text_is(name, u->group[i].name))
			return true;
	return false;
}

/*
 * Ranks a line of limits.conf as pam_limits does: a line for the user precedes one for a group, and
 * that precedes the wildcard. Lines for groups or the wildcard do not apply to root. Returns 0 if
 * the line does not apply.
 */
static int rank_of(const struct user *u, struct span domain)
{
	bool range;

	if (u->name[0] && text_is(domain, u->name))
		return 3;
	if (domain.len > 1 && domain.s[0] == '@')
		return u->uid && is_of_group(u, (struct span){domain.s + 1, domain.len - 1}) ? 2
											     : 0;
	if (text_is(domain, "*"))
		return u->uid ? 1 : 0;
	return in_range(domain, u->uid, &range) ? 3 : 0;
}

static void pam_scan_line(struct pam_limit *s, const char *file, unsigned int number,
			  struct span line)
{
	struct span rest = line, domain = text_word(&rest), type = text_word(&rest);
	struct span item = text_word(&rest), value = text_word(&rest);
	int rank;

	if (!line.len || line.s[0] == '#' || !value.len || !text_is(item, s->item))
		return;
	rank = rank_of(s->user, domain);
	if (rank && rank >= s->soft_rank && (text_is(type, "soft") || text_is(type, "-"))) {
		text_keep(&s->soft, file, number, line, value);
		s->soft_rank = rank;
	}
	if (rank && rank >= s->hard_rank && (text_is(type, "hard") || text_is(type, "-"))) {
		text_keep(&s->hard, file, number, line, value);
		s->hard_rank = rank;
	}
}

void pam_scan(struct pam_limit *s, const char *file, struct span text)
{
	struct text_lines lines = {.rest = text};
	struct span line;

	while (text_line(&lines, &line))
		pam_scan_line(s, file, lines.line, line);
}

static void scan_file(void *ctx, const char *path, struct span text)
{
	pam_scan(ctx, path, text);
}

void pam_find(struct files *f, struct pam_limit *s)
{
	struct file_list list = {};

	file_each(f, "/etc/security/limits.conf", scan_file, s);
	file_list_add_dir(f, &list, "/etc/security/limits.d");
	file_list_sort(&list);
	file_list_each(f, &list, scan_file, s);
	file_list_free(&list);
}

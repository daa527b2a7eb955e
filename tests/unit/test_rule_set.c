// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests that rules are shared between files, and are freed after their last file. */
#include <string.h>

#include "tap.h"
#include "unwind/rule_set.h"

#define FILES 300
#define EACH  1000 /* rules of a file that no other file has */

static struct fs_unwind_rule rule_of(int n)
{
	return (struct fs_unwind_rule){FS_UNWIND_CFA_SP, 0, 0, n};
}

/* Adds rules from `first` on, and uses them in a file. */
static struct rule_list add_file(struct rule_set *s, int first, int n)
{
	static struct fs_unwind_row row[EACH];
	struct rule_list list;

	for (int i = 0; i < n; i++)
		row[i] = (struct fs_unwind_row){i, rule_set_add(s, rule_of(first + i))};
	is_u64(rule_set_use(s, row, n, &list), 0, "a file uses its rules");
	return list;
}

static bool has(const struct rule_set *s, __u16 index, int n)
{
	struct fs_unwind_rule want = rule_of(n);

	return !memcmp(&s->rule[index], &want, sizeof(want));
}

static void test_shared(void)
{
	struct rule_set s;
	struct rule_list a, b;
	size_t n;

	rule_set_init(&s);
	a = add_file(&s, 8, 10);
	b = add_file(&s, 13, 10);
	n = s.n;
	is_u64(n, FS_UNWIND_FIXED_RULES + 15, "equal rules are one");
	is_u64(rule_set_given(&s), 0, "all rules are new at first");
	is_u64(rule_set_given(&s), n, "and then none");
	rule_set_release(&s, &a);
	rule_set_sweep(&s);
	is_u64(s.spares, 0, "the first sweep frees nothing");
	rule_set_sweep(&s);
	is_u64(s.spares, 5, "the second sweep frees the rules without a file");
	for (int i = 13; i < 23; i++)
		ok(has(&s, rule_set_add(&s, rule_of(i)), i), "a used rule stays");
	is_u64(s.spares, 5, "no used rule is added again");
	ok(has(&s, rule_set_add(&s, rule_of(99)), 99) && s.n == n && s.spares == 4,
	   "a new rule takes a free index");
	ok(rule_set_given(&s) < n, "and must be copied again");
	rule_set_sweep(&s);
	rule_set_sweep(&s);
	is_u64(s.spares, 5, "rules of a table that failed are freed");
	rule_set_release(&s, &b);
	rule_set_sweep(&s);
	b = add_file(&s, 13, 10);
	rule_set_sweep(&s);
	is_u64(s.spares, 5, "rules that are used again in time stay");
	rule_set_release(&s, &b);
	rule_set_sweep(&s);
	rule_set_sweep(&s);
	rule_set_sweep(&s);
	is_u64(s.spares, n - FS_UNWIND_FIXED_RULES, "at the end only the fixed rules stay");
	is_u64(s.rule[FS_UNWIND_RULE_END].cfa, FS_UNWIND_CFA_END, "as they were");
	rule_set_free(&s);
}

/* Tests many files, one after the other, whose rules together are more than there is room for. */
static void test_many(void)
{
	struct rule_set s;

	rule_set_init(&s);
	for (int i = 0; i < FILES; i++) {
		struct rule_list list = add_file(&s, 8 + i * EACH, EACH);

		is_u64(list.n, EACH, "a file has its rules");
		rule_set_release(&s, &list);
		rule_set_sweep(&s);
		rule_set_sweep(&s);
	}
	is_u64(s.refused, 0, "no rule is refused");
	ok(s.n <= FS_UNWIND_FIXED_RULES + EACH, "the set does not grow");
	rule_set_free(&s);
}

int main(void)
{
	test_shared();
	test_many();
	return tap_done();
}

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

/* Tests as many rules as there is room for. */
static void test_full(void)
{
	const int most = UNWIND_RULES_MAX - FS_UNWIND_FIXED_RULES;
	static struct fs_unwind_row row[UNWIND_RULES_MAX];
	struct rule_list all;
	struct rule_set s;
	int wrong = 0;

	rule_set_init(&s);
	for (int i = 0; i < most; i++)
		wrong += rule_set_add(&s, rule_of(i)) != FS_UNWIND_FIXED_RULES + i;
	is_u64(wrong, 0, "rules get their indices in order");
	is_u64(s.n, UNWIND_RULES_MAX, "there are as many as possible");
	is_u64(s.refused, 0, "none is refused");
	is_u64(rule_set_add(&s, rule_of(most)), FS_UNWIND_RULE_OPAQUE, "one more is opaque");
	is_u64(s.refused, 1, "it is counted");
	for (int i = 0; i < most; i++)
		wrong += rule_set_add(&s, rule_of(i)) != FS_UNWIND_FIXED_RULES + i;
	is_u64(wrong, 0, "all rules are found again");
	is_u64(s.refused, 1, "which needs no room");
	for (int i = 0; i < UNWIND_RULES_MAX; i++)
		row[i] = (struct fs_unwind_row){i, UNWIND_RULES_MAX - 1 - i};
	is_u64(rule_set_use(&s, row, UNWIND_RULES_MAX, &all), 0, "a file uses all rules");
	is_u64(all.n, UNWIND_RULES_MAX, "each is listed");
	ok(all.rule[0] == 0 && all.rule[UNWIND_RULES_MAX - 1] == UNWIND_RULES_MAX - 1, "in order");
	for (int i = 0; i < 3; i++)
		rule_set_sweep(&s);
	is_u64(s.spares, 0, "so none is freed");
	rule_set_release(&s, &all);
	is_u64(all.n, 0, "the list is empty");
	rule_set_sweep(&s);
	rule_set_sweep(&s);
	is_u64(s.spares, most, "all but the fixed rules are freed");
	ok(has(&s, rule_set_add(&s, rule_of(most)), most), "there is room again");
	rule_set_free(&s);
}

/* Tests rules that several rows and several files use. */
static void test_users(void)
{
	struct rule_list a, b, none;
	struct fs_unwind_row row[4];
	struct rule_set s;
	__u16 one, two;

	rule_set_init(&s);
	one = rule_set_add(&s, rule_of(1));
	two = rule_set_add(&s, rule_of(2));
	for (int i = 0; i < 4; i++)
		row[i] = (struct fs_unwind_row){i, i & 1 ? one : two};
	rule_set_use(&s, row, 4, &a);
	is_u64(a.n, 2, "a rule of several rows is listed once");
	ok(a.rule[0] == one && a.rule[1] == two, "in the order of indices");
	rule_set_use(&s, row, 1, &b);
	ok(b.n == 1 && b.rule[0] == two, "another file uses one of them");
	is_u64(rule_set_use(&s, row, 0, &none), 0, "a file without rows");
	is_u64(none.n, 0, "uses none");
	rule_set_release(&s, &none);
	rule_set_release(&s, &a);
	rule_set_sweep(&s);
	rule_set_sweep(&s);
	is_u64(s.spares, 1, "the rule that one file alone used is freed");
	is_u64(rule_set_add(&s, rule_of(2)), two, "the other one is found");
	rule_set_given(&s);
	is_u64(rule_set_add(&s, rule_of(3)), one, "its index is for a new rule");
	is_u64(rule_set_given(&s), one, "which must be given to the BPF program");
	is_u64(rule_set_add(&s, rule_of(1)), two + 1, "the freed rule comes back elsewhere");
	is_u64(rule_set_given(&s), two + 1, "which is new, too");
	rule_set_release(&s, &b);
	rule_set_free(&s);
}

int main(void)
{
	test_shared();
	test_many();
	test_full();
	test_users();
	return tap_done();
}

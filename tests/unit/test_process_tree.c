// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fixture.h"
#include "model/process_tree.h"
#include "tap.h"

static struct model m;

static void born(uint32_t pid, uint64_t birth, uint32_t ppid)
{
	struct process_record r = process_record(pid, birth, 2 * SECOND);

	r.g.ppid = ppid;
	model_take(&m, &r.h);
}

static const struct subject *who(uint32_t pid, uint64_t birth)
{
	return model_find(&m, &(struct process_key){.pid = pid, .start_ns = birth});
}

/* Each process is the child of the one before it. */
static void test_deep(void)
{
	struct process_tree k;
	size_t sorted = 0;

	begin_model(&m, NULL);
	for (uint32_t pid = 100; pid < 200; pid++)
		born(pid, pid, pid - 1);
	ok(!process_tree_of(&m, &k), "a tree of 100 levels");
	ok(process_tree_root(&k, who(164, 164)) == who(100, 100), "64 levels up");
	ok(process_tree_root(&k, who(165, 165)) == who(101, 101), "and no more");
	for (size_t i = 0; i < k.n; i++)
		sorted += k.by_pid[i]->id.pid == 100 + i;
	is_u64(sorted, 100, "the list is by pid");
	process_tree_free(&k);
	ok(!k.by_pid && !k.n, "nothing is left");
	model_free(&m);
}

/* A parent is at least as old as its child: pids are used again. */
static void test_reused(void)
{
	struct process_tree k;

	begin_model(&m, NULL);
	born(10, 700, 1);
	born(10, 500, 1);
	born(10, 600, 1);
	born(11, 599, 10);
	born(12, 600, 10);
	born(13, 499, 10);
	born(14, 500, 10);
	ok(!process_tree_of(&m, &k) && k.n == 7, "three with one pid");
	ok(k.by_pid[0]->id.start_ns == 500 && k.by_pid[1]->id.start_ns == 600 &&
		   k.by_pid[2]->id.start_ns == 700,
	   "the oldest first");
	ok(process_tree_parent(&k, who(11, 599)) == who(10, 500), "the one before it");
	ok(process_tree_parent(&k, who(12, 600)) == who(10, 600), "or of the same moment");
	ok(process_tree_parent(&k, who(14, 500)) == who(10, 500), "of the first one, too");
	ok(!process_tree_parent(&k, who(13, 499)), "none is as old as this");
	process_tree_free(&k);
	model_free(&m);
}

int main(void)
{
	struct process_tree k;

	begin_model(&m, NULL);
	born(10, 100, 1);
	born(11, 200, 10);
	born(12, 300, 11);
	born(10, 900, 1); /* pid 10 is reused by another process */
	born(13, 950, 10);
	born(20, 400, 20); /* a process that claims to be its own parent */
	born(30, 500, 31);
	born(31, 500, 30); /* pids 30 and 31 claim to be each other's parents */
	ok(!process_tree_of(&m, &k) && k.n == 8, "all that are known");
	ok(process_tree_parent(&k, who(11, 200)) == who(10, 100),
	   "the parent that was born before it");
	ok(process_tree_parent(&k, who(13, 950)) == who(10, 900),
	   "of two births of a pid the last");
	ok(!process_tree_parent(&k, who(10, 100)), "a parent that is not watched");
	ok(process_tree_root(&k, who(12, 300)) == who(10, 100), "the farthest ancestor");
	ok(process_tree_root(&k, who(10, 100)) == who(10, 100), "who has none is its own");
	ok(!process_tree_parent(&k, who(20, 400)), "nobody is its own parent");
	ok(process_tree_root(&k, who(30, 500)), "a ring of parents ends");
	process_tree_free(&k);
	model_free(&m);
	test_deep();
	test_reused();
	return tap_done();
}

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
	return tap_done();
}

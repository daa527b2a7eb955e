// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what is kept of processes and cgroups from records of BPF programs, and used once /proc no
 * longer has them. /proc is an empty directory of the test.
 */
#include "fakeroot.h"

#include "collect/names/process_names.h"
#include "tap.h"

static struct fakeroot root;
static struct names n;

static void begin(void)
{
	n = (struct names){.root = dup(root.fd)};
}

static void forked(uint32_t parent, uint32_t pid, uint64_t birth)
{
	struct fork_record r = {.subject = {birth, pid, 0}, .parent = parent};

	names_forked(&n, &r);
}

static void execed(uint32_t pid, uint64_t birth, uint32_t execs, const char *path)
{
	struct exec_record r = {.subject = {birth, pid, 0}, .execs = execs};

	snprintf(r.path, sizeof(r.path), "%s", path);
	names_execed(&n, &r);
}

static const char *exe_of(uint32_t pid, uint64_t birth, uint32_t execs)
{
	struct process_record r = {.subject = {birth, pid, 0}, .g.execs = execs};
	static struct names_record found;

	memset(&found, 0, sizeof(found));
	ok(names_find(&n, &r, &found) == (found.exe[0] != 0), "whether a name is known");
	return found.exe;
}

static uint32_t parent_of(uint32_t pid, uint64_t birth)
{
	return names_parent(&n, &(struct process_key){birth, pid, 0});
}

static void test_programs(void)
{
	begin();
	is_u64(parent_of(10, 1), 0, "before the first record nobody has a parent");
	is_str(exe_of(10, 1, 0), "", "or a program");
	execed(10, 1, 1, "/bin/a");
	is_str(exe_of(10, 1, 1), "/bin/a", "the program of an exec");
	is_str(exe_of(10, 1, 0), "", "not before it");
	is_str(exe_of(10, 1, 2), "", "nor after the next one");
	is_str(exe_of(10, 2, 1), "", "nor of another process with this pid");
	is_str(exe_of(10 + NAMES_PROCS, 1, 1), "", "nor of one in the same place");
	execed(10, 1, 2, "/bin/b");
	is_str(exe_of(10, 1, 2), "/bin/b", "the next program");
	execed(10, 1, 3, "");
	is_str(exe_of(10, 1, 3), "", "an exec without a path");
	names_free(&n);
}

static void test_parents(void)
{
	begin();
	execed(10, 1, 5, "/bin/a");
	forked(10, 11, 2);
	is_str(exe_of(11, 2, 0), "/bin/a", "a child has its parent's program");
	is_u64(parent_of(11, 2), 10, "its parent");
	is_u64(parent_of(11, 3), 0, "another process with its pid has another parent");
	is_u64(parent_of(10, 1), 0, "the parent's parent is not known");
	execed(11, 2, 1, "/bin/b");
	is_u64(parent_of(11, 2), 10, "after an exec it has the same parent");
	execed(11, 9, 1, "/bin/c");
	is_u64(parent_of(11, 9), 0, "the next process with this pid has not");
	forked(10 + NAMES_PROCS, 12, 4);
	is_str(exe_of(12, 4, 0), "", "a parent in the place of another one is not known");
	is_u64(parent_of(12, 4), 10 + NAMES_PROCS, "its pid is");
	names_free(&n);
	is_u64(parent_of(12, 4), 0, "nothing is left after the end");
}

static void tell(uint64_t id, uint32_t hierarchy, uint32_t pid, const char *path)
{
	struct cgroup_path_record r = {.id = id, .hierarchy = hierarchy, .pid = pid};

	snprintf(r.path, sizeof(r.path), "%s", path);
	names_cgroup(&n, &r);
}

static bool moved(uint32_t pid)
{
	return names_was_moved(&n, &(struct process_key){1, pid, 0});
}

static void test_moves(void)
{
	begin();
	tell(7, 4, 10, "/a");
	ok(!moved(10), "a process of which nothing is known");
	execed(10, 1, 1, "/bin/a");
	ok(!moved(10), "a process that stays");
	tell(7, 4, 0, "/a");
	tell(7, 4, 11, "/a");
	tell(7, 4, 10 + NAMES_PROCS, "/a");
	ok(!moved(10), "other processes move");
	tell(7, 4, 10, "/a");
	ok(!moved(10 + NAMES_PROCS), "a process in the same place");
	ok(moved(10), "it moves itself");
	ok(!moved(10), "once");
	names_free(&n);
}

static const char *cgroup_of_id(uint64_t id)
{
	struct process_record r = {.subject = {1, 10, 0}, .g = {.cgroup_id = id}};
	static struct names_record found;

	memset(&found, 0, sizeof(found));
	ok(names_find(&n, &r, &found) == (found.cgroup[0] != 0), "whether a cgroup is known");
	return found.cgroup;
}

static void test_cgroups(void)
{
	char path[201];

	begin();
	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[200] = 0;
	is_str(cgroup_of_id(7), "", "a cgroup that was not told");
	tell(7, 0, 0, "/a");
	is_str(cgroup_of_id(7), "/a", "the path of a new cgroup");
	tell(7, 4, 0, "/b");
	is_str(cgroup_of_id(7), "/a", "the same id of a hierarchy of version 1 is another cgroup");
	tell(7, 0, 10, "/c");
	is_str(cgroup_of_id(7), "/c", "a path that was told last");
	tell(8, 0, 0, path);
	is_str(cgroup_of_id(8), "", "a path that is too long");
	path[199] = 0;
	tell(8, 0, 0, path);
	is_str(cgroup_of_id(8), path, "the longest path");
	is_str(cgroup_of_id(9), "", "another id");
	names_free(&n);
}

int main(void)
{
	root = fakeroot_make();
	fake_file(&root, "proc/self/mountinfo", "%s", "");
	test_programs();
	test_parents();
	test_moves();
	test_cgroups();
	fakeroot_free(&root);
	return tap_done();
}

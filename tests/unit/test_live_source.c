// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what a live source writes for its BPF programs, and what it says about them, for each
 * combination of build, pid namespace and probes. The programs' memory is that of this test.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "made_maps.h"
#include "probe/live.h"
#include "probe/live_load.h"
#include "tap.h"

#define OTHER_PID 4242 /* pid in the initial namespace */

static struct fs_shared shared;
static struct live live;
static struct source *const src = &live.src;
static const char *forced[HOOKS_MAX];
static unsigned int runs; /* number of runs of a BPF program */

struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *obj, const char *name)
{
	(void)obj;
	return strcmp(name, OWN_PID) ? NULL : (struct bpf_program *)&shared;
}

int bpf_program__fd(const struct bpf_program *prog)
{
	return prog ? 77 : -EINVAL;
}

/* Does what the program own_pid does. */
int bpf_prog_test_run_opts(int prog_fd, struct bpf_test_run_opts *opts)
{
	(void)opts;
	runs++;
	if (prog_fd == 77)
		shared.own_pid = OTHER_PID;
	return 0;
}

static void begin(void)
{
	memset(&shared, 0, sizeof(shared));
	memset(&live, 0, sizeof(live));
	memset(forced, 0, sizeof(forced));
	runs = 0;
	live.obj.shared = &shared;
	live.obj.build = OBJECT_FULL;
	choice_begin(&live.choice, TIER_ALL, false, 0, forced);
}

static void test_memory(void)
{
	begin();
	live_wake_at_exits(src);
	is_u64(shared.exits_wake, 1, "exits wake the reader");
	live_scan_whole(src, true);
	is_u64(shared.scan_whole, 1, "whole scans");
	live_scan_whole(src, false);
	is_u64(shared.scan_whole, 0, "scans of changed processes");
	live_sample(src, true);
	is_u64(shared.sample_each, SAMPLE_EACH, "page faults are sampled");
	live_sample(src, false);
	is_u64(shared.sample_each, 0, "page faults are not sampled");
	live_count_missed(src, 3);
	live_count_missed(src, 4);
	is_u64(live.missed, 7, "events that scans missed");
	shared.walk_ends[STACK_END_MISSING] = 5;
	live_count_walk(src, STACK_END_ENTRY);
	live_count_walk(src, STACK_END_ENTRY);
	is_u64(shared.walk_ends[STACK_END_MISSING], 3, "stacks whose walk was not finished");
	is_u64(shared.walk_ends[STACK_END_ENTRY], 2, "stacks that were walked");
}

static void test_needs_rights(void)
{
	static const struct {
		int answer;
		bool needs;
	} rows[] = {{0, false}, {-EPERM, true}, {-EACCES, false}, {-ENOENT, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		made_maps_n = 0;
		made_map(".data.shared", 0, sizeof(__u32), sizeof(shared), 1);
		made_lookup_error = rows[i].answer;
		ok(live_needs_rights(src) == rows[i].needs, "maps need rights: %d", rows[i].needs);
	}
	made_lookup_error = 0;
}

static void test_run_parent(void)
{
	begin();
	live_run_parent(src, true);
	is_u64(shared.run_parent, getpid(), "the parent of the command");
	is_u64(runs, 0, "outside of a pid namespace, its pid is known");
	live_run_parent(src, false);
	is_u64(shared.run_parent, 0, "the command has started");
	live.nested = true;
	live_run_parent(src, true);
	is_u64(shared.run_parent, OTHER_PID, "in a pid namespace, a program reads its pid");
	live_run_parent(src, false);
	is_u64(shared.run_parent, 0, "the command has started");
	live_run_parent(src, true);
	is_u64(shared.run_parent, OTHER_PID, "another command");
	is_u64(runs, 1, "the program runs once");
}

static void test_scans(void)
{
	static const char *const mechanisms[] = {"iter/task", "task-iterator", "/proc"};

	for (size_t i = 0; i < 3; i++)
		for (int nested = 0; nested < 2; nested++) {
			begin();
			live.nested = nested;
			forced[hook_find("scan")] = mechanisms[i];
			choice_begin(&live.choice, TIER_ALL, false, 0, forced);
			is_u64(live_scans_proc(src), i == 2, mechanisms[i]);
			is_u64(live_scan_is_confined(src), nested && !i, "to a pid namespace");
		}
}

/* A name in the table `procs` is the pid or, with task storage, a pidfd: here, any small one. */
static void add_state(size_t value, const struct fs_whole_state *whole)
{
	made_maps_n = 0;
	made_map("procs", 0, sizeof(int), value, 64);
	for (int fd = 0; whole && fd < 32; fd++)
		bpf_map_update_elem(made_by_name("procs")->fd, &fd, whole, BPF_ANY);
#define X(part, PART, group) made_map("part_" #part, 0, sizeof(int), sizeof(struct fs_##part), 1);
	FS_PARTS(X)
#undef X
	made_map("slots", 0, sizeof(int), sizeof(struct fs_fault_slot), 1);
}

static void test_pids(void)
{
	struct fs_whole_state whole = {.st.pid = OTHER_PID};

	begin();
	is_u64(live_pid_of(src, 7), 7, "outside of a pid namespace, pids are equal");
	live.nested = true;
	add_state(sizeof(struct fs_state), &whole);
	is_u64(live_pid_of(src, getpid()), OTHER_PID, "in one, the state has the other pid");
	add_state(sizeof(struct fs_state), NULL);
	is_u64(live_pid_of(src, getpid()), 0, "a process without state");
	add_state(sizeof(whole), &whole);
	live.obj.build = OBJECT_HASH;
	is_u64(live_pid_of(src, 7), 0, "hash tables are by the other pid");
}

static unsigned int flags_of(const struct made_map *m)
{
	struct fs_state st = {};

	for (size_t at = 0; at < m->slots; at++)
		if (m->state[at] == MADE_USED)
			memcpy(&st, made_value(m, at), sizeof(st));
	return st.flags;
}

static void test_watching(void)
{
	begin();
	add_state(sizeof(struct fs_whole_state), NULL);
	is_u64(live_watch(src, getpid(), false), 0, "a process is watched");
	is_u64(flags_of(made_by_name("procs")), PROC_WATCHED, "alone");
	made_clear(made_by_name("procs"));
	live.nested = true;
	is_u64(live_watch(src, getpid(), true), 0, "a process is watched in a pid namespace");
	is_u64(flags_of(made_by_name("procs")), PROC_WATCHED | PROC_FOLLOW, "with its children");
	made_clear(made_by_name("procs"));
	live.obj.build = OBJECT_HASH;
	ok(live_watch(src, getpid(), true) == -EOPNOTSUPP, "hash tables are by the other pid");
	is_u64(made_by_name("procs")->n, 0, "of which none is known");
	live.nested = false;
	is_u64(live_watch(src, getpid(), true), 0, "but outside of a namespace, pids are equal");
}

/* Stacks are walked with unwind tables only if growth is recorded, and the programs can do it. */
static void test_walks(void)
{
	struct hook_status *calls;

	begin();
	calls = &live.choice.status[hook_find("calls")];
	live.obj.obj = (struct bpf_object *)&shared;
	live.opt.attribute = true;
	calls->state = HOOK_ON;
	ok(live_walks(src) == live.obj.obj, "the object that walks stacks");
	calls->state = HOOK_OFF;
	ok(!live_walks(src), "no event reports a replaced mapping");
	calls->state = HOOK_ON;
	live.opt.attribute = false;
	ok(!live_walks(src), "growth is not recorded");
	live.opt.attribute = true;
	src->plain = true;
	ok(!live_walks(src), "a source without programs");
	src->plain = false;
	live.obj.build = OBJECT_HASH;
	ok(!live_walks(src), "the build with hash tables cannot");
	live.obj.build = OBJECT_PLAIN;
	ok(live_walks(src) == live.obj.obj, "the build without kfuncs can");
	ok(live_hooks(src) == live.choice.status, "the states of the probes");
}

int main(void)
{
	test_memory();
	test_needs_rights();
	test_run_parent();
	test_scans();
	test_pids();
	test_watching();
	test_walks();
	return tap_done();
}

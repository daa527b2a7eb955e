// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how the state of a process is found, created and counted in the tables of both builds of
 * the BPF programs. The tables are those of this test.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made_maps.h"
#include "probe/proc_scan.h"
#include "probe/state.h"
#include "tap.h"

#define DESCRIPTORS 64 /* more than this test opens */
#define MOST	    128
#define START_NS    123456789123ULL

static struct fs_shared shared;
static struct made_map *orphans;

/* Adds the tables of a build, in which processes are found by pid or by pidfd. */
static struct object begin(enum object_build build)
{
	size_t whole = sizeof(struct fs_whole_state);

	made_maps_n = 0;
	memset(&shared, 0, sizeof(shared));
	made_map("procs", 0, sizeof(int), build == OBJECT_HASH ? whole : sizeof(struct fs_state),
		 MOST);
	made_map("slots", 0, sizeof(int), sizeof(struct fs_fault_slot), MOST);
#define X(part, PART, group)                                                                       \
	made_map("part_" #part, 0, sizeof(int), sizeof(struct fs_##part), MOST);
	FS_PARTS(X)
#undef X
	orphans = made_map("orphans", 0, sizeof(struct process_key), whole, MOST);
	return (struct object){.build = build, .shared = &shared};
}

/* Stores a value for each pidfd that the next call may open. */
static void put(const char *map, const void *value)
{
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		if (bpf_map_update_elem(made_by_name(map)->fd, &fd, value, BPF_ANY))
			abort();
}

/* Copies the state in the only entry of the table of processes. Returns whether there is one. */
static bool copy_only(struct fs_state *ret)
{
	const struct made_map *m = made_by_name("procs");

	for (size_t at = 0; at < m->slots && m->n == 1; at++)
		if (m->state[at] == MADE_USED) {
			memcpy(ret, made_value(m, at), sizeof(*ret));
			return true;
		}
	return false;
}

/* Returns the pid of a process that has ended. */
static pid_t gone(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	return child;
}

/* With task storage, each part of the state has a table of its own. */
static void test_parts(void)
{
	struct object o = begin(OBJECT_FULL);
	struct fs_state st = {.start_ns = START_NS, .fds = 7};
	struct fs_fault_slot slot;
	struct fs_whole_state got;
	unsigned int n = 1;

	is_u64(state_read(&o, getpid(), &got), 0, "a process without state");
	put("procs", &st);
	memset(&slot, 0x5a, sizeof(slot));
	put("slots", &slot);
#define X(part, PART, group)                                                                       \
	{                                                                                          \
		struct fs_##part one;                                                              \
                                                                                                   \
		memset(&one, n++, sizeof(one));                                                    \
		put("part_" #part, &one);                                                          \
	}
	FS_PARTS(X)
#undef X
	memset(&got, 0xff, sizeof(got));
	is_u64(state_read(&o, getpid(), &got), 1, "a process with state");
	ok(!memcmp(&got.st, &st, sizeof(st)), "the state");
	ok(!memcmp(&got.slot, &slot, sizeof(slot)), "its last fault");
	n = 1;
#define X(part, PART, group)                                                                       \
	ok(((unsigned char *)&got.part)[sizeof(got.part) - 1] == n, "part %u: %s", n, #part);      \
	n++;
	FS_PARTS(X)
#undef X
	made_clear(made_by_name("slots"));
	state_read(&o, getpid(), &got);
	memset(&slot, 0, sizeof(slot));
	ok(!memcmp(&got.slot, &slot, sizeof(slot)), "a part that does not exist is 0");
	is_u64(state_read(&o, gone(), &got), 0, "a process that has ended");
}

/* The state of a process whose main thread has exited is in another table. */
static void test_leader_that_exited(void)
{
	struct object o = begin(OBJECT_PLAIN);
	struct fs_state st = {.start_ns = START_NS, .pid = 42, .flags = PROC_LEFT, .fds = 1};
	struct process_key of = {.start_ns = START_NS, .pid = 42};
	struct fs_whole_state whole = {.st.fds = 9}, got;

	put("procs", &st);
	ok(state_read(&o, getpid(), &got) == -EAGAIN, "not moved yet");
	whole.st.flags = PROC_HALF;
	bpf_map_update_elem(orphans->fd, &of, &whole, BPF_ANY);
	ok(state_read(&o, getpid(), &got) == -EAGAIN, "half of it is moved");
	whole.st.flags = 0;
	bpf_map_update_elem(orphans->fd, &of, &whole, BPF_ANY);
	is_u64(state_read(&o, getpid(), &got), 1, "moved");
	is_u64(got.st.fds, 9, "the values are those of the other table");
}

/* A change of tables that read_while() makes, in place of a BPF program on another CPU. */
static struct {
	struct made_map *map;
	void (*change)(void);
	unsigned int lookups;
} later;

static void change_later(const struct made_map *m)
{
	if (m == later.map && ++later.lookups == 2)
		later.change();
}

/* Reads the state of this process. Calls change() before the second lookup in the table `map`. */
static int read_while(const struct object *o, struct made_map *map, void (*change)(void),
		      struct fs_whole_state *ret)
{
	int found;

	later.map = map;
	later.change = change;
	later.lookups = 0;
	made_before_lookup = change_later;
	found = state_read(o, getpid(), ret);
	made_before_lookup = NULL;
	is_u64(later.lookups, 2, "lookups in the table");
	return found;
}

static struct fs_state second;
static struct fs_whole_state second_orphan;

static void put_second(void)
{
	put("procs", &second);
}

/* Returns the key of this process in the table `orphans`. */
static struct process_key own_key(void)
{
	return (struct process_key){.start_ns = START_NS, .pid = getpid()};
}

static void put_second_orphan(void)
{
	struct process_key of = own_key();

	bpf_map_update_elem(orphans->fd, &of, &second_orphan, BPF_ANY);
}

static void delete_orphan(void)
{
	struct process_key of = own_key();

	bpf_map_delete_elem(orphans->fd, &of);
}

/* Another thread calls execve() while the state is read, and replaces the main thread. */
static void test_moved_meanwhile(void)
{
	struct object o = begin(OBJECT_FULL);
	struct fs_state first = {.start_ns = START_NS, .pid = getpid(), .execs = 1};
	struct made_map *procs = made_by_name("procs");
	struct fs_whole_state got;

	put("procs", &first);
	second = first;
	second.fds = 8;
	is_u64(read_while(&o, procs, put_second, &got), 1, "values that change");
	for (int left = 0; left < 2; left++) {
		first.flags = left ? PROC_LEFT : 0;
		put("procs", &first);
		second.flags = PROC_MOVED;
		ok(read_while(&o, procs, put_second, &got) == -EAGAIN, "a new main thread%s",
		   left ? ", after the first one has exited" : "");
	}
	first.flags = second.flags = 0;
	put("procs", &first);
	second.execs++;
	ok(read_while(&o, procs, put_second, &got) == -EAGAIN, "two new main threads");
}

/* An entry of `orphans` may be deleted while it is read, and its memory may be used again. */
static void test_orphan_deleted_meanwhile(void)
{
	struct object o = begin(OBJECT_FULL);
	struct fs_whole_state got;

	shared.orphans = 1;
	second_orphan = (struct fs_whole_state){.st.flags = PROC_ORPHAN, .st.fds = 9};
	put_second_orphan();
	is_u64(read_while(&o, orphans, put_second_orphan, &got), 1, "an entry that stays");
	is_u64(got.st.fds, 9, "its values");
	ok(read_while(&o, orphans, delete_orphan, &got) == -EAGAIN, "an entry that is deleted");
	put_second_orphan();
	second_orphan.st.flags ^= PROC_MOVED;
	ok(read_while(&o, orphans, put_second_orphan, &got) == -EAGAIN, "a later entry");
}

/* The kernel may have freed the state of a process after it was moved to the other table. */
static void test_freed(void)
{
	struct object o = begin(OBJECT_FULL);
	struct process_key of = {.start_ns = START_NS, .pid = getpid() + 1};
	struct fs_whole_state whole = {.st.fds = 9}, got;

	bpf_map_update_elem(orphans->fd, &of, &whole, BPF_ANY);
	shared.orphans = 2;
	is_u64(state_read(&o, getpid(), &got), 0, "state of another process");
	of.pid = getpid();
	bpf_map_update_elem(orphans->fd, &of, &whole, BPF_ANY);
	is_u64(state_read(&o, getpid(), &got), 1, "state that was moved");
	is_u64(got.st.fds, 9, "is read from the other table");
	whole.st.flags = PROC_HALF;
	bpf_map_update_elem(orphans->fd, &of, &whole, BPF_ANY);
	ok(state_read(&o, getpid(), &got) == -EAGAIN, "half of it is moved");
	shared.orphans = 0;
	is_u64(state_read(&o, getpid(), &got), 0, "without such states, none is searched");
}

/* Each pidfd is closed: a scan of many processes needs no more files. */
static void test_files(void)
{
	struct object o = begin(OBJECT_FULL);
	struct fs_whole_state got;
	int first = dup(STDOUT_FILENO), after;

	close(first);
	state_read(&o, getpid(), &got);
	state_begin(&o, getpid(), 0);
	state_begin(&o, getpid(), 0);
	state_read(&o, gone(), &got);
	after = dup(STDOUT_FILENO);
	is_u64(after, first, "no file stays open");
	close(after);
}

static void test_waiting(void)
{
	struct object o = begin(OBJECT_FULL);
	struct process_key of = {.start_ns = START_NS, .pid = 42};
	struct fs_whole_state whole = {};
	__u64 birth_ns = proc_scan_birth(START_NS);

	ok(!state_waits(&o, 42, birth_ns), "no process waits");
	for (of.pid = 40; of.pid < 45; of.pid++)
		bpf_map_update_elem(orphans->fd, &of, &whole, BPF_ANY);
	for (__u32 pid = 39; pid < 46; pid++)
		is_u64(state_waits(&o, pid, birth_ns), pid >= 40 && pid < 45, "by its pid");
	ok(!state_waits(&o, 42, birth_ns + 10000000), "an earlier process with this pid");
	o.build = OBJECT_HASH;
	ok(!state_waits(&o, 42, birth_ns), "the build with hash tables moves no state");
}

static void test_creation(void)
{
	struct object o = begin(OBJECT_FULL);
	struct fs_state st = {};

	is_u64(state_begin(&o, getpid(), PROC_WATCHED | PROC_FOLLOW), 0, "a process");
	ok(copy_only(&st), "it has state now");
	is_u64(st.flags, PROC_WATCHED | PROC_FOLLOW, "with these flags");
	is_u64(st.stored, 1U << FS_STORED_STATE, "and says what is stored");
	is_u64(shared.stored[FS_STORED_STATE], 1, "elements of task storage");
	is_u64(state_begin(&o, getpid(), 0), 0, "a process that has state");
	is_u64(shared.stored[FS_STORED_STATE], 1, "keeps it");
	ok(copy_only(&st) && st.flags == (PROC_WATCHED | PROC_FOLLOW), "with its flags");
	ok(state_begin(&o, gone(), 0) == -ESRCH, "a process that has ended");
	for (size_t i = 0; i < FS_ENTRIES_NEAR; i++)
		if (shared.entries_near[i])
			ok(false, "task storage needs no count of entries by pid");
}

/* In hash tables, entries are counted by the low bits of their pid. */
static void test_hash_tables(void)
{
	struct object o = begin(OBJECT_HASH);
	pid_t pid = getpid(), last;
	__u32 *near = &shared.entries_near[pid & (FS_ENTRIES_NEAR - 1)];
	struct fs_whole_state got;

	is_u64(state_read(&o, pid, &got), 0, "a process without state");
	is_u64(state_begin(&o, pid, PROC_WATCHED), 0, "a process");
	is_u64(*near, 1, "its entry is counted");
	is_u64(state_begin(&o, pid, PROC_WATCHED), 0, "a process that has state");
	is_u64(*near, 1, "its entry is counted once");
	is_u64(shared.stored[FS_STORED_STATE], 1, "elements that exist");
	is_u64(state_read(&o, pid, &got), 1, "its state");
	is_u64(got.st.flags, PROC_WATCHED, "has the flags");
	is_u64(state_read(&o, pid + 1, &got), 0, "another process has none");
	made_by_name("procs")->most = 1;
	last = fork();
	if (!last) {
		pause();
		_exit(0);
	}
	near = &shared.entries_near[last & (FS_ENTRIES_NEAR - 1)];
	*near = 0;
	ok(state_begin(&o, last, 0) == -E2BIG, "a table that is full");
	is_u64(*near, 0, "an entry that was not inserted is not counted");
	kill(last, SIGKILL);
	waitpid(last, NULL, 0);
}

int main(void)
{
	test_parts();
	test_leader_that_exited();
	test_moved_meanwhile();
	test_orphan_deleted_meanwhile();
	test_freed();
	test_files();
	test_waiting();
	test_creation();
	test_hash_tables();
	return tap_done();
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Storage for the state of processes and threads. Default: task storage. With FS_HASH: hash tables
 * by pid, whose entries the fork and exit probes create and delete.
 */
#ifndef FS_PROCESS_STATE_BPF_H
#define FS_PROCESS_STATE_BPF_H

#include "maps.bpf.h"

static __always_inline void fill_subject(struct process_key *s, struct task_struct *leader)
{
	s->start_ns = get(leader, start_boottime);
	s->pid = get(leader, tgid);
	s->pad = 0;
}

/* Initial value of a new entry, which is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct fs_state);
} blank SEC(".maps");

#ifndef FS_HASH

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct fs_state);
} procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct fs_fault_slot);
} slots SEC(".maps");

/*
 * State of processes whose leader has exited while other threads continue. A thread that calls
 * execve takes over the leader's pid and start time. The kernel then frees the leader's task with
 * its storage (de_thread(), fs/exec.c), so state must be kept elsewhere.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 512);
	__type(key, struct process_key);
	__type(value, struct fs_state);
} orphans SEC(".maps");

#define COUNTERS (sizeof(struct counters) / sizeof(__u64))

#define is_word_of(i, field)                                                                       \
	((i) >= __builtin_offsetof(struct counters, field) / sizeof(__u64) &&                      \
	 (i) < (__builtin_offsetof(struct counters, field) +                                       \
		sizeof(((struct counters *)0)->field)) /                                           \
			 sizeof(__u64))

/*
 * Arguments of move_counters(). Each counter is moved in one atomic step, so that no count is lost
 * or doubled if other threads add to `from` or also move it. `from->counted` is cleared first: a
 * later addition sets `counted` again, and the next reader of the flag moves the rest.
 */
struct move {
	struct fs_state *from, *to;
};

/* Callback of bpf_loop(), which the verifier checks once, not once per step. */
static long move_counter(__u32 i, struct move *m)
{
	__u64 *source, *target, n;

	if (i >= COUNTERS)
		return 1;
	source = (__u64 *)&m->from->c + i;
	target = (__u64 *)&m->to->c + i;
	n = *source ? swap(source, 0) : 0;
	if (!n)
		return 0;
	if (!is_word_of(i, latency_max_ns) && !is_word_of(i, served_max_ns))
		atomic_add(target, n);
	else if (n > *target)
		*target = n;
	return 0;
}

once_verified int move_counters(struct fs_state *from, struct fs_state *to)
{
	struct move m = {.from = from, .to = to};

	if (!from || !to)
		return 0;
	from->counted = 0;
	bpf_loop(COUNTERS, move_counter, &m, 0);
	atomic_add(&to->reclaim_ns, swap(&from->reclaim_ns, 0));
	atomic_add(&to->swap_ins, swap(&from->swap_ins, 0));
	to->counted = 1;
	return 0;
}

/*
 * Returns the state of a process from `orphans`, where it is if the leader has exited. If it is not
 * there, returns `left`.
 */
static __noinline struct fs_state *proc_find_orphan(struct task_struct *leader,
						    struct fs_state *left)
{
	struct fs_state *st;
	struct process_key s;

	fill_subject(&s, as_task(leader));
	st = bpf_map_lookup_elem(&orphans, &s);
	if (!st)
		return left;
	if (left && left->counted)
		move_counters(left, st);
	return st;
}

/* Returns the state of a process, given its leader, or NULL. */
static __always_inline struct fs_state *proc_find(struct task_struct *leader)
{
	struct fs_state *st = bpf_task_storage_get(&procs, leader, NULL, 0);

	if (st && !(st->flags & PROC_LEFT))
		return st;
	return shared.orphans ? proc_find_orphan(leader, st) : st;
}

/*
 * Returns the state of a process, given its leader. Creates missing state. Returns NULL if there is
 * no room.
 */
static __always_inline struct fs_state *proc_make(struct task_struct *leader)
{
	struct fs_state *st = proc_find(leader);

	if (st)
		return st;
	st = bpf_task_storage_get(&procs, leader, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!st)
		bump(shared.losses.map);
	return st;
}

static __always_inline struct fs_state *proc_make_fresh(struct task_struct *leader)
{
	return proc_make(leader);
}

static __always_inline void drop_orphan(const struct process_key *s)
{
	if (!bpf_map_delete_elem(&orphans, s))
		atomic_add(&shared.orphans, -1);
}

static __always_inline void proc_drop(struct task_struct *leader)
{
	struct process_key s;

	if (!shared.orphans)
		return;
	fill_subject(&s, leader);
	drop_orphan(&s);
}

#define EEXIST 17

/*
 * Called when the leader exits before its process: moves the state to `orphans`. The new state is
 * created before the old state is marked PROC_LEFT, and nothing is sent before all counters are
 * moved. PROC_LEFT and PROC_FINAL are bits of one word, so that either proc_leader_left() or
 * proc_ends() is first.
 */
returns_unread int proc_leader_left(struct task_struct *leader, struct fs_state *st)
{
	struct fs_state *empty, *orphan = NULL;
	__u32 zero = 0;
	struct process_key s;
	long err;

	fill_subject(&s, as_task(leader));
	empty = bpf_map_lookup_elem(&blank, &zero);
	if (!empty)
		return 0;
	err = bpf_map_update_elem(&orphans, &s, empty, BPF_NOEXIST);
	if (!err)
		orphan = bpf_map_lookup_elem(&orphans, &s);
	if (!orphan) {
		if (err != -EEXIST)
			bump(shared.losses.map);
		return 0;
	}
	bump(shared.orphans);
	st->start_ns = s.start_ns;
	st->pid = s.pid;
	bpf_probe_read_kernel(orphan, __builtin_offsetof(struct fs_state, slot), st);
	orphan->flags |= PROC_HALF;
	orphan->reclaim_ns = orphan->swap_ins = 0;
	if (__sync_fetch_and_or(&st->flags, PROC_LEFT) & PROC_FINAL) {
		drop_orphan(&s);
		return 0;
	}
	move_counters(st, orphan);
	clear_bits(&orphan->flags, PROC_HALF);
	return 0;
}

/*
 * Returns the state of a process whose leader exited before the process was watched. Moves the
 * state to `orphans` first.
 */
static __always_inline struct fs_state *proc_without_leader(struct task_struct *leader,
							    struct fs_state *st)
{
	struct fs_state *own = bpf_task_storage_get(&procs, leader, NULL, 0);

	if (own && !(own->flags & PROC_LEFT))
		proc_leader_left(leader, own);
	return proc_find(leader) ?: st;
}

/* Maximum steps for which proc_ends() waits for proc_leader_left(), which takes about 10 us. */
#define MOST_WAITED 4096

static long is_whole(__u32 i, struct move *m)
{
	return !(__sync_fetch_and_or(&m->from->flags, 0) & PROC_HALF);
}

once_verified int await_whole(struct fs_state *st)
{
	struct move m = {.from = st};

	if (!st)
		return 0;
	if (bpf_loop(MOST_WAITED, is_whole, &m, 0) == MOST_WAITED &&
	    __sync_fetch_and_or(&st->flags, 0) & PROC_HALF)
		bump(shared.losses.map);
	return 0;
}

/*
 * Returns the state for the last record of a process. Returns NULL if another thread sends this
 * record. If two threads of a process exit at the same time, both may see no other live thread.
 */
static __always_inline struct fs_state *proc_ends(struct task_struct *leader, struct fs_state *st)
{
	struct fs_state *own = bpf_task_storage_get(&procs, leader, NULL, 0);
	__u32 before;

	if (!own)
		own = st;
	before = __sync_fetch_and_or(&own->flags, PROC_FINAL);
	if (before & PROC_FINAL)
		return NULL;
	if (!(before & PROC_LEFT))
		return own;
	own = proc_find_orphan(leader, own);
	if (!own)
		return NULL;
	__sync_fetch_and_or(&own->flags, PROC_FINAL);
	await_whole(own);
	return own;
}

/*
 * Returns whether a copied state was complete, and belonged to this process, during the copy. While
 * state is copied, the leader may exit, and another thread may take over its pid.
 */
static __always_inline bool proc_was_whole(struct fs_state *st, struct task_struct *leader)
{
	return !(__sync_fetch_and_or(&st->flags, 0) & (PROC_LEFT | PROC_HALF)) &&
	       st->start_ns == get(leader, start_boottime) && get(leader, pid) == get(leader, tgid);
}

/* Called after a thread took over the leader's pid: moves the state to the new leader's storage. */
static __always_inline struct fs_state *proc_succeed(struct task_struct *leader)
{
	struct fs_state *own = bpf_task_storage_get(&procs, leader, NULL, 0), *kept;
	struct process_key s;

	if (own || !shared.orphans)
		return own;
	fill_subject(&s, leader);
	kept = bpf_map_lookup_elem(&orphans, &s);
	if (!kept)
		return NULL;
	own = bpf_task_storage_get(&procs, leader, kept, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!own)
		return kept;
	drop_orphan(&s);
	return own;
}

static __always_inline struct fs_fault_slot *thread_slot(struct task_struct *task)
{
	return bpf_task_storage_get(&slots, task, NULL, 0);
}

static __always_inline struct fs_fault_slot *thread_slot_make(struct task_struct *task)
{
	return bpf_task_storage_get(&slots, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Returns the slot of a thread that had another pid before it called execve. */
static __always_inline struct fs_fault_slot *former_slot(struct task_struct *task, __u32 old_pid)
{
	return thread_slot(task);
}

static __always_inline void slot_drop(struct task_struct *task)
{
}

static __always_inline void former_slot_drop(__u32 old_pid)
{
}

#else /* FS_HASH is defined */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192); /* default; the loader sets the number of processes */
	__type(key, __u32);	   /* pid of the process (tgid) */
	__type(value, struct fs_state);
} procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32); /* pid of the thread */
	__type(value, struct fs_fault_slot);
} slots SEC(".maps");

static __always_inline struct fs_state *proc_find(struct task_struct *leader)
{
	__u32 pid = get(leader, tgid);

	return bpf_map_lookup_elem(&procs, &pid);
}

static __always_inline void proc_drop(struct task_struct *leader)
{
	__u32 pid = get(leader, tgid);

	bpf_map_delete_elem(&procs, &pid);
}

static __always_inline struct fs_state *proc_make(struct task_struct *leader)
{
	__u32 pid = get(leader, tgid), zero = 0;
	struct fs_state *st = bpf_map_lookup_elem(&procs, &pid), *empty;

	if (st)
		return st;
	/* An exiting process must not create new state after its last record. */
	empty = bpf_map_lookup_elem(&blank, &zero);
	if (!empty || !get(leader, signal, live.counter))
		return NULL;
	bpf_map_update_elem(&procs, &pid, empty, BPF_NOEXIST);
	st = bpf_map_lookup_elem(&procs, &pid);
	if (!st)
		bump(shared.losses.map);
	return st;
}

/* Processes whose last record a thread is sending. No other thread may send this record too. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct process_key);
	__type(value, __u32);
} ending SEC(".maps");

static __always_inline struct fs_state *proc_ends(struct task_struct *leader, struct fs_state *st)
{
	struct process_key s;
	__u32 one = 1;

	fill_subject(&s, leader);
	st->flags |= PROC_FINAL;
	return bpf_map_update_elem(&ending, &s, &one, BPF_NOEXIST) ? NULL : st;
}

/* Creates new state for a process with a reused pid; nothing of the previous process is kept. */
static __always_inline struct fs_state *proc_make_fresh(struct task_struct *leader)
{
	proc_drop(leader);
	return proc_make(leader);
}

/*
 * Clears only the leader's open fault, which ended with its thread. The process state is stored by
 * pid, and stays valid.
 */
static __always_inline int proc_leader_left(struct task_struct *leader, struct fs_state *st)
{
	__builtin_memset(&st->slot, 0, sizeof(st->slot));
	return 0;
}

static __always_inline struct fs_state *proc_without_leader(struct task_struct *leader,
							    struct fs_state *st)
{
	return st;
}

static __always_inline bool proc_was_whole(struct fs_state *st, struct task_struct *leader)
{
	return get(leader, pid) == get(leader, tgid);
}

static __always_inline struct fs_state *proc_succeed(struct task_struct *leader)
{
	return proc_find(leader);
}

static __always_inline struct fs_fault_slot *thread_slot(struct task_struct *task)
{
	__u32 pid = get(task, pid);

	return bpf_map_lookup_elem(&slots, &pid);
}

static __always_inline struct fs_fault_slot *thread_slot_make(struct task_struct *task)
{
	struct fs_fault_slot *slot;
	__u32 pid = get(task, pid), zero = 0;
	struct fs_state *empty;

	slot = bpf_map_lookup_elem(&slots, &pid);
	if (slot)
		return slot;
	empty = bpf_map_lookup_elem(&blank, &zero);
	if (!empty)
		return NULL;
	bpf_map_update_elem(&slots, &pid, &empty->slot, BPF_NOEXIST);
	return bpf_map_lookup_elem(&slots, &pid);
}

/* Returns the slot of a thread that had another pid before it called execve. */
static __always_inline struct fs_fault_slot *former_slot(struct task_struct *task, __u32 old_pid)
{
	return bpf_map_lookup_elem(&slots, &old_pid);
}

static __always_inline void slot_drop(struct task_struct *task)
{
	__u32 pid = get(task, pid);

	bpf_map_delete_elem(&slots, &pid);
}

static __always_inline void former_slot_drop(__u32 old_pid)
{
	bpf_map_delete_elem(&slots, &old_pid);
}

#endif

/* Returns the fault slot of a thread; the leader's is part of the process state. */
static __always_inline struct fs_fault_slot *slot_find(struct task_struct *task)
{
	struct fs_state *st;

	if (get(task, pid) != get(task, tgid))
		return thread_slot(task);
	st = proc_find(task);
	if (!st)
		return NULL;
	barrier_var(st); /* the verifier permits no arithmetic before the NULL test */
	return &st->slot;
}

static __always_inline struct fs_fault_slot *slot_make(struct task_struct *task,
						       struct fs_state *st)
{
	return get(task, pid) == get(task, tgid) ? &st->slot : thread_slot_make(task);
}

/* Returns the state of a process, given its leader, or NULL if the process is not watched. */
static __always_inline struct fs_state *proc_of(struct task_struct *leader)
{
	return config.watch_all ? proc_make(leader) : proc_find(leader);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the state of processes and threads is kept: on the task itself, or (FS_HASH) in tables by
 * pid, whose entries the fork and exit hooks make and drop.
 */
#ifndef FS_STORE_BPF_H
#define FS_STORE_BPF_H

#include "maps.bpf.h"

static __always_inline void fill_subject(struct fs_subject *s, struct task_struct *leader)
{
	s->start_ns = get(leader, start_boottime);
	s->pid = get(leader, tgid);
	s->pad = 0;
}

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
 * A thread other than the leader that calls execve takes the leader's place and pid, and the old
 * leader's task, with its storage, is freed: its state waits here for the new one.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, struct fs_subject);
	__type(value, struct fs_state);
} handoff SEC(".maps");

/* The state of a process, given its leader; NULL where it has none. */
static __always_inline struct fs_state *proc_find(struct task_struct *leader)
{
	return bpf_task_storage_get(&procs, leader, NULL, 0);
}

/* The same, made where it has none; NULL where there is no room. */
static __always_inline struct fs_state *proc_make(struct task_struct *leader)
{
	struct fs_state *st = bpf_task_storage_get(&procs, leader, NULL,
						   BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!st)
		bump(shared.losses.map);
	return st;
}

static __always_inline struct fs_state *proc_make_fresh(struct task_struct *leader)
{
	return proc_make(leader);
}

static __always_inline void proc_drop(struct task_struct *leader)
{
}

/* Two threads that exit at once may both find none alive: true for one of them. */
static __always_inline bool proc_ends(struct task_struct *leader, struct fs_state *st)
{
	return !(__sync_fetch_and_or(&st->flags, FS_PROC_FINAL) & FS_PROC_FINAL);
}

/* A leader that ends before its process: its successor at execve may need the state. */
static __always_inline void proc_leader_left(struct task_struct *leader, struct fs_state *st)
{
	struct fs_subject s;

	fill_subject(&s, leader);
	bpf_map_update_elem(&handoff, &s, st, BPF_ANY);
}

static __always_inline struct fs_state *proc_succeed(struct task_struct *leader)
{
	struct fs_state *st = NULL, *kept;
	struct fs_subject s;

	fill_subject(&s, leader);
	kept = bpf_map_lookup_elem(&handoff, &s);
	if (!kept)
		return NULL;
	st = proc_make(leader);
	if (st)
		bpf_probe_read_kernel(st, sizeof(*st), kept);
	bpf_map_delete_elem(&handoff, &s);
	return st;
}

static __always_inline struct fs_fault_slot *thread_slot(struct task_struct *task)
{
	return bpf_task_storage_get(&slots, task, NULL, 0);
}

static __always_inline struct fs_fault_slot *thread_slot_make(struct task_struct *task)
{
	return bpf_task_storage_get(&slots, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline void slot_drop(struct task_struct *task)
{
}

#else /* FS_HASH */

#define PF_EXITING 0x4 /* include/linux/sched.h */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192); /* the loader raises it to what is alive */
	__type(key, __u32);	   /* tgid */
	__type(value, struct fs_state);
} procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32); /* pid of the thread */
	__type(value, struct fs_fault_slot);
} slots SEC(".maps");

/* What a new entry is made of: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct fs_state);
} blank SEC(".maps");

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
	/* what a dying process still does after its last record makes it no new one */
	empty = bpf_map_lookup_elem(&blank, &zero);
	if (!empty || get(leader, flags) & PF_EXITING)
		return NULL;
	bpf_map_update_elem(&procs, &pid, empty, BPF_NOEXIST);
	st = bpf_map_lookup_elem(&procs, &pid);
	if (!st)
		bump(shared.losses.map);
	return st;
}

/* Processes of which the last record is made: what can be made once is made by one alone. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct fs_subject);
	__type(value, __u32);
} ending SEC(".maps");

static __always_inline bool proc_ends(struct task_struct *leader, struct fs_state *st)
{
	struct fs_subject s;
	__u32 one = 1;

	fill_subject(&s, leader);
	st->flags |= FS_PROC_FINAL;
	return !bpf_map_update_elem(&ending, &s, &one, BPF_NOEXIST);
}

/* A pid that was another's: nothing of that one is left. */
static __always_inline struct fs_state *proc_make_fresh(struct task_struct *leader)
{
	proc_drop(leader);
	return proc_make(leader);
}

/* The pid stays, and so does what is kept by it. */
static __always_inline void proc_leader_left(struct task_struct *leader, struct fs_state *st)
{
}

static __always_inline struct fs_state *proc_succeed(struct task_struct *leader)
{
	return NULL;
}

static __always_inline struct fs_fault_slot *thread_slot(struct task_struct *task)
{
	__u32 pid = get(task, pid);

	return bpf_map_lookup_elem(&slots, &pid);
}

static __always_inline struct fs_fault_slot *thread_slot_make(struct task_struct *task)
{
	struct fs_fault_slot *slot, empty = {};
	__u32 pid = get(task, pid);

	slot = bpf_map_lookup_elem(&slots, &pid);
	if (slot)
		return slot;
	bpf_map_update_elem(&slots, &pid, &empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&slots, &pid);
}

static __always_inline void slot_drop(struct task_struct *task)
{
	__u32 pid = get(task, pid);

	bpf_map_delete_elem(&slots, &pid);
}

#endif

/* The fault slot of a thread: the leader's is in the state of its process, at hand there. */
static __always_inline struct fs_fault_slot *slot_find(struct task_struct *task)
{
	struct fs_state *st;

	if (get(task, pid) != get(task, tgid))
		return thread_slot(task);
	st = proc_find(task);
	if (!st)
		return NULL;
	barrier_var(st); /* no arithmetic before the test: the verifier wants it in this order */
	return &st->slot;
}

static __always_inline struct fs_fault_slot *slot_make(struct task_struct *task,
						       struct fs_state *st)
{
	return get(task, pid) == get(task, tgid) ? &st->slot : thread_slot_make(task);
}

/* The state of a process, given its leader; NULL where it is not watched. */
static __always_inline struct fs_state *proc_of(struct task_struct *leader)
{
	return config.watch_all ? proc_make(leader) : proc_find(leader);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps, knobs, loss counters; which process is watched; how a record reaches the ring. */
#ifndef FS_MAPS_BPF_H
#define FS_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "wire.h"

#define FS_NR_MARKS 3

/* Set once, before the load. */
const volatile __u32 watch_all = 0;   /* every process, else only the marked ones */
const volatile __u32 time_faults = 0; /* tier 2: keep the begin of each fault */
const volatile __u32 smap_enforced =
	0;			      /* the CPU has SMAP: AC tells user copies from bad accesses */
const volatile __u32 compat_bits = 0; /* thread_info.status bits of a 32-bit system call */
const volatile __u32 mark_percent[FS_NR_MARKS] = {50, 80, 95};
const volatile struct fs_syscall syscalls[FS_SYSCALL_MAX] = {};

/* Changed while running, by user space. */
struct {
	__u64 max_map_count;
	__u32 run_parent; /* pid whose next children are the command of `run`; 0: none */
	__u32 epoch;	  /* of the look */
} knobs = {};

struct fs_losses losses = {};
__u32 look_more = 0; /* the ring filled up during a look: drain it and look again */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct fs_state);
} procs SEC(".maps");

/* A thread's page fault, open or just ended. */
struct fault_slot {
	__u64 begin_ns;	  /* 0: none open */
	__u64 ended_ns;	  /* how long the last one took; 0: its class is settled */
	__u64 max_before; /* the maximum of its class before it */
	__u32 bucket;
	__u32 major;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct fault_slot);
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

/* Equal refusals and equal kernel faults are one entry each. */
struct coalesce_key {
	struct fs_subject subject;
	__u64 what;
};
struct coalesced {
	__u64 count;
	__u64 emitted_ns;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct coalesce_key);
	__type(value, struct coalesced);
} equal SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20); /* the loader may change it */
} ring SEC(".maps");

struct proc_scratch {
	struct fs_process_record record;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct proc_scratch);
} scratch SEC(".maps");

#define PF_KTHREAD 0x200000 /* include/linux/sched.h */

#define bump(counter) __sync_fetch_and_add(&(counter), 1)

/* Position of the highest bit set; 0 for 0. */
static __always_inline __u32 log2_of(__u64 v)
{
	__u32 at = 0;

	for (int step = 32; step; step /= 2)
		if (v >> step) {
			at += step;
			v >>= step;
		}
	return at;
}

/* The state of the process a thread belongs to; NULL where it is not watched. */
static __always_inline struct fs_state *proc_of(struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	struct fs_state *st;

	if (!watch_all)
		return bpf_task_storage_get(&procs, leader, NULL, 0);
	st = bpf_task_storage_get(&procs, leader, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!st)
		bump(losses.map);
	return st;
}

static __always_inline void fill_subject(struct fs_subject *s, struct task_struct *leader)
{
	s->start_ns = leader->start_boottime;
	s->pid = leader->tgid;
	s->pad = 0;
}

static __always_inline void fill_header(struct fs_header *h, __u32 kind, __u32 len)
{
	h->kind = kind;
	h->len = len;
	h->t_ns = bpf_ktime_get_ns();
}

/* Wakes the reader only when the ring is an eighth full: a wake-up costs microseconds. */
static __always_inline __u64 wake_when_filling(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > (256 << 10) ? BPF_RB_FORCE_WAKEUP
									 : BPF_RB_NO_WAKEUP;
}

/*
 * Counts one more of equal events. Returns its count when it should be emitted (the first, each
 * power of two, and one each 200 ms), else 0.
 */
static __always_inline __u64 coalesce(const struct fs_subject *subject, __u64 what)
{
	struct coalesce_key key = {.subject = *subject, .what = what};
	struct coalesced first = {.count = 1, .emitted_ns = bpf_ktime_get_ns()};
	struct coalesced *seen = bpf_map_lookup_elem(&equal, &key);
	__u64 count;

	if (!seen) {
		if (!bpf_map_update_elem(&equal, &key, &first, BPF_NOEXIST))
			return 1;
		seen = bpf_map_lookup_elem(&equal, &key);
		if (!seen) {
			bump(losses.map);
			return 1;
		}
	}
	count = bump(seen->count) + 1;
	if ((count & (count - 1)) == 0 || first.emitted_ns - seen->emitted_ns > 200000000) {
		seen->emitted_ns = first.emitted_ns;
		return count;
	}
	bump(losses.coalesced);
	return 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures the sleep of a thread in a page fault from the scheduler's own counters, so that no
 * program runs at a context switch. A sleep that no other probe measures counts as a wait for a
 * disk.
 */
#ifndef FS_DISK_WAIT_BPF_H
#define FS_DISK_WAIT_BPF_H

#include "maps.bpf.h"

/*
 * Returns a value that grows only while the thread sleeps. At each update of sum_exec_runtime,
 * exec_start moves on by the time that the thread ran; when the thread gets a CPU again, exec_start
 * becomes the current time (update_curr() and update_stats_curr_start(), kernel/sched/fair.c). So
 * their difference grows by the time without a CPU, and needs no update to be exact. A part of this
 * time is run_delay, in which the thread was able to run.
 */
static __always_inline __u64 slept_ns(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->sched_info.run_delay))
		return 0;
	return get(task, se.exec_start) - get(task, se.sum_exec_runtime) -
	       get(task, sched_info.run_delay);
}

/* Members with CONFIG_IRQ_TIME_ACCOUNTING and CONFIG_PARAVIRT_TIME_ACCOUNTING. */
struct rq___stopping {
	u64 prev_irq_time;
	u64 prev_steal_time_rq;
} __attribute__((preserve_access_index));

/*
 * Returns the run queue of the thread's CPU, or NULL if all CPUs have the same task clock. Task
 * clocks stop in interrupts and while a hypervisor runs other guests, if the kernel measures these
 * times: update_rq_clock_task(), kernel/sched/core.c.
 */
static __always_inline struct rq *queue_of(struct task_struct *task)
{
	struct rq___stopping *rq = NULL;

	if (bpf_core_field_exists(task->se.cfs_rq) &&
	    (bpf_core_field_exists(rq->prev_irq_time) ||
	     bpf_core_field_exists(rq->prev_steal_time_rq)))
		return get(task, se.cfs_rq, rq);
	return NULL;
}

static __always_inline __u64 stopped_ns(struct rq *rq)
{
	return rq ? BPF_CORE_READ(rq, clock) - BPF_CORE_READ(rq, clock_task) : 0;
}

/* Called when a fault of the current thread begins, or when another wait in the fault ends. */
static __always_inline void disk_wait_begins(struct task_struct *current,
					     struct fs_fault_slot *slot)
{
	struct task_struct *task = as_task(current);

	slot->disk_ns = slept_ns(task);
	slot->disk_queue = (__u64)queue_of(task);
}

/* Called when a fault of the current thread ends, or when another wait in the fault begins. */
static __always_inline void disk_wait_ends(struct task_struct *current, struct fs_fault_slot *slot)
{
	struct task_struct *task = as_task(current);
	struct rq *rq = queue_of(task), *before = (struct rq *)slot->disk_queue;
	__s64 ns = slept_ns(task) - slot->disk_ns;

	if (!ns)
		return; /* the thread kept its CPU */
	if (rq != before)
		ns += stopped_ns(rq) - stopped_ns(before);
	if (ns > 0)
		slot->waited_ns[WAIT_DISK] += ns;
}

/* Returns whether the current thread is in a fault, but in no wait that another probe measures. */
static __always_inline bool may_wait_for_disk(const struct fs_fault_slot *slot)
{
	return slot->begin_ns && !slot->reclaim_ns && !slot->wait_ns;
}

/* Called before a wait that another probe measures is noted in the slot. */
static __always_inline void other_wait_begins(struct task_struct *task, struct fs_fault_slot *slot)
{
	if (config.disk_by_counters && may_wait_for_disk(slot))
		disk_wait_ends(task, slot);
}

/* Called after the end of a wait that another probe measures was noted in the slot. */
static __always_inline void other_wait_ends(struct task_struct *task, struct fs_fault_slot *slot)
{
	if (config.disk_by_counters && may_wait_for_disk(slot))
		disk_wait_begins(task, slot);
}

#endif

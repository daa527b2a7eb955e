/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures waits for mmap_lock by the tracepoints of contended locks (16edd9b511a1, 5.19). These
 * fire only if a thread has to sleep, so that a free mmap_lock costs nothing. A thread that waits
 * to write first spins while the holder runs on another CPU: no tracepoint shows this time.
 */
#include "held_lock.bpf.h"

#define LCB_F_SPIN 1 /* value from include/trace/events/lock.h */

static __always_inline bool is_own_mmap_lock(struct task_struct *task, __u64 lock)
{
	__u64 mm = (__u64)get(as_task(task), mm);

	return mm && lock == mm + bpf_core_field_offset(struct mm_struct, mmap_lock);
}

SEC("tp_btf/contention_begin")
int BPF_PROG(on_contention_begin, void *lock, unsigned int flags)
{
	struct task_struct *task, *holder;
	struct fs_fault_slot *slot;
	struct fs_state *st;

	if (flags & LCB_F_SPIN)
		return 0; /* a spinlock: most contended locks are */
	task = current_task();
	if (!is_own_mmap_lock(task, (__u64)lock))
		return 0;
	slot = waiting_slot(task, &st);
	if (!slot)
		return 0;
	holder = note_holder(task, slot, get(as_task(task), mm));
	if (holder && slot->holder == (__u32)get(task, tgid))
		begin_hold(st, holder);
	other_wait_begins(task, slot);
	slot->lock_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(on_contention_end, void *lock)
{
	struct task_struct *task = current_task();
	struct fs_fault_slot *slot;
	struct fs_state *st;
	__u64 ns;

	if (!is_own_mmap_lock(task, (__u64)lock))
		return 0;
	slot = waiting_slot(task, &st);
	if (!slot || !slot->lock_ns)
		return 0;
	ns = ns_since(slot->lock_ns);
	slot->lock_ns = 0;
	other_wait_ends(task, slot);
	if (ns >= LOCK_WAIT_NS)
		count_lock_wait(ctx, task, st, slot, ns);
	return 0;
}

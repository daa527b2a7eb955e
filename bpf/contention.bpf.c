/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures waits for mmap_lock by the tracepoints of contended locks (16edd9b511a1, 5.19). These
 * fire only if a thread has to sleep, so that a free mmap_lock costs nothing. A thread that waits
 * to write first spins while the holder runs on another CPU: no tracepoint shows this time.
 */
#include "held_lock.bpf.h"

/* Values from include/trace/events/lock.h. */
#define LCB_F_SPIN  1
#define LCB_F_READ  2
#define LCB_F_WRITE 4

#define RWSEM_READER_SHIFT 8 /* from kernel/locking/rwsem.c */

#define LATEST_READER_NS 1000000000ULL

static __always_inline bool is_own_mmap_lock(struct task_struct *task, __u64 lock)
{
	__u64 mm = (__u64)get(as_task(task), mm);

	return mm && lock == mm + bpf_core_field_offset(struct mm_struct, mmap_lock);
}

/*
 * Returns whether a thread that now begins to wait to write gets mmap_lock without sleep, because
 * the holder just released it (rwsem_try_write_lock() in kernel/locking/rwsem.c). If another thread
 * then gets the CPU before contention_end, this thread waits for a CPU, and not for the lock.
 */
static __always_inline bool is_free_to_write(struct mm_struct *mm, unsigned int flags)
{
	return flags & LCB_F_WRITE && bpf_core_field_exists(mm->mmap_lock.owner) &&
	       !(get(mm, mmap_lock.count.counter) & ~RWSEM_FLAG_WAITERS);
}

/*
 * munmap() downgrades mmap_lock to a reader's lock, and so lets in all readers that wait.
 * mmap_lock.owner does not name these readers: it names the thread that called munmap(), and nobody
 * after this thread released the lock (rwsem_downgrade_wake() in kernel/locking/rwsem.c). So the
 * latest reader that began to wait is stored, for each address space where a holder was unknown.
 */
static __always_inline void note_waiting_reader(struct task_struct *task, __u64 lock)
{
	__u64 mm = lock - bpf_core_field_offset(struct mm_struct, mmap_lock);
	struct last_holder *h = bpf_map_lookup_elem(&last_holders, &mm);

	if (!h)
		return;
	h->ns = bpf_ktime_get_ns();
	h->pid = get(as_task(task), tgid);
	bpf_probe_read_kernel(h->comm, sizeof(h->comm), as_task(task)->comm);
}

/* Called when a thread begins to wait, and mmap_lock.owner does not name the holder. */
static __always_inline void note_latest_reader(struct fs_fault_slot *slot, struct mm_struct *mm)
{
	struct last_holder none = {}, *h;
	__u64 key = (__u64)mm;

	if (!bpf_core_field_exists(mm->mmap_lock.owner) ||
	    !(get(mm, mmap_lock.count.counter) >> RWSEM_READER_SHIFT))
		return;
	h = bpf_map_lookup_elem(&last_holders, &key);
	if (!h)
		bpf_map_update_elem(&last_holders, &key, &none, BPF_NOEXIST);
	else if (h->pid && ns_since(h->ns) < LATEST_READER_NS)
		set_holder(slot, h, 0);
}

SEC("tp_btf/contention_begin")
int BPF_PROG(on_contention_begin, void *lock, unsigned int flags)
{
	struct task_struct *task, *holder;
	struct fs_fault_slot *slot;
	struct mm_struct *mm;
	struct fs_state *st;

	if (flags & LCB_F_SPIN)
		return 0; /* a spinlock: most contended locks are */
	task = current_task();
	if (!is_own_mmap_lock(task, (__u64)lock)) {
		if (flags & LCB_F_READ)
			note_waiting_reader(task, (__u64)lock);
		return 0;
	}
	mm = get(as_task(task), mm);
	if (is_free_to_write(mm, flags))
		return 0;
	slot = waiting_slot(task, &st);
	if (!slot)
		return 0;
	holder = note_holder(task, slot, mm);
	if (holder && slot->holder == (__u32)get(task, tgid))
		begin_hold(st, holder);
	if (!slot->holder)
		note_latest_reader(slot, mm);
	if (flags & LCB_F_READ)
		note_waiting_reader(task, (__u64)lock);
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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts waits for memory: direct reclaim, and major faults that read from swap. Sums of these
 * waits are kept in the state of the process until a scan sends them.
 */
#ifndef FS_PRESSURE_BPF_H
#define FS_PRESSURE_BPF_H

#include "vma.bpf.h"
#include "state.bpf.h"

static __always_inline int reclaim_begins(void)
{
	struct task_struct *task = current_task();
	struct fs_fault_slot *slot;
	struct fs_state *st;

	if (get(task, flags) & PF_KTHREAD)
		return 0;
	st = proc_of(get(task, group_leader));
	slot = st ? slot_make(task, st) : NULL;
	if (!slot)
		return 0;
	other_wait_begins(task, slot);
	slot->reclaim_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int reclaim_ends(void)
{
	struct task_struct *task = current_task();
	struct task_struct *leader = get(task, group_leader);
	struct fs_fault_slot *slot;
	struct fs_state *st;
	__u64 ns;

	/* `leader` is loaded before any branch: see as_task(). */
	barrier_var(leader);
	slot = slot_find(task);
	if (!slot || !slot->reclaim_ns)
		return 0;
	ns = ns_since(slot->reclaim_ns);
	slot->reclaim_ns = 0;
	other_wait_ends(task, slot);
	st = proc_find(leader);
	if (!st)
		return 0;
	atomic_add(&st->reclaim_ns, ns);
	count_wait(st, slot, WAIT_RECLAIM, ns);
	return 0;
}

static __always_inline bool is_anonymous(__u64 address)
{
	struct mm_struct *mm = BPF_CORE_READ(current_task(), mm);
	struct area a = {.mm = (__u64)mm};
	struct vm_area_struct *vma;

	if (!mm)
		return false;
	find_area(&a, address);
	vma = (struct vm_area_struct *)a.vma;
	return vma && !BPF_CORE_READ(vma, vm_file);
}

#ifndef FS_HASH

/* Returns the number of faults that the kernel has handled for a thread. */
static __always_inline __u32 handled_faults(struct task_struct *task)
{
	return get(task, min_flt) + get(task, maj_flt);
}

/*
 * Begins a fault that may read a file. The kernel calls filemap_fault() (mm/filemap.c) again when
 * it retries the fault (mm/memory.c): then the thread has handled no other fault, and the page is
 * the same.
 */
SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(on_file_fault, struct address_space *mapping, unsigned long index)
{
	struct task_struct *task = current_task();
	struct fs_state *st = proc_of(get(task, group_leader));
	__u64 page = get(mapping, host, i_ino) << 40 ^ index;
	__u32 handled = handled_faults(task);
	struct fs_fault_slot *slot;

	if (!st || times_all(st))
		return 0;
	slot = slot_find(task);
	if (slot && slot->begin_ns && slot->maj_flt == handled && slot->address == page)
		return 0;
	slot = open_slot(task, st);
	if (!slot)
		return 0;
	slot->maj_flt = handled;
	slot->address = page;
	slot->begin_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * Returns whether the begin of a major fault is known, which the kernel has just counted. If it is
 * not, the fault read no file: then all later faults of the process are timed.
 */
static __always_inline bool has_begun(struct task_struct *task, struct fs_state *st)
{
	struct fs_fault_slot *slot = slot_find(task);

	if (times_all(st) ||
	    (slot && slot->begin_ns && slot->maj_flt + 1 == handled_faults(task)))
		return true;
	__sync_fetch_and_or(&st->flags, PROC_TIMED);
	lose_begin(st);
	return false;
}

#else /* older verifiers do not accept this code in the FS_HASH build */

static __always_inline bool has_begun(struct task_struct *task, struct fs_state *st)
{
	return true;
}

#endif

/* Counts a major fault. If it is of anonymous memory, it reads from swap. */
SEC("perf_event")
int on_major(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = current_task();
	struct fs_state *st = proc_find(get(task, group_leader));

	if (!st)
		return 0;
	if (is_anonymous(ctx->addr)) {
		atomic_add(&st->swap_ins, 1);
		st->counted = 1;
	}
	return has_begun(task, st) ? on_served(ctx, END_MAJOR) : 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int on_reclaim_begin(void *ctx)
{
	return reclaim_begins();
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int on_reclaim_end(void *ctx)
{
	return reclaim_ends();
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int on_memcg_reclaim_begin(void *ctx)
{
	return reclaim_begins();
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int on_memcg_reclaim_end(void *ctx)
{
	return reclaim_ends();
}

#ifdef FS_HASH
SEC("raw_tp/mm_vmscan_direct_reclaim_begin")
int raw_reclaim_begin(void *ctx)
{
	return reclaim_begins();
}

SEC("raw_tp/mm_vmscan_direct_reclaim_end")
int raw_reclaim_end(void *ctx)
{
	return reclaim_ends();
}

SEC("raw_tp/mm_vmscan_memcg_reclaim_begin")
int raw_memcg_reclaim_begin(void *ctx)
{
	return reclaim_begins();
}

SEC("raw_tp/mm_vmscan_memcg_reclaim_end")
int raw_memcg_reclaim_end(void *ctx)
{
	return reclaim_ends();
}
#endif

#endif

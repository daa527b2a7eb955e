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
	if (slot)
		slot->reclaim_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int reclaim_ends(void)
{
	struct task_struct *task = current_task();
	struct fs_fault_slot *slot = slot_find(task);
	struct fs_state *st;
	__u64 ns;

	if (!slot || !slot->reclaim_ns)
		return 0;
	ns = ns_since(slot->reclaim_ns);
	slot->reclaim_ns = 0;
	st = proc_find(get(task, group_leader));
	if (!st)
		return 0;
	atomic_add(&st->reclaim_ns, ns);
	tally(st, wait[WAIT_RECLAIM].count, 1);
	tally(st, wait[WAIT_RECLAIM].ns, ns);
	if (slot->begin_ns)
		slot->waited_ns[WAIT_RECLAIM] += ns;
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

/* Counts a major fault of anonymous memory, which reads from swap. */
SEC("perf_event")
int on_major(struct bpf_perf_event_data *ctx)
{
	struct fs_state *st;

	if (is_anonymous(ctx->addr)) {
		st = proc_find(get(current_task(), group_leader));
		if (st) {
			atomic_add(&st->swap_ins, 1);
			st->counted = 1;
		}
	}
	return on_served(ctx, END_MAJOR);
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

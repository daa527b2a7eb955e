/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What threads do themselves for the memory that they ask for: reclaim and compaction. */
#include "state.bpf.h"

static __always_inline struct fs_fault_slot *waiting_slot(struct task_struct *task,
							  struct fs_state **ret_st)
{
	if (get(task, flags) & PF_KTHREAD)
		return NULL; /* kswapd and kcompactd do it for others */
	*ret_st = proc_of(get(task, group_leader));
	return *ret_st ? slot_make(task, *ret_st) : NULL;
}

static __always_inline int begin_wait(void)
{
	struct fs_fault_slot *slot;
	struct fs_state *st;

	slot = waiting_slot(current_task(), &st);
	if (slot)
		slot->wait_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int end_wait(__u32 wait)
{
	struct fs_fault_slot *slot;
	struct fs_state *st;
	__u64 ns;

	slot = waiting_slot(current_task(), &st);
	if (!slot || !slot->wait_ns)
		return 0;
	ns = bpf_ktime_get_ns() - slot->wait_ns;
	slot->wait_ns = 0;
	tally(st, wait[wait].count, 1);
	tally(st, wait[wait].ns, ns);
	if (slot->begin_ns)
		slot->waited_ns[wait] += ns;
	return 0;
}

/* Arguments differ between kernels, and are of no use here. */
SEC("raw_tp/mm_vmscan_direct_reclaim_begin")
int on_reclaim_begin(void *ctx)
{
	return begin_wait();
}

SEC("raw_tp/mm_vmscan_direct_reclaim_end")
int on_reclaim_end(void *ctx)
{
	return end_wait(FS_WAIT_RECLAIM);
}

SEC("raw_tp/mm_vmscan_memcg_reclaim_begin")
int on_group_reclaim_begin(void *ctx)
{
	return begin_wait();
}

SEC("raw_tp/mm_vmscan_memcg_reclaim_end")
int on_group_reclaim_end(void *ctx)
{
	return end_wait(FS_WAIT_RECLAIM);
}

SEC("raw_tp/mm_compaction_begin")
int on_compaction_begin(void *ctx)
{
	return begin_wait();
}

SEC("raw_tp/mm_compaction_end")
int on_compaction_end(void *ctx)
{
	return end_wait(FS_WAIT_COMPACTION);
}

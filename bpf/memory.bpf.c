/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What threads do, or wait for, to get memory: reclaim, compaction, the lock of the address space.
 */
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

#define RWSEM_READER_OWNED 1 /* kernel/locking/rwsem.c */
#define RWSEM_OWNER_FLAGS  7
#define LOCK_WAIT_NS	   10000 /* what takes less was not waited for */

/* Of a lock that is taken: by whom. Of several readers it is the one that came last. */
static __always_inline void note_holder(struct task_struct *task, struct fs_fault_slot *slot,
					struct mm_struct *mm)
{
	struct task_struct *holder;
	__u64 owner;

	slot->holder = 0;
	if (!BPF_CORE_READ(mm, mmap_lock.count.counter) ||
	    !bpf_core_field_exists(mm->mmap_lock.owner))
		return;
	owner = BPF_CORE_READ(mm, mmap_lock.owner.counter);
	holder = (struct task_struct *)(owner & ~(__u64)RWSEM_OWNER_FLAGS);
	if (!holder || holder == task)
		return;
	slot->holder = BPF_CORE_READ(holder, tgid);
	slot->holder_writes = !(owner & RWSEM_READER_OWNED);
	bpf_probe_read_kernel(slot->holder_comm, sizeof(slot->holder_comm), holder->comm);
}

/* `mm`: of others too, in /proc and in reclaim. */
static __always_inline struct fs_fault_slot *locking_slot(struct task_struct *task, __u64 mm,
							  struct fs_state **ret_st)
{
	return (__u64)get(task, mm) == mm ? waiting_slot(task, ret_st) : NULL;
}

SEC("raw_tp/mmap_lock_start_locking")
int on_lock_begin(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = current_task();
	struct fs_fault_slot *slot;
	struct fs_state *st;

	slot = locking_slot(task, ctx->args[0], &st);
	if (!slot)
		return 0;
	note_holder(task, slot, (struct mm_struct *)ctx->args[0]);
	slot->lock_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("raw_tp/mmap_lock_acquire_returned")
int on_lock_end(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = current_task();
	struct fs_fault_slot *slot;
	struct fs_state *st;
	__u64 ns;

	slot = locking_slot(task, ctx->args[0], &st);
	if (!slot || !slot->lock_ns)
		return 0;
	ns = bpf_ktime_get_ns() - slot->lock_ns;
	slot->lock_ns = 0;
	if (ns < LOCK_WAIT_NS)
		return 0;
	tally(st, wait[FS_WAIT_LOCK].count, 1);
	tally(st, wait[FS_WAIT_LOCK].ns, ns);
	if (slot->begin_ns)
		slot->waited_ns[FS_WAIT_LOCK] += ns;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The mmap family: VMA count, sizes, refusals. */
#include "refusal.bpf.h"

#define ENOMEM 12
#define EAGAIN 11

static __always_inline void count_map_size(struct fs_state *st, __u64 bytes)
{
	__u32 bucket = log2_of(bytes >> FS_MAP_SIZE_SHIFT);

	if (bucket >= FS_NR_MAP_SIZES)
		bucket = FS_NR_MAP_SIZES - 1;
	bump(st->c.map_size[bucket & (FS_NR_MAP_SIZES - 1)]);
}

static __always_inline void on_map_call(struct fs_state *st, struct task_struct *task,
					struct pt_regs *regs, struct fs_syscall sc, long ret)
{
	__u32 i = (sc.call - FS_CALL_MMAP) & 15;
	struct mm_struct *mm = task->mm;
	bool refused = (unsigned long)ret > -4096UL;
	__u16 error = refused ? -ret : 0;
	__u32 count, before;

	if (i >= FS_NR_MAP_CALLS || !mm)
		return;
	if (sc.shape == FS_SHAPE_MADVISE && refused && error != ENOMEM && error != EAGAIN)
		return; /* advice that this kernel or mapping does not take */
	if (sc.shape == FS_SHAPE_BRK)
		refused = regs->di && (unsigned long)ret < regs->di;
	/* Deltas telescope, whoever of several threads is first: their sum is the count's change.
	 */
	count = mm->map_count;
	before = __sync_lock_test_and_set(&st->last_map_count, count);
	if (!before)
		; /* the first look at a process that was there before us */
	else if (count > before)
		__sync_fetch_and_add(&st->c.map_call[i].vmas_added, count - before);
	else if (count < before)
		__sync_fetch_and_add(&st->c.map_call[i].vmas_removed, before - count);
	saw_map_count(st, task->group_leader, count);
	if (refused) {
		bump(st->c.map_call[i].refused);
		emit_refusal(st, task, regs, sc.call, ret, error, false);
		return;
	}
	bump(st->c.map_call[i].calls);
	if (sc.shape == FS_SHAPE_MMAP)
		count_map_size(st, regs->si);
}

/* Tier 1: fires for each mapping that needs an address, refused ones too, and taxes nothing else.
 */
SEC("tp_btf/vm_unmapped_area")
int BPF_PROG(on_unmapped_area, unsigned long address)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fs_state *st = proc_of(task);
	struct mm_struct *mm = task->mm;

	if (!st || !mm)
		return 0;
	bump(st->c.unmapped_area);
	saw_map_count(st, task->group_leader, mm->map_count);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples page faults at random, with address and mapping. Samples show where a process faults, at
 * the cost of one random number for each fault that is not sampled.
 */
#ifndef FS_SAMPLE_BPF_H
#define FS_SAMPLE_BPF_H

#include "vma.bpf.h"
#include "state.bpf.h"

#define VM_GROWSDOWN 0x100 /* value from include/linux/mm.h */

/*
 * Returns how many page faults a sample of the last fault represents, or 0 if it is not sampled.
 * Slow faults are sampled SAMPLE_EACH times as often as others, because a few of them cause most of
 * the delay.
 */
static __always_inline __u32 sample_weight(bool slow)
{
#ifdef FS_HASH
	return 0; /* older verifiers do not accept the code for user stacks */
#else
	__u32 each = shared.sample_each;

	if (!config.samples || !each)
		return 0;
	if (slow)
		each /= SAMPLE_EACH;
	if (each > 1 && bpf_get_prandom_u32() & (each - 1))
		return 0;
	return each ? each : 1;
#endif
}

/* Returns the kind of the mapping, as /proc/PID/maps shows it. */
static __always_inline __u32 kind_of_area(struct mm_struct *mm, struct vm_area_struct *vma,
					  struct file *file, const struct area *a)
{
	__u64 flags = BPF_CORE_READ(vma, vm_flags);

	if (file)
		return BPF_CORE_READ(file, f_inode, i_sb, s_magic) == SHMEM_MAGIC
			       ? HOLDING_SHARED_MEMORY
		       : flags & VM_SHARED ? HOLDING_FILE_SHARED
					   : HOLDING_FILE_PRIVATE;
	if (BPF_CORE_READ(vma, vm_ops))
		return HOLDING_SPECIAL;
	if (flags & VM_GROWSDOWN)
		return HOLDING_STACK;
	return a->from < BPF_CORE_READ(mm, brk) && a->to > BPF_CORE_READ(mm, start_brk)
		       ? HOLDING_HEAP
		       : HOLDING_ANONYMOUS;
}

static __always_inline void name_area(struct sample_record *r, struct mm_struct *mm)
{
	struct area a = {.mm = (__u64)mm};
	struct vm_area_struct *vma;
	struct file *file;

	find_area(&a, r->address);
	vma = (struct vm_area_struct *)a.vma;
	if (!vma)
		return; /* the address was unmapped since the fault */
	file = BPF_CORE_READ(vma, vm_file);
	r->area_from = a.from;
	r->area_to = a.to;
	r->kind = kind_of_area(mm, vma, file, &a);
	if (file)
		bpf_probe_read_kernel_str(r->file, sizeof(r->file),
					  BPF_CORE_READ(file, f_path.dentry, d_name.name));
}

/* Sends the sampled fault that the current thread just ended. */
once_verified int note_sample(struct fs_fault_slot *slot, __u32 class, __s32 stack, __u32 weight)
{
	struct task_struct *task = current_task();
	struct sample_record *r;

	if (!slot)
		return 0;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		bump(shared.losses.ring);
		return 0;
	}
	__builtin_memset(r, 0, sizeof(*r));
	fill_header(&r->h, RECORD_SAMPLE, sizeof(*r));
	r->subject.start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	r->subject.pid = BPF_CORE_READ(task, tgid);
	r->tid = BPF_CORE_READ(task, pid);
	r->weight = weight;
	r->class = class;
	r->stack = stack;
	r->address = slot->address;
	r->took_ns = slot->ended_ns;
	r->read_bytes = slot->read_bytes;
	r->major = slot->end == END_MAJOR;
	r->kind = HOLDING_OTHER;
	name_area(r, BPF_CORE_READ(task, mm));
	bpf_ringbuf_submit(r, wake_when_filling());
	bump(shared.sampled);
	return 0;
}

#endif

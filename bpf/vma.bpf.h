/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is mapped at an address of the current process, by going down the tree of its mappings as it
 * stands: without a lock, so that it works wherever a hook does (bpf_find_vma() answers -EBUSY
 * where interrupts are off and its deferred unlocking is taken). Each pointer is read as data; what
 * a change under way garbles is told by `mm_changes`.
 */
#ifndef FS_VMA_BPF_H
#define FS_VMA_BPF_H

#include "maps.bpf.h"

#define SHMEM_MAGIC 0x01021994 /* include/uapi/linux/magic.h */

/* A mapping, or the hole between two: [from, to). */
struct area {
	__u64 mm;  /* as a number: to a function of its own no kernel pointer is passed */
	__u64 vma; /* the same; 0: a hole */
	__u64 from;
	__u64 to;
};

/*
 * A maple tree (d4af56c5c7c6, 6.1): include/linux/maple_tree.h, of 64 bits. Not relocated: for
 * types that an older kernel does not have libbpf searches the modules' BTF, which CAP_BPF alone
 * does not permit. User space compares them to the kernel's BTF: src/probe/layout.c.
 */
#define MAPLE_LEVELS 8 /* 16 entries a leaf, 10 a node above: more than may be mapped */

#define is_maple_root(entry) (((entry)&3) == 2 && (entry) > 4096)

/* ma_data_end(): which entry is the last one that a node has. */
static __always_inline __u32 last_of_node(__u64 node, __u32 type, __u64 high)
{
	__u64 pivot = 0;
	__u8 last = 0;

	if (type != FS_MAPLE_ARANGE)
		pivot = word_at(node + FS_MAPLE_PIVOTS + FS_MAPLE_RANGE_LAST * 8);
	if (pivot)
		return pivot == high ? FS_MAPLE_RANGE_LAST : FS_MAPLE_RANGE_LAST + 1;
	bpf_probe_read_kernel(&last, sizeof(last),
			      (void *)node + (type == FS_MAPLE_ARANGE ? FS_MAPLE_ARANGE_META
								      : FS_MAPLE_RANGE_META));
	return last;
}

/*
 * mtree_range_walk(). The last address of the mapping is kept in `a`, not in a variable: this
 * function is at the end of most chains of calls, and takes 24 bytes less of the stack so.
 */
static __always_inline void find_in_maple_tree(struct area *a, __u64 root, __u64 address)
{
	__u64 entry = root;

	if (!is_maple_root(entry))
		entry = 0;
	for (__u32 level = 0; level < MAPLE_LEVELS && entry; level++) {
		__u64 node = entry & ~0xffUL, pivot;
		__u32 type = entry >> 3 & 0xf, last, i;

		if (type < FS_MAPLE_LEAF || type > FS_MAPLE_ARANGE) {
			a->to = ~0UL;
			return;
		}
		last = last_of_node(node, type, a->to);
		for (i = 0; i <= FS_MAPLE_RANGE_LAST; i++) {
			if (i >= last)
				break;
			pivot = word_at(node + FS_MAPLE_PIVOTS + i * 8);
			if (address <= pivot) {
				a->to = pivot;
				break;
			}
			a->from = pivot + 1;
		}
		entry = word_at(
			node +
			(type == FS_MAPLE_ARANGE ? FS_MAPLE_ARANGE_SLOTS : FS_MAPLE_RANGE_SLOTS) +
			i * 8);
		if (type == FS_MAPLE_LEAF) {
			a->vma = entry > 4096 ? entry : 0;
			break;
		}
	}
	if (a->to != ~0UL)
		a->to++;
}

/* Before it a red-black tree. */
struct rb_node___areas {
	struct rb_node___areas *rb_right, *rb_left;
} __attribute__((preserve_access_index));
struct vm_area_struct___rb {
	unsigned long vm_start, vm_end;
	struct rb_node___areas vm_rb;
} __attribute__((preserve_access_index));
struct mm_struct___rb {
	struct {
		struct rb_node___areas *rb_node;
	} mm_rb;
} __attribute__((preserve_access_index));

#define RB_LEVELS 40 /* twice the logarithm of more than may be mapped */

static __always_inline void find_in_rb_tree(struct area *a, struct rb_node___areas *root,
					    __u64 address)
{
	void *node = root;

	a->to = ~0UL;
	for (__u32 level = 0; level < RB_LEVELS && node; level++) {
		struct vm_area_struct___rb *vma =
			node - bpf_core_field_offset(struct vm_area_struct___rb, vm_rb);
		__u64 start = BPF_CORE_READ(vma, vm_start), end = BPF_CORE_READ(vma, vm_end);

		if (address < start) {
			a->to = start;
			node = BPF_CORE_READ(vma, vm_rb.rb_left);
		} else if (address >= end) {
			a->from = end;
			node = BPF_CORE_READ(vma, vm_rb.rb_right);
		} else {
			a->vma = (__u64)vma;
			a->from = start;
			a->to = end;
			break;
		}
	}
}

static __always_inline void search_area(struct area *a, __u64 address)
{
	struct mm_struct *mm = (struct mm_struct *)a->mm;

	a->vma = a->from = 0;
	a->to = ~0UL;
	if (config.areas_foreign)
		return;
	if (bpf_core_field_exists(mm->mm_mt))
		find_in_maple_tree(a, (__u64)BPF_CORE_READ(mm, mm_mt.ma_root), address);
	else if (bpf_core_field_exists(((struct mm_struct___rb *)mm)->mm_rb))
		find_in_rb_tree(a, BPF_CORE_READ((struct mm_struct___rb *)mm, mm_rb.rb_node),
				address);
}

#ifdef FS_HASH

enum area_part { AREA_VMA, AREA_FROM, AREA_TO };

/*
 * A global function takes and returns numbers alone before 5.12: so each call answers one part.
 * `known`: the mapping, where an earlier call found one, which spares the search.
 */
__noinline __u64 search_area_for(__u64 mm, __u64 address, __u32 part, __u64 known)
{
	struct area a = {.mm = mm, .vma = known};

	if (known) {
		a.from = BPF_CORE_READ((struct vm_area_struct *)known, vm_start);
		a.to = BPF_CORE_READ((struct vm_area_struct *)known, vm_end);
	} else {
		search_area(&a, address);
	}
	return part == AREA_VMA ? a.vma : part == AREA_FROM ? a.from : a.to;
}

/* What is at an address: fills all but `mm`. Without a branch, for the verifier. */
static __always_inline void find_area(struct area *a, __u64 address)
{
	a->vma = search_area_for(a->mm, address, AREA_VMA, 0);
	a->from = search_area_for(a->mm, address, AREA_FROM, a->vma);
	a->to = search_area_for(a->mm, address, AREA_TO, a->vma);
}

#else

/* What is at an address: fills all but `mm`. */
once_verified int find_area(struct area *a, __u64 address)
{
	if (a)
		search_area(a, address);
	return 0;
}

#endif

/*
 * A figure that is another one where mappings were changed in between; ~0: they are just now, or
 * cannot be read.
 */
static __always_inline __u64 mm_changes(struct mm_struct *mm)
{
	if (config.areas_foreign)
		return ~0UL;
	/* include/linux/rwsem.h: RWSEM_WRITER_LOCKED */
	if (BPF_CORE_READ(mm, mmap_lock.count.counter) & 1)
		return ~0UL;
	return BPF_CORE_READ(mm, total_vm) * 31 + BPF_CORE_READ(mm, data_vm) * 7 +
	       BPF_CORE_READ(mm, locked_vm);
}

#endif

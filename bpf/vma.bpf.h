/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the mapping at an address of the current process. The search walks the kernel's tree of
 * VMAs without a lock, so that it works in every probe. (bpf_find_vma() returns -EBUSY if
 * interrupts are off and its irq_work is in use.) Pointers are read as data; mm_changes() detects
 * concurrent changes.
 */
#ifndef FS_VMA_BPF_H
#define FS_VMA_BPF_H

#include "maps.bpf.h"

#define SHMEM_MAGIC 0x01021994 /* value from include/uapi/linux/magic.h */

/* A mapping, or a hole between two mappings: addresses from `from` to `to` - 1. */
struct area {
	/* The address of the mm_struct: global functions take no kernel pointers before 5.12. */
	__u64 mm;
	__u64 vma; /* address of the vm_area_struct; 0: the area is a hole */
	__u64 from;
	__u64 to;
};

/*
 * Constants of a maple tree on 64 bits (d4af56c5c7c6, 6.1; include/linux/maple_tree.h). libbpf does
 * not relocate these constants. If an older kernel lacked a type, libbpf would search the BTF of
 * modules, which CAP_BPF alone does not permit. src/probe/layout.c compares the constants with the
 * kernel's BTF.
 */
/* Maximum tree depth: 16 entries per leaf and 10 per inner node are enough for vm.max_map_count. */
#define MAPLE_LEVELS 8

#define is_maple_root(entry) (((entry)&3) == 2 && (entry) > 4096)

#ifdef FS_ADDRESSES
/* The begin of a node. Both kinds of nodes have their pivots at the same place. */
typedef const struct {
	__u64 parent;
	__u64 pivot[FS_MAPLE_RANGE_LAST + 1];
} *maple_words;
#define words_of(node)	   ((maple_words)read_only_cast((const void *)(node), config.maple_type))
#define pivot_of(words, i) ((words)->pivot[i])
#else
typedef __u64 maple_words;
#define words_of(node)	   (node)
#define pivot_of(words, i) word_at((words) + FS_MAPLE_PIVOTS + (i) * 8)
#endif

/* Returns the index of the last used entry of a maple tree node, as the kernel's ma_data_end(). */
static __always_inline __u32 last_of_node(__u64 node, __u32 type, __u64 high)
{
	__u64 pivot = 0;
	__u8 last = 0;

	if (type != FS_MAPLE_ARANGE)
		pivot = pivot_of(words_of(node), FS_MAPLE_RANGE_LAST);
	if (pivot)
		return pivot == high ? FS_MAPLE_RANGE_LAST : FS_MAPLE_RANGE_LAST + 1;
	bpf_probe_read_kernel(&last, sizeof(last),
			      (void *)node + (type == FS_MAPLE_ARANGE ? FS_MAPLE_ARANGE_META
								      : FS_MAPLE_RANGE_META));
	return last;
}

/*
 * Searches one node of a maple tree, and narrows `a` to the entry that contains `address`. Returns
 * the address of the child node to search next, or 0: the search has ended. This is a global
 * function, because the verifier would check the loop once for each level of the tree. The FS_HASH
 * build inlines it, because before 5.12 a global function takes no pointer.
 */
#ifdef FS_HASH
static __always_inline
#else
__noinline
#endif
	__u64 search_maple_node(struct area *a, __u64 entry, __u64 address)
{
	__u64 node = entry & ~0xffUL, pivot;
	__u32 type = entry >> 3 & 0xf, last, i;
	maple_words words;

	if (!a)
		return 0;
	if (type < FS_MAPLE_LEAF || type > FS_MAPLE_ARANGE) {
		a->to = ~0UL;
		return 0;
	}
	last = last_of_node(node, type, a->to);
	words = words_of(node);
#ifdef FS_ADDRESSES
#pragma clang loop unroll(full) /* a plain load needs a constant offset */
#endif
	for (i = 0; i <= FS_MAPLE_RANGE_LAST; i++) {
		/* Keeps clang from merging both ends of the loop, which it then does not unroll. */
		barrier_var(last);
		if (i >= last)
			break;
		pivot = pivot_of(words, i);
		if (address <= pivot) {
			a->to = pivot;
			break;
		}
		a->from = pivot + 1;
	}
	entry = word_at(node +
			(type == FS_MAPLE_ARANGE ? FS_MAPLE_ARANGE_SLOTS : FS_MAPLE_RANGE_SLOTS) +
			i * 8);
	if (type != FS_MAPLE_LEAF)
		return entry;
	a->vma = entry > 4096 ? entry : 0;
	return 0;
}

/*
 * Searches a maple tree as the kernel's mtree_range_walk() does. The last address of the mapping is
 * kept in `a`, not in a variable, to save stack: the deepest call chains end here.
 */
static __always_inline void find_in_maple_tree(struct area *a, __u64 root, __u64 address)
{
	__u64 entry = is_maple_root(root) ? root : 0;

	/* Unrolled, because before 6.2 a loop may contain no call ("back-edge"). */
#pragma clang loop unroll(full)
	for (__u32 level = 0; level < MAPLE_LEVELS; level++)
		if (entry)
			entry = search_maple_node(a, entry, address);
	if (a->to != ~0UL)
		a->to++;
}

/* Kernels before 6.1 keep mappings in a red-black tree. */
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

#define RB_LEVELS 40 /* twice log2 of the maximum number of mappings */

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
 * Returns one part of the mapping at `address`, because before 5.12 a global function takes and
 * returns only numbers. `known` is the vm_area_struct that an earlier call found, or 0; it saves a
 * search.
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

/*
 * Finds the mapping or hole at `address`; fills all members of `a` but `mm`. The code has no
 * branches, for the verifier.
 */
static __always_inline void find_area(struct area *a, __u64 address)
{
	a->vma = search_area_for(a->mm, address, AREA_VMA, 0);
	a->from = search_area_for(a->mm, address, AREA_FROM, a->vma);
	a->to = search_area_for(a->mm, address, AREA_TO, a->vma);
}

#else

/* Finds the mapping or hole at `address`; fills all members of `a` but `mm`. */
once_verified int find_area(struct area *a, __u64 address)
{
	if (a)
		search_area(a, address);
	return 0;
}

#endif

/*
 * Returns a number that differs after each change of the mappings. Returns ~0 in two cases:
 * mappings are changing, or the number cannot be read.
 */
static __always_inline __u64 mm_changes(struct mm_struct *mm)
{
	if (config.areas_foreign)
		return ~0UL;
	/* The bit RWSEM_WRITER_LOCKED of include/linux/rwsem.h. */
	if (BPF_CORE_READ(mm, mmap_lock.count.counter) & 1)
		return ~0UL;
	return BPF_CORE_READ(mm, total_vm) * 31 + BPF_CORE_READ(mm, data_vm) * 7 +
	       BPF_CORE_READ(mm, locked_vm);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Determines the class of a page fault from the mapping and the error code at its start, and from
 * the kernel's counters at its end. The mapping is cached until mappings change, since a thread
 * often faults in one mapping repeatedly.
 */
#ifndef FS_CLASS_BPF_H
#define FS_CLASS_BPF_H

#include "disk_wait.bpf.h"
#include "slow_fault.bpf.h"

/* VM_* of include/linux/mm.h. VM_UFFD_MINOR is not tested: its bit changed several times. */
#define VM_UFFD_MISSING 0x200
#define VM_PFNMAP	0x400
#define VM_UFFD_WP	0x1000
#define VM_IO		0x4000
#define VM_HUGETLB	0x400000
#define VM_MIXEDMAP	0x10000000

#define AREA_UNKNOWN 0
#define AREA_ANON    1
#define AREA_FILE    2
#define AREA_SHMEM   3
#define AREA_HUGETLB 4
#define AREA_DRIVER  5
#define AREA_GROWS   6 /* the address is in a hole below a stack, which can grow down to it */
#define AREA_SORT    7
/* AREA_SHARED and the values below are flags, which are combined with a kind */
#define AREA_SHARED  8
#define AREA_MISSING 16
#define AREA_WP	     32

#define NEVER_HUGE	  (1LL << 62)
#define HUGE_PAGES	  512 /* number of 4 KiB pages in a huge page */
#define HUGE_PAGE_BYTES	  (HUGE_PAGES * 4096UL)
#define MOST_OTHERS_PAGES 256 /* maximum number of other pages that fault-around maps */

static __always_inline __u32 sort_of_area(struct vm_area_struct *vma, __u64 flags)
{
	struct file *file;

	if (flags & VM_HUGETLB)
		return AREA_HUGETLB;
	if (flags & (VM_PFNMAP | VM_MIXEDMAP | VM_IO))
		return AREA_DRIVER;
	if (!get_cast(vma, vm_ops)) /* vma_is_anonymous() of the kernel makes this test */
		return AREA_ANON;
	file = get_cast(vma, vm_file);
	if (!file)
		return AREA_DRIVER; /* a special mapping, for example [vdso] */
	return get_cast(file, f_inode, i_sb, s_magic) == SHMEM_MAGIC ? AREA_SHMEM : AREA_FILE;
}

static __always_inline __u32 flags_of_area(__u64 flags)
{
	return (flags & VM_SHARED ? AREA_SHARED : 0) |
	       (flags & VM_UFFD_MISSING ? AREA_MISSING : 0) | (flags & VM_UFFD_WP ? AREA_WP : 0);
}

/*
 * Caches the kind of mapping at the fault's address. A hole is not cached, because a stack above
 * the hole may grow into it.
 */
once_verified int classify_area(struct fs_fault_slot *slot)
{
	struct area a = {.mm = (__u64)BPF_CORE_READ(current_task(), mm)};
	struct vm_area_struct *vma;
	__u64 flags;

	if (!slot || !a.mm)
		return 0;
	slot->area = AREA_UNKNOWN;
	find_area(&a, slot->address);
	vma = as_area(a.vma);
	slot->area_from = a.from;
	slot->area_to = vma ? a.to : 0;
	if (!vma)
		find_area(&a, a.to);
	vma = as_area(a.vma);
	if (!vma)
		return 0;
	flags = get_cast(vma, vm_flags);
	if (slot->area_to)
		slot->area = sort_of_area(vma, flags) | flags_of_area(flags);
	else if (flags & VM_GROWSDOWN)
		slot->area = AREA_GROWS;
	return 0;
}

static __always_inline void serve_as(struct fs_fault_slot *slot, __u32 minor, __u32 major)
{
	slot->as[END_MINOR] = minor;
	slot->as[END_MAJOR] = major;
}

static __always_inline void expect_class(struct fs_fault_slot *slot, __u32 what)
{
	__u32 area = slot->area;
	bool write = what >> 1 & FAULT_WRITE, present = what & FAULT_PROT;
	bool copies = write && !(area & AREA_SHARED);

	if (present ? write && area & AREA_WP : area & AREA_MISSING)
		return serve_as(slot, CLASS_UFFD, CLASS_UFFD);
	switch (area & AREA_SORT) {
	case AREA_ANON:
		return serve_as(slot,
				present ? CLASS_COW
				: write ? CLASS_ANONYMOUS
					: CLASS_ZERO,
				CLASS_SWAP);
	case AREA_FILE:
		return serve_as(slot, copies ? CLASS_COW : CLASS_FILE_MINOR, CLASS_FILE_MAJOR);
	case AREA_SHMEM:
		return serve_as(slot, copies ? CLASS_COW : CLASS_SHMEM, CLASS_SWAP);
	case AREA_HUGETLB:
		return serve_as(slot, CLASS_HUGETLB, CLASS_HUGETLB);
	case AREA_DRIVER:
		return serve_as(slot, CLASS_DRIVER, CLASS_DRIVER);
	case AREA_GROWS:
		return serve_as(slot, CLASS_STACK, CLASS_STACK);
	}
	serve_as(slot, CLASS_OTHER, CLASS_OTHER);
}

static __always_inline bool may_be_huge(const struct fs_fault_slot *slot)
{
	__u64 from = slot->address & ~(HUGE_PAGE_BYTES - 1);

	return slot->as[END_MINOR] <= CLASS_ZERO && from >= slot->area_from &&
	       from + HUGE_PAGE_BYTES <= slot->area_to;
}

/*
 * Returns whether the kernel may count the fault as major only because it was retried. For such a
 * fault, the bytes that the thread read from disk show whether the fault was major.
 */
static __always_inline bool is_odd_major(const struct fs_fault_slot *slot, __u32 what)
{
	return retries_shared_writes() && what >> 1 & FAULT_WRITE && slot->area & AREA_SHARED;
}

/* Called at the start of a fault of the current task. `what` has FAULT_* bits. */
static __always_inline void begin_class(struct task_struct *task, struct mm_struct *mm,
					struct fs_fault_slot *slot, __u64 address, __u32 what)
{
	__u64 version = mappings_version(mm);

	slot->address = address;
	if (address < slot->area_from || address >= slot->area_to ||
	    version != slot->area_version) {
		slot->area_version = version;
		classify_area(slot);
	}
	expect_class(slot, what);
	slot->read_for = NR_CLASSES;
	if (is_odd_major(slot, what)) {
		slot->read_for = slot->as[END_MAJOR];
		slot->as[END_MAJOR] = slot->as[END_MINOR];
	}
	for (int i = 0; i < NR_WAITS; i++)
		slot->waited_ns[i] = 0;
	if (config.disk_by_counters)
		disk_wait_begins(task, slot);
	else
		slot->disk_ns = 0;
	slot->read_bytes = bytes_read(task);
	if (config.numa)
		slot->numa = numa_figure(task);
	if (config.huge_by_rss)
		slot->known = may_be_huge(slot) ? rss_pages(mm, 1) : NEVER_HUGE;
}

static __always_inline void was_huge(struct fs_fault_slot *slot)
{
	slot->as[END_MINOR] = slot->waited_ns[WAIT_COMPACTION] ? CLASS_COMPACTED : CLASS_HUGE;
}

/* Returns whether a fault of this class sleeps, but not for a disk. */
static __always_inline bool waits_elsewhere(__u32 class)
{
	return class == CLASS_UFFD || class == CLASS_DRIVER;
}

/* Called at the end of a fault, in the thread that faulted. */
static __always_inline void end_class(void *ctx, struct task_struct *task,
				      struct fs_fault_slot *slot)
{
	struct mm_struct *mm = get(as_task(task), mm);
	__u32 weight;

	if (config.disk_by_counters) {
		disk_wait_ends(task, slot);
		/* The scheduler's clock differs from that of ended_ns. */
		if (slot->waited_ns[WAIT_DISK] > slot->ended_ns)
			slot->waited_ns[WAIT_DISK] = slot->ended_ns;
	}
	slot->read_bytes = bytes_read(task) - slot->read_bytes;
	if (slot->read_bytes && slot->read_for < NR_CLASSES)
		slot->as[END_MAJOR] = slot->read_for;
	if (config.numa && slot->numa != numa_figure(task))
		serve_as(slot, CLASS_NUMA, CLASS_NUMA);
	if (config.huge_by_rss && slot->known != NEVER_HUGE &&
	    rss_pages(mm, 1) - slot->known >= HUGE_PAGES - MOST_OTHERS_PAGES)
		was_huge(slot);
	if (config.disk_by_counters && waits_elsewhere(slot->as[slot->end & 1]))
		slot->waited_ns[WAIT_DISK] = 0;
	weight = sample_weight(is_slow(slot));
	if (weight || is_slow(slot))
		send_slow_fault(ctx, task, slot, slot->as[slot->end & 1], weight);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads which of the chosen pages of a process are in memory or in swap, from its page table. The
 * kernel's own readers (/proc/PID/pagemap) hold the mmap_lock of the process, for which its threads
 * then wait. This program takes no lock, so a table may be freed while it is read. The kernel
 * clears the entry that refers to a table before it frees the table: if this entry is still the
 * same after an entry of the table was read, the table was valid. Otherwise the record says
 * FS_PAGE_UNKNOWN.
 * The first table, and the memory descriptor (mm_struct), exist for as long as the task refers to
 * it: exit_mm() and exec_mmap() change task->mm before they release it.
 */
#ifndef FS_RESIDENT_READ_BPF_H
#define FS_RESIDENT_READ_BPF_H

#include "resident.bpf.h"

#ifndef FS_HASH

/*
 * Limits of one run. It takes less than 0.3 ms, during which kernels without preemption run nothing
 * else on the CPU. All records must fit into the buffer of the iterator's file, 32 KiB, and a range
 * of 2 MiB has up to 512.
 */
#define READ_RANGES_MAX	 128
#define READ_RECORDS_MAX 800

#define PAGES_OF_RANGE (1U << FS_RESIDENT_HUGE_SHIFT)
#define PAGES_AT_ONCE  8
/* What must not change while a table is read. The CPU may set other bits, as "accessed". */
#define ENTRY_REFERENCE (ENTRY_FRAME_MASK | ENTRY_PRESENT)

struct page_walk {
	struct seq_file *seq;
	__u64 first_table;
	__u64 page, to;	 /* the next page; the first page that is not wanted */
	__u64 end;	 /* the first page behind the range of 2 MiB */
	__u64 refers_at; /* address of the entry that refers to the table of the range */
	__u64 refers;	 /* that entry */
	__u32 below;	 /* see shared.resident_below */
};

static __always_inline void send_page(struct page_walk *w, __u64 page, __u64 frame, __u32 what)
{
	struct fs_page_read r = {.page = page, .frame = frame, .what = what};

	bpf_seq_write(w->seq, &r, sizeof(r));
	shared.resident_read.records++; /* a variable of unknown value, so that loops converge */
}

/*
 * Returns what an entry that is not 0 says about its page, and *ret_frame; 0: not in memory. On
 * x86, an entry without ENTRY_PRESENT may still be of a page in memory: one that no access reaches
 * (PROT_NONE, NUMA balancing). Such entries have the bit _PAGE_PROTNONE, and the frame is inverted
 * (arch/x86/include/asm/pgtable-invert.h). On arm64, this bit depends on the kernel's version.
 */
static __always_inline __u32 what_of_entry(__u64 entry, __u64 *ret_frame)
{
	if (entry & ENTRY_PRESENT) {
		*ret_frame = (entry & ENTRY_FRAME_MASK) >> 12;
		return FS_PAGE_PRESENT;
	}
	*ret_frame = 0;
#if defined(__TARGET_ARCH_x86)
	if (!(entry & 0x100))
		return FS_PAGE_SWAPPED;
	*ret_frame = (~entry & ENTRY_FRAME_MASK) >> 12;
	return FS_PAGE_PRESENT;
#else
	return FS_PAGE_UNKNOWN;
#endif
}

/* An entry to read, from the table of its range. */
struct page_entry {
	__u64 refers_at, refers; /* as in struct page_walk */
	__u64 page;
	__u64 frame; /* result */
};

/* Returns FS_PAGE_* bits; 0: the page is not in memory. */
once_verified int read_entry(struct page_entry *e)
{
	__u64 entry;
	__u32 what;

	if (!e)
		return 0;
	entry = entry_of(shared.resident_map_base + (e->refers & ENTRY_FRAME_MASK), e->page << 12,
			 TABLE_SHIFT);
	what = entry ? what_of_entry(entry, &e->frame) : 0;
	if ((word_at(e->refers_at) ^ e->refers) & ENTRY_REFERENCE)
		return FS_PAGE_UNKNOWN;
	return what & FS_PAGE_PRESENT && e->frame == config.resident.zero_frame ? 0 : what;
}

static __always_inline void read_page(struct page_walk *w, __u64 page)
{
	struct page_entry e = {.refers_at = w->refers_at, .refers = w->refers, .page = page};
	__u32 what = read_entry(&e);

	if (what)
		send_page(w, page, e.frame, what);
}

/*
 * Returns which of PAGES_AT_ONCE pages are chosen, as bits. There are
 * no branches, because the verifier would follow all combinations of them.
 */
__noinline __u32 chosen_of(__u64 page, __u32 below)
{
	__u32 chosen = 0;

	for (int i = 0; i < PAGES_AT_ONCE; i++)
		chosen |= fs_resident_chosen(config.resident.secret, page + i, below) << i;
	return chosen;
}

static long read_pages_at(__u32 i, struct page_walk *w)
{
	__u64 page = ((w->end - 1) & ~(__u64)(PAGES_OF_RANGE - 1)) + i * PAGES_AT_ONCE;
	__u32 chosen = chosen_of(page, w->below);

	for (int k = 0; chosen && k < PAGES_AT_ONCE; k++, page++, chosen >>= 1)
		if (chosen & 1)
			read_page(w, page);
	return 0;
}

/*
 * A huge page. If it cannot be written, it may be the huge zero page, which is not counted as
 * resident memory.
 */
static __always_inline void send_huge(struct page_walk *w)
{
	bool is_known = w->refers & ENTRY_PRESENT && !entry_is_read_only(w->refers);

	send_page(w, w->page, 0, FS_PAGE_HUGE | (is_known ? FS_PAGE_PRESENT : FS_PAGE_UNKNOWN));
}

/* Reads the next range of 2 MiB, or goes to the end of a larger range that has no table. */
static long read_next(__u32 i, struct page_walk *w)
{
	__u64 at = w->first_table, entry = 0;
	__u32 shift = 0;

	if (w->page >= w->to || shared.resident_read.records > READ_RECORDS_MAX)
		return 1;
	for (__u32 level = 5; level > 1; level--) {
		if (level > config.resident.levels)
			continue;
		shift = 9 * (level - 1);
		at += (w->page >> shift & 511) * 8;
		entry = word_at(at);
		if (!(entry & ENTRY_PRESENT) || entry_is_huge(entry))
			break;
		w->refers_at = at;
		at = shared.resident_map_base + (entry & ENTRY_FRAME_MASK);
	}
	w->end = ((w->page >> shift) + 1) << shift;
	if (w->end > w->to)
		w->end = w->to;
	w->refers = entry;
	if (shift == FS_RESIDENT_HUGE_SHIFT && entry) {
		if (entry & ENTRY_PRESENT && !entry_is_huge(entry))
			bpf_loop(PAGES_OF_RANGE / PAGES_AT_ONCE, read_pages_at, w, 0);
		else
			send_huge(w);
	}
	w->page = w->end;
	return 0;
}

/*
 * User space reads the records from the file of an iterator for one thread of the process. If there
 * is no record FS_PAGE_NEXT, the memory was released meanwhile, and all records are void.
 */
SEC("iter/task")
int read_pages(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct page_walk w = {};
	struct mm_struct *mm;

	if (!task)
		return 0;
	mm = get(as_task(task), mm);
	if (!mm)
		return 0;
	w.seq = ctx->meta->seq;
	w.first_table = (__u64)get(mm, pgd);
	w.page = shared.resident_read.from;
	w.to = shared.resident_read.to;
	shared.resident_read.records = 0;
	w.below = shared.resident_below;
	bpf_loop(READ_RANGES_MAX, read_next, &w, 0);
	if (get(as_task(task), mm) == mm)
		send_page(&w, w.page, (__u64)mm, FS_PAGE_NEXT);
	return 0;
}

#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Notes which stack made a page resident, for a chosen part of all pages: see wire_resident.h.
 * Nothing is followed at munmap() or madvise(): user space reads which pages are present.
 *
 * Whether a fault adds a page is read from the page table entry, without a lock. A page that is
 * swapped in, or that is only marked for NUMA balancing, keeps its owner.
 */
#ifndef FS_RESIDENT_BPF_H
#define FS_RESIDENT_BPF_H

#include "resident_wanted.bpf.h"
#include "state.bpf.h"
#include "stack.bpf.h"
#include "vma.bpf.h"

#ifndef FS_HASH

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FS_RESIDENT_PAGES);
	__type(key, struct fs_resident_key);
	__type(value, struct fs_resident);
} resident SEC(".maps");

/* What the page table says about the page of a fault. */
enum found {
	FOUND_NOTHING,	/* no page */
	FOUND_NO_TABLE, /* no page, and no page table for the 2 MiB around it */
	FOUND_KEPT,	/* a page in swap, in migration, or marked for NUMA balancing */
	FOUND_PAGE,	/* a page that cannot be written */
};

struct page_found {
	__u64 frame;
	__u32 what; /* enum found */
};

/*
 * Entries of page tables: arch/x86/include/asm/pgtable_types.h, and
 * arch/arm64/include/asm/pgtable-hwdef.h with pages of 4 KiB. The page of an entry that is neither
 * 0 nor present is in swap, in migration, or marked for NUMA balancing.
 */
#define ENTRY_PRESENT 1UL
#if defined(__TARGET_ARCH_x86)
#define entry_is_huge(entry)  ((entry)&0x80UL)
#define ENTRY_FRAME_MASK      0x000ffffffffff000UL
#define entry_is_read_only(entry) (!((entry)&2))
#define map_base_of(check, n) (n)
#else
#define entry_is_huge(entry) (!((entry)&2)) /* PMD_TABLE_BIT: the entry refers to a table */
#define ENTRY_FRAME_MASK     0x0000fffffffff000UL
#define entry_is_read_only(entry) ((entry)&0x80UL) /* PTE_RDONLY */
/* The variable is memstart_addr, the first physical address: __phys_to_virt(). */
#define map_base_of(check, n) ((check)->map_base - (n))
#endif
#define TABLE_SHIFT 12

/* Returns the entry of a table of the page table for an address. */
static __always_inline __u64 entry_of(__u64 table, __u64 address, __u32 shift)
{
	return word_at(table + (address >> shift & 511) * 8);
}

/* Reads the page table of the current process for an address. */
static __always_inline void find_page(struct mm_struct *mm, __u64 address, struct page_found *ret)
{
	__u64 entry, table = (__u64)get(mm, pgd), base = shared.resident_map_base;

	ret->what = FOUND_NO_TABLE;
	ret->frame = 0;
	for (__u32 level = 5; level > 1; level--) {
		if (level > config.resident.levels)
			continue;
		entry = entry_of(table, address, TABLE_SHIFT + 9 * (level - 1));
		if (!(entry & ENTRY_PRESENT)) {
			if (entry)
				ret->what = FOUND_KEPT;
			return;
		}
		if (entry_is_huge(entry)) {
			ret->what = FOUND_PAGE;
			ret->frame = ((entry & ENTRY_FRAME_MASK) >> 12) + (address >> 12 & 511);
			return;
		}
		table = base + (entry & ENTRY_FRAME_MASK);
	}
	entry = entry_of(table, address, TABLE_SHIFT);
	ret->what = !entry ? FOUND_NOTHING : entry & ENTRY_PRESENT ? FOUND_PAGE : FOUND_KEPT;
	ret->frame = (entry & ENTRY_FRAME_MASK) >> 12;
}

SEC("syscall")
int check_page_table(struct fs_page_check *c)
{
	struct page_found found = {};

	shared.resident_map_base = c->map_base_at ? map_base_of(c, word_at(c->map_base_at))
						  : c->map_base;
	find_page(get(current_task(), mm), c->address, &found);
	if (found.what != FOUND_PAGE || found.frame != c->frame)
		shared.resident_map_base = 0;
	return 0;
}

/* A chosen fault. */
struct touch {
	struct fs_resident_key key;
	struct fs_resident now;
	struct page_found found;
	__u64 address;
	__u32 huge;  /* the fault may map a huge page */
	__u32 page;  /* the page is chosen */
	__u32 range; /* the access is a read, and the range of the page is chosen */
};

#define VM_HUGEPAGE   0x20000000 /* include/linux/mm.h */
#define VM_NOHUGEPAGE 0x40000000

/* Returns whether the kernel may use huge pages for a mapping. */
static __always_inline bool allows_huge(struct vm_area_struct *vma, bool is_file)
{
	unsigned long flags = BPF_CORE_READ(vma, vm_flags);

	if (flags & VM_NOHUGEPAGE)
		return false;
	/* for shared memory, it depends on the mount options */
	return is_file || flags & VM_HUGEPAGE || config.resident.huge == FS_RESIDENT_ALWAYS;
}

/*
 * Returns whether to note a fault, which depends on its mapping: reads of a chosen range count for
 * files and shared memory only, and a range of 2 MiB must lie within one mapping.
 */
once_verified int fits_area(struct touch *t)
{
	struct area a = {.mm = (__u64)BPF_CORE_READ(current_task(), mm)};
	struct vm_area_struct *vma;
	__u64 from;

	if (!t || !a.mm)
		return 0;
	find_area(&a, t->address);
	vma = (struct vm_area_struct *)a.vma;
	if (!vma)
		return t->page; /* a stack that grows to this address, or an unknown layout */
	t->now.area = BPF_CORE_READ(vma, vm_ops) != NULL;
	if (t->found.what == FOUND_NO_TABLE && allows_huge(vma, t->now.area)) {
		from = t->address >> (12 + FS_RESIDENT_HUGE_SHIFT) << (12 + FS_RESIDENT_HUGE_SHIFT);
		t->huge = from >= a.from && from + (4096UL << FS_RESIDENT_HUGE_SHIFT) <= a.to;
	}
	return t->huge || t->page || (t->now.area && t->range);
}

/*
 * Key and value are copied to the stack: verifiers before Linux 6.2 take neither from the argument
 * of a global function.
 */
static __always_inline void keep(const struct touch *t)
{
	struct fs_resident_key key = t->key;
	struct fs_resident now = t->now;

	if (bpf_map_update_elem(&resident, &key, &now, BPF_ANY))
		bump(shared.resident_lost);
}

/* Returns the stack that touched the page of a fault before. */
static __always_inline __s32 stack_before(const struct touch *t)
{
	struct fs_resident_key key = t->key;
	struct fs_resident *old = bpf_map_lookup_elem(&resident, &key);

	if (!old || old->start_ns != t->now.start_ns || old->how == FS_RESIDENT_LEFT)
		return -1;
	return old->how == FS_RESIDENT_COPIED ? old->before : old->stack;
}

/* Notes the owner of the page of a chosen fault. */
once_verified int note_owner(struct touch *t)
{
	if (!t)
		return 0;
	if (t->huge) {
		t->key.unit = FS_RESIDENT_HUGE;
		t->key.number = t->address >> (12 + FS_RESIDENT_HUGE_SHIFT);
		keep(t);
		if (!t->page && !(t->now.area && t->range))
			return 0;
	}
	t->key.unit = FS_RESIDENT_PAGE;
	t->key.number = t->address >> 12;
	t->now.before = -1;
	if (t->found.what == FOUND_PAGE && t->found.frame != config.resident.zero_frame) {
		t->now.how = FS_RESIDENT_COPIED;
		t->now.frame = t->found.frame;
		t->now.before = stack_before(t);
	}
	keep(t);
	return 0;
}

/* Notes a fault of a watched process, if it adds a page that is chosen. */
static __always_inline int take_touch(void *ctx, struct task_struct *leader, __u64 address,
				      __u32 chosen)
{
	struct touch t = {.address = address, .page = chosen & 1, .range = chosen >> 1};
	struct mm_struct *mm = get(current_task(), mm);

	if (config.resident.levels && shared.resident_map_base)
		find_page(mm, address, &t.found);
	if (t.found.what == FOUND_KEPT)
		return 0;
	if (!chosen && t.found.what != FOUND_NO_TABLE)
		return 0;
	if (!fits_area(&t))
		return 0;
	t.key.pid = get(leader, tgid);
	t.now.start_ns = get(leader, start_boottime);
	t.now.since_ns = bpf_ktime_get_ns();
	t.now.stack =
		stack_of(ctx, leader, (void *)bpf_task_pt_regs(current_task()), 0, false, false);
	note_owner(&t);
	return 0;
}

static __always_inline int on_touch(void *ctx, __u64 address, bool in_kernel, bool writes)
{
	struct task_struct *task, *leader;
	__u32 chosen;

	if (address >> 63)
		return 0;
	chosen = fs_resident_chosen(config.resident.secret, address >> 12, shared.resident_below);
	if (!writes)
		chosen |= fs_resident_chosen(config.resident.secret,
					     address >> (12 + FS_RESIDENT_HUGE_SHIFT),
					     shared.resident_ranges_below)
			  << 1;
	if (!chosen && !config.resident.huge)
		return 0;
	task = current_task();
	if (in_kernel && (get(task, flags) & PF_KTHREAD || faults_disabled(task)))
		return 0;
	leader = get(task, group_leader);
	if (config.watch_all && !is_wanted(get(leader, tgid)))
		return 0;
	return proc_of(leader) ? take_touch(ctx, leader, address, chosen) : 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_page_user, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	return on_touch(ctx, address, false, error_code & PF_WRITE);
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(on_page_kernel, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	return on_touch(ctx, address, true, error_code & PF_WRITE);
}

/*
 * For kernels without fault tracepoints (arm64): the software event of page faults, which does not
 * tell reads from writes.
 */
SEC("perf_event")
int on_page_counted(struct bpf_perf_event_data *ctx)
{
	return on_touch(ctx, ctx->addr, !in_user_mode(&ctx->regs), false);
}

#endif

#endif

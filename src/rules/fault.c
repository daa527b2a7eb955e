// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/fault.h"

#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "model/holdings.h"
#include "rules/request.h"

/* Flags of include/linux/mm.h and arch/x86/include/asm/trap_pf.h. */
#define VM_READ	     0x1
#define VM_GROWSDOWN 0x100
#define PF_WRITE     2
#define PF_INSTR     16

/* si_code values of include/uapi/asm-generic/siginfo.h that older C library headers lack. */
#define CODE_MTE_ASYNC 8
#define CODE_MTE_SYNC  9
#define CODE_SHADOW    10 /* SEGV_CPERR: control protection fault */

#define NULL_PAGES_BYTES                                                                           \
	65536 /* default of vm.mmap_min_addr: lower addresses are offsets from NULL */
/* bytes by which one function call may move the stack pointer */
#define STACK_REACH	(64ULL << 10)
#define OOM_SLACK_PAGES 64 /* the kernel charges pages to a cgroup in batches of 64 */

static bool is_mapped(const struct signal_record *r)
{
	return r->area == MAPPED_FOUND;
}

static bool is_near_stack_pointer(const struct signal_record *r)
{
	return r->sp && r->address + STACK_REACH >= r->sp && r->address <= r->sp + STACK_REACH;
}

/*
 * Returns true if the access was just below a stack. Nothing is mapped at the address, and the next
 * mapping above is a stack. The stack pointer is near the address, or in the same gap between
 * mappings. If the stack pointer is not known, the address must be within reach of RLIMIT_STACK.
 */
static bool is_below_stack(const struct signal_record *r)
{
	if (r->area != MAPPED_NONE || !(r->above_flags & VM_GROWSDOWN))
		return false;
	if (!r->sp) /* the stack pointer is not known */
		return r->above_end - r->address <= r->stack_limit_bytes + STACK_REACH;
	return is_near_stack_pointer(r) || (r->sp >= r->area_start && r->sp < r->area_end);
}

/*
 * acct_stack_growth() compares with RLIMIT_STACK the size that the stack would have after growth,
 * from the accessed page to its end.
 */
static void say_stack(const struct signal_record *r, uint64_t page_bytes, struct verdict *v)
{
	uint64_t bytes = r->above_end - r->address / page_bytes * page_bytes;

	verdict_set(v, "stack overflow", bytes > r->stack_limit_bytes);
	verdict_count(v, "stack_bytes", IN_BYTES, bytes, r->stack_limit_bytes);
}

static void say_rights(const struct signal_record *r, struct verdict *v)
{
	char rights[4];

	snprintf(rights, sizeof(rights), "%c%c%c", r->area_flags & VM_READ ? 'r' : '-',
		 r->area_flags & VM_WRITE ? 'w' : '-', r->area_flags & VM_EXEC ? 'x' : '-');
	verdict_text(v, "the mapping allows", rights);
}

/* SEGV_ACCERR: the address is mapped, but the mapping does not allow the access. */
static void denied(const struct signal_record *r, struct verdict *v)
{
	uint64_t can = is_mapped(r) ? r->area_flags & (VM_READ | VM_WRITE | VM_EXEC) : VM_READ;

	if (!can)
		verdict_set(v, is_near_stack_pointer(r) ? "guard page" : "no access", true);
	else if (is_mapped(r) && r->error_code & PF_INSTR && !(can & VM_EXEC))
		verdict_set(v, "no-exec", true);
	else if (is_mapped(r) && r->error_code & PF_WRITE && !(can & VM_WRITE))
		verdict_set(v, "read-only", true);
	else
		verdict_set(v, "protection", false);
	if (is_mapped(r))
		say_rights(r, v);
}

/* SEGV_MAPERR: nothing is mapped at the address, or the address is in a guard region. */
static void unmapped(const struct signal_record *r, uint64_t page_bytes, struct verdict *v)
{
	if (is_below_stack(r)) {
		say_stack(r, page_bytes, v);
	} else if (is_mapped(r)) {
		/*
		 * a guard region of madvise() (662df3e5c376, Linux 6.13), or a fault handler of a
		 * driver
		 */
		verdict_set(v, "guard page", false);
		say_rights(r, v);
	} else if (is_near_stack_pointer(r)) {
		verdict_set(v, "stack overflow", false);
	} else {
		verdict_set(v, "unmapped", r->area == MAPPED_NONE);
	}
}

/* Returns true if the opcode (one byte, or 0x0f and a second byte) is allowed in ring 0 only. */
static bool is_privileged(uint64_t bytes)
{
	static const uint8_t one[] = {0xf4, 0xfa, 0xfb, 0x6c, 0x6d, 0x6e, 0x6f, 0xe4,
				      0xe5, 0xe6, 0xe7, 0xec, 0xed, 0xee, 0xef};
	static const uint8_t two[] = {0x00, 0x01, 0x06, 0x07, 0x08, 0x09, 0x20,
				      0x21, 0x22, 0x23, 0x30, 0x32, 0x33, 0x35};
	uint8_t first = bytes, second = bytes >> 8;

	return memchr(one, first, sizeof(one)) ||
	       (first == 0x0f && memchr(two, second, sizeof(two)));
}

/*
 * Returns true for a return instruction. It reads its target from the stack, so no register holds
 * the bad address.
 */
static bool is_return(uint64_t bytes)
{
	return (bytes & 0xff) == 0xc3 || (bytes & 0xff) == 0xc2;
}

/*
 * A general protection fault (#GP) has no fault address. Its cause is a non-canonical address, or
 * the instruction itself.
 */
static void general_protection(const struct signal_record *r, struct verdict *v)
{
	char bytes[20];

	if (r->ip_bytes && is_privileged(r->ip_bytes))
		verdict_set(v, "privileged instruction", true);
	else if (r->flags & SIGNAL_ODD || is_return(r->ip_bytes))
		verdict_set(v, "non-canonical", false);
	else
		verdict_set(v, "general protection", false);
	if (r->flags & SIGNAL_ODD)
		verdict_text(v, "a register holds", "a non-canonical address");
	if (r->ip_bytes) {
		snprintf(bytes, sizeof(bytes), "%02x %02x %02x %02x", (uint8_t)r->ip_bytes,
			 (uint8_t)(r->ip_bytes >> 8), (uint8_t)(r->ip_bytes >> 16),
			 (uint8_t)(r->ip_bytes >> 24));
		verdict_text(v, "instruction", bytes);
	}
}

static void segv_of(const struct signal_record *r, uint64_t page_bytes, struct verdict *v)
{
	if (r->code == SI_KERNEL)
		general_protection(r, v);
	else if (r->code == SEGV_PKUERR)
		verdict_set(v, "protection key", true);
	else if (r->code == CODE_MTE_ASYNC || r->code == CODE_MTE_SYNC)
		verdict_set(v, "memory tag", true);
	else if (r->code == CODE_SHADOW)
		verdict_set(v, "control flow", true);
	else if (!r->address)
		verdict_set(v, "null", true);
	else if (r->address < NULL_PAGES_BYTES && !is_mapped(r))
		verdict_set(v, "near-null", true);
	else if (r->address >> 63)
		verdict_set(v, "kernel address", true);
	else if (r->code == SEGV_ACCERR)
		denied(r, v);
	else
		unmapped(r, page_bytes, v);
}

/* shmem_fault() sends SIGBUS for a page within the file if the tmpfs has no room for it. */
static void say_tmpfs(const struct signal_record *r, struct verdict *v)
{
	/* tmpfs without a size: the kernel's internal mount (memfd, shared memory) */
	if (!r->tmpfs_pages) {
		verdict_set(v, "unknown", false);
		return;
	}
	verdict_set(v, "tmpfs full", r->tmpfs_pages_used >= r->tmpfs_pages);
	if (r->tmpfs_pages_used + TMPFS_LAG_PAGES < r->tmpfs_pages)
		/* the tmpfs has room, so the reason of the SIGBUS is a quota or unknown */
		verdict_set(v, "unknown", false);
	verdict_count(v, "tmpfs pages", IN_PAGES, r->tmpfs_pages_used, r->tmpfs_pages);
}

static void bus_of_file(const struct signal_record *r, uint64_t page_bytes, struct verdict *v)
{
	uint64_t offset = r->address - r->area_start + r->file_page * page_bytes;
	uint64_t pages = units_of(r->file.size_bytes, page_bytes);

	verdict_text(v, "file", r->file.name);
	if (offset / page_bytes >= pages) {
		verdict_set(v, "past end of file", true);
		verdict_count(v, "offset_bytes", IN_BYTES, offset, r->file.size_bytes);
	} else if (r->area_flags & VM_HUGETLB) {
		verdict_set(v, "huge page pool empty", true);
	} else if (r->file.magic == TMPFS_MAGIC) {
		say_tmpfs(r, v);
	} else {
		verdict_set(v, KIND_OF(r->file.mode) == KIND_REGULAR ? "read error" : "driver",
			    false);
	}
}

static void bus_of(const struct signal_record *r, uint64_t page_bytes, struct verdict *v)
{
	if (r->code == BUS_ADRALN)
		verdict_set(v, "misaligned", true);
	else if (r->code == BUS_MCEERR_AR || r->code == BUS_MCEERR_AO)
		verdict_set(v, "hardware poison", true);
	else if (r->code == SI_KERNEL) /* stack fault (#SS): a bad stack or frame pointer */
		general_protection(r, v);
	else if (is_mapped(r) && r->file.flags & FILE_KNOWN)
		bus_of_file(r, page_bytes, v);
	else
		verdict_set(v, "unknown", false);
}

void fault_of(const struct signal_record *r, const struct host_limits *l, struct verdict *ret)
{
	uint64_t page_bytes = l->page_bytes ? l->page_bytes : 4096;

	memset(ret, 0, sizeof(*ret));
	if (r->signal == SIGABRT || r->code == SI_TKILL)
		verdict_set(ret, "abort", true);
	else if (r->signal == SIGBUS)
		bus_of(r, page_bytes, ret);
	else
		segv_of(r, page_bytes, ret);
}

const char *fault_mapping(const struct signal_record *r)
{
	bool shared = r->area_flags & VM_SHARED;

	if (!is_mapped(r))
		return NULL;
	if (r->area_flags & VM_GROWSDOWN)
		return holding_kind_name(HOLDING_STACK);
	if (r->file.flags & FILE_KNOWN)
		return holding_kind_name(r->file.magic == TMPFS_MAGIC && shared
						 ? HOLDING_SHARED_MEMORY
					 : shared ? HOLDING_FILE_SHARED
						  : HOLDING_FILE_PRIVATE);
	return holding_kind_name(r->area_flags & (VM_READ | VM_WRITE | VM_EXEC) ? HOLDING_ANONYMOUS
										: HOLDING_GUARD);
}

void oom_of(const struct oom_record *r, struct verdict *ret)
{
	static const char *const constraints[] = {
		[OOM_NONE] = "none",
		[OOM_CPUSET] = "cpuset",
		[OOM_POLICY] = "memory_policy",
		[OOM_MEMCG] = "memcg",
	};
	const struct level_room *m = &r->memory;
	bool bounded = m->known && m->limit != UINT64_MAX;

	memset(ret, 0, sizeof(*ret));
	if (r->constraint < sizeof(constraints) / sizeof(constraints[0]))
		verdict_set(ret, constraints[r->constraint], r->constraint != OOM_UNKNOWN);
	/* the kernel rate-limits its OOM message, so the constraint may be missing */
	if (!ret->cause && bounded && m->used + OOM_SLACK_PAGES >= m->limit)
		verdict_set(ret, constraints[OOM_MEMCG], false);
	if (bounded)
		verdict_count(ret, "cgroup_memory_pages", IN_PAGES, m->used, m->limit);
	if (bounded && m->up)
		verdict_figure(ret, "levels_above_own_cgroup", IN_COUNT, m->up);
	if (r->score_adj)
		verdict_text(ret, "oom_score_adj", r->score_adj > 0 ? "raised" : "lowered");
}

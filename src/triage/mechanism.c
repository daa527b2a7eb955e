// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>

#include "triage/judge.h"
#include "triage/library.h"

#define PAGE_BYTES    4096
#define NEAR_NULL_MAX 0x10000
/* Of pointers cut to 32 bits, one in 4096 is below: NULL plus an offset is likelier. */
#define DISTANT_NULL_MAX 0x100000
#define EFLAGS_AC	 0x40000
/* greatest offset of an access that still counts as one to an array's element */
#define ARRAY_MAX 0x1000000

static const struct {
	const char *name, *class, *says, *next;
} mechanisms[NR_MECHANISMS] = {
#define MECHANISM(id, ...) [MECH_##id] = {__VA_ARGS__},
#include "triage/mechanisms.def"
#undef MECHANISM
};

/* Mechanism of each kind of report whose text names it; for other kinds AS_REPORTED. */
static const enum mechanism reported[NR_KINDS] = {
#define KIND(id, name, mechanism) [KIND_##id] = MECH_##mechanism,
#include "triage/kinds.def"
#undef KIND
};

const char *mechanism_meaning(enum mechanism m)
{
	return mechanisms[m].says;
}

const char *mechanism_next(enum mechanism m)
{
	return mechanisms[m].next;
}

const char *verdict_semantic(const struct diagnosis *v)
{
	return v->mechanism == MECH_AS_REPORTED ? kind_name(v->kind)
						: mechanisms[v->mechanism].class;
}

const char *verdict_mechanism(const struct diagnosis *v)
{
	return v->mechanism == MECH_AS_REPORTED ? kind_name(v->kind)
						: mechanisms[v->mechanism].name;
}

static bool last_unloaded(const struct incident *e)
{
	for (uint32_t i = 0; i < e->nr_modules; i++)
		if (e->module[i].gone)
			return true;
	return false;
}

static bool holds_list_poison(const struct incident *e)
{
	for (int i = 0; i < REGS_MAX; i++)
		if ((e->regs.known >> i & 1) && poison_of(e, e->regs.value[i]) == POISON_LIST)
			return true;
	return false;
}

static bool by_report(struct judged *j)
{
	const struct incident *e = j->e;

	if (reported[j->v->kind] != MECH_AS_REPORTED) {
		j->v->mechanism = reported[j->v->kind];
		if (j->v->kind == KIND_LIST_CORRUPTION &&
		    (str_has(e->note, "LIST_POISON") || (!e->note.n && holds_list_poison(e))))
			j->v->mechanism = MECH_LIST_POISON;
		rule_fired(j->v, "K1", "the kernel's own check reported %s", kind_name(j->v->kind));
		return true;
	}
	if (j->v->kind == KIND_UNHANDLED_FAULT && str_has(e->detail, "external abort")) {
		j->v->mechanism = MECH_HARDWARE;
		rule_fired(j->v, "K6", "the bus reported an error for the access");
		return true;
	}
	if (str_has(e->note, "Buffer overflow detected") ||
	    str_starts(e->has_ip ? e->ip.function : e->said, "__copy_overflow")) {
		j->v->mechanism = MECH_USERCOPY;
		rule_fired(j->v, "K2", "the size of a copy was checked: it is too large");
		return true;
	}
	if (str_has_any(e->ip.function, "fortify_panic|fortify_report") ||
	    str_has_any(e->note, "detected buffer overflow|buffer overflow: ")) {
		j->v->mechanism = MECH_OOB;
		rule_fired(j->v, "K3", "FORTIFY_SOURCE knew the size of the object");
		return true;
	}
	if (j->v->kind == KIND_BUG && str_has(e->place, "mm/slub.c:") &&
	    str_has(e->ip.function, "free")) {
		j->v->mechanism = MECH_DOUBLE_FREE;
		rule_fired(j->v, "K5", "the allocator's own check while it took an object back");
		return true;
	}
	if (str_starts_any(e->ip.function, "skb_panic|skb_over_panic|skb_under_panic")) {
		j->v->mechanism = MECH_OOB;
		rule_fired(j->v, "K4", "more was put into a packet's buffer than there is room");
		return true;
	}
	return false;
}

static bool by_stack(struct judged *j)
{
	const struct incident *e = j->e;
	bool below = e->has_sp && is_kernel_address(e->arch, e->sp) && j->has_address &&
		     j->a < e->sp + 64 && j->a + 0x4000 > e->sp && j->region != REGION_NULL;

	if (j->v->kind != KIND_STACK_OVERFLOW && !(j->v->kind == KIND_DOUBLE_FAULT && below))
		return false;
	j->v->mechanism = j->v->repeats >= 3 ? MECH_RECURSION : MECH_STACK_OVERFLOW;
	if (j->v->repeats >= 3)
		rule_fired(j->v, "S2", "the trace holds %.*s %u times", STR_ARG(j->v->repeated),
			   j->v->repeats);
	else
		rule_fired(j->v, "S1", "the access was in the guard page below the stack");
	return true;
}

static bool by_page_table(struct judged *j)
{
	const struct incident *e = j->e;

	if (j->v->kind != KIND_RSVD_BIT &&
	    !(e->arch == ARCH_X86_64 && j->fault && j->v->kind != KIND_GPF && e->has_error &&
	      (e->error & 8)))
		return false;
	j->v->mechanism = MECH_PGTABLE;
	rule_fired(j->v, "P1", "a reserved bit was set in a page table entry");
	return true;
}

/* Uses the accessed range, to which KASAN converts a fault address in its shadow memory. */
static bool by_range(struct judged *j)
{
	const struct incident *e = j->e;

	if (!e->has_range)
		return false;
	if (e->range_low < PAGE_BYTES)
		j->v->mechanism = MECH_NULL_DEREF;
	else if (e->range_low < NEAR_NULL_MAX)
		j->v->mechanism = MECH_NEAR_NULL;
	else if ((j->v->poison = poison_of(e, e->range_low)) == POISON_LIST)
		j->v->mechanism = MECH_LIST_POISON;
	else if (j->v->poison == POISON_SLAB_FREE)
		j->v->mechanism = MECH_SLAB_POISON;
	else if (j->v->poison == POISON_TEXT)
		j->v->mechanism = MECH_STRING_POINTER;
	else
		j->v->mechanism = MECH_WILD_POINTER;
	rule_fired(j->v, "A2", "KASAN: the address meant is 0x%" PRIx64 " to 0x%" PRIx64,
		   e->range_low, e->range_high);
	return true;
}

/* ---- rules for faults on an instruction fetch ---- */

static bool jumped(const struct judged *j)
{
	return j->fault && j->v->access == ACCESS_EXEC && j->has_address;
}

static bool by_null_call(struct judged *j)
{
	if (!jumped(j) || j->a >= PAGE_BYTES)
		return false;
	j->v->mechanism = MECH_NULL_CALL;
	rule_fired(j->v, "X1", "the instruction pointer itself is 0x%" PRIx64, j->a);
	return true;
}

static bool by_user_call(struct judged *j)
{
	if (!jumped(j) || is_kernel_address(j->e->arch, j->a) || j->region == REGION_NON_CANONICAL)
		return false;
	if (j->has_present && !j->present && j->e->arch == ARCH_X86_64 && !(j->a >> 32)) {
		j->v->mechanism = MECH_WILD_CALL;
		rule_fired(j->v, "X2", "the pointer holds a number, and no page is there");
		return true;
	}
	j->v->mechanism = MECH_SMEP;
	rule_fired(j->v, "X3", "the instruction pointer is in the half of user space");
	return true;
}

/*
 * Returns whether the offset exceeds the symbol's size, which shows that another module now has the
 * memory.
 */
static bool past_symbol(const struct incident *e)
{
	return e->has_ip && e->ip.function.n && e->ip.size && e->ip.offset >= e->ip.size;
}

static bool by_freed_text(struct judged *j)
{
	if (!jumped(j) || !is_kernel_address(j->e->arch, j->a))
		return false;
	if (past_symbol(j->e)) {
		rule_fired(j->v, "X4", "%.*s ends before +0x%x: another module took the place",
			   STR_ARG(j->e->ip.function), j->e->ip.offset);
	} else if (j->region == REGION_MODULES && !j->e->ip.module.n &&
		   j->v->kind != KIND_NX_EXEC && !(j->has_present && j->present)) {
		rule_fired(j->v, "X5", "the address is in the modules' area, in no module");
	} else if (j->region == REGION_KERNEL && last_unloaded(j->e) && j->has_present &&
		   !j->present) {
		rule_fired(j->v, "X6", "no page there, and a module was unloaded");
	} else {
		return false;
	}
	j->v->mechanism = MECH_FREED_TEXT;
	return true;
}

static bool by_nx(struct judged *j)
{
	if (!jumped(j) || !is_kernel_address(j->e->arch, j->a))
		return false;
	if (j->v->kind == KIND_NX_EXEC || (j->has_present && j->present)) {
		j->v->mechanism = MECH_NX_EXEC;
		rule_fired(j->v, "X7", "the page is there and may not be executed");
		return true;
	}
	j->v->mechanism = MECH_WILD_CALL;
	rule_fired(j->v, "X8", "the function pointer leads to no code");
	return true;
}

/* ---- rules for faults on data ---- */

/* The page was there, but the instruction cannot access device memory at this address. */
static bool by_alignment(struct judged *j)
{
	if (j->v->kind != KIND_ALIGNMENT)
		return false;
	rule_fired(j->v, "L1", "the kernel reports an alignment fault, not a missing page");
	return true;
}

static bool is_error(const struct judged *j, uint64_t value)
{
	uint64_t top = j->e->arch == ARCH_I386 || j->e->arch == ARCH_ARM ? UINT32_MAX : UINT64_MAX;

	return value > top - 4095 && value <= top;
}

/* Returns an error code as the negative number that the kernel put into the pointer. */
static int64_t errno_of(const struct judged *j, uint64_t value)
{
	return j->e->arch == ARCH_I386 || j->e->arch == ARCH_ARM ? (int32_t)value : (int64_t)value;
}

/*
 * Returns whether a value is an error code of the kernel: 1 to 133 are those of user space, 512 to
 * 531 those of include/linux/errno.h.
 */
static bool is_errno(const struct judged *j, uint64_t value)
{
	int64_t code;

	if (!is_error(j, value))
		return false;
	code = -errno_of(j, value);
	return (code >= 1 && code <= 133) || (code >= 512 && code <= 531);
}

/*
 * Returns whether a pointer looks like NULL minus the offset of a structure's member. Offsets of
 * pointers and lists are multiples of the word size. Of these, only some error codes are common.
 */
static bool is_container_of_null(const struct judged *j, uint64_t base)
{
	static const uint16_t common[] = {8, 16, 24, 32, 104, 110, 512};
	uint64_t code;

	if (!is_error(j, base))
		return false;
	code = -errno_of(j, base);
	/* the instruction used the very member that was at NULL */
	if (j->has_base && j->b == base && j->a == 0)
		return true;
	if (code % 8)
		return !is_errno(j, base) && code % 4 == 0;
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (code == common[i])
			return false;
	return true;
}

/* Returns a register that often holds a pointer, if it holds an error code; -1: none does. */
static int error_register(const struct judged *j)
{
	static const int8_t x86[] = {7, 0, 3, 5, 6, -1}, arm64[] = {0, 19, 20, 21, 1, -1};
	const int8_t *number = j->e->arch == ARCH_ARM64 ? arm64 : x86;

	for (; *number >= 0; number++) {
		uint64_t value = j->e->regs.value[*number];

		if (!(j->e->regs.known >> *number & 1))
			continue;
		if (value == 0) /* a NULL pointer explains the fault equally well */
			return -1;
		if (is_error(j, value) && errno_of(j, value) > -134)
			return *number;
	}
	return -1;
}

static bool by_error_code(struct judged *j)
{
	uint64_t code = 0;
	int from = -1;

	if (!j->fault || !j->has_address)
		return false;
	if (j->has_base && is_error(j, j->b)) {
		code = j->b;
	} else if (is_error(j, j->a) && !j->has_base) {
		code = j->a;
	} else if (!j->has_base && j->a < PAGE_BYTES) {
		/* For an unknown instruction, assume that it used an error code as pointer. */
		from = j->has_insn ? -1 : error_register(j);
		if (from < 0)
			return false;
		code = j->e->regs.value[from];
	} else {
		return false;
	}
	if (j->has_base && j->e->arch != ARCH_ARM64 && code == UINT64_MAX && j->o < 0)
		return false;
	if (!is_errno(j, code) && !is_container_of_null(j, code))
		return false;
	if (is_container_of_null(j, code)) {
		j->v->mechanism = MECH_CONTAINER_OF_NULL;
		rule_fired(j->v, "N5", "the pointer is 0 minus 0x%" PRIx64 ", no usual error code",
			   (uint64_t)-errno_of(j, code));
		return true;
	}
	j->v->mechanism = MECH_ERR_PTR;
	rule_fired(j->v, "E1", "the pointer is %" PRId64 ", an error code: IS_ERR() was not asked",
		   errno_of(j, code));
	return true;
}

static bool by_null(struct judged *j)
{
	/* the kernel of s390 is itself at such addresses */
	uint64_t distant = j->e->arch == ARCH_S390 ? NEAR_NULL_MAX : DISTANT_NULL_MAX;

	if (!j->fault || !j->has_address)
		return false;
	if (j->a < PAGE_BYTES) {
		j->v->mechanism = MECH_NULL_DEREF;
		rule_fired(j->v, "N1",
			   "the address is in the first page: a pointer of 0 plus 0x%" PRIx64,
			   j->a);
		return true;
	}
	if (j->has_base && j->b == 0 && is_error(j, j->a)) {
		j->v->mechanism = MECH_CONTAINER_OF_NULL;
		rule_fired(j->v, "N2", "0 minus 0x%" PRIx64, -j->a);
		return true;
	}
	/* The offset of a pointer in a structure is even: this is no NULL plus an offset. */
	if (j->has_base && j->b >= PAGE_BYTES && j->b % 4)
		return false;
	/* If the base is not NULL, an earlier instruction may have added an offset to NULL. */
	if ((j->has_base && j->b == 0 && !is_kernel_address(j->e->arch, j->a)) ||
	    (j->a < NEAR_NULL_MAX && j->has_base && j->b >= PAGE_BYTES) ||
	    (j->a < distant && !j->has_base)) {
		j->v->mechanism = MECH_NEAR_NULL;
		rule_fired(j->v, "N3", "%s 0x%" PRIx64,
			   j->has_base && !j->b ? "the pointer is 0, the offset"
						: "the address is only",
			   j->a);
		return true;
	}
	if (j->has_base && j->b < PAGE_BYTES && j->a < NEAR_NULL_MAX) {
		j->v->mechanism = MECH_NEAR_NULL;
		rule_fired(j->v, "N4", "the pointer is only 0x%" PRIx64, j->b);
		return true;
	}
	return false;
}

static bool by_poison(struct judged *j)
{
	static const enum mechanism means[NR_POISONS] = {
#define POISON(id, says, mechanism) [POISON_##id] = MECH_##mechanism,
#include "triage/poisons.def"
	};
	enum poison p = POISON_NONE;

	if (!j->fault)
		return false;
	if (j->has_base)
		p = poison_of(j->e, j->b);
	/* container_of() may have moved the pointer down from the poison, and the access up again
	 */
	if ((p == POISON_NONE || p == POISON_OTHER) && j->has_address &&
	    poison_of(j->e, j->a) != POISON_NONE)
		p = poison_of(j->e, j->a);
	/* per-CPU data: the instruction adds the base of a segment, so that the offset is unknown
	 */
	if (p == POISON_NONE && j->has_insn && j->in.memory && j->in.base >= 0 && !j->has_base &&
	    (j->e->regs.known >> j->in.base & 1))
		p = poison_of(j->e, j->e->regs.value[j->in.base]);
	/* In an indirect call, the target register holds the pointer. */
	if (p == POISON_NONE && j->has_insn && j->in.target >= 0 &&
	    (j->e->regs.known >> j->in.target & 1))
		p = poison_of(j->e, j->e->regs.value[j->in.target]);
	if (p == POISON_NONE)
		return false;
	j->v->poison = p;
	j->v->mechanism = means[p];
	rule_fired(j->v, "V1", "the pointer holds %s", poison_meaning(p));
	return true;
}

static bool by_user(struct judged *j)
{
	const struct incident *e = j->e;

	if (!j->fault || !j->has_address || j->v->kind == KIND_GPF)
		return false;
	if (j->v->kind == KIND_USER_ACCESS) {
		j->v->mechanism = MECH_SMAP;
		rule_fired(j->v, "U1", "the kernel says so: outside uaccess routines");
		return true;
	}
	if (is_kernel_address(e->arch, j->a) || j->region == REGION_NON_CANONICAL)
		return false;
	if (j->has_present && j->present && e->arch == ARCH_X86_64) {
		j->v->mechanism = MECH_SMAP;
		rule_fired(j->v, "U2", "the page is there, in user space: SMAP forbade it%s",
			   e->has_flags && !(e->flags & EFLAGS_AC) ? " (AC is clear)" : "");
		return true;
	}
	if (j->a <= UINT32_MAX && e->arch != ARCH_I386 && e->arch != ARCH_ARM) {
		j->v->mechanism = MECH_TRUNCATED_POINTER;
		rule_fired(j->v, "U3", "the pointer has no more than 32 bits");
		return true;
	}
	/*
	 * The report does not show that a page is mapped at the address. Only addresses in the
	 * usual ranges of stack, mmap and PIE are taken for pointers to user memory.
	 */
	j->v->mechanism = MECH_WILD_POINTER;
	if (j->a >> 40 == 0x7f || j->a >> 40 == 0x55 || j->a >> 40 == 0x56 ||
	    (e->arch == ARCH_ARM64 && (j->a >> 40 == 0xff || j->a >> 40 == 0xaa)))
		j->v->mechanism = MECH_SMAP;
	rule_fired(j->v, "U4", "the address is in the half of user space");
	return true;
}

/*
 * A CPU that waits for a spinlock writes to the queue entry of the CPU before it, whose number the
 * lock holds. The lock itself was read before, so that only its content can be wrong.
 */
static bool by_lock_queue(struct judged *j)
{
	if (!j->fault || !j->has_address || j->region == REGION_NON_CANONICAL ||
	    !str_ends(function_plain(j->e->ip.function), "queued_spin_lock_slowpath"))
		return false;
	j->v->mechanism = MECH_WILD_POINTER;
	rule_fired(j->v, "Q1",
		   "the lock holds no number of a CPU: its memory was overwritten or "
		   "freed");
	return true;
}

static bool in_allocator(const struct incident *e)
{
	return str_has_any(e->ip.function,
			   "kmem_cache_alloc|slab_alloc|__kmalloc|kmalloc|slab_free|"
			   "kmem_cache_free|kfree|get_freepointer|put_cpu_partial");
}

/* kfree() looks up the page of its argument: an address outside of the heap has no page. */
static bool by_bad_free(struct judged *j)
{
	const struct incident *e = j->e;
	/* number of the register with the first argument: x0 or rdi */
	int argument = e->arch == ARCH_ARM64 ? 0 : 7;
	uint64_t given = e->regs.value[argument];

	if (!j->fault || (e->arch != ARCH_X86_64 && e->arch != ARCH_ARM64) ||
	    (!str_starts(e->ip.function, "kfree") && !str_starts(e->ip.function, "kvfree")))
		return false;
	/* the pages' descriptors are far from modules, which are near the kernel's code on arm64 */
	if (e->arch == ARCH_ARM64 && j->has_address && j->region == REGION_MODULES) {
		j->v->mechanism = MECH_WILD_POINTER;
		rule_fired(j->v, "V4", "%.*s() was given a pointer that has no page",
			   STR_ARG(e->ip.function));
		return true;
	}
	if (!(e->regs.known >> argument & 1) || is_kernel_address(e->arch, given) || !given)
		return false;
	j->v->poison = poison_of(e, given);
	j->v->mechanism = j->v->poison == POISON_SLAB_FREE ? MECH_SLAB_POISON : MECH_WILD_POINTER;
	rule_fired(j->v, "V3", "%.*s() was given 0x%" PRIx64 ", which is of no allocator",
		   STR_ARG(e->ip.function), given);
	return true;
}

static bool by_freelist(struct judged *j)
{
	if (!j->fault || !in_allocator(j->e) || !j->has_address)
		return false;
	if (j->region == REGION_NULL || j->region == REGION_MODULES)
		return false;
	j->v->mechanism = MECH_FREELIST;
	rule_fired(j->v, "V2",
		   "the fault is in the allocator: who wrote there is not in this trace");
	return true;
}

static bool by_bit_flip(struct judged *j)
{
	uint64_t like;

	if (!j->fault || !j->has_address || j->region == REGION_MODULES)
		return false;
	if (!one_bit_off(j->e, j->has_base && j->b ? j->b : j->a, &like))
		return false;
	j->v->mechanism = MECH_BIT_FLIP;
	rule_fired(j->v, "B1", "one bit away from 0x%" PRIx64 ", which is a pointer here", like);
	return true;
}

static bool by_non_canonical(struct judged *j)
{
	if (j->v->kind != KIND_GPF && j->region != REGION_NON_CANONICAL &&
	    j->v->kind != KIND_STACK_SEGMENT)
		return false;
	if (!j->has_address)
		return false;
	if (j->region == REGION_SHADOW) {
		/* KASAN's shadow of an address is at (address >> 3) + 0xdffffc0000000000. */
		uint64_t meant = (j->a - 0xdffffc0000000000ull) << 3;

		j->v->mechanism = meant < PAGE_BYTES ? MECH_NULL_DEREF : MECH_WILD_POINTER;
		rule_fired(j->v, "A3", "KASAN's shadow: the address meant is 0x%" PRIx64, meant);
		return true;
	}
	j->v->mechanism = MECH_NON_CANONICAL;
	rule_fired(j->v, "C1", "no address of this machine has these upper bits");
	return true;
}

static bool by_read_only(struct judged *j)
{
	if (!j->fault || !j->has_address)
		return false;
	if (j->v->kind != KIND_RO_WRITE &&
	    !(j->has_present && j->present && j->v->access == ACCESS_WRITE &&
	      is_kernel_address(j->e->arch, j->a)))
		return false;
	j->v->mechanism = MECH_RO_WRITE;
	rule_fired(j->v, "W1", "the page is there and may not be written");
	return true;
}

/*
 * Returns whether the page tables have nothing in a wide area around the address: no vmalloc area
 * and no module was ever there. `deep`: number of levels (1: PUD, 2: PMD) that a page table of the
 * area must have had.
 */
static bool is_void(const struct judged *j, int deep)
{
	const struct incident *e = j->e;
	const uint64_t level[] = {e->pgd, e->pud, e->pmd};

	if (e->arch == ARCH_ARM64 && e->has_error && j->has_present && !j->present &&
	    (e->error & 3) < (uint64_t)deep + 1)
		return true; /* the fault status has the level that has no entry */
	if (!e->has_walk || e->arch == ARCH_I386 || e->arch == ARCH_ARM)
		return false;
	/* arm64 prints a level that the kernel folds as 0: a level below it may have an entry */
	for (int i = deep; i >= 0; i--)
		if (e->walk_levels >> i & 1)
			return !level[i];
	return false;
}

static bool by_freed_module(struct judged *j)
{
	if (!j->fault || !j->has_address || (j->has_present && j->present))
		return false;
	if (j->region != REGION_MODULES || is_void(j, 1))
		return false;
	j->v->mechanism = MECH_FREED_MODULE;
	rule_fired(j->v, "M1", "the address is in the modules' area, and nothing is mapped there%s",
		   last_unloaded(j->e) ? "; a module was unloaded" : "");
	return true;
}

/* Returns whether a function's name is typical of a driver's access to device registers. */
static bool names_registers(struct str function)
{
	return str_has_any(function, "mmio|ioread|iowrite|readl|writel|rd32|wr32|reg_read|"
				     "reg_write|read_reg|write_reg|iounmap");
}

static bool reads_device(const struct incident *e)
{
	if (library_of_frame(&e->ip) == LIBRARY_IO || names_registers(e->ip.function))
		return true;
	for (uint32_t i = 0; i < e->nr_frames && i < 3; i++)
		if (e->frame[i].part == PART_MAIN && library_of_frame(&e->frame[i]) == LIBRARY_IO)
			return true;
	return false;
}

static bool begins_page(const struct judged *j)
{
	return j->a % PAGE_BYTES < 16;
}

static bool is_loading(const struct incident *e)
{
	for (uint32_t i = 0; i < e->nr_modules; i++)
		if (e->module[i].loading)
			return true;
	return false;
}

static bool by_vmalloc(struct judged *j)
{
	const struct incident *e = j->e;

	if (!j->fault || j->region != REGION_VMALLOC || (j->has_present && j->present))
		return false;
	/* a module that is being loaded has not unmapped registers yet: it ran past their end */
	if (reads_device(e) && !(begins_page(j) && is_loading(e))) {
		j->v->mechanism = MECH_MMIO_UAF;
		rule_fired(j->v, "I1", "%.*s reads or writes a device's registers",
			   STR_ARG(e->ip.function));
		return true;
	}
	if (is_void(j, 1))
		return false;
	/* An array of vmalloc() begins with a page. Its first element is the base of the access. */
	if (j->has_base && j->in.index >= 0 && !(j->b % PAGE_BYTES) &&
	    region_of(e, j->b) == REGION_VMALLOC && j->a > j->b && j->a - j->b >= PAGE_BYTES &&
	    j->a - j->b <= ARRAY_MAX) {
		j->v->mechanism = MECH_VMALLOC_GUARD;
		rule_fired(j->v, "I4",
			   "%s is at the begin of a page, the access 0x%" PRIx64 " bytes behind it",
			   j->base_name, j->a - j->b);
		return true;
	}
	/* A guard page follows each vmalloc area: overruns first touch its begin. */
	if (begins_page(j) && e->has_walk && (e->walk_levels & 8) && !e->pte) {
		j->v->mechanism = MECH_VMALLOC_GUARD;
		rule_fired(j->v, "I2", "the first bytes of a page that was never mapped");
		return true;
	}
	j->v->mechanism = MECH_VMALLOC_UAF;
	rule_fired(j->v, "I3", "the page table is there, the page is not");
	return true;
}

static bool by_nowhere(struct judged *j)
{
	if (!j->fault || !j->has_address)
		return false;
	j->v->mechanism = MECH_WILD_POINTER;
	/* Only DEBUG_PAGEALLOC unmaps freed pages. Otherwise, a hole has no memory behind it. */
	if (j->region == REGION_DIRECT && j->has_present && !j->present && j->e->debug_pagealloc) {
		j->v->mechanism = MECH_PAGE_UAF;
		rule_fired(j->v, "D1", "a page of the direct map that is not there");
		return true;
	}
	rule_fired(j->v, "W9", "the pointer leads to nothing that is known");
	return true;
}

/* The first rule that matches decides the mechanism. */
static bool (*const rules[])(struct judged *j) = {
	by_report,    by_stack,	   by_page_table,    by_null_call, by_freed_text,
	by_user_call, by_nx,	   by_alignment,     by_range,	   by_error_code,
	by_null,      by_poison,   by_lock_queue,    by_bad_free,  by_freelist,
	by_user,      by_bit_flip, by_non_canonical, by_read_only, by_freed_module,
	by_vmalloc,   by_nowhere,
};

void judge_mechanism(struct judged *j)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i](j))
			break;
	if (!j->v->nr_fired)
		rule_fired(j->v, "K0", "no more is known than what the kernel reports: %s",
			   kind_name(j->v->kind));
	if (j->v->mechanism == MECH_NEAR_NULL && j->v->kind == KIND_PAGING_REQUEST)
		j->v->kind = KIND_NEAR_NULL;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which mechanism triage finds for addresses and pointers at the bounds of its rules: the
 * last value that counts as NULL plus an offset, as an error code or as an array's element, and the
 * first value that does not.
 */
#include "tap.h"
#include "triage/judge.h"
#include "triage/match.h"

#define VMALLOC 0xffffc90000200000ull
#define STACK	0xffffc90000123e48ull
#define DIRECT	0xffff888012345000ull
#define MODULES 0xffffffffc0123456ull

struct row {
	const char *name;
	struct incident e;
	uint64_t a;
	bool has_base;
	uint64_t b;
	const char *rule, *mechanism;
	bool present, absent; /* whether a page is at the address; neither: not known */
	bool runs;	      /* the fault was on an instruction fetch */
	bool indexed;	      /* the instruction has an index register */
	int64_t offset;	      /* from the pointer `b` */
	bool loads;	      /* rax is the base of an instruction's memory operand */
	bool jumps;	      /* rax is the target of an indirect call */
};

#define X86(...)    .e = {.arch = ARCH_X86_64, .kind = KIND_PAGING_REQUEST, __VA_ARGS__}
#define ARM64(...)  .e = {.arch = ARCH_ARM64, .kind = KIND_PAGING_REQUEST, __VA_ARGS__}
#define BASE(value) .has_base = true, .b = (value)
#define IP(f, m)                                                                                   \
	.has_ip = true, .ip = {.function = {f, sizeof(f) - 1}, .module = {m, sizeof(m) - 1}}
#define RAX(number) .regs = {.known = 1, .value = {(uint64_t)(number)}}
#define VMAP_STACK  .has_sp = true, .sp = STACK
#define IN_STACK    .e = {.arch = ARCH_X86_64, .kind = KIND_DOUBLE_FAULT, VMAP_STACK}
#define S390	    .e = {.arch = ARCH_S390, .kind = KIND_NULL_DEREF}
#define I386	    .e = {.arch = ARCH_I386, .kind = KIND_PAGING_REQUEST}
#define ARM	    .e = {.arch = ARCH_ARM, .kind = KIND_PAGING_REQUEST}

static const struct row nulls[] = {
	{"the last byte of the first page", X86(), 4095, .rule = "N1", .mechanism = "null_deref"},
	{"the first byte of the second page", X86(), 4096, .rule = "N3", .mechanism = "near_null"},
	{"the last address that is near NULL", X86(), 0xfffff, .rule = "N3",
	 .mechanism = "near_null"},
	{"half of a pointer", X86(), 0x100000, .rule = "U3", .mechanism = "truncated_pointer"},
	{"s390: the last address that is near NULL", S390, 0xffff, .rule = "N3",
	 .mechanism = "near_null"},
	{"s390: the kernel may be here", S390, 0x10000, .rule = "W9", .mechanism = "wild_ptr"},
	{"a pointer with a small value, and an address near NULL", X86(), 0xffff, BASE(8),
	 .rule = "N4", .mechanism = "near_null"},
	{"a pointer with a small value, and an address further away", X86(), 0x10000, BASE(8),
	 .rule = "U3", .mechanism = "truncated_pointer"},
	{"an odd pointer in the first page", X86(), 0x2000, BASE(0xfff), .rule = "N4",
	 .mechanism = "near_null"},
	{"an odd pointer behind the first page", X86(), 0x2000, BASE(0x1001), .rule = "U3",
	 .mechanism = "truncated_pointer"},
	{"a pointer to the second page", X86(), 0x2000, BASE(0x1000), .rule = "N3",
	 .mechanism = "near_null"},
	{"a pointer to the second page, and an address further away", X86(), 0x10000, BASE(0x1000),
	 .rule = "U3", .mechanism = "truncated_pointer"},
	{"a NULL pointer and a large index", X86(), 0x7fffffffffff, BASE(0), .rule = "N3",
	 .mechanism = "near_null"},
	{"the last pointer of 32 bits", X86(), UINT32_MAX, .rule = "U3",
	 .mechanism = "truncated_pointer"},
	{"a pointer of 33 bits", X86(), UINT32_MAX + 1ull, .rule = "U4", .mechanism = "wild_ptr"},
	{"i386: all pointers have 32 bits", I386, 0x7ffff000, .rule = "U4",
	 .mechanism = "wild_ptr"},
	{"arm: they have here, too", ARM, 0x7ffff000, .rule = "U4", .mechanism = "wild_ptr"},
};

/* Error codes: EPERM is 1, EHWPOISON 133, ERESTARTSYS 512, ERECALLCONFLICT 531. */
static const struct row errors[] = {
	{"-1", X86(), UINT64_MAX, .rule = "E1", .mechanism = "err_ptr"},
	{"-133, the last code of user space", X86(), -133ull, .rule = "E1", .mechanism = "err_ptr"},
	{"-134 is no code", X86(), -134ull, .rule = "W9", .mechanism = "wild_ptr"},
	{"-511 is no code", X86(), -511ull, .rule = "W9", .mechanism = "wild_ptr"},
	{"-512, the first code of the kernel", X86(), -512ull, .rule = "E1",
	 .mechanism = "err_ptr"},
	{"-513", X86(), -513ull, .rule = "E1", .mechanism = "err_ptr"},
	{"-531, the last code of the kernel", X86(), -531ull, .rule = "E1", .mechanism = "err_ptr"},
	{"-533 is no code", X86(), -533ull, .rule = "W9", .mechanism = "wild_ptr"},
	{"-532 is the offset of an integer", X86(), -532ull, .rule = "N5",
	 .mechanism = "container_of_null"},
	{"-4092 is the last offset", X86(), -4092ull, .rule = "N5",
	 .mechanism = "container_of_null"},
	{"-4096 is no offset of one page", X86(), -4096ull, .rule = "W9", .mechanism = "wild_ptr"},
	{"-8, often an error code", X86(), -8ull, .rule = "E1", .mechanism = "err_ptr"},
	{"-16, often an error code", X86(), -16ull, .rule = "E1", .mechanism = "err_ptr"},
	{"-24, often an error code", X86(), -24ull, .rule = "E1", .mechanism = "err_ptr"},
	{"-32, often an error code", X86(), -32ull, .rule = "E1", .mechanism = "err_ptr"},
	{"-40, rarely an error code", X86(), -40ull, .rule = "N5",
	 .mechanism = "container_of_null"},
	{"-104, often an error code", X86(), -104ull, .rule = "E1", .mechanism = "err_ptr"},
	{"-110, often an error code", X86(), -110ull, .rule = "E1", .mechanism = "err_ptr"},
	{"-111, an odd error code", X86(), -111ull, .rule = "E1", .mechanism = "err_ptr"},
	{"-112, rarely an error code", X86(), -112ull, .rule = "N5",
	 .mechanism = "container_of_null"},
	{"a member at NULL", X86(), 0, BASE(-16ull), .rule = "N5",
	 .mechanism = "container_of_null"},
	{"a register with the last code of user space", X86(RAX(-133)), 0x10, .rule = "E1",
	 .mechanism = "err_ptr"},
	{"a register with no code of user space", X86(RAX(-520)), 0x10, .rule = "N1",
	 .mechanism = "null_deref"},
	{"a register and the last address of the first page", X86(RAX(-12)), 0xfff, .rule = "E1",
	 .mechanism = "err_ptr"},
	{"a register and the second page", X86(RAX(-12)), 0x1000, .rule = "N3",
	 .mechanism = "near_null"},
	{"i386: -133 of 32 bits", I386, (uint32_t)-133, .rule = "E1", .mechanism = "err_ptr"},
	{"i386: the first error code", I386, (uint32_t)-4092, .rule = "N5",
	 .mechanism = "container_of_null"},
	{"arm: -1 of 32 bits", ARM, UINT32_MAX, .rule = "E1", .mechanism = "err_ptr"},
	{"x86-64: a number of 32 bits is no error code", X86(), (uint32_t)-12, .rule = "U3",
	 .mechanism = "truncated_pointer"},
};

#define LIST	  0xdead000000000100ull
#define TIMER	  0xdead000000000300ull
#define OTHER	  0xdead000000000600ull
#define FREED	  0x6b6b6b6b6b6b6b6bull
#define X0(n, of) .regs = {.known = 1u << (n), .value = {[n] = (uint64_t)(of)}}

static const struct row pointers[] = {
	{"arm64: an error code in x0", ARM64(X0(0, -12)), 0x10, .rule = "E1",
	 .mechanism = "err_ptr"},
	{"arm64: an error code in x19", ARM64(X0(19, -12)), 0x10, .rule = "E1",
	 .mechanism = "err_ptr"},
	{"arm64: x7 is rarely a pointer", ARM64(X0(7, -12)), 0x10, .rule = "N1",
	 .mechanism = "null_deref"},
	{"x86-64: an error code in rdi", X86(X0(7, -12)), 0x10, .rule = "E1",
	 .mechanism = "err_ptr"},
	{"x86-64: rcx is rarely a pointer", X86(X0(1, -12)), 0x10, .rule = "N1",
	 .mechanism = "null_deref"},
	{"an instruction that is known and used no error code", X86(RAX(-12)), 0x10, .loads = true,
	 .rule = "N1", .mechanism = "null_deref"},
	{"-1 and a field", X86(), 7, BASE(UINT64_MAX), .offset = 8, .rule = "E1",
	 .mechanism = "err_ptr"},
	{"-1 itself", X86(), UINT64_MAX, BASE(UINT64_MAX), .rule = "E1", .mechanism = "err_ptr"},
	{"-1 as an index, before an array", X86(), -9ull, BASE(UINT64_MAX), .offset = -8,
	 .rule = "W9", .mechanism = "wild_ptr"},
	{"arm64: -1 before a field", ARM64(), -9ull, BASE(UINT64_MAX), .offset = -8, .rule = "E1",
	 .mechanism = "err_ptr"},
	{"-12 before a field", X86(), -20ull, BASE(-12ull), .offset = -8, .rule = "E1",
	 .mechanism = "err_ptr"},
	{"NULL minus an offset", X86(), -8ull, BASE(0), .offset = -8, .rule = "N2",
	 .mechanism = "container_of_null"},
	{"a pointer minus an offset, to an error code", X86(), -8ull, BASE(8), .offset = -16,
	 .rule = "W9", .mechanism = "wild_ptr"},

	{"the poison of the pointer counts, not that of the address", X86(), TIMER, BASE(LIST),
	 .rule = "V1", .mechanism = "list_poison"},
	{"unless it is an unknown one", X86(), LIST, BASE(OTHER), .rule = "V1",
	 .mechanism = "list_poison"},
	{"or none", X86(), LIST, BASE(0xdead000000010000), .rule = "V1",
	 .mechanism = "list_poison"},
	{"the poison of the pointer, with another address", X86(), 0xdead000000010000, BASE(LIST),
	 .rule = "V1", .mechanism = "list_poison"},
	{"poison in the register of the instruction", X86(RAX(FREED)), 0xffff9d6e75d1bb80,
	 .loads = true, .rule = "V1", .mechanism = "slab_poison"},
	{"poison in a register that the instruction does not use", X86(RAX(FREED)),
	 0xffff9d6e75d1bb80, .rule = "W9", .mechanism = "wild_ptr"},
	{"an address of text, and poison in the register", X86(RAX(FREED)), 0x6c65682f6e69622f,
	 .loads = true, .rule = "V1", .mechanism = "string_pointer"},
	{"poison in the target of a call", X86(RAX(FREED)), 0xffff9d6e75d1bb80, .jumps = true,
	 .rule = "V1", .mechanism = "slab_poison"},
	{"a poison address, and poison in the target", X86(RAX(FREED)), LIST, .jumps = true,
	 .rule = "V1", .mechanism = "list_poison"},
};

#define KASAN(low)                                                                                 \
	.e = {.arch = ARCH_X86_64, .kind = KIND_GPF, .has_range = true, .range_low = (low)}
#define SHADOW(of) .e = {.arch = ARCH_X86_64, .kind = KIND_GPF}, 0xdffffc0000000000ull + (of) / 8

static const struct row ranges[] = {
	{"KASAN: the last bytes of the first page", KASAN(4095), .rule = "A2",
	 .mechanism = "null_deref"},
	{"KASAN: the first bytes of the second page", KASAN(4096), .rule = "A2",
	 .mechanism = "near_null"},
	{"KASAN: the last address near NULL", KASAN(0xffff), .rule = "A2",
	 .mechanism = "near_null"},
	{"KASAN: an address further away", KASAN(0x10000), .rule = "A2", .mechanism = "wild_ptr"},
	{"KASAN: an entry of a list that was removed", KASAN(0xdead000000000100), .rule = "A2",
	 .mechanism = "list_poison"},
	{"KASAN: a pointer from a freed object", KASAN(0x6b6b6b6b6b6b6b6b), .rule = "A2",
	 .mechanism = "slab_poison"},
	{"KASAN: a pointer of text", KASAN(0x6c65682f6e69622f), .rule = "A2",
	 .mechanism = "string_pointer"},
	{"KASAN's shadow of the last bytes of the first page", SHADOW(4088), .rule = "A3",
	 .mechanism = "null_deref"},
	{"KASAN's shadow of the second page", SHADOW(4096), .rule = "A3", .mechanism = "wild_ptr"},
};

/* A table of pages as printed, with the levels of a bit mask: pgd 1, pud 2, pmd 4, pte 8. */
#define WALK(levels, d, u, m, t)                                                                   \
	.has_walk = true, .walk_levels = (levels), .pgd = (d), .pud = (u), .pmd = (m), .pte = (t)
#define LOADS(f) IP(f, "drv"), .nr_modules = 1, .module = loading

static struct module loading[] = {{.loading = true}}, gone[] = {{.gone = true}};

static const struct row areas[] = {
	{"an element one page behind the begin of an array", X86(VMAP_STACK), VMALLOC + 4096,
	 BASE(VMALLOC), .indexed = true, .absent = true, .rule = "I4",
	 .mechanism = "vmalloc_guard"},
	{"an element of the array's first page", X86(VMAP_STACK), VMALLOC + 4095, BASE(VMALLOC),
	 .indexed = true, .absent = true, .rule = "I3", .mechanism = "vmalloc_uaf"},
	{"the last element that counts as one of the array", X86(VMAP_STACK), VMALLOC + 0x1000000,
	 BASE(VMALLOC), .indexed = true, .absent = true, .rule = "I4",
	 .mechanism = "vmalloc_guard"},
	{"an element further behind it", X86(VMAP_STACK), VMALLOC + 0x1000001, BASE(VMALLOC),
	 .indexed = true, .absent = true, .rule = "I3", .mechanism = "vmalloc_uaf"},
	{"a pointer that is not at the begin of a page", X86(VMAP_STACK), VMALLOC + 0x2000,
	 BASE(VMALLOC + 1), .indexed = true, .absent = true, .rule = "I3",
	 .mechanism = "vmalloc_uaf"},
	{"no index", X86(VMAP_STACK), VMALLOC + 0x2000, BASE(VMALLOC), .absent = true, .rule = "I3",
	 .mechanism = "vmalloc_uaf"},
	{"the last bytes of a page's begin, without an entry",
	 X86(VMAP_STACK, WALK(15, 1, 1, 1, 0)), VMALLOC + 15, .absent = true, .rule = "I2",
	 .mechanism = "vmalloc_guard"},
	{"bytes behind a page's begin", X86(VMAP_STACK, WALK(15, 1, 1, 1, 0)), VMALLOC + 16,
	 .absent = true, .rule = "I3", .mechanism = "vmalloc_uaf"},
	{"a page's begin, with an entry", X86(VMAP_STACK, WALK(15, 1, 1, 1, 2)), VMALLOC,
	 .absent = true, .rule = "I3", .mechanism = "vmalloc_uaf"},
	{"a page's begin, without the level of entries", X86(VMAP_STACK, WALK(7, 1, 1, 0, 0)),
	 VMALLOC, .absent = true, .rule = "I3", .mechanism = "vmalloc_uaf"},
	{"no area around the address", X86(VMAP_STACK, WALK(3, 1, 0, 0, 0)), VMALLOC,
	 .absent = true, .rule = "W9", .mechanism = "wild_ptr"},
	{"nothing in the table of the highest level", X86(VMAP_STACK, WALK(1, 0, 0, 0, 0)), VMALLOC,
	 .absent = true, .rule = "W9", .mechanism = "wild_ptr"},
	{"only the highest level is known", X86(VMAP_STACK, WALK(1, 1, 0, 0, 0)), VMALLOC,
	 .absent = true, .rule = "I3", .mechanism = "vmalloc_uaf"},
	{"a page of the area that is there", X86(VMAP_STACK), VMALLOC, .present = true,
	 .rule = "W9", .mechanism = "wild_ptr"},
	{"a register of a device", X86(VMAP_STACK, IP("ioread32", "")), VMALLOC + 0x100,
	 .absent = true, .rule = "I1", .mechanism = "mmio_uaf"},
	{"a register at a page's begin while the module loads", X86(VMAP_STACK, LOADS("drv_rd32")),
	 VMALLOC + 15, .absent = true, .rule = "I3", .mechanism = "vmalloc_uaf"},
	{"a register further behind, while the module loads", X86(VMAP_STACK, LOADS("drv_rd32")),
	 VMALLOC + 16, .absent = true, .rule = "I1", .mechanism = "mmio_uaf"},
	{"data of a module", X86(.has_error = true), MODULES, .absent = true, .rule = "M1",
	 .mechanism = "freed_module"},
	{"an address in the modules' area where no module ever was",
	 X86(.has_error = true, WALK(3, 1, 0, 0, 0)), MODULES, .absent = true, .rule = "W9",
	 .mechanism = "wild_ptr"},
	{"arm64: no entry of the level of an area",
	 ARM64(.has_error = true, .error = 5, .has_sp = true, .sp = 0xffff800081234560),
	 0xffff800082000000, .absent = true, .rule = "W9", .mechanism = "wild_ptr"},
	{"arm64: no entry of the level below",
	 ARM64(.has_error = true, .error = 6, .has_sp = true, .sp = 0xffff800081234560),
	 0xffff800082000000, .absent = true, .rule = "I3", .mechanism = "vmalloc_uaf"},
	{"a page of the direct map that was freed", X86(.debug_pagealloc = true), DIRECT,
	 .absent = true, .rule = "D1", .mechanism = "page_uaf"},
	{"a hole of the direct map", X86(), DIRECT, .absent = true, .rule = "W9",
	 .mechanism = "wild_ptr"},
};

static const struct row stacks[] = {
	{"the access at the stack pointer", IN_STACK, STACK, .rule = "S1",
	 .mechanism = "stack_overflow"},
	{"the lowest access below the stack pointer", IN_STACK, STACK - 0x3fff, .rule = "S1",
	 .mechanism = "stack_overflow"},
	{"an access further below", IN_STACK, STACK - 0x4000, .rule = "K0",
	 .mechanism = "double_fault"},
	{"the last access above the stack pointer", IN_STACK, STACK + 63, .rule = "S1",
	 .mechanism = "stack_overflow"},
	{"an access further above", IN_STACK, STACK + 64, .rule = "K0",
	 .mechanism = "double_fault"},
};

static const struct row calls[] = {
	{"a call of the last byte of the first page", X86(), 4095, .runs = true, .rule = "X1",
	 .mechanism = "null_call"},
	{"a call of the second page", X86(), 4096, .runs = true, .absent = true, .rule = "X2",
	 .mechanism = "wild_call"},
	{"a call of a number of 32 bits", X86(), UINT32_MAX, .runs = true, .absent = true,
	 .rule = "X2", .mechanism = "wild_call"},
	{"a call of user space above 32 bits", X86(), UINT32_MAX + 1ull, .runs = true,
	 .absent = true, .rule = "X3", .mechanism = "smep"},
	{"a call of a number of 32 bits, where a page is", X86(), UINT32_MAX, .runs = true,
	 .present = true, .rule = "X3", .mechanism = "smep"},
	{"a call of data", X86(), DIRECT, .runs = true, .present = true, .rule = "X7",
	 .mechanism = "nx_exec"},
	{"a call of nothing", X86(), DIRECT, .runs = true, .absent = true, .rule = "X8",
	 .mechanism = "wild_call"},
	{"a call of the modules' area", X86(), MODULES, .runs = true, .absent = true, .rule = "X5",
	 .mechanism = "freed_text"},
	{"a call of the modules' area, where a page is", X86(), MODULES, .runs = true,
	 .present = true, .rule = "X7", .mechanism = "nx_exec"},
	{"the last byte of a function",
	 X86(.has_ip = true,
	     .ip = {.function = {"f", 1}, .module = {"drv", 3}, .offset = 0x1f, .size = 0x20}),
	 MODULES, .runs = true, .absent = true, .rule = "X8", .mechanism = "wild_call"},
	{"the byte behind a function",
	 X86(.has_ip = true,
	     .ip = {.function = {"f", 1}, .module = {"drv", 3}, .offset = 0x20, .size = 0x20}),
	 MODULES, .runs = true, .absent = true, .rule = "X4", .mechanism = "freed_text"},
	{"a call of an unknown area after a module was unloaded",
	 X86(.nr_modules = 1, .module = gone), 0xffffc90000123000, .runs = true, .absent = true,
	 .rule = "X6", .mechanism = "freed_text"},
	{"a call of an unknown area while all modules are there",
	 X86(.nr_modules = 1, .module = loading), 0xffffc90000123000, .runs = true, .absent = true,
	 .rule = "X8", .mechanism = "wild_call"},
};

#define KFREE(x) IP("kfree", ""), .regs = {.known = 1u << 7, .value = {[7] = (x)}}

static const struct row frees[] = {
	{"kfree() of a number", X86(KFREE(0x1234567812)), 0xffffea0048d159e0, .rule = "V3",
	 .mechanism = "wild_ptr"},
	{"kfree() of a pointer from a freed object", X86(KFREE(0x6b6b6b6b6b6b6b6b)),
	 0xffffea0048d159e0, .rule = "V3", .mechanism = "slab_poison"},
	{"kfree() of NULL is allowed", X86(KFREE(0)), 0xffffea0048d159e0, .rule = "V2",
	 .mechanism = "freelist_corruption"},
	{"kfree() of an address", X86(KFREE(DIRECT)), 0xffffea0048d159e0, .rule = "V2",
	 .mechanism = "freelist_corruption"},
	{"a lock that holds no number of a CPU", X86(IP("native_queued_spin_lock_slowpath", "")),
	 0xffffffff83123456, .rule = "Q1", .mechanism = "wild_ptr"},
	{"a pointer that copy_from_user() should have read", X86(), 0x7f0012345678, .present = true,
	 .rule = "U2", .mechanism = "smap"},
	{"an address of a stack or of mmap()", X86(), 0x7f0012345678, .rule = "U4",
	 .mechanism = "smap"},
	{"an address of a program", X86(), 0x560012345678, .rule = "U4", .mechanism = "smap"},
	{"an address that programs rarely have", X86(), 0x570012345678, .rule = "U4",
	 .mechanism = "wild_ptr"},
	{"arm64: an address of a stack", ARM64(), 0xff0012345678, .rule = "U4",
	 .mechanism = "smap"},
	{"arm64: an address of a program", ARM64(), 0xaa0012345678, .rule = "U4",
	 .mechanism = "smap"},
	{"x86-64: not of its programs", X86(), 0x540012345678, .rule = "U4",
	 .mechanism = "wild_ptr"},
};

#define TEXT(s)                                                                                    \
	{                                                                                          \
		(s), sizeof(s) - 1                                                                 \
	}

/* Whole reports: the rule and the mechanism, and the class of the mechanism. */
static const struct {
	const char *name;
	struct incident e;
	const char *rule, *mechanism, *class;
} reports[] = {
	{"a list whose entry was removed, says the kernel",
	 {.arch = ARCH_X86_64,
	  .kind = KIND_LIST_CORRUPTION,
	  .note = TEXT("list_del corruption, a->next is LIST_POISON1 (dead000000000100)")},
	 "K1",
	 "list_poison",
	 "list_poison"},
	{"a list whose entry was removed, says a register",
	 {.arch = ARCH_X86_64, .kind = KIND_LIST_CORRUPTION, RAX(0xdead000000000100)},
	 "K1",
	 "list_poison",
	 "list_poison"},
	{"a list, and no poison in the registers",
	 {.arch = ARCH_X86_64, .kind = KIND_LIST_CORRUPTION, RAX(0xffff888012345678)},
	 "K1",
	 "list_corruption",
	 "list_corruption"},
	{"a list with a reason, and poison in a register",
	 {.arch = ARCH_X86_64,
	  .kind = KIND_LIST_CORRUPTION,
	  .note = TEXT("list_add corruption."),
	  RAX(0xdead000000000100)},
	 "K1",
	 "list_corruption",
	 "list_corruption"},
	{"a reference count, and poison in a register",
	 {.arch = ARCH_X86_64, .kind = KIND_REFCOUNT, RAX(0xdead000000000100)},
	 "K1",
	 "refcount",
	 "refcount"},
	{"an error of the bus",
	 {.arch = ARCH_ARM,
	  .kind = KIND_UNHANDLED_FAULT,
	  .detail = TEXT("external abort on non-linefetch")},
	 "K6",
	 "hardware",
	 "hardware"},
	{"another fault that nothing handles",
	 {.arch = ARCH_ARM, .kind = KIND_UNHANDLED_FAULT, .detail = TEXT("page domain fault")},
	 "K0",
	 "unhandled_fault",
	 "unhandled_fault"},
	{"another report with these words",
	 {.arch = ARCH_ARM, .kind = KIND_OTHER, .detail = TEXT("external abort")},
	 "K0",
	 "other",
	 "other"},
	{"a copy that is too large",
	 {.arch = ARCH_X86_64,
	  .kind = KIND_WARNING,
	  .note = TEXT("Buffer overflow detected (8 < 16)!")},
	 "K2",
	 "usercopy",
	 "usercopy"},
	{"the function that says so",
	 {.arch = ARCH_X86_64, .kind = KIND_WARNING, IP("__copy_overflow", "")},
	 "K2",
	 "usercopy",
	 "usercopy"},
	{"the header that names this function",
	 {.arch = ARCH_X86_64, .kind = KIND_WARNING, .said = TEXT("__copy_overflow")},
	 "K2",
	 "usercopy",
	 "usercopy"},
	{"a check of FORTIFY_SOURCE",
	 {.arch = ARCH_X86_64, .kind = KIND_BUG, IP("fortify_panic", "")},
	 "K3",
	 "out_of_bounds",
	 "oob"},
	{"its text",
	 {.arch = ARCH_X86_64,
	  .kind = KIND_WARNING,
	  .note = TEXT("memcpy: detected buffer overflow: 8 byte write of buffer size 4")},
	 "K3",
	 "out_of_bounds",
	 "oob"},
	{"a check of the allocator in kfree()",
	 {.arch = ARCH_X86_64, .kind = KIND_BUG, .place = TEXT("mm/slub.c:305"), IP("kfree", "")},
	 "K5",
	 "double_free",
	 "double_free"},
	{"a check of the allocator elsewhere",
	 {.arch = ARCH_X86_64,
	  .kind = KIND_BUG,
	  .place = TEXT("mm/slub.c:305"),
	  IP("new_slab", "")},
	 "K0",
	 "bug",
	 "bug"},
	{"a warning of the allocator in kfree()",
	 {.arch = ARCH_X86_64,
	  .kind = KIND_WARNING,
	  .place = TEXT("mm/slub.c:305"),
	  IP("kfree", "")},
	 "K0",
	 "warning",
	 "warning"},
	{"another file's check in kfree()",
	 {.arch = ARCH_X86_64, .kind = KIND_BUG, .place = TEXT("mm/slab.c:305"), IP("kfree", "")},
	 "K0",
	 "bug",
	 "bug"},
	{"a packet without room",
	 {.arch = ARCH_X86_64, .kind = KIND_BUG, IP("skb_panic", "")},
	 "K4",
	 "out_of_bounds",
	 "oob"},
	{"a stack that overflowed",
	 {.arch = ARCH_X86_64, .kind = KIND_STACK_OVERFLOW},
	 "S1",
	 "stack_overflow",
	 "stack_overflow"},
	{"a page table with a reserved bit",
	 {.arch = ARCH_X86_64, .kind = KIND_RSVD_BIT},
	 "P1",
	 "pgtable_corruption",
	 "pgtable_corruption"},
	{"a reserved bit, says the error code",
	 {.arch = ARCH_X86_64,
	  .kind = KIND_PAGING_REQUEST,
	  .has_address = true,
	  .address = DIRECT,
	  .has_error = true,
	  .error = 9},
	 "P1",
	 "pgtable_corruption",
	 "pgtable_corruption"},
	{"a general protection fault has another error code",
	 {.arch = ARCH_X86_64,
	  .kind = KIND_GPF,
	  .has_address = true,
	  .address = 0x1234567812345678,
	  .has_error = true,
	  .error = 8},
	 "C1",
	 "non_canonical",
	 "wild_ptr"},
	{"a write to a page that may be read",
	 {.arch = ARCH_X86_64,
	  .kind = KIND_PAGING_REQUEST,
	  .has_address = true,
	  .address = DIRECT,
	  .has_error = true,
	  .error = 3},
	 "W1",
	 "ro_write",
	 "ro_write"},
	{"a read of a page that is there",
	 {.arch = ARCH_X86_64,
	  .kind = KIND_PAGING_REQUEST,
	  .has_address = true,
	  .address = DIRECT,
	  .has_error = true,
	  .error = 1},
	 "W9",
	 "wild_ptr",
	 "wild_ptr"},
	{"an alignment fault",
	 {.arch = ARCH_ARM64, .kind = KIND_ALIGNMENT, .has_address = true, .address = DIRECT + 1},
	 "L1",
	 "alignment",
	 "alignment"},
	{"a pointer from a freed object",
	 {.arch = ARCH_X86_64,
	  .kind = KIND_GPF,
	  .has_address = true,
	  .address = 0x6b6b6b6b6b6b6b6b},
	 "V1",
	 "slab_poison",
	 "uaf"},
	{"a pointer with one wrong bit",
	 {.arch = ARCH_X86_64,
	  .kind = KIND_GPF,
	  .has_address = true,
	  .address = 0xfffb888012345678,
	  RAX(0xffff888012345678)},
	 "B1",
	 "bit_flip",
	 "bit_flip"},
	{"an access that the kernel reports as one to user memory",
	 {.arch = ARCH_ARM64,
	  .kind = KIND_USER_ACCESS,
	  .has_address = true,
	  .address = 0xaaaac0de0000},
	 "U1",
	 "smap",
	 "smap"},
	{"a stack segment",
	 {.arch = ARCH_X86_64,
	  .kind = KIND_STACK_SEGMENT,
	  .has_address = true,
	  .address = 0x1234567812345678},
	 "C1",
	 "non_canonical",
	 "wild_ptr"},
};

static void test_reports(void)
{
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		struct incident e = reports[i].e;
		struct diagnosis v = {};
		struct judged j = {.e = &e, .v = &v};
		const char *rule;

		judge_facts(&j);
		judge_mechanism(&j);
		rule = v.nr_fired ? v.fired[0].id : "none";
		if (!ok(!strcmp(rule, reports[i].rule) &&
				!strcmp(verdict_mechanism(&v), reports[i].mechanism) &&
				!strcmp(verdict_semantic(&v), reports[i].class),
			"%s", reports[i].name))
			printf("#   got %s: %s (%s)\n", rule, verdict_mechanism(&v),
			       verdict_semantic(&v));
	}
}

static void is_mechanism(const struct row *row)
{
	struct incident e = row->e;
	struct diagnosis v = {.kind = e.kind};
	struct judged j = {.e = &e, .v = &v, .a = row->a, .has_address = true};
	const char *rule;

	j.has_base = row->has_base;
	j.b = row->b;
	j.o = row->offset;
	j.has_insn = j.in.memory = row->loads || row->jumps;
	j.in.base = row->loads ? 0 : -1;
	j.in.target = row->jumps ? 0 : -1;
	j.in.index = row->indexed ? 0 : -1;
	j.region = region_of(&e, j.a);
	j.fault = e.kind != KIND_DOUBLE_FAULT;
	j.has_present = row->present || row->absent;
	j.present = row->present;
	v.access = row->runs ? ACCESS_EXEC : ACCESS_READ;
	judge_mechanism(&j);
	rule = v.nr_fired ? v.fired[0].id : "none";
	if (!ok(!strcmp(rule, row->rule) && !strcmp(verdict_mechanism(&v), row->mechanism), "%s",
		row->name))
		printf("#   got %s (%s), want %s (%s)\n", rule, verdict_mechanism(&v), row->rule,
		       row->mechanism);
}

#define ARE(rows)                                                                                  \
	do                                                                                         \
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)                        \
			is_mechanism(&rows[i]);                                                    \
	while (0)

int main(void)
{
	ARE(nulls);
	ARE(errors);
	ARE(pointers);
	ARE(ranges);
	ARE(areas);
	ARE(stacks);
	ARE(calls);
	ARE(frees);
	test_reports();
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which regions of the kernel's address space and which poison values triage recognises.
 *
 * If the environment variable FS_SHOW_EXPECTED is set, the test prints all boundaries.
 */
#include "steps.h"
#include "tap.h"
#include "triage/address.h"

#define STACK_X86   0xffffc90000123e48ull
#define STACK_ARM64 0xffff800081234560ull

static void is_region(const struct incident *e, uint64_t a, enum region want, const char *name)
{
	enum region got = region_of(e, a);

	if (!ok(got == want, "%s", name))
		printf("#   %#" PRIx64 ": got %s, want %s\n", a, region_name(got),
		       region_name(want));
}

/* Tests the addresses that Documentation/arch/x86/x86_64/mm.rst lists. */
static void test_x86_64(void)
{
	struct incident e = {.arch = ARCH_X86_64, .kind = KIND_PAGING_REQUEST};

	is_region(&e, 0, REGION_NULL, "0");
	is_region(&e, 4095, REGION_NULL, "the last byte of the first page");
	is_region(&e, 4096, REGION_USER, "the second page");
	is_region(&e, 0x7fffffffffff, REGION_USER, "the last byte of user space");
	is_region(&e, 0xffff888000001000, REGION_DIRECT, "the direct map");
	is_region(&e, 0xffff9d6e75d1bb80, REGION_DIRECT, "where KASLR put it");
	is_region(&e, 0xffffffff81234567, REGION_IMAGE, "the image");
	is_region(&e, 0xffffffffc0123456, REGION_MODULES, "modules");
	is_region(&e, 0xffffffffff000000, REGION_KERNEL, "behind them, fixed addresses");
	is_region(&e, 0xfffffffffffff001, REGION_ERROR, "-4095 is an error");
	is_region(&e, 0xfffffffffffff000, REGION_KERNEL, "-4096 is none");
	is_region(&e, UINT64_MAX, REGION_ERROR, "-1 is one");
	is_region(&e, 0xdffffc0000000003, REGION_SHADOW, "the shadow of KASAN");
	is_region(&e, 0xffffc90000100000, REGION_KERNEL, "vmalloc, but who can tell?");
	e.has_sp = true;
	e.sp = STACK_X86;
	is_region(&e, 0xffffc90000100000, REGION_VMALLOC, "beside the stack: vmalloc");
	is_region(&e, STACK_X86 + (32ull << 40), REGION_KERNEL, "32 TiB above it is not");
	e.kind = KIND_GPF;
	is_region(&e, 0x1234567812345678, REGION_NON_CANONICAL, "in neither half");
	e.kind = KIND_PAGING_REQUEST;
	is_region(&e, 0x00a0000000000000, REGION_USER, "a page fault of it: five levels");
}

static void test_others(void)
{
	struct incident e = {.arch = ARCH_ARM64, .has_sp = true, .sp = STACK_ARM64};

	is_region(&e, 0x0000aaaad0a51774, REGION_USER, "arm64: user space");
	is_region(&e, 0x0010000000000000, REGION_NON_CANONICAL, "arm64: between the halves");
	is_region(&e, 0xffff000012345678, REGION_DIRECT, "arm64: the linear map");
	is_region(&e, STACK_ARM64 + 4096, REGION_VMALLOC, "arm64: beside the stack");
	is_region(&e, STACK_ARM64 - 4096, REGION_VMALLOC, "arm64: below it, too");
	is_region(&e, STACK_ARM64 + (2ull << 40), REGION_MODULES, "arm64: far from it");
	e = (struct incident){.arch = ARCH_ARM};
	is_region(&e, 0xbf000000, REGION_MODULES, "arm: modules");
	is_region(&e, 0xbeffffff, REGION_KERNEL, "arm: below them");
	is_region(&e, 0xc0000000, REGION_KERNEL, "arm: the image");
	is_region(&e, 0x7fffffff, REGION_USER, "arm: user space");
	is_region(&e, 0xfffff001, REGION_ERROR, "arm: an error");
	is_region(&e, 0xfffff000, REGION_KERNEL, "arm: none");
	e = (struct incident){.arch = ARCH_UNKNOWN};
	is_region(&e, 0xffff888000001000, REGION_KERNEL, "of an unknown machine: the upper half");
	is_region(&e, 0x12345678, REGION_UNKNOWN, "and what may be anything");
	ok(is_kernel_address(ARCH_S390, 4096), "s390: each half has all addresses");
	ok(is_kernel_address(ARCH_PPC, 0xc0000000) && !is_kernel_address(ARCH_PPC, 0xbfffffff),
	   "ppc: its 32 bits");
	ok(is_kernel_address(ARCH_I386, 0x80000000) && !is_kernel_address(ARCH_I386, 0x7fffffff),
	   "i386: the upper half, whatever the split");
}

/* Stacks and addresses at the bounds of the areas, one address on each side. */
static void test_limits(void)
{
	static const struct {
		enum arch arch;
		uint64_t sp, a;
		enum region want;
		const char *name;
	} rows[] = {
		{ARCH_X86_64, 0xff00000000000000, 0xff00000000001000, REGION_VMALLOC,
		 "beside a stack at the lowest kernel address"},
		{ARCH_X86_64, 0xfeffffffffffffff, 0xff00000000001000, REGION_KERNEL,
		 "a stack below the kernel's addresses tells nothing"},
		{ARCH_X86_64, 0xffffffff80000000, 0xffffffff7ffff000, REGION_KERNEL,
		 "a stack in the image is not in the vmalloc area"},
		{ARCH_X86_64, STACK_X86, STACK_X86 - (1ull << 40), REGION_VMALLOC,
		 "1 TiB below the stack"},
		{ARCH_X86_64, STACK_X86, STACK_X86 + (32ull << 40) - 1, REGION_VMALLOC,
		 "just less than 32 TiB above it"},
		{ARCH_ARM64, 0xffff800000000000, 0xffff800000001000, REGION_VMALLOC,
		 "arm64: beside a stack at the lowest address of the upper half"},
		{ARCH_ARM64, 0xffff800000000000, 0xffff7ffffffff000, REGION_DIRECT,
		 "arm64: the page below that half is in the direct map"},
		{ARCH_ARM64, STACK_ARM64, STACK_ARM64 + (1ull << 40), REGION_VMALLOC,
		 "arm64: 1 TiB above the stack"},
		{ARCH_ARM64, STACK_ARM64, STACK_ARM64 + (1ull << 40) + 1, REGION_MODULES,
		 "arm64: more than that above it"},
		{ARCH_ARM64, 0xffff000000000000, 0xffff000000001000, REGION_VMALLOC,
		 "arm64 up to 5.3: beside a stack at the lowest address"},
		{ARCH_ARM64, 0xfffeffffffffffff, 0xffff000000001000, REGION_DIRECT,
		 "arm64 up to 5.3: a stack below that area tells nothing"},
		{ARCH_ARM64, 0xffff7ffffffff000, 0xffff7fffffffffff, REGION_VMALLOC,
		 "arm64 up to 5.3: beside a stack at the end of the lower half"},
		{ARCH_ARM64, 0xffff7ffffffff000, 0xffff800000000000, REGION_KERNEL,
		 "arm64 up to 5.3: above the lower half"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct incident e = {.arch = rows[i].arch, .kind = KIND_PAGING_REQUEST};

		e.has_sp = true;
		e.sp = rows[i].sp;
		is_region(&e, rows[i].a, rows[i].want, rows[i].name);
	}
}

/* Tests the poison values that include/linux/poison.h defines. */
static void test_poison(void)
{
	static const struct {
		enum arch arch;
		uint64_t value;
		enum poison want;
		const char *name;
	} rows[] = {
		{ARCH_X86_64, 0x6b6b6b6b6b6b6b6b, POISON_SLAB_FREE, "a freed object"},
		{ARCH_X86_64, 0x6b6b6b6b6b6b6bd3, POISON_SLAB_FREE, "a field behind it"},
		{ARCH_X86_64, 0x6b6b6b6b6b121212, POISON_NONE, "five bytes are no fill"},
		{ARCH_X86_64, 0x5a5a5a5a5a5a5a5a, POISON_SLAB_INIT, "never written"},
		{ARCH_X86_64, 0xbbbbbbbbbbbbbbbb, POISON_REDZONE, "a red zone"},
		{ARCH_X86_64, 0xaaaaaaaaaaaaaaaa, POISON_PAGE, "a freed page"},
		{ARCH_X86_64, 0xdead000000000100, POISON_LIST, "LIST_POISON1"},
		{ARCH_X86_64, 0xdead000000000122, POISON_LIST, "LIST_POISON2"},
		{ARCH_X86_64, 0xdead0000000000e8, POISON_LIST, "container_of(LIST_POISON1)"},
		{ARCH_X86_64, 0xdeacfffffffff108, POISON_LIST, "container_of() in a large object"},
		{ARCH_X86_64, 0xdeacfffffffff0f8, POISON_NONE, "more than a page below"},
		{ARCH_X86_64, 0xdead000000000300, POISON_TIMER, "TIMER_ENTRY_STATIC"},
		{ARCH_X86_64, 0xdead000000000400, POISON_MAPPING, "TAIL_MAPPING"},
		{ARCH_X86_64, 0xdead000000000500, POISON_MUTEX, "MUTEX_POISON"},
		{ARCH_X86_64, 0xdead000000000600, POISON_OTHER, "another of them"},
		{ARCH_X86_64, 0x00100100, POISON_LIST, "lists before 2.6.39"},
		{ARCH_X86_64, 0x00200200, POISON_LIST, "their other pointer"},
		{ARCH_X86_64, 0x00100200, POISON_NONE, "none of both"},
		{ARCH_X86_64, 0x122, POISON_NONE, "a small number of 64 bits"},
		{ARCH_I386, 0x122, POISON_LIST, "LIST_POISON2 of 32 bits"},
		{ARCH_I386, 0x100, POISON_NONE, "LIST_POISON1 of 32 bits may be any field"},
		{ARCH_I386, 0x6b6b6b6b, POISON_SLAB_FREE, "a freed object of 32 bits"},
		{ARCH_X86_64, 0x6b6b6b6b, POISON_NONE, "half a fill of 64 bits"},
		{ARCH_X86_64, 0xdead4ead12345678, POISON_MAGIC, "SPINLOCK_MAGIC"},
		{ARCH_X86_64, 0xdeadbeef, POISON_MAGIC, "a number for people"},
		{ARCH_X86_64, 0x6c65682f6e69622f, POISON_TEXT, "\"/bin/hel\""},
		{ARCH_X86_64, 0x0000006e69622f2f, POISON_NONE, "five letters are none"},
		{ARCH_ARM64, 0x00ad000000000122, POISON_LIST, "arm64 prints no tag"},
		{ARCH_ARM64, 0x006b6b6b6b6b1234, POISON_SLAB_FREE, "nor that of a freed object"},
		{ARCH_X86_64, 0x006b6b6b6b6b1234, POISON_NONE, "only arm64 leaves a byte out"},
		{ARCH_X86_64, 0xdead0000000000f0, POISON_LIST, "a field before LIST_POISON1"},
		{ARCH_X86_64, 0xdead0000000002ff, POISON_LIST, "a field behind LIST_POISON2"},
		{ARCH_X86_64, 0xffff888012345678, POISON_NONE, "an address"},
		{ARCH_X86_64, 0, POISON_NONE, "null"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct incident e = {.arch = rows[i].arch};
		enum poison got = poison_of(&e, rows[i].value);

		ok(got == rows[i].want, "%s: %s", rows[i].name,
		   got ? poison_meaning(got) : "no poison");
	}
	for (int i = 1; i < NR_POISONS; i++)
		ok(*poison_meaning(i), "poison %d has words", i);
	for (int i = 0; i < NR_REGIONS; i++)
		ok(*region_name(i), "region %d has a name", i);
}

static void test_bit(void)
{
	struct incident e = {.arch = ARCH_X86_64};
	uint64_t like = 0;

	e.regs.value[3] = 0xffff888012345678;
	ok(!one_bit_off(&e, 0xfffb888012345678, &like), "a register that the log does not give");
	e.regs.known = 1u << 3;
	ok(one_bit_off(&e, 0xfffb888012345678, &like) && like == 0xffff888012345678,
	   "one bit of the region");
	ok(one_bit_off(&e, 0xfffb888012345000, &like), "in the same page");
	ok(!one_bit_off(&e, 0xffff888012345678, &like), "the same address");
	ok(!one_bit_off(&e, 0xfff3888012345678, &like), "two bits");
	ok(!one_bit_off(&e, 0xffff888012347678, &like), "a bit that chooses a page alone");
	ok(one_bit_off(&e, 0xffff889012345678, &like), "bit 36 is of the region");
	ok(!one_bit_off(&e, 0xffff888812345678, &like), "bit 35 is not");
	e.regs.value[3] = 0x7fff12345678;
	ok(!one_bit_off(&e, 0x3fff12345678, &like), "an address of user space is no pattern");
}

static const char *region_at(const void *of, uint64_t address)
{
	return region_name(region_of(of, address));
}

static const char *poison_at(const void *of, uint64_t value)
{
	enum poison p = poison_of(of, value);

	return p ? poison_meaning(p) : "-";
}

static const char *half_at(const void *of, uint64_t address)
{
	const struct incident *e = of;

	return is_kernel_address(e->arch, address) ? "kernel" : "user";
}

/*
 * All addresses or values at which the result of a function changes, for an incident. Without
 * arguments in `between`, boundaries are looked for in all 64-bit numbers.
 */
static const struct {
	const char *name;
	step_fn *at;
	struct incident e;
	uint64_t between[12];
	const char *want;
} boundaries[] = {
	{"a page fault of x86-64",
	 region_at,
	 {.arch = ARCH_X86_64, .kind = KIND_PAGING_REQUEST},
	 {},
	 "0: null page; 0x1000: user space; 0xdffffc0000000000: KASAN shadow; "
	 "0xe0001c0000000000: user space; 0xff00000000000000: kernel space; "
	 "0xffff880000000000: direct map; 0xffffc80000000000: kernel space; "
	 "0xffffffff80000000: kernel image; 0xffffffffc0000000: modules; "
	 "0xffffffffff000000: kernel space; 0xfffffffffffff001: error codes"},
	{"a null dereference of x86-64",
	 region_at,
	 {.arch = ARCH_X86_64, .kind = KIND_NULL_DEREF},
	 {},
	 "0: null page; 0x1000: user space; 0xdffffc0000000000: KASAN shadow; "
	 "0xe0001c0000000000: user space; 0xff00000000000000: kernel space; "
	 "0xffff880000000000: direct map; 0xffffc80000000000: kernel space; "
	 "0xffffffff80000000: kernel image; 0xffffffffc0000000: modules; "
	 "0xffffffffff000000: kernel space; 0xfffffffffffff001: error codes"},
	{"a general protection fault",
	 region_at,
	 {.arch = ARCH_X86_64, .kind = KIND_GPF},
	 {},
	 "0: null page; 0x1000: user space; 0x800000000000: non-canonical; "
	 "0xdffffc0000000000: KASAN shadow; 0xe0001c0000000000: non-canonical; "
	 "0xffff800000000000: kernel space; 0xffff880000000000: direct map; "
	 "0xffffc80000000000: kernel space; 0xffffffff80000000: kernel image; "
	 "0xffffffffc0000000: modules; 0xffffffffff000000: kernel space; "
	 "0xfffffffffffff001: error codes"},
	{"another report of x86-64",
	 region_at,
	 {.arch = ARCH_X86_64, .kind = KIND_BUG},
	 {},
	 "0: null page; 0x1000: user space; 0x800000000000: non-canonical; "
	 "0xdffffc0000000000: KASAN shadow; 0xe0001c0000000000: non-canonical; "
	 "0xffff800000000000: kernel space; 0xffff880000000000: direct map; "
	 "0xffffc80000000000: kernel space; 0xffffffff80000000: kernel image; "
	 "0xffffffffc0000000: modules; 0xffffffffff000000: kernel space; "
	 "0xfffffffffffff001: error codes"},
	{"with a stack in the vmalloc area",
	 region_at,
	 {.arch = ARCH_X86_64, .kind = KIND_PAGING_REQUEST, .has_sp = true, .sp = STACK_X86},
	 {},
	 "0: null page; 0x1000: user space; 0xdffffc0000000000: KASAN shadow; "
	 "0xe0001c0000000000: user space; 0xff00000000000000: kernel space; "
	 "0xffff880000000000: direct map; 0xffffc80000000000: kernel space; "
	 "0xffffc80000123e48: vmalloc and ioremap; 0xffffe90000123e48: kernel space; "
	 "0xffffffff80000000: kernel image; 0xffffffffc0000000: modules; "
	 "0xffffffffff000000: kernel space; 0xfffffffffffff001: error codes"},
	{"with a stack in the kernel image",
	 region_at,
	 {.arch = ARCH_X86_64,
	  .kind = KIND_PAGING_REQUEST,
	  .has_sp = true,
	  .sp = 0xffffffff82000000},
	 {},
	 "0: null page; 0x1000: user space; 0xdffffc0000000000: KASAN shadow; "
	 "0xe0001c0000000000: user space; 0xff00000000000000: kernel space; "
	 "0xffff880000000000: direct map; 0xffffc80000000000: kernel space; "
	 "0xffffffff80000000: kernel image; 0xffffffffc0000000: modules; "
	 "0xffffffffff000000: kernel space; 0xfffffffffffff001: error codes"},
	{"with five-level page tables",
	 region_at,
	 {.arch = ARCH_X86_64,
	  .kind = KIND_PAGING_REQUEST,
	  .has_sp = true,
	  .sp = 0xffa0000000123e48},
	 {},
	 "0: null page; 0x1000: user space; 0xdffffc0000000000: KASAN shadow; "
	 "0xe0001c0000000000: user space; 0xff00000000000000: kernel space; "
	 "0xff9fff0000123e48: vmalloc and ioremap; 0xffd2000000123e48: kernel space; "
	 "0xffff880000000000: direct map; 0xffffc80000000000: kernel space; "
	 "0xffffffff80000000: kernel image; 0xffffffffc0000000: modules; "
	 "0xffffffffff000000: kernel space; 0xfffffffffffff001: error codes"},
	{"of a page that is not present",
	 region_at,
	 {.arch = ARCH_X86_64, .kind = KIND_PAGING_REQUEST, .has_error = true, .error = 2},
	 {},
	 "0: null page; 0x1000: user space; 0xdffffc0000000000: KASAN shadow; "
	 "0xe0001c0000000000: user space; 0xff00000000000000: kernel space; "
	 "0xffff880000000000: direct map; 0xffffc80000000000: kernel space; "
	 "0xffffffff80000000: kernel image; 0xffffffffa0000000: modules; "
	 "0xffffffffff000000: kernel space; 0xfffffffffffff001: error codes"},
	{"of a present page",
	 region_at,
	 {.arch = ARCH_X86_64, .kind = KIND_PAGING_REQUEST, .has_error = true, .error = 3},
	 {},
	 "0: null page; 0x1000: user space; 0xdffffc0000000000: KASAN shadow; "
	 "0xe0001c0000000000: user space; 0xff00000000000000: kernel space; "
	 "0xffff880000000000: direct map; 0xffffc80000000000: kernel space; "
	 "0xffffffff80000000: kernel image; 0xffffffffc0000000: modules; "
	 "0xffffffffff000000: kernel space; 0xfffffffffffff001: error codes"},
	{"arm64 without a stack",
	 region_at,
	 {.arch = ARCH_ARM64},
	 {},
	 "0: null page; 0x1000: user space; 0x1000000000000: non-canonical; "
	 "0xfff0000000000000: direct map; 0xffff800000000000: kernel space; "
	 "0xfffffffffffff001: error codes"},
	{"arm64",
	 region_at,
	 {.arch = ARCH_ARM64, .has_sp = true, .sp = STACK_ARM64},
	 {},
	 "0: null page; 0x1000: user space; 0x1000000000000: non-canonical; "
	 "0xfff0000000000000: direct map; 0xffff800000000000: vmalloc and ioremap; "
	 "0xffff810081234561: modules; 0xfffffffffffff001: error codes"},
	{"arm64 up to 5.3",
	 region_at,
	 {.arch = ARCH_ARM64, .has_sp = true, .sp = 0xffff000008123e48},
	 {},
	 "0: null page; 0x1000: user space; 0x1000000000000: non-canonical; "
	 "0xfff0000000000000: direct map; 0xffff000000000000: vmalloc and ioremap; "
	 "0xffff010008123e49: direct map; 0xffff800000000000: kernel space; "
	 "0xfffffffffffff001: error codes"},
	{"arm",
	 region_at,
	 {.arch = ARCH_ARM},
	 {},
	 "0: null page; 0x1000: user space; 0x80000000: kernel space; "
	 "0xbf000000: modules; 0xc0000000: kernel space; 0xfffff001: error codes; "
	 "0x100000000: kernel space"},
	{"i386",
	 region_at,
	 {.arch = ARCH_I386},
	 {},
	 "0: null page; 0x1000: user space; 0x80000000: kernel space; "
	 "0xfffff001: error codes; 0x100000000: kernel space"},
	{"riscv",
	 region_at,
	 {.arch = ARCH_RISCV},
	 {},
	 "0: null page; 0x1000: user space; 0xff00000000000000: kernel space; "
	 "0xfffffffffffff001: error codes"},
	{"an unknown machine",
	 region_at,
	 {.arch = ARCH_UNKNOWN},
	 {},
	 "0: null page; 0x1000: unknown; 0xffff800000000000: kernel space; "
	 "0xfffffffffffff001: error codes"},
	{"kernel addresses of x86-64",
	 half_at,
	 {.arch = ARCH_X86_64},
	 {},
	 "0: user; 0xff00000000000000: kernel"},
	{"kernel addresses of ppc",
	 half_at,
	 {.arch = ARCH_PPC},
	 {},
	 "0: user; 0xc0000000: kernel; 0x100000000: user; 0xff00000000000000: kernel"},
	{"kernel addresses of mips",
	 half_at,
	 {.arch = ARCH_MIPS},
	 {},
	 "0: user; 0x80000000: kernel"},
	{"kernel addresses of s390", half_at, {.arch = ARCH_S390}, {}, "0: kernel"},
	{"poison pointers of x86-64",
	 poison_at,
	 {.arch = ARCH_X86_64},
	 {0xdeacffffffff0000, 0xdead000000000001, 0xdead000000000200, 0xdead000000000350,
	  0xdead000000000450, 0xdead000000000550, 0xdead000000000650, 0xdead000000010000},
	 "0xdeacffffffff0000: -; "
	 "0xdeacfffffffff100: LIST_POISON: the entry was already removed from its list; "
	 "0xdead000000000300: TIMER_ENTRY_STATIC: the timer is not queued; "
	 "0xdead000000000400: TAIL_MAPPING: a tail page has no mapping; "
	 "0xdead000000000500: the debug value of a mutex or pool; "
	 "0xdead000000000600: a poison value of include/linux/poison.h; "
	 "0xdead000000010000: -"},
	{"small poison pointers of x86-64",
	 poison_at,
	 {.arch = ARCH_X86_64},
	 {0x1, 0x110, 0x200, 0x100000, 0x100180, 0x180000, 0x200280, 0x300000},
	 "0x1: -; 0x1000f0: LIST_POISON: the entry was already removed from its list; "
	 "0x100200: -; "
	 "0x2001f0: LIST_POISON: the entry was already removed from its list; 0x200300: -"},
	{"poison pointers of arm64",
	 poison_at,
	 {.arch = ARCH_ARM64},
	 {0xdeacffffffff0000, 0xdead000000000001, 0xdead000000000200, 0xdead000000000350,
	  0xdead000000000450, 0xdead000000000550, 0xdead000000000650, 0xdead000000010000},
	 "0xdeacffffffff0000: -; "
	 "0xdeacfffffffff100: LIST_POISON: the entry was already removed from its list; "
	 "0xdead000000000300: TIMER_ENTRY_STATIC: the timer is not queued; "
	 "0xdead000000000400: TAIL_MAPPING: a tail page has no mapping; "
	 "0xdead000000000500: the debug value of a mutex or pool; "
	 "0xdead000000000600: a poison value of include/linux/poison.h; "
	 "0xdead000000010000: -"},
	{"small poison pointers of arm64",
	 poison_at,
	 {.arch = ARCH_ARM64},
	 {0x1, 0x110, 0x200, 0x100000, 0x100180, 0x180000, 0x200280, 0x300000},
	 "0x1: -; 0x1000f0: LIST_POISON: the entry was already removed from its list; "
	 "0x100200: -; "
	 "0x2001f0: LIST_POISON: the entry was already removed from its list; 0x200300: -"},
	{"poison pointers of i386",
	 poison_at,
	 {.arch = ARCH_I386},
	 {0xdeacffffffff0000, 0xdead000000000001, 0xdead000000000200, 0xdead000000000350,
	  0xdead000000000450, 0xdead000000000550, 0xdead000000000650, 0xdead000000010000},
	 "0xdeacffffffff0000: -; "
	 "0xdeacfffffffff100: LIST_POISON: the entry was already removed from its list; "
	 "0xdead000000000300: TIMER_ENTRY_STATIC: the timer is not queued; "
	 "0xdead000000000400: TAIL_MAPPING: a tail page has no mapping; "
	 "0xdead000000000500: the debug value of a mutex or pool; "
	 "0xdead000000000600: a poison value of include/linux/poison.h; "
	 "0xdead000000010000: -"},
	{"small poison pointers of i386",
	 poison_at,
	 {.arch = ARCH_I386},
	 {0x1, 0x110, 0x200, 0x100000, 0x100180, 0x180000, 0x200280, 0x300000},
	 "0x1: -; 0x101: LIST_POISON: the entry was already removed from its list; "
	 "0x123: -; 0x1000f0: LIST_POISON: the entry was already removed from its list; "
	 "0x100200: -; "
	 "0x2001f0: LIST_POISON: the entry was already removed from its list; 0x200300: -"},
	{"poison pointers of arm64 without a tag",
	 poison_at,
	 {.arch = ARCH_ARM64},
	 {0xac000000000000, 0xad000000000001, 0xad000000000200, 0xad000000000350, 0xad000000000450,
	  0xad000000000550, 0xad000000000650, 0xad000000010000},
	 "0xac000000000000: -; "
	 "0xad000000000000: LIST_POISON: the entry was already removed from its list; "
	 "0xad000000000300: TIMER_ENTRY_STATIC: the timer is not queued; "
	 "0xad000000000400: TAIL_MAPPING: a tail page has no mapping; "
	 "0xad000000000500: the debug value of a mutex or pool; "
	 "0xad000000000600: a poison value of include/linux/poison.h; 0xad000000010000: -"},
	{"the last letter of a text",
	 poison_at,
	 {.arch = ARCH_X86_64},
	 {0x6161616161616101, 0x6161616161616161, 0x61616161616161f0},
	 "0x6161616161616101: -; "
	 "0x6161616161616120: text: a string was written over the pointer; "
	 "0x616161616161617f: -"},
	{"the number of letters of a text",
	 poison_at,
	 {.arch = ARCH_X86_64},
	 {0x6161616161, 0x616161616161, 0x6161616161616161},
	 "0x6161616161: -; 0x484646464620: text: a string was written over the pointer"},
	{"magic numbers",
	 poison_at,
	 {.arch = ARCH_X86_64},
	 {0xdead4eacffffff9d, 0xdead4ead00001000, 0xdead4eae00000099, 0xdeadbeee00000000,
	  0xdeadbeef00000001, 0xdeadbef000000001},
	 "0xdead4eacffffff9d: -; 0xdead4ead00000000: a magic number, not a pointer; "
	 "0xdead4eae00000000: -; 0xdeadbeef00000000: a magic number, not a pointer; "
	 "0xdeadbef000000000: -"},
	{"magic numbers of 32 bits",
	 poison_at,
	 {.arch = ARCH_X86_64},
	 {0xdeadb000, 0xdeadbeef, 0xdeadc000, 0xffffffffdeadb001, 0xffffffffdeadbeef,
	  0xffffffffdeadc001},
	 "0xdeadb000: a magic number, not a pointer; 0xdeadc000: -; "
	 "0xffffffffdeadb000: a magic number, not a pointer; 0xffffffffdeadc000: -"},
	{"a field behind 0x6b",
	 poison_at,
	 {.arch = ARCH_X86_64},
	 {0x6b6b6b6b6b000000, 0x6b6b6b6b6b6a0000, 0x6b6b6b6b6b6b6b6b, 0x6b6b6b6b6b6cffff},
	 "0x6b6b6b6b6b000000: -; "
	 "0x6b6b6b6b6b2e2420: text: a string was written over the pointer; "
	 "0x6b6b6b6b6b6a557f: -; "
	 "0x6b6b6b6b6b6b0000: 0x6b: the object was freed (slab poison); "
	 "0x6b6b6b6b6b6c0000: text: a string was written over the pointer; "
	 "0x6b6b6b6b6b6c007f: -"},
	{"fills of 32 bits with 0x6b",
	 poison_at,
	 {.arch = ARCH_I386},
	 {0x6b6b696b, 0x6b6b6b6b, 0x6b6b6d6b},
	 "0x6b6b696b: -; 0x6b6b6b00: 0x6b: the object was freed (slab poison); "
	 "0x6b6b6c00: -"},
	{"a field behind 0xaa",
	 poison_at,
	 {.arch = ARCH_X86_64},
	 {0xaaaaaaaaaa000000, 0xaaaaaaaaaaa90000, 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaabffff},
	 "0xaaaaaaaaaa000000: -; 0xaaaaaaaaaaaa0000: 0xaa: a freed page (page poison); "
	 "0xaaaaaaaaaaab0000: -"},
	{"fills of 32 bits with 0xaa",
	 poison_at,
	 {.arch = ARCH_I386},
	 {0xaaaaa8aa, 0xaaaaaaaa, 0xaaaaacaa},
	 "0xaaaaa8aa: -; 0xaaaaaa00: 0xaa: a freed page (page poison); 0xaaaaab00: -"},
};

static void add_arguments(struct step_arguments *s, const struct incident *e, const uint64_t *given)
{
	for (; *given; given++)
		step_add(s, *given);
	if (s->n)
		return;
	step_add_powers(s);
	step_add(s, 0xfffff800);
	step_add(s, 0xbf800000);
	for (int away = 12; e->has_sp && away < 48; away++) {
		step_add(s, e->sp + (1ull << away));
		step_add(s, e->sp - (1ull << away));
	}
}

static void test_boundaries(void)
{
	bool shown = getenv("FS_SHOW_EXPECTED");

	for (size_t i = 0; i < sizeof(boundaries) / sizeof(boundaries[0]); i++) {
		struct step_arguments s = {};
		struct buf b = {};

		add_arguments(&s, &boundaries[i].e, boundaries[i].between);
		steps_write(&b, boundaries[i].at, &boundaries[i].e, &s);
		if (shown)
			printf("# %zu %s\n", i, b.s);
		is_str(b.s, boundaries[i].want, boundaries[i].name);
		buf_free(&b);
	}
}

int main(void)
{
	test_x86_64();
	test_others();
	test_limits();
	test_poison();
	test_bit();
	test_boundaries();
	return tap_done();
}

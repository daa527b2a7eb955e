// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which regions of the kernel's address space and which poison values triage recognises. */
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

int main(void)
{
	test_x86_64();
	test_others();
	test_poison();
	test_bit();
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/address.h"

#define PAGE_BYTES 4096
/* lowest kernel address on x86-64 with five-level page tables */
#define KERNEL_64	 0xff00000000000000ull
#define KERNEL_48	 0xffff800000000000ull
#define MODULES_LOW	 0xffffffffa0000000ull
#define MODULES_KASLR	 0xffffffffc0000000ull
#define MODULES_HIGH	 0xffffffffff000000ull
#define IMAGE_LOW	 0xffffffff80000000ull
#define SHADOW_LOW	 0xdffffc0000000000ull
#define VMALLOC_BYTES	 (32ull << 40) /* bytes of vmalloc: Documentation/arch/x86/x86_64/mm.rst */
#define VMALLOC_BYTES_57 (12800ull << 40)
#define BELOW_BYTES	 (1ull << 40)
#define ARM64_FAR	 (1ull << 40)
#define LIST_POISON	 0xdead000000000100ull
#define ARM64_LINEAR	 0xffff000000000000ull

static bool is_32_bit(enum arch arch)
{
	return arch == ARCH_I386 || arch == ARCH_ARM || arch == ARCH_MIPS;
}

const char *region_name(enum region r)
{
	static const char *const names[NR_REGIONS] = {
		[REGION_UNKNOWN] = "unknown",	  [REGION_NULL] = "null page",
		[REGION_USER] = "user space",	  [REGION_NON_CANONICAL] = "non-canonical",
		[REGION_DIRECT] = "direct map",	  [REGION_VMALLOC] = "vmalloc and ioremap",
		[REGION_MODULES] = "modules",	  [REGION_IMAGE] = "kernel image",
		[REGION_SHADOW] = "KASAN shadow", [REGION_ERROR] = "error codes",
		[REGION_KERNEL] = "kernel space",
	};

	return names[r];
}

bool is_kernel_address(enum arch arch, uint64_t address)
{
	if (arch == ARCH_S390) /* on s390, user space has a separate address space */
		return true;
	if (is_32_bit(arch))
		return address >= 0x80000000u;
	if (arch == ARCH_PPC && address <= UINT32_MAX)
		return address >= 0xc0000000u;
	return address >= KERNEL_64;
}

/*
 * Returns whether an address is in the vmalloc area, near the kernel stack. Since 4.9 (VMAP_STACK),
 * kernel stacks are at the low end of the vmalloc area, wherever KASLR puts that area. An address a
 * little below a stack is also in the vmalloc area: the direct map is far away.
 */
static bool near_stack(const struct incident *e, uint64_t a, uint64_t bytes)
{
	return e->has_sp && e->sp >= KERNEL_64 && e->sp < IMAGE_LOW && a >= e->sp - BELOW_BYTES &&
	       a < e->sp + bytes;
}

static enum region region_x86_64(const struct incident *e, uint64_t a)
{
	if (a < 1ull << 47)
		return REGION_USER;
	if (a >> 40 == SHADOW_LOW >> 40 || (a >= SHADOW_LOW && a < SHADOW_LOW + (1ull << 45)))
		return REGION_SHADOW;
	if (a >= IMAGE_LOW) {
		if (a >= MODULES_KASLR && a < MODULES_HIGH)
			return REGION_MODULES;
		if (a >= MODULES_LOW && a < MODULES_KASLR && e->has_error && !(e->error & 1))
			/*
			 * All pages of the kernel image are mapped: an unmapped address here is in
			 * the area of modules.
			 */
			return REGION_MODULES;
		return a < MODULES_KASLR ? REGION_IMAGE : REGION_KERNEL;
	}
	if (a >= KERNEL_48) {
		/* Without KASLR the direct map begins here; KASLR only moves it up. */
		if (a >> 40 == 0xffff88)
			return REGION_DIRECT;
		if (near_stack(e, a, VMALLOC_BYTES))
			return REGION_VMALLOC;
		return a < 0xffffc80000000000ull && a >= 0xffff880000000000ull ? REGION_DIRECT
									       : REGION_KERNEL;
	}
	/*
	 * With four-level page tables, an address in this range causes a general protection fault.
	 * A page fault therefore shows that there are five-level page tables.
	 */
	if (e->kind == KIND_GPF || (e->kind != KIND_PAGING_REQUEST && e->kind != KIND_NULL_DEREF))
		return REGION_NON_CANONICAL;
	if (a < KERNEL_64)
		return REGION_USER;
	return near_stack(e, a, VMALLOC_BYTES_57) ? REGION_VMALLOC : REGION_KERNEL;
}

/*
 * arm64 keeps modules and the kernel image in the vmalloc area, and KASLR spreads them over this
 * area. Memory of vmalloc() is at the low end of the vmalloc area.
 */
static enum region region_arm64(const struct incident *e, uint64_t a)
{
	if (a >> 48 == 0)
		return REGION_USER;
	if (a < 0xfff0000000000000ull)
		return REGION_NON_CANONICAL;
	if (e->has_sp && e->sp >= 0xffff800000000000ull && a >= 0xffff800000000000ull) {
		uint64_t away = a > e->sp ? a - e->sp : e->sp - a;

		return away > ARM64_FAR ? REGION_MODULES : REGION_VMALLOC;
	}
	/* Up to 5.3, the vmalloc area was in the lower half, and the direct map above it. */
	if (e->has_sp && e->sp >= ARM64_LINEAR && e->sp < 0xffff800000000000ull &&
	    a >= ARM64_LINEAR && a < 0xffff800000000000ull) {
		uint64_t away = a > e->sp ? a - e->sp : e->sp - a;

		if (away <= ARM64_FAR)
			return REGION_VMALLOC;
	}
	return a < ARM64_LINEAR || (a >= ARM64_LINEAR && a < 0xffff800000000000ull) ? REGION_DIRECT
										    : REGION_KERNEL;
}

enum region region_of(const struct incident *e, uint64_t a)
{
	uint64_t top = is_32_bit(e->arch) ? UINT32_MAX : UINT64_MAX;

	if (a < PAGE_BYTES)
		return REGION_NULL;
	if (a > top - 4095 && a <= top)
		return REGION_ERROR;
	switch (e->arch) {
	case ARCH_X86_64:
		return region_x86_64(e, a);
	case ARCH_ARM64:
		return region_arm64(e, a);
	case ARCH_UNKNOWN:
		return a >= KERNEL_48 ? REGION_KERNEL : REGION_UNKNOWN;
	case ARCH_ARM: /* modules are below the image: arch/arm/include/asm/memory.h */
		if (a >= 0xbf000000u && a < 0xc0000000u)
			return REGION_MODULES;
		return is_kernel_address(e->arch, a) ? REGION_KERNEL : REGION_USER;
	default:
		return is_kernel_address(e->arch, a) ? REGION_KERNEL : REGION_USER;
	}
}

const char *poison_meaning(enum poison p)
{
	static const char *const says[NR_POISONS] = {
#define POISON(id, says, mechanism) [POISON_##id] = says,
#include "triage/poisons.def"
	};

	return says[p];
}

/*
 * Returns whether at least six of a value's upper seven bytes are `byte`. The other bytes may come
 * from an offset.
 */
static bool filled_with(uint64_t value, uint8_t byte)
{
	int same = 0;

	for (int i = 1; i < 8; i++)
		same += (uint8_t)(value >> (8 * i)) == byte;
	return same >= 6;
}

static bool filled_32(uint64_t value, uint8_t byte)
{
	return value <= UINT32_MAX && (uint8_t)(value >> 8) == byte &&
	       (uint8_t)(value >> 16) == byte && (uint8_t)(value >> 24) == byte;
}

static bool is_text(uint64_t value)
{
	int printable = 0;

	for (int i = 0; i < 8; i++) {
		uint8_t c = value >> (8 * i);

		if (c >= 0x20 && c < 0x7f)
			printable++;
		else if (c)
			return false;
	}
	return printable >= 6;
}

/*
 * Values of include/linux/poison.h. On 64-bit machines, POISON_POINTER_DELTA is dead000000000000.
 */
static enum poison poison_pointer(uint64_t value)
{
	uint16_t low = value;

	/* container_of() of LIST_POISON1: the list may be anywhere in the first page of the object
	 */
	if (value < LIST_POISON && value >= LIST_POISON - PAGE_BYTES)
		return POISON_LIST;
	if (value >> 16 != 0xdead00000000ull)
		return POISON_NONE;
	if (low >= 0xf0 && low < 0x300)
		return POISON_LIST; /* LIST_POISON1, LIST_POISON2 and offsets from them */
	if (low >= 0x300 && low < 0x400)
		return POISON_TIMER;
	if (low >= 0x400 && low < 0x500)
		return POISON_MAPPING;
	if (low >= 0x500 && low < 0x600)
		return POISON_MUTEX;
	return POISON_OTHER;
}

static const struct {
	uint8_t byte;
	enum poison poison;
} fills[] = {
	{0x6b, POISON_SLAB_FREE}, {0x5a, POISON_SLAB_INIT}, {0xa5, POISON_SLAB_END},
	{0xbb, POISON_REDZONE},	  {0xcc, POISON_REDZONE},   {0xaa, POISON_PAGE},
	{0xa7, POISON_MUTEX},	  {0xa9, POISON_MUTEX},
};

enum poison poison_of(const struct incident *e, uint64_t value)
{
	uint64_t v = value;
	enum poison p;

	if (e->arch == ARCH_ARM64 && v >> 56 == 0 && v >> 48)
		/* arm64 kernels print addresses without the tag byte */
		v |= v << 8 & 0xff00000000000000ull;
	for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++)
		if (filled_with(v, fills[i].byte) ||
		    (is_32_bit(e->arch) && filled_32(v, fills[i].byte)))
			return fills[i].poison;
	p = poison_pointer(value);
	if (p == POISON_NONE && e->arch == ARCH_ARM64 && value >> 48 == 0xad)
		p = poison_pointer(value | 0xdead000000000000ull);
	if (p != POISON_NONE)
		return p;
	/*
	 * LIST_POISON without POISON_POINTER_DELTA: in kernels before 2.6.39, and always on 32-bit
	 * machines.
	 */
	if ((value >= 0x1000f0 && value < 0x100200) || (value >= 0x2001f0 && value < 0x200300) ||
	    (is_32_bit(e->arch) && value >= 0x100 && value <= 0x122 && value != 0x100))
		return POISON_LIST;
	if (value >> 32 == 0xdead4eadull || value >> 32 == 0xdeadbeefull ||
	    ((value >> 32 == 0 || value >> 32 == UINT32_MAX) &&
	     (uint32_t)(value & ~0xfffull) == (0xdeadbeefu & ~0xfffu)))
		return POISON_MAGIC;
	if (value >> 32 && is_text(value))
		return POISON_TEXT;
	return POISON_NONE;
}

bool one_bit_off(const struct incident *e, uint64_t address, uint64_t *ret_like)
{
	for (int i = 0; i < REGS_MAX; i++) {
		uint64_t other = e->regs.value[i], diff;

		if (!(e->regs.known >> i & 1) || !is_kernel_address(e->arch, other))
			continue;
		/* The two page addresses must differ in one bit only, bit 36 or higher. */
		diff = (other ^ address) & ~0xfffull;
		if (diff && !(diff & (diff - 1)) && diff >> 36) {
			*ret_like = other;
			return true;
		}
	}
	return false;
}

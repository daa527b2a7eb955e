/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases of mmap calls that find no free addresses, and of mmap calls with wrong arguments. */
#include "zoo.h"

#define OFFSET_PAST_FILES 0x7ffffffffffff000L

static void *taken;

static void ask_none(uintptr_t at, size_t bytes, int flags)
{
	ASK(mmap, at, bytes, PROT_NONE, PRIVATE_ANON | MAP_NORESERVE | flags, -1, 0);
}

static void shorten(void)
{
	ask.arg[1] = PAGE_BYTES;
}

static void task_size(void)
{
	ask_none(0, (1L << 47) + vary(0, 1000) * PAGE_BYTES, 0);
}

static void far_past(void)
{
	ask_none(0, 1L << vary(57, 62), 0);
}

static void wraps(void)
{
	ask_none(0, -vary(1, PAGE_BYTES - 1), 0);
}

static void fixed_past(void)
{
	ask_none(1L << 60, PAGE_BYTES, MAP_FIXED);
}

static void fixed_across(void)
{
	/* The range starts within the address space, but ends beyond it. */
	ask_none(USER_END - 4 * PAGE_BYTES, 1L << 57, MAP_FIXED);
}

static void no_address(void)
{
	ask.arg[0] = 0;
	ask.arg[1] = PAGE_BYTES;
	ask.arg[3] &= ~MAP_FIXED;
}

static void low_window_full(void)
{
	fill_window(0x40000000, 0x80000000);
	ask_none(0, 64 * KIB, MAP_32BIT);
}

static uintptr_t lowest(void)
{
	return read_number("/proc/sys/vm/mmap_min_addr");
}

static void space_full(void)
{
	fill_space(0);
	ask_none(0, vary(32, 1024) * MIB, 0);
}

static void fragmented(void)
{
	size_t hole = vary(17, 64) * MIB;

	fill_space(hole);
	ask_none(0, hole + PAGE_BYTES, 0);
}

/* The request is within RLIMIT_AS, but larger than any hole in the address space. */
static void fragmented_below_as(void)
{
	size_t hole = vary(17, 64) * MIB;

	fill_space(hole);
	ASK(mmap, 0, 2 * hole, RW, PRIVATE_ANON, -1, 0);
	room_as(8 * hole);
}

static void exists(void)
{
	taken = map_anon(3 * PAGE_BYTES, PROT_READ, 0);
	ask_none((uintptr_t)taken + PAGE_BYTES, 8 * PAGE_BYTES, MAP_FIXED_NOREPLACE);
}

static void unmap_taken(void)
{
	if (munmap(taken, 16 * PAGE_BYTES))
		die("munmap");
}

/* This mapping covers the requested range. Once it is unmapped, the whole range is free. */
static void exists_alone(void)
{
	taken = map_anon(16 * PAGE_BYTES, PROT_READ, 0);
	ask_none((uintptr_t)taken + PAGE_BYTES, 8 * PAGE_BYTES, MAP_FIXED_NOREPLACE);
}

static void below_lowest(void)
{
	if (!lowest())
		skip("vm.mmap_min_addr is 0");
	drop_capability(CAP_SYS_RAWIO);
	ask_none(0, PAGE_BYTES, MAP_FIXED);
}

static void raise_rawio(void)
{
	raise_capability(CAP_SYS_RAWIO);
}

static void no_length(void)
{
	ask_none(0, 0, 0);
}

static void no_type(void)
{
	ASK(mmap, 0, PAGE_BYTES, PROT_READ, MAP_ANONYMOUS, -1, 0);
}

static void add_type(void)
{
	ask.arg[3] |= MAP_PRIVATE;
}

static void bent_offset(void)
{
	ASK(mmap, 0, PAGE_BYTES, PROT_READ, MAP_PRIVATE, sized_memfd(4 * PAGE_BYTES, 0),
	    vary(1, PAGE_BYTES - 1));
}

static void straight_offset(void)
{
	ask.arg[5] = 0;
}

static void bent_address(void)
{
	taken = map_anon(PAGE_BYTES, PROT_NONE, 0);
	ask_none((uintptr_t)taken + vary(1, PAGE_BYTES - 1), PAGE_BYTES, MAP_FIXED);
}

static void straight_address(void)
{
	ask.arg[0] = P(taken);
}

static void offset_overflow(void)
{
	ASK(mmap, 0, 2 * PAGE_BYTES, PROT_READ, MAP_SHARED, sized_memfd(4 * PAGE_BYTES, 0),
	    OFFSET_PAST_FILES);
}

static void unknown_flag(void)
{
	ASK(mmap, 0, PAGE_BYTES, PROT_READ, MAP_SHARED_VALIDATE | 1 << 22,
	    sized_memfd(PAGE_BYTES, 0), 0);
}

static void only_shared(void)
{
	ask.arg[3] = MAP_SHARED;
}

static void synchronous(void)
{
	ASK(mmap, 0, PAGE_BYTES, RW, MAP_SHARED_VALIDATE | MAP_SYNC, sized_memfd(PAGE_BYTES, 0),
	    0);
}

const struct zoo_case space_cases[] = {
	{ "mmap-task-size", { "mmap", ENOMEM, "address_space" }, task_size, NULL, shorten },
	{ "mmap-length-far-past", { "mmap", ENOMEM, "address_space" }, far_past, NULL, shorten },
	{ "mmap-length-wraps", { "mmap", ENOMEM, "address_space|bad_argument" }, wraps, NULL,
	  shorten },
	{ "mmap-fixed-past", { "mmap", ENOMEM, "address_space" }, fixed_past, NULL, no_address },
	{ "mmap-fixed-across", { "mmap", ENOMEM, "address_space" }, fixed_across, NULL,
	  no_address },
	{ "mmap-32bit-full", { "mmap", ENOMEM, "address_space" }, low_window_full, NULL,
	  unfill_space },
	{ "mmap-space-full", { "mmap", ENOMEM, "address_space" }, space_full, NULL, unfill_space },
	{ "mmap-fragmented", { "mmap", ENOMEM, "address_space" }, fragmented, NULL, unfill_space },
	{ "mmap-fragmented-below-as", { "mmap", ENOMEM, "address_space" }, fragmented_below_as,
	  NULL, unfill_space },
	{ "mmap-exists", { "mmap", EEXIST, "fixed_exists" }, exists_alone, NULL, unmap_taken },
	{ "mmap-exists-in-part", { "mmap", EEXIST, "fixed_exists" }, exists, NULL, no_address },
	{ "mmap-min-address", { "mmap", EPERM, "min_address" }, below_lowest, NULL, raise_rawio },
	{ "mmap-no-length", { "mmap", EINVAL, "bad_argument" }, no_length, NULL, shorten },
	{ "mmap-no-type", { "mmap", EINVAL, "bad_argument" }, no_type, NULL, add_type },
	{ "mmap-bent-offset", { "mmap", EINVAL, "bad_argument" }, bent_offset, NULL,
	  straight_offset },
	{ "mmap-bent-address", { "mmap", EINVAL, "bad_argument" }, bent_address, NULL,
	  straight_address },
	{ "mmap-offset-overflow", { "mmap", EOVERFLOW, "bad_argument" }, offset_overflow, NULL,
	  straight_offset },
	{ "mmap-unknown-flag", { "mmap", EOPNOTSUPP, "bad_argument" }, unknown_flag, NULL,
	  only_shared },
	{ "mmap-sync", { "mmap", EOPNOTSUPP, "bad_argument|not_mappable" }, synchronous, NULL,
	  only_shared },
	{ 0 },
};

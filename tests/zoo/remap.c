/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases of mremap: limits on the size, lack of free addresses, and moves of a range. */
#include "zoo.h"

#define BLOCK_PAGES 8

static char *block;
static size_t bytes_now;

static void ask_growth(size_t from, size_t by, int protection)
{
	block = map_anon(from, protection, 0);
	bytes_now = from;
	ASK(mremap, P(block), from, from + by, MREMAP_MAYMOVE);
}

static void past_as(void)
{
	size_t by = some_bytes();

	ask_growth(small_bytes(), by, RW);
	room_as(by - PAGE_BYTES);
}

static void past_as_in_place(void)
{
	size_t by = some_bytes();

	block = map_anon(by + PAGE_BYTES, PROT_READ, 0);
	if (munmap(block + PAGE_BYTES, by))
		die("munmap");
	ASK(mremap, P(block), PAGE_BYTES, by + PAGE_BYTES, 0);
	room_as(by / 2);
}

static void past_data(void)
{
	size_t by = some_bytes();

	ask_growth(small_bytes(), by, RW);
	room_data(by - PAGE_BYTES);
}

static void past_memlock(void)
{
	size_t by = small_bytes();

	ask_growth(4 * PAGE_BYTES, by, RW);
	if (mlock(block, bytes_now))
		die("mlock");
	room_memlock(by - PAGE_BYTES);
}

static void past_memlock_and_as(void)
{
	past_memlock();
	room_as(PAGE_BYTES);
}

static void memlock_and_as_lifted(void)
{
	raise_ipc_lock();
	restore_as();
}

static void past_memory(void)
{
	ask_growth(PAGE_BYTES, beyond_memory(), RW);
}

static void grow_less(void)
{
	ask.arg[2] = bytes_now + PAGE_BYTES;
}

/*
 * The size is smaller than the address space, but larger than any hole in it. PROT_NONE memory does
 * not count towards the commit limit.
 */
static void past_space(void)
{
	ask_growth(PAGE_BYTES, USER_END - 16 * MIB, PROT_NONE);
}

static void fragmented(void)
{
	size_t hole = vary(17, 64) * MIB;

	ask_growth(PAGE_BYTES, hole, PROT_READ);
	fill_space(hole);
}

static void neighbour(void)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, RW, 0);
	if (mprotect(block + 2 * PAGE_BYTES, PAGE_BYTES, PROT_NONE))
		die("mprotect");
	ASK(mremap, P(block), 2 * PAGE_BYTES, vary(3, 6) * PAGE_BYTES, 0);
}

static void unmap_neighbour(void)
{
	if (munmap(block + 2 * PAGE_BYTES, (BLOCK_PAGES - 2) * PAGE_BYTES))
		die("munmap");
}

/* Resizes a range in the middle of a mapping, so that the range cannot grow in place. */
static void own_neighbour(void)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, RW, 0);
	ASK(mremap, P(block), 2 * PAGE_BYTES, 4 * PAGE_BYTES, 0);
}

static void allow_move(void)
{
	ask.arg[3] = MREMAP_MAYMOVE;
}

static void old_hole(void)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, RW, 0);
	if (munmap(block + 2 * PAGE_BYTES, PAGE_BYTES))
		die("munmap");
	ASK(mremap, P(block), BLOCK_PAGES * PAGE_BYTES, 2 * BLOCK_PAGES * PAGE_BYTES,
	    MREMAP_MAYMOVE);
}

static void fill_old_hole(void)
{
	char *at = block + 2 * PAGE_BYTES;

	if (mmap(at, PAGE_BYTES, RW, PRIVATE_ANON | MAP_FIXED_NOREPLACE, -1, 0) != at)
		die("mmap of the hole");
}

static void old_unmapped(void)
{
	old_hole();
	ask.arg[0] = P(block) + 2 * PAGE_BYTES;
	ask.arg[1] = PAGE_BYTES;
	ask.arg[2] = 2 * PAGE_BYTES;
}

/* The range consists of two mappings without a hole between them. */
static void old_of_two(void)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, RW, 0);
	if (mprotect(block + 4 * PAGE_BYTES, 4 * PAGE_BYTES, PROT_READ))
		die("mprotect");
	ASK(mremap, P(block), BLOCK_PAGES * PAGE_BYTES, 2 * BLOCK_PAGES * PAGE_BYTES,
	    MREMAP_MAYMOVE);
}

static void make_one(void)
{
	if (mprotect(block + 4 * PAGE_BYTES, 4 * PAGE_BYTES, RW))
		die("mprotect");
}

static void to_nothing(void)
{
	ask_growth(2 * PAGE_BYTES, PAGE_BYTES, RW);
	ask.arg[2] = 0;
}

static void bent_address(void)
{
	ask_growth(2 * PAGE_BYTES, PAGE_BYTES, RW);
	ask.arg[0] += vary(1, PAGE_BYTES - 1);
}

static void straight_address(void)
{
	ask.arg[0] = P(block);
}

static void over_itself(void)
{
	ask_growth(4 * PAGE_BYTES, 0, RW);
	ask.arg[3] = MREMAP_MAYMOVE | MREMAP_FIXED;
	ask.arg[4] = P(block) + PAGE_BYTES;
}

static void elsewhere(void)
{
	ask.arg[4] = P(map_anon(4 * PAGE_BYTES, PROT_NONE, 0));
}

static void sealed(void)
{
	ask_growth(BLOCK_PAGES * PAGE_BYTES, 0, RW);
}

static void seal_moved(void)
{
	ask.arg[2] += PAGE_BYTES;
	if (syscall(SYS_mseal, block, BLOCK_PAGES * PAGE_BYTES, 0))
		skip("mseal: %s", strerror(errno));
}

const struct zoo_case remap_cases[] = {
	{ "mremap-as", { "mremap", ENOMEM, "rlimit_as" }, past_as, NULL, restore_as },
	{ "mremap-as-in-place", { "mremap", ENOMEM, "rlimit_as" }, past_as_in_place, NULL,
	  restore_as },
	{ "mremap-data", { "mremap", ENOMEM, "rlimit_data" }, past_data, NULL, restore_data },
	{ "mremap-memlock", { "mremap", EAGAIN, "rlimit_memlock" }, past_memlock, NULL,
	  raise_ipc_lock },
	{ "mremap-memlock-before-as", { "mremap", EAGAIN, "rlimit_memlock", "rlimit_as" },
	  past_memlock_and_as, NULL, memlock_and_as_lifted },
	{ "mremap-heuristic", { "mremap", ENOMEM, "overcommit_heuristic" }, past_memory, NULL,
	  grow_less },
	{ "mremap-space", { "mremap", ENOMEM, "address_space" }, past_space, NULL, grow_less },
	{ "mremap-fragmented", { "mremap", ENOMEM, "address_space" }, fragmented, NULL,
	  unfill_space },
	{ "mremap-in-place", { "mremap", ENOMEM, "no_room_in_place" }, neighbour, NULL,
	  unmap_neighbour },
	{ "mremap-in-place-of-middle", { "mremap", ENOMEM, "no_room_in_place" }, own_neighbour,
	  NULL, allow_move },
	{ "mremap-hole", { "mremap", EFAULT, "range_hole" }, old_hole, NULL, fill_old_hole },
	{ "mremap-unmapped", { "mremap", EFAULT, "range_hole" }, old_unmapped, NULL,
	  fill_old_hole },
	{ "mremap-of-two", { "mremap", EFAULT, "bad_argument" }, old_of_two, NULL, make_one },
	{ "mremap-to-nothing", { "mremap", EINVAL, "bad_argument" }, to_nothing, NULL,
	  grow_less },
	{ "mremap-bent-address", { "mremap", EINVAL, "bad_argument" }, bent_address, NULL,
	  straight_address },
	{ "mremap-over-itself", { "mremap", EINVAL, "bad_argument" }, over_itself, NULL,
	  elsewhere },
	{ "mremap-mseal", { "mremap", EPERM, "sealed" }, sealed, NULL, NULL,
	  .impose = seal_moved },
	{ 0 },
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases of mlock and related calls. */
#include "zoo.h"

#define BLOCK_PAGES 8

static char *block;
static char *hole;

static void ask_lock(size_t bytes)
{
	block = map_anon(bytes, RW, 0);
	ASK(mlock, P(block), bytes);
}

static void past_limit(void)
{
	size_t bytes = small_bytes();

	ask_lock(bytes);
	room_memlock(bytes - PAGE_BYTES);
}

/* Other memory is locked already, and counts towards the limit as well. */
static void past_limit_with_other(void)
{
	size_t bytes = small_bytes();
	void *other = map_anon(bytes, RW | PROT_EXEC, 0);

	if (mlock(other, bytes))
		die("mlock");
	ask_lock(bytes);
	room_memlock(bytes / 2);
}

static void lock2_past_limit(void)
{
	size_t bytes = small_bytes();

	block = map_anon(bytes, RW, 0);
	ASK(mlock2, P(block), bytes, MLOCK_ONFAULT);
	room_memlock(bytes / 2);
}

static void all_past_limit(void)
{
	map_anon(small_bytes(), RW, 0);
	ASK(mlockall, MCL_CURRENT);
	drop_capability(CAP_IPC_LOCK);
	soft_limit(RLIMIT_MEMLOCK, status_bytes("\nVmSize:") - PAGE_BYTES);
}

static void limit_of_nothing(void)
{
	ask_lock(4 * PAGE_BYTES);
	drop_capability(CAP_IPC_LOCK);
	soft_limit(RLIMIT_MEMLOCK, 0);
}

static void all_limit_of_nothing(void)
{
	ASK(mlockall, MCL_CURRENT | MCL_FUTURE);
	drop_capability(CAP_IPC_LOCK);
	soft_limit(RLIMIT_MEMLOCK, 0);
}

static void block_with_hole(void)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, RW, 0);
	hole = block + vary(1, BLOCK_PAGES - 2) * PAGE_BYTES;
	if (munmap(hole, PAGE_BYTES))
		die("munmap");
}

static void lock_hole(void)
{
	block_with_hole();
	ASK(mlock, P(block), BLOCK_PAGES * PAGE_BYTES);
}

/*
 * The range is not larger than RLIMIT_MEMLOCK allows. mlock fails because part of the range is not
 * mapped.
 */
static void lock_hole_near_limit(void)
{
	lock_hole();
	room_memlock(BLOCK_PAGES * PAGE_BYTES);
}

static void unlock_hole(void)
{
	block_with_hole();
	ASK(munlock, P(block), BLOCK_PAGES * PAGE_BYTES);
}

static void fill_hole(void)
{
	if (mmap(hole, PAGE_BYTES, RW, PRIVATE_ANON | MAP_FIXED_NOREPLACE, -1, 0) != hole)
		die("mmap of the hole");
}

/* mlock cannot populate PROT_NONE pages, so it fails with ENOMEM. No limit is reached. */
static void lock_no_access(void)
{
	block = map_anon(4 * PAGE_BYTES, PROT_NONE, 0);
	ASK(mlock, P(block), 4 * PAGE_BYTES);
}

static void give_access(void)
{
	if (mprotect(block, 4 * PAGE_BYTES, RW))
		die("mprotect");
}

static void lock2_unknown_flag(void)
{
	block = map_anon(4 * PAGE_BYTES, RW, 0);
	ASK(mlock2, P(block), PAGE_BYTES, 0x80);
}

static void lock2_without_flag(void)
{
	ask.arg[2] = 0;
}

static void all_of_nothing(void)
{
	ASK(mlockall, 0);
}

static void all_to_come(void)
{
	ask.arg[0] = MCL_FUTURE;
}

const struct zoo_case lock_cases[] = {
	{ "mlock", { "mlock", ENOMEM, "rlimit_memlock" }, past_limit, NULL, raise_ipc_lock },
	{ "mlock-with-other", { "mlock", ENOMEM, "rlimit_memlock" }, past_limit_with_other, NULL,
	  raise_ipc_lock },
	{ "mlock2", { "mlock2", ENOMEM, "rlimit_memlock" }, lock2_past_limit, NULL,
	  raise_ipc_lock },
	{ "mlockall", { "mlockall", ENOMEM, "rlimit_memlock" }, all_past_limit, NULL,
	  raise_ipc_lock },
	{ "mlock-zero", { "mlock", EPERM, "rlimit_memlock" }, limit_of_nothing, NULL,
	  raise_ipc_lock },
	{ "mlockall-zero", { "mlockall", EPERM, "rlimit_memlock" }, all_limit_of_nothing, NULL,
	  raise_ipc_lock },
	{ "mlock-hole", { "mlock", ENOMEM, "range_hole" }, lock_hole, NULL, fill_hole },
	{ "mlock-hole-near-limit", { "mlock", ENOMEM, "range_hole" }, lock_hole_near_limit, NULL,
	  fill_hole },
	{ "munlock-hole", { "munlock", ENOMEM, "range_hole" }, unlock_hole, NULL, fill_hole },
	{ "mlock-no-access", { "mlock", ENOMEM, "unknown|bad_argument", .undecidable = true },
	  lock_no_access, NULL, give_access },
	{ "mlock2-unknown-flag", { "mlock2", EINVAL, "bad_argument" }, lock2_unknown_flag, NULL,
	  lock2_without_flag },
	{ "mlockall-of-nothing", { "mlockall", EINVAL, "bad_argument" }, all_of_nothing, NULL,
	  all_to_come },
	{ 0 },
};

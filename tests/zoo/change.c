/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases of calls that change mappings: mprotect, madvise, munmap, msync. */
#include "zoo.h"

#define BLOCK_PAGES 8

static char *block;
static char *hole;

static void block_with_hole(int protection)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, protection, 0);
	hole = block + vary(1, BLOCK_PAGES - 2) * PAGE_BYTES;
	if (munmap(hole, PAGE_BYTES))
		die("munmap");
}

static void fill_hole(void)
{
	if (mmap(hole, PAGE_BYTES, RW, PRIVATE_ANON | MAP_FIXED_NOREPLACE, -1, 0) != hole)
		die("mmap of the hole");
}

static void protect_hole(void)
{
	block_with_hole(RW);
	ASK(mprotect, P(block), BLOCK_PAGES * PAGE_BYTES, PROT_READ);
}

static void protect_unmapped(void)
{
	block_with_hole(RW);
	ASK(mprotect, P(hole), PAGE_BYTES, PROT_READ);
}

static void protect_past_end(void)
{
	block = map_anon((BLOCK_PAGES + 1) * PAGE_BYTES, RW, 0);
	hole = block + BLOCK_PAGES * PAGE_BYTES;
	if (munmap(hole, PAGE_BYTES))
		die("munmap");
	ASK(mprotect, P(block), (BLOCK_PAGES + 1) * PAGE_BYTES, PROT_NONE);
}

static void advise_hole(void)
{
	block_with_hole(RW);
	ASK(madvise, P(block), BLOCK_PAGES * PAGE_BYTES, MADV_DONTNEED);
}

static void advise_hole_sequential(void)
{
	block_with_hole(PROT_READ);
	ASK(madvise, P(block), BLOCK_PAGES * PAGE_BYTES, MADV_SEQUENTIAL);
}

static void populate_hole(void)
{
	block_with_hole(RW);
	ASK(madvise, P(block), BLOCK_PAGES * PAGE_BYTES, 22 /* MADV_POPULATE_READ */);
}

static void sync_hole(void)
{
	block_with_hole(RW);
	ASK(msync, P(block), BLOCK_PAGES * PAGE_BYTES, MS_ASYNC);
}

/* RLIMIT_DATA counts writable private memory, so making memory writable may exceed it. */
static void protect_data(void)
{
	size_t bytes = some_bytes();

	block = map_anon(bytes, PROT_READ, 0);
	ASK(mprotect, P(block), bytes, RW);
	room_data(bytes - PAGE_BYTES);
}

static void protect_data_of_file(void)
{
	size_t bytes = some_bytes();

	block = map_file(disk_file(bytes), bytes, PROT_READ, MAP_PRIVATE);
	ASK(mprotect, P(block), bytes / 2, RW);
	room_data(bytes / 4);
}

static void protect_beyond_memory(void)
{
	size_t bytes = beyond_memory();

	block = map_anon(bytes, PROT_READ, 0);
	ASK(mprotect, P(block), bytes, RW);
}

static void protect_less(void)
{
	ask.arg[1] = PAGE_BYTES;
}

static void protect_exec(void)
{
	block = map_anon(PAGE_BYTES, RW, 0);
	ASK(mprotect, P(block), PAGE_BYTES, RX);
}

static void deny_exec_gain(void)
{
	/* Undoes an mprotect call that succeeded before the limit was set. */
	if (mprotect(block, PAGE_BYTES, RW))
		die("mprotect");
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		skip("prctl PR_SET_MDWE: %s", strerror(errno));
}

/*
 * Test cases of mseal. Nothing can undo mseal. So these cases first make the call that must
 * succeed, and then seal the mapping.
 */

static void seal_block(void)
{
	if (syscall(SYS_mseal, block, BLOCK_PAGES * PAGE_BYTES, 0))
		skip("mseal: %s", strerror(errno));
}

static void sealed_protect(void)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, PROT_READ, 0);
	ASK(mprotect, P(block), BLOCK_PAGES * PAGE_BYTES, RW);
}

static void sealed_advise(void)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, PROT_READ, 0);
	ASK(madvise, P(block), BLOCK_PAGES * PAGE_BYTES, MADV_DONTNEED);
}

/* munmap of the second half succeeds. The first half is sealed, so its munmap fails. */
static void sealed_unmap(void)
{
	block = map_anon(2 * BLOCK_PAGES * PAGE_BYTES, PROT_READ, 0);
	ASK(munmap, P(block) + BLOCK_PAGES * PAGE_BYTES, BLOCK_PAGES * PAGE_BYTES);
}

static void seal_and_ask_of_it(void)
{
	seal_block();
	ask.arg[0] = P(block);
}

static void sealed_map_over(void)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, PROT_READ, 0);
	ASK(mmap, P(block), PAGE_BYTES, RW, PRIVATE_ANON | MAP_FIXED, -1, 0);
}

/* Test cases of wrong arguments */

static void bent_protect(void)
{
	block = map_anon(2 * PAGE_BYTES, RW, 0);
	ASK(mprotect, P(block) + vary(1, PAGE_BYTES - 1), PAGE_BYTES, PROT_READ);
}

static void straight(void)
{
	ask.arg[0] = P(block);
}

static void bent_unmap(void)
{
	block = map_anon(2 * PAGE_BYTES, RW, 0);
	ASK(munmap, P(block) + vary(1, PAGE_BYTES - 1), PAGE_BYTES);
}

static void unmap_nothing(void)
{
	block = map_anon(2 * PAGE_BYTES, RW, 0);
	ASK(munmap, P(block), 0);
}

static void unmap_something(void)
{
	ask.arg[1] = PAGE_BYTES;
}

static void unmap_past(void)
{
	block = map_anon(2 * PAGE_BYTES, RW, 0);
	ASK(munmap, 1L << 60, PAGE_BYTES);
}

static void protect_grows_down(void)
{
	block = map_anon(2 * PAGE_BYTES, RW, 0);
	ASK(mprotect, P(block), PAGE_BYTES, PROT_READ | PROT_GROWSDOWN);
}

static void protect_plainly(void)
{
	ask.arg[2] = PROT_READ;
}

const struct zoo_case change_cases[] = {
	{ "mprotect-hole", { "mprotect", ENOMEM, "range_hole" }, protect_hole, NULL, fill_hole },
	{ "mprotect-unmapped", { "mprotect", ENOMEM, "range_hole" }, protect_unmapped, NULL,
	  fill_hole },
	{ "mprotect-past-end", { "mprotect", ENOMEM, "range_hole" }, protect_past_end, NULL,
	  fill_hole },
	{ "madvise-hole", { "madvise", ENOMEM, "range_hole" }, advise_hole, NULL, fill_hole },
	{ "madvise-hole-sequential", { "madvise", ENOMEM, "range_hole" }, advise_hole_sequential,
	  NULL, fill_hole },
	{ "madvise-hole-populate", { "madvise", ENOMEM, "range_hole" }, populate_hole, NULL,
	  fill_hole },
	{ "msync-hole", { "msync", ENOMEM, "range_hole" }, sync_hole, NULL, fill_hole },
	{ "mprotect-data", { "mprotect", ENOMEM, "rlimit_data" }, protect_data, NULL,
	  restore_data },
	{ "mprotect-data-file", { "mprotect", ENOMEM, "rlimit_data" }, protect_data_of_file, NULL,
	  restore_data },
	{ "mprotect-heuristic", { "mprotect", ENOMEM, "overcommit_heuristic" },
	  protect_beyond_memory, NULL, protect_less },
	{ "mprotect-write-exec", { "mprotect", EACCES, "write_exec_denied" }, protect_exec, NULL,
	  NULL, .impose = deny_exec_gain },
	{ "mprotect-mseal", { "mprotect", EPERM, "sealed" }, sealed_protect, NULL, NULL,
	  .impose = seal_block },
	{ "madvise-mseal", { "madvise", EPERM, "sealed" }, sealed_advise, NULL, NULL,
	  .impose = seal_block },
	{ "munmap-mseal", { "munmap", EPERM, "sealed" }, sealed_unmap, NULL, NULL,
	  .impose = seal_and_ask_of_it },
	{ "mmap-over-mseal", { "mmap", EPERM, "sealed" }, sealed_map_over, NULL, NULL,
	  .impose = seal_block },
	{ "mprotect-bent-address", { "mprotect", EINVAL, "bad_argument" }, bent_protect, NULL,
	  straight },
	{ "mprotect-grows-down", { "mprotect", EINVAL, "bad_argument" }, protect_grows_down, NULL,
	  protect_plainly },
	{ "munmap-bent-address", { "munmap", EINVAL, "bad_argument" }, bent_unmap, NULL,
	  straight },
	{ "munmap-no-length", { "munmap", EINVAL, "bad_argument" }, unmap_nothing, NULL,
	  unmap_something },
	{ "munmap-past", { "munmap", EINVAL, "bad_argument" }, unmap_past, NULL, straight },
	{ 0 },
};

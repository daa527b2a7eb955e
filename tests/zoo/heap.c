/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases of shmat, and of brk, whose system call never returns an errno. */
#include "zoo.h"

#include <sys/ipc.h>
#include <sys/shm.h>

static uintptr_t end_of_heap; /* address of the heap's last page */
static char *in_the_way;

static void ask_heap(size_t bytes)
{
	uintptr_t now = syscall(SYS_brk, 0);

	end_of_heap = (now + PAGE_BYTES - 1) & -PAGE_BYTES;
	ASK(brk, end_of_heap + bytes);
}

static void past_data(void)
{
	size_t bytes = some_bytes();

	ask_heap(bytes);
	room_data(bytes / 2);
}

/*
 * The heap alone is smaller than RLIMIT_DATA. But other writable private mappings count towards
 * RLIMIT_DATA as well.
 */
static void past_data_with_mappings(void)
{
	size_t bytes = some_bytes();

	map_anon(256 * MIB, RW, MAP_NORESERVE);
	ask_heap(bytes);
	room_data(bytes / 2);
}

static void past_as(void)
{
	size_t bytes = some_bytes();

	ask_heap(bytes);
	room_as(bytes - PAGE_BYTES);
}

static void past_memlock(void)
{
	size_t bytes = small_bytes();

	if (mlockall(MCL_FUTURE))
		die("mlockall");
	ask_heap(bytes);
	room_memlock(bytes / 2);
}

static void past_memory(void)
{
	ask_heap(beyond_memory());
}

static void ask_less(void)
{
	ask.arg[0] = end_of_heap + PAGE_BYTES;
}

static void block_heap(long pages, long more, int flags)
{
	void *at;

	ask_heap((pages + more) * PAGE_BYTES);
	at = (void *)(end_of_heap + pages * PAGE_BYTES);
	in_the_way = mmap(at, PAGE_BYTES, PROT_READ, PRIVATE_ANON | MAP_FIXED_NOREPLACE | flags,
			  -1, 0);
	if (in_the_way != at)
		die("mmap at %p", at);
}

static void up_to_mapping(void)
{
	block_heap(vary(20, 200), 0, 0);
}

static void past_mapping(void)
{
	block_heap(vary(20, 200), vary(100, 1000), 0);
}

/* The heap cannot grow into the guard gap below a MAP_GROWSDOWN mapping. */
static void near_stack(void)
{
	block_heap(400, -200, MAP_GROWSDOWN);
}

static void clear_way(void)
{
	if (munmap(in_the_way, PAGE_BYTES))
		die("munmap");
}

static void past_everything(void)
{
	ask_heap(1L << 57);
}

/* Test cases of System V segments */

static int segment;
static void *attached;

static void attach_once(size_t bytes)
{
	segment = shmget(IPC_PRIVATE, bytes, 0600);
	if (segment < 0)
		skip("shmget: %s", strerror(errno));
	attached = shmat(segment, NULL, 0);
	if (attached == (void *)-1 || shmctl(segment, IPC_RMID, NULL))
		die("shmat");
	ASK(shmat, segment, 0, 0);
}

static void attach_past_as(void)
{
	size_t bytes = some_bytes();

	attach_once(bytes);
	room_as(bytes - PAGE_BYTES);
}

static void attach_past_memlock(void)
{
	size_t bytes = small_bytes();

	attach_once(bytes);
	if (mlockall(MCL_FUTURE))
		die("mlockall");
	room_memlock(bytes / 2);
}

static void attach_fragmented(void)
{
	size_t hole = vary(17, 32) * MIB;

	attach_once(hole + 4 * MIB);
	fill_space(hole);
}

static void attach_bent(void)
{
	attach_once(PAGE_BYTES);
	ask.arg[1] = P(map_anon(2 * PAGE_BYTES, PROT_NONE, 0)) + vary(1, PAGE_BYTES - 1);
}

static void attach_anywhere(void)
{
	ask.arg[1] = 0;
}

static void attach_over(void)
{
	attach_once(PAGE_BYTES);
	ask.arg[1] = P(map_anon(2 * PAGE_BYTES, PROT_NONE, 0));
}

static void attach_unknown(void)
{
	attach_once(PAGE_BYTES);
	ask.arg[0] = -1;
}

static void attach_known(void)
{
	ask.arg[0] = segment;
}

const struct zoo_case heap_cases[] = {
	{ "brk-data", { "brk", 0, "rlimit_data" }, past_data, NULL, restore_data },
	{ "brk-data-with-mappings", { "brk", 0, "rlimit_data" }, past_data_with_mappings, NULL,
	  restore_data },
	{ "brk-as", { "brk", 0, "rlimit_as" }, past_as, NULL, restore_as },
	{ "brk-memlock", { "brk", 0, "rlimit_memlock" }, past_memlock, NULL, raise_ipc_lock },
	{ "brk-heuristic", { "brk", 0, "overcommit_heuristic" }, past_memory, NULL, ask_less },
	{ "brk-up-to-mapping", { "brk", 0, "brk_collision" }, up_to_mapping, NULL, clear_way },
	{ "brk-past-mapping", { "brk", 0, "brk_collision" }, past_mapping, NULL, clear_way },
	{ "brk-near-stack", { "brk", 0, "brk_collision" }, near_stack, NULL, clear_way },
	{ "brk-past-everything", { "brk", 0, "brk_collision|address_space" }, past_everything, NULL,
	  ask_less },
	{ "shmat-as", { "shmat", ENOMEM, "rlimit_as" }, attach_past_as, NULL, restore_as },
	{ "shmat-memlock", { "shmat", EAGAIN, "rlimit_memlock" }, attach_past_memlock, NULL,
	  raise_ipc_lock },
	{ "shmat-fragmented", { "shmat", ENOMEM, "address_space" }, attach_fragmented, NULL,
	  unfill_space },
	{ "shmat-bent-address", { "shmat", EINVAL, "bad_argument" }, attach_bent, NULL,
	  attach_anywhere },
	{ "shmat-taken", { "shmat", EINVAL, "bad_argument|fixed_exists" }, attach_over, NULL,
	  attach_anywhere },
	{ "shmat-unknown", { "shmat", EINVAL, "bad_argument" }, attach_unknown, NULL,
	  attach_known },
	{ 0 },
};

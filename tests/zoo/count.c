/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of calls that exceed vm.max_map_count. Some calls already fail when the map count is a
 * few below this limit.
 */
#include "zoo.h"

#include <sys/ipc.h>
#include <sys/shm.h>

#define BLOCK_PAGES 9

static char *block; /* a mapping that the call must split */
static int segment;

static void make_block(int protection)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, protection, 0);
}

static char *middle(void)
{
	return block + vary(1, BLOCK_PAGES - 2) * PAGE_BYTES;
}

static void unmergeable_pages(int protection)
{
	ASK(mmap, 0, vary(1, 8) * PAGE_BYTES, protection, PRIVATE_ANON, -1, 0);
	fill_maps(most_maps() + 1);
}

static void anonymous(void)
{
	unmergeable_pages(RW);
}

/*
 * The new mapping would merge with the mapping next to it, so the number of mappings would not
 * change. mmap fails nevertheless.
 */
static void mergeable(void)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, RW, 0);
	if (munmap(block + PAGE_BYTES, (BLOCK_PAGES - 1) * PAGE_BYTES))
		die("munmap");
	ASK(mmap, P(block) + PAGE_BYTES, PAGE_BYTES, RW, PRIVATE_ANON | MAP_FIXED, -1, 0);
	fill_maps(most_maps() + 1);
}

/* The new mapping would replace a mapping, so the number of mappings would not change. */
static void replacing(void)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, RW, 0);
	ASK(mmap, P(block), BLOCK_PAGES * PAGE_BYTES, RX, PRIVATE_ANON | MAP_FIXED, -1, 0);
	fill_maps(most_maps() + 1);
}

static void shared_file(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/shm/torch_%d_zoo_1", getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, PAGE_BYTES) || unlink(path))
		skip("%s: %s", path, strerror(errno));
	ASK(mmap, 0, PAGE_BYTES, RW, MAP_SHARED, fd, 0);
	fill_maps(most_maps() + 1);
}

/* The call exceeds several limits. faultscope must name the limit that the kernel checks first. */
static void before_as(void)
{
	size_t bytes = some_bytes();

	ASK(mmap, 0, bytes, RW, PRIVATE_ANON, -1, 0);
	fill_maps(most_maps() + 1);
	room_as(bytes / 2);
}

static void before_as_lifted(void)
{
	unmap_last_filler();
	restore_as();
}

static long start_big_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, MIB);
	errno = pthread_create(&thread, &attr, empty_thread, NULL);
	if (errno == EAGAIN) {
		/*
		 * pthread_create returned EAGAIN, but glibc's mmap for the thread stack failed with
		 * ENOMEM
		 */
		errno = ENOMEM;
		return -1;
	}
	if (errno)
		die("pthread_create");
	pthread_join(thread, NULL);
	return 0;
}

static void thread_stack(void)
{
	/* The first thread that starts creates mappings that later threads use as well. */
	pthread_join(start_thread(empty_thread, NULL), NULL);
	fill_maps(most_maps() + 1);
}

/* A thread stack needs room for the stack, for its guard, and for the split between the two. */
static void thread_stack_spared(void)
{
	make_block(RW);
	if (mprotect(block + 2 * PAGE_BYTES, PAGE_BYTES, PROT_NONE))
		die("mprotect");
	thread_stack();
}

static void unmap_filler_and_block(void)
{
	unmap_last_filler();
	if (munmap(block, BLOCK_PAGES * PAGE_BYTES))
		die("munmap");
}

/* Test cases of calls in a child process, whose map count is a copy of its parent's. */
static pid_t child;

static long in_child(void)
{
	int status;

	child = fork_or_die();
	if (!child) {
		long ret = make_asked();
		int error = errno;

		usleep(20000);
		_exit(ret == -1 ? error : 0);
	}
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		die("child");
	if (!WEXITSTATUS(status))
		return 0;
	subject.pid = subject.tid = child;
	errno = WEXITSTATUS(status);
	return -1;
}

/* A failed call in a thread must be reported with the thread's tid. */
static void *ask_in_thread(void *arg)
{
	long *ret = arg;

	*ret = make_asked();
	subject.tid = syscall(SYS_gettid);
	return (void *)(long)errno;
}

static pthread_t waiting;
static int wake[2];
static long thread_ret;

static void *wait_and_ask(void *arg)
{
	char byte;

	if (read(wake[0], &byte, 1) != 1)
		die("read");
	return ask_in_thread(arg);
}

static void of_thread(void)
{
	if (pipe(wake))
		die("pipe");
	waiting = start_thread(wait_and_ask, &thread_ret);
	anonymous();
}

static long in_thread(void)
{
	void *error;

	if (!waiting)
		return make_asked();
	if (write(wake[1], "g", 1) != 1)
		die("write");
	pthread_join(waiting, &error);
	waiting = 0;
	errno = (long)error;
	return thread_ret;
}

/* Test cases of calls that split a mapping. At vm.max_map_count they fail, unlike mmap. */

static void unmap_middle(void)
{
	make_block(RW);
	ASK(munmap, P(middle()), PAGE_BYTES);
	fill_maps(most_maps());
}

/*
 * A mapping that can be unmapped, so that the call succeeds. It is not next to the last filler
 * mapping.
 */
static char *spare;

static void make_spare(void)
{
	spare = map_anon(PAGE_BYTES, RW | PROT_EXEC, 0);
}

static void unmap_middle_above(void)
{
	make_spare();
	make_block(RW);
	ASK(munmap, P(middle()), PAGE_BYTES);
	fill_maps(most_maps() + 1);
}

static void unmap_for_split(void)
{
	unmap_last_filler();
	if (munmap(spare, PAGE_BYTES))
		die("munmap");
}

static void protect_middle(void)
{
	make_block(RW);
	ASK(mprotect, P(middle()), PAGE_BYTES, PROT_NONE);
	make_spare();
	fill_maps(most_maps());
}

static void advise_middle(void)
{
	make_block(RW);
	ASK(madvise, P(middle()), PAGE_BYTES, MADV_DONTFORK);
	make_spare();
	fill_maps(most_maps());
}

static void advise_middle_of_file(void)
{
	block = map_file(disk_file(BLOCK_PAGES * PAGE_BYTES), BLOCK_PAGES * PAGE_BYTES, PROT_READ,
			 MAP_PRIVATE);
	ASK(madvise, P(middle()), PAGE_BYTES, MADV_RANDOM);
	make_spare();
	fill_maps(most_maps());
}

static void lock_middle(void)
{
	make_block(RW);
	ASK(mlock, P(middle()), PAGE_BYTES);
	make_spare();
	fill_maps(most_maps());
}

static void unlock_middle(void)
{
	make_block(RW);
	if (mlock(block, BLOCK_PAGES * PAGE_BYTES))
		die("mlock");
	ASK(munlock, P(middle()), PAGE_BYTES);
	make_spare();
	fill_maps(most_maps());
}

/*
 * Test cases of mremap. It fails if fewer than 4 more mappings are allowed, because the kernel
 * reserves 4 for splits. With MREMAP_FIXED, it reserves 6.
 */

static void move(void)
{
	make_block(RW);
	/* This page differs from the block, so that the block cannot grow in place. */
	if (mprotect(block + 4 * PAGE_BYTES, PAGE_BYTES, PROT_NONE))
		die("mprotect");
	ASK(mremap, P(block), 4 * PAGE_BYTES, 8 * PAGE_BYTES, MREMAP_MAYMOVE);
	fill_maps(most_maps() - 3);
}

static void move_to_place(void)
{
	char *place;

	spare = map_anon(16 * PAGE_BYTES, PROT_NONE, 0);
	for (long i = 0; i < 8; i++)
		if (mprotect(spare + 2 * i * PAGE_BYTES, PAGE_BYTES, RW | PROT_EXEC))
			die("mprotect");
	place = map_anon(BLOCK_PAGES * PAGE_BYTES, RX, 0);
	make_block(RW);
	ASK(mremap, P(block), BLOCK_PAGES * PAGE_BYTES, BLOCK_PAGES * PAGE_BYTES,
	    MREMAP_MAYMOVE | MREMAP_FIXED, P(place));
	fill_maps(most_maps());
}

static void unmap_many(void)
{
	unmap_last_filler();
	for (long i = 1; i < 8; i++)
		if (munmap(spare + 2 * i * PAGE_BYTES, PAGE_BYTES))
			die("munmap");
}

/* Test cases of the heap and of System V segments */

static void grow_heap(void)
{
	ASK(brk, syscall(SYS_brk, 0) + vary(1, 64) * PAGE_BYTES);
	fill_maps(most_maps() + 1);
}

static void attach(void)
{
	segment = shmget(IPC_PRIVATE, vary(1, 16) * PAGE_BYTES, 0600);
	if (segment < 0)
		skip("shmget: %s", strerror(errno));
	if (shmat(segment, NULL, 0) == (void *)-1 || shmctl(segment, IPC_RMID, NULL))
		die("shmat");
	ASK(shmat, segment, 0, 0);
	fill_maps(most_maps() + 1);
}

#define COUNT(call) { call, ENOMEM, "max_map_count" }

const struct zoo_case count_cases[] = {
	{ "count-anon", COUNT("mmap"), anonymous, NULL, unmap_last_filler },
	{ "count-mergeable", COUNT("mmap"), mergeable, NULL, unmap_last_filler },
	{ "count-replacing", COUNT("mmap"), replacing, NULL, unmap_last_filler },
	{ "count-shm-file", COUNT("mmap"), shared_file, NULL, unmap_last_filler },
	{ "count-before-as", { "mmap", ENOMEM, "max_map_count", "rlimit_as" }, before_as, NULL,
	  before_as_lifted },
	{ "count-thread-stack", COUNT("mmap"), thread_stack_spared, start_big_thread,
	  unmap_filler_and_block },
	{ "count-in-child", COUNT("mmap"), anonymous, in_child, unmap_last_filler },
	{ "count-in-thread", COUNT("mmap"), of_thread, in_thread, unmap_last_filler },
	{ "count-munmap", COUNT("munmap"), unmap_middle, NULL, unmap_last_filler },
	{ "count-munmap-above", COUNT("munmap"), unmap_middle_above, NULL, unmap_for_split },
	{ "count-mprotect", COUNT("mprotect"), protect_middle, NULL, unmap_for_split },
	{ "count-madvise", { "madvise", EAGAIN, "max_map_count" }, advise_middle, NULL,
	  unmap_for_split },
	{ "count-madvise-file", { "madvise", EAGAIN, "max_map_count" }, advise_middle_of_file,
	  NULL, unmap_for_split },
	{ "count-mlock", COUNT("mlock"), lock_middle, NULL, unmap_for_split },
	{ "count-munlock", COUNT("munlock"), unlock_middle, NULL, unmap_for_split },
	{ "count-mremap", COUNT("mremap"), move, NULL, unmap_last_filler },
	{ "count-mremap-fixed", COUNT("mremap"), move_to_place, NULL, unmap_many },
	{ "count-brk", { "brk", 0, "max_map_count" }, grow_heap, NULL, unmap_last_filler },
	{ "count-shmat", COUNT("shmat"), attach, NULL, unmap_last_filler },
	{ 0 },
};

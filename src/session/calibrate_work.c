// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "session/calibrate_work.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/host_facts.h"

#define PAGES 128 /* maximum number of pages that a run touches */
/* number of runs; the fastest run counts, because disturbances only make runs slower */
#define RUNS 4

int bench_open(struct bench *b)
{
	b->page_bytes = sysconf(_SC_PAGESIZE);
	b->zero = -1;
	b->pages = mmap(NULL, PAGES * b->page_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->pages == MAP_FAILED) {
		b->pages = NULL;
		return -errno;
	}
	/* prevent huge pages, so that each page causes one page fault */
	madvise(b->pages, PAGES * b->page_bytes, MADV_NOHUGEPAGE);
	b->zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	return b->zero < 0 ? -errno : 0;
}

void bench_close(struct bench *b)
{
	if (b->pages)
		munmap(b->pages, PAGES * b->page_bytes);
	if (b->zero >= 0)
		close(b->zero);
}

/*
 * Each function below performs one operation n times. For operations that touch pages, n is at most
 * PAGES.
 */

static void touch(const struct bench *b, int n)
{
	for (int i = 0; i < n; i++)
		*(volatile unsigned char *)(b->pages + i * b->page_bytes) = 1;
}

static void copy_to_user(const struct bench *b, int n)
{
	for (int i = 0; i < n; i++)
		if (read(b->zero, b->pages + i * b->page_bytes, 1) < 0)
			return;
}

static void map(const struct bench *b, int n)
{
	for (int i = 0; i < n; i++) {
		void *at = mmap(NULL, b->page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at != MAP_FAILED)
			munmap(at, b->page_bytes);
	}
}

static void duplicate(const struct bench *b, int n)
{
	for (int i = 0; i < n; i++) {
		int fd = dup(b->zero);

		if (fd >= 0)
			close(fd);
	}
}

static void open_file(const struct bench *b, int n)
{
	for (int i = 0; i < n; i++) {
		int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

		if (fd >= 0)
			close(fd);
	}
}

static void call(const struct bench *b, int n)
{
	for (int i = 0; i < n; i++)
		syscall(SYS_getppid);
}

/* Sends SIGURG, which a process ignores by default. */
static void send_signal(const struct bench *b, int n)
{
	pid_t self = getpid();

	for (int i = 0; i < n; i++)
		kill(self, SIGURG);
}

/*
 * Starts a child that shares this process's memory, so that almost no page fault is its own. The
 * child runs on the stack frame of this function. The function must not be inlined, because this
 * frame must hold no variable of the caller.
 */
static __attribute__((noinline)) pid_t start_child(void)
{
	pid_t child = vfork();

	if (!child)
		_exit(0);
	return child;
}

static void make_process(const struct bench *b, int n)
{
	for (int i = 0; i < n; i++) {
		pid_t child = start_child();

		if (child > 0)
			waitpid(child, NULL, 0);
	}
}

static const struct {
	void (*run)(const struct bench *b, int n);
	int n;
	int operations; /* operations per iteration: 2 if a loop calls mmap and munmap */
} works[NR_WORKS] = {
	[WORK_FAULT] = {touch, PAGES, 1},      [WORK_USER_COPY] = {copy_to_user, 64, 1},
	[WORK_MAPPING] = {map, 96, 2},	       [WORK_DESCRIPTOR] = {duplicate, 64, 2},
	[WORK_FILE] = {open_file, 64, 2},      [WORK_OTHER_CALL] = {call, 512, 1},
	[WORK_SIGNAL] = {send_signal, 128, 1}, [WORK_PROCESS] = {make_process, 8, 1},
};

double bench_time(const struct bench *b, enum bench_work work)
{
	uint64_t best = UINT64_MAX;

	for (int run = 0; run < RUNS; run++) {
		uint64_t begin;

		madvise(b->pages, PAGES * b->page_bytes, MADV_DONTNEED);
		begin = host_monotonic_ns();
		works[work].run(b, works[work].n);
		begin = host_monotonic_ns() - begin;
		if (begin < best)
			best = begin;
	}
	return (double)best / works[work].n / works[work].operations;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the operations that `doctor` repeats to measure the overhead of probes: how often each is
 * performed, and that nothing is left behind. The times themselves are not tested.
 */
#define TAP_KEEPS_INPUT /* the test looks whether it is closed by mistake */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/host_facts.h"
#include "session/calibrate_work.h"
#include "tap.h"

#define RUNS  4
#define PAGES 128

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
	signals++;
}

/* The operations of a run, and the page faults that one run causes. */
static const struct {
	const char *name;
	int operations, faults;
} want[NR_WORKS] = {
	[WORK_FAULT] = {"page faults", 128, 128},
	[WORK_USER_COPY] = {"page faults in the kernel", 64, 64},
	[WORK_MAPPING] = {"mmap and munmap", 192, 0},
	[WORK_DESCRIPTOR] = {"dup and close", 128, 0},
	[WORK_FILE] = {"open and close", 128, 0},
	[WORK_OTHER_CALL] = {"getppid", 512, 0},
	[WORK_SIGNAL] = {"signals", 128, 0},
	[WORK_PROCESS] = {"processes", 8, 0},
};

/* Numbers of calls that the work makes. */
static struct calls {
	unsigned int maps, unmaps, dups, closes, reads, drops;
} calls;

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	calls.maps += protection == PROT_NONE;
	return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
}

int munmap(void *at, size_t n)
{
	calls.unmaps++;
	return syscall(SYS_munmap, at, n);
}

int dup(int fd)
{
	calls.dups++;
	return syscall(SYS_dup, fd);
}

int close(int fd)
{
	calls.closes++;
	return syscall(SYS_close, fd);
}

ssize_t read(int fd, void *to, size_t n)
{
	calls.reads += n == 1;
	return syscall(SYS_read, fd, to, n);
}

int madvise(void *at, size_t n, int advice)
{
	calls.drops += advice == MADV_DONTNEED && n == PAGES * (size_t)sysconf(_SC_PAGESIZE);
	return syscall(SYS_madvise, at, n, advice);
}

static long faults(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_minflt;
}

/* Returns the number of open descriptors, by the number that a new one gets. */
static int next_fd(void)
{
	int fd = dup(STDOUT_FILENO);

	close(fd);
	return fd;
}

static size_t mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	size_t n = 0;
	int c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

static void test_work(const struct bench *b, enum bench_work work)
{
	int fd = next_fd(), had = signals;
	size_t maps = mappings();
	long before = faults();
	uint64_t begin = host_monotonic_ns(), took;
	double ns = bench_time(b, work);

	took = host_monotonic_ns() - begin;
	before = faults() - before;
	ok(ns > 0 && ns * want[work].operations * RUNS <= took,
	   "%s: the fastest of four runs takes no longer than their average: %.0f ns",
	   want[work].name, ns);
	ok(before >= RUNS * want[work].faults && before < RUNS * want[work].faults + RUNS * 8 + 60,
	   "%ld page faults in four runs of %d", before, want[work].faults);
	is_u64(signals - had, work == WORK_SIGNAL ? RUNS * 128 : 0, "signals");
	is_u64(next_fd(), fd, "no file descriptor is left");
	is_u64(mappings(), maps, "nor a mapping");
	ok(waitpid(-1, NULL, WNOHANG) < 0, "nor a child");
}

/* Tests what a run left in the pages: those that it touched have its byte. */
static void test_pages(const struct bench *b)
{
	size_t touched = 0;

	is_u64(b->page_bytes, sysconf(_SC_PAGESIZE), "size of a page");
	bench_time(b, WORK_FAULT);
	for (size_t i = 0; i < PAGES; i++)
		touched += b->pages[i * b->page_bytes] == 1;
	is_u64(touched, PAGES, "each page is written");
	bench_time(b, WORK_OTHER_CALL);
	for (size_t i = 0; i < PAGES; i++)
		touched -= b->pages[i * b->page_bytes] == 0;
	is_u64(touched, 0, "each run begins with pages that are not there");
}

/* How often each run makes the calls of its work. */
static void test_calls(const struct bench *b)
{
	static const struct {
		enum bench_work work;
		struct calls want; /* of four runs */
	} rows[] = {
		{WORK_FAULT, {.drops = 4}},
		{WORK_USER_COPY, {.reads = 4 * 64, .drops = 4}},
		{WORK_MAPPING, {.maps = 4 * 96, .unmaps = 4 * 96, .drops = 4}},
		{WORK_DESCRIPTOR, {.dups = 4 * 64, .closes = 4 * 64, .drops = 4}},
		{WORK_FILE, {.closes = 4 * 64, .drops = 4}},
		{WORK_OTHER_CALL, {.drops = 4}},
		{WORK_SIGNAL, {.drops = 4}},
		{WORK_PROCESS, {.drops = 4}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(&calls, 0, sizeof(calls));
		bench_time(b, rows[i].work);
		ok(!memcmp(&calls, &rows[i].want, sizeof(calls)), "calls of %s: %u %u %u %u %u %u",
		   want[rows[i].work].name, calls.maps, calls.unmaps, calls.dups, calls.closes,
		   calls.reads, calls.drops);
	}
}

static void test_close(struct bench *b)
{
	unsigned char vec[PAGES];
	int zero = b->zero;
	void *pages = (void *)b->pages;
	size_t bytes = PAGES * b->page_bytes;
	struct bench none = {.zero = -1};

	ok(zero >= 0 && fcntl(zero, F_GETFD) == FD_CLOEXEC, "/dev/zero is open");
	bench_close(b);
	ok(fcntl(zero, F_GETFD) == -1, "then it is closed");
	ok(mincore(pages, bytes, vec) < 0, "and the pages are unmapped");
	bench_close(&none);
	ok(fcntl(STDIN_FILENO, F_GETFD) >= 0, "nothing is closed that was not opened");
}

int main(void)
{
	struct bench b;

	signal(SIGURG, on_signal);
	is_u64(bench_open(&b), 0, "pages and a file");
	for (int work = 0; work < NR_WORKS; work++)
		bench_time(&b, work); /* code and libraries are mapped */
	for (int work = 0; work < NR_WORKS; work++)
		test_work(&b, work);
	test_pages(&b);
	test_calls(&b);
	test_close(&b);
	return tap_done();
}

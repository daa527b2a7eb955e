// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how the table of kernel symbols is read in a thread: tables of any size, a file that
 * cannot be read, and what happens without memory, a file or a thread.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "failing_memory.h"
#include "open_files.h"
#include "probe/variables.h"
#include "tap.h"

#define MIB   (1 << 20)
#define LINE  "ffffffff81000000 T some_function_of_the_kernel\n"
#define FIRST "ffffffff9a26a140 D sysctl_max_map_count\n"
#define LAST  "ffffffff9abf2cc8 b pipe_user_pages_hard\n"

static struct {
	int table; /* a file with the table; -1: there is none */
	bool no_thread;
	unsigned int threads, joins;
} kernel;

int open(const char *path, int flags, ...)
{
	if (strcmp(path, "/proc/kallsyms") != 0 || kernel.table < 0) {
		errno = EACCES;
		return -1;
	}
	return fcntl(kernel.table, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
}

/* Runs the thread's function at once, so that each run of this test is the same. */
int pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*start)(void *), void *ctx)
{
	(void)attr;
	if (kernel.no_thread)
		return EAGAIN;
	kernel.threads++;
	*ret = pthread_self();
	start(ctx);
	return 0;
}

int pthread_join(pthread_t thread, void **ret)
{
	(void)ret;
	kernel.joins += pthread_equal(thread, pthread_self()) != 0;
	return 0;
}

/* Makes a table of `bytes` bytes, with one variable at its begin and one at its end. */
static void begin(size_t bytes)
{
	const size_t line = strlen(LINE), first = strlen(FIRST), last = strlen(LAST);
	static char text[5 * MIB];

	if (kernel.table > 0)
		close(kernel.table);
	memset(&kernel, 0, sizeof(kernel));
	memset(text, '\n', sizeof(text));
	memcpy(text, FIRST, first);
	for (size_t at = first; at + line + last < bytes; at += line)
		memcpy(text + at, LINE, line);
	memcpy(text + bytes - last, LAST, last);
	kernel.table = fcntl(memfd_create("table", MFD_CLOEXEC), F_DUPFD_CLOEXEC, 10);
	close(0);
	if (syscall(SYS_write, kernel.table, text, bytes) != (ssize_t)bytes ||
	    lseek(kernel.table, 0, SEEK_SET))
		abort();
}

/* Reads the table. Checks whether both variables are found. */
static void finds(bool first, bool last, const char *name)
{
	size_t before = open_fds();
	__u64 at[NR_VARIABLES];
	struct variables v;

	memset(at, 0xff, sizeof(at));
	memset(&v, 0xff, sizeof(v));
	variables_begin(&v);
	variables_take(&v, at);
	ok(at[VARIABLE_MAX_MAP_COUNT] == (first ? 0xffffffff9a26a140 : 0) &&
		   at[VARIABLE_PIPE_HARD] == (last ? 0xffffffff9abf2cc8 : 0),
	   "%s: %llx %llx", name, (unsigned long long)at[VARIABLE_MAX_MAP_COUNT],
	   (unsigned long long)at[VARIABLE_PIPE_HARD]);
	ok(open_fds() == before && kernel.threads == kernel.joins && !v.reads,
	   "the file is closed, and the thread has ended");
	variables_end(&v);
	ok(open_fds() == before && kernel.threads == kernel.joins, "it ends once");
}

static void test_sizes(void)
{
	static const size_t sizes[] = {100, MIB - 1, MIB, MIB + 1, 2 * MIB, 2 * MIB + 1, 5 * MIB};
	char name[32];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		snprintf(name, sizeof(name), "%zu bytes", sizes[i]);
		begin(sizes[i]);
		finds(true, true, name);
		is_u64(kernel.threads, 1, "one thread");
	}
}

/* All modules come after the kernel itself. */
static void test_modules(void)
{
	static const char module[] = "ffffffffc0301000 t start_of_a_module	[xfs]\n";
	static char tail[MIB];

	memset(tail, '\n', sizeof(tail));
	memcpy(tail, module, sizeof(module) - 1);
	begin(2 * MIB);
	for (int i = 0; i < 4; i++) {
		if (pwrite(kernel.table, tail, sizeof(tail), (2 + i) * MIB) != sizeof(tail))
			abort();
		tail[0] = '\n';
	}
	finds(true, true, "a table with modules");
	is_u64(lseek(kernel.table, 0, SEEK_CUR), 4 * MIB, "is read up to the first module");
}

static void test_failures(void)
{
	begin(100);
	close(kernel.table);
	kernel.table = -1;
	finds(false, false, "no file");
	is_u64(kernel.threads, 0, "needs no thread");
	begin(100);
	kernel.no_thread = true;
	finds(false, false, "no thread");
	begin(100);
	close(kernel.table);
	kernel.table = openat(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	finds(false, false, "a file that cannot be read");
	begin(2 * MIB);
	memory_fail_after(0);
	finds(false, false, "no memory");
	ok(memory_recovers(), "this allocation failed");
	begin(2 * MIB);
	memory_fail_after(1);
	finds(true, false, "no memory for more than the begin");
	ok(memory_recovers(), "this allocation failed");
}

int main(void)
{
	kernel.table = -1;
	test_sizes();
	test_modules();
	test_failures();
	return tap_done();
}

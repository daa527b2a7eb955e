// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how long reports of OOM kills are kept, how the kernel log is opened, and what happens
 * without memory. The clock and /dev/kmsg are those of this test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "collect/oom/kernel_log.h"
#include "failing_memory.h"
#include "tap.h"

#define PAGE   4096
#define SECOND 1000000000ULL

static uint64_t now_ns = 1000 * SECOND;
static int kmsg = -1; /* what open() returns for /dev/kmsg */
static int end;	      /* the end at which the kernel would write */
static struct oom_report found;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	*ret = (struct timespec){now_ns / SECOND, now_ns % SECOND};
	return 0;
}

int open(const char *path, int flags, ...)
{
	if (strcmp(path, "/dev/kmsg"))
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
	if (kmsg < 0 || !(flags & O_NONBLOCK))
		errno = EPERM;
	return flags & O_NONBLOCK ? kmsg : -1;
}

static struct kernel_log *begin(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair))
		abort();
	end = pair[1];
	return kernel_log_of(pair[0]);
}

static void finish(struct kernel_log *log)
{
	kernel_log_close(log);
	close(end);
}

static void put(int to, const char *text)
{
	if (write(to, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
}

#define FIRST "4,1,1,-;x invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0\n"

static void report(int to, unsigned int pid)
{
	char line[160];

	put(to, FIRST);
	snprintf(line, sizeof(line),
		 "4,1,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,task_memcg=/a,task=x,"
		 "pid=%u,uid=0\n",
		 pid);
	put(to, line);
}

static bool find(struct kernel_log *log, unsigned int pid)
{
	return kernel_log_find(log, pid, PAGE, &found);
}

/* A report waits ten seconds for its kill: later, another process may have the pid. */
static void test_ages(void)
{
	struct kernel_log *log = begin();

	report(end, 1);
	report(end, 2);
	ok(!find(log, 9), "two reports are read when another process is killed");
	now_ns += 10 * SECOND;
	ok(find(log, 1), "after ten seconds, the first one is still there");
	now_ns++;
	ok(!find(log, 2), "a nanosecond later, the second one is dropped");
	report(end, 3);
	ok(!find(log, 9), "a third one");
	now_ns += 6 * SECOND;
	report(end, 4);
	ok(!find(log, 9), "a fourth one, six seconds later");
	now_ns += 6 * SECOND;
	ok(!find(log, 3), "the third one is too old");
	ok(find(log, 4), "the fourth one is not");
	ok(!find(log, 4), "it is found once");
	report(end, 5);
	report(end, 6);
	report(end, 5);
	ok(!find(log, 9), "two reports with the same pid");
	ok(find(log, 5) && find(log, 6) && find(log, 5) && !find(log, 5), "each is found once");
	finish(log);
}

/* The size of a page is that of the first kill whose report is read. */
static void test_values(void)
{
	struct kernel_log *log = begin();

	put(end, FIRST);
	put(end, "4,1,1,-;Mem-Info:\n");
	put(end, "4,1,1,-;active_anon:3\n");
	put(end, "4,1,1,-;oom-kill:constraint=CONSTRAINT_NONE,task=x,pid=7,uid=0\n");
	report(end, 8);
	ok(find(log, 7), "a report of the machine");
	is_u64(found.printed[PRINTED_ANON], 3 * PAGE, "pages are counted in bytes");
	is_str(found.cgroup, "", "no cgroup");
	ok(find(log, 8), "the report behind it");
	is_u64(found.printed[PRINTED_ANON], FIGURE_UNKNOWN, "has no values of the other one");
	is_u64(found.page_bytes, PAGE, "but the size of a page");
	is_str(found.cgroup, "/a", "and its cgroup");
	finish(log);
}

/* Only what the kernel writes after faultscope has begun is read. */
static void test_opening(void)
{
	struct kernel_log *log;
	off_t at;

	kmsg = memfd_create("kmsg", MFD_CLOEXEC);
	report(kmsg, 1);
	lseek(kmsg, 0, SEEK_SET);
	log = kernel_log_open();
	at = lseek(kmsg, 0, SEEK_CUR);
	ok(log && at > 0 && at == lseek(kmsg, 0, SEEK_END), "the log is read from its end on");
	lseek(kmsg, at, SEEK_SET);
	ok(!find(log, 1), "an older report is not found");
	kernel_log_close(log);
	ok(fcntl(kmsg, F_GETFD) < 0, "its descriptor is closed");
	kmsg = -1;
	log = kernel_log_open();
	ok(log != NULL, "a log that may not be read");
	ok(!find(log, 1), "has no reports");
	kernel_log_close(log);
	kernel_log_close(NULL);
	close(STDIN_FILENO);
	log = kernel_log_of(memfd_create("kmsg", MFD_CLOEXEC));
	ok(fcntl(STDIN_FILENO, F_GETFD) >= 0, "a log whose descriptor is 0");
	kernel_log_close(log);
	ok(fcntl(STDIN_FILENO, F_GETFD) < 0, "is closed as others");
}

static void test_memory(void)
{
	int fd = memfd_create("kmsg", MFD_CLOEXEC);
	struct kernel_log *log;

	memory_fail_after(0);
	log = kernel_log_of(fd);
	ok(memory_recovers() && !log, "no memory for a log");
	ok(fcntl(fd, F_GETFD) < 0, "its descriptor is closed nevertheless");
	log = begin();
	report(end, 1);
	memory_fail_after(0);
	ok(!find(log, 1), "no memory for a report");
	ok(memory_recovers(), "it is not found");
	ok(find(log, 1), "later it is");
	finish(log);
}

int main(void)
{
	test_ages();
	test_values();
	test_opening();
	test_memory();
	return tap_done();
}

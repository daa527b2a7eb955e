// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which reports of OOM kills are found in the kernel log, from records like /dev/kmsg's. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/oom/kernel_log.h"
#include "tap.h"

#define PAGE 4096

static int end; /* the end at which the kernel would write */
static struct kernel_log *log_of;
static struct oom_report found;

static const char *flags = "-"; /* the flag of a record, and the fields after it */

/* What the next read() returns instead of a record: 0 or -1, and errno. */
static struct {
	bool pending;
	int ret, error;
} next_read;

ssize_t read(int fd, void *ret, size_t size)
{
	if (!next_read.pending)
		return syscall(SYS_read, fd, ret, size);
	next_read.pending = false;
	errno = next_read.error;
	return next_read.ret;
}

static void put(const char *text)
{
	char record[256];
	int n = snprintf(record, sizeof(record), "4,1,1,%s;%s\n", flags, text);

	if (write(end, record, n) != n)
		abort();
}

static void begin_report(const char *name)
{
	char line[128];

	snprintf(line, sizeof(line), "%s invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0",
		 name);
	put(line);
}

static void end_report(const char *cgroup, unsigned int pid)
{
	char line[160];

	snprintf(line, sizeof(line),
		 "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=%s,task_memcg=%s,task=x,pid=%u,"
		 "uid=0",
		 cgroup, cgroup, pid);
	put(line);
}

/* Finds the report of a kill. Returns its cgroup, or "none". */
static const char *find(unsigned int pid)
{
	return kernel_log_find(log_of, pid, PAGE, &found) ? found.cgroup : "none";
}

static void put_raw(const char *record)
{
	if (write(end, record, strlen(record)) != (ssize_t)strlen(record))
		abort();
}

/* Only records of the kernel count: those of facility 0, of eight priorities. */
static void test_headers(void)
{
	static const struct {
		const char *header, *want, *name;
	} rows[] = {
		{"0,1,1,-;", "/h", "the lowest priority of the kernel"},
		{"7,1,1,-;", "/h", "the highest priority of the kernel"},
		{"8,1,1,-;", "none", "the lowest priority of programs"},
		{"15,1,1,-;", "none", "another priority of programs"},
		{"4,1,1;", "/h", "no flag"},
		{"4;", "/h", "no other fields"},
		{"4,1,1,-,caller=c1;", "/h", "a letter in a field behind the flag"},
		{"4,c,c,-;", "/h", "a letter in a field before the flag"},
		{"4,1,1,- ", "none", "no text"},
	};

	flags = "-";
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char record[256];

		begin_report("h");
		snprintf(record, sizeof(record),
			 "%soom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/h,task_memcg=/h,task=x,"
			 "pid=%u,uid=0\n KEY=1\n",
			 rows[i].header, 200 + i);
		put_raw(record);
		is_str(find(200 + i), rows[i].want, rows[i].name);
	}
}

/* As many reports are kept as the kernel writes in a short time. */
static void test_most(void)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < KERNEL_LOG_REPORTS; i++) {
		begin_report("m");
		end_report("/m", 300 + i);
	}
	is_str(find(999), "none", "a kill without a report");
	for (unsigned int i = 0; i < KERNEL_LOG_REPORTS; i++)
		kept += !strcmp(find(300 + i), "/m");
	is_u64(kept, KERNEL_LOG_REPORTS, "reports that are kept");
}

/* A process may have a newline in its name, which the kernel writes as \x0a. */
static void test_newlines_in_names(void)
{
	begin_report("n");
	put("Memory cgroup stats for /n:");
	put("anon 4096\\x0afile 8192");
	put("Tasks state (memory values in pages):");
	put("[  pid  ]   uid  tgid total_vm      rss name");
	put("[      5]     0     5        9        7 a\\x0aoom-kill:");
	put("[      6]     0     6        9        6 \\x0aMem-Info:");
	put("[      7]     0     7        9        5 b");
	put("oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/n,task_memcg=/"
	    "n,task=a\\x0ab,pid=5,uid=0");
	is_str(find(5), "/n", "a report with newlines in names");
	is_u64(found.tasks, 3, "tasks of the table");
	is_str(found.holder[0].comm, "a\noom-kill:", "a name with a newline");
	is_str(found.holder[2].comm, "b", "the row behind them");
	ok(found.printed[PRINTED_ANON] == 4096 && found.printed[PRINTED_FILE] == 8192,
	   "other records may have several lines");
}

/*
 * The kernel may have overwritten records before they were read: those behind them are still read.
 * Other errors end the reading until the next kill.
 */
static void test_errors(void)
{
	static const struct {
		int ret, error;
		bool goes_on;
		const char *name;
	} rows[] = {{-1, EPIPE, true, "records that were overwritten"},
		    {-1, EINTR, true, "a signal"},
		    {-1, EAGAIN, false, "the end of the log"},
		    {-1, EIO, false, "an error"},
		    {0, EINTR, false, "the end of a file"},
		    {0, EPIPE, false, "the end of a file, after an error"}};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_report("r");
		end_report("/r", 400 + i);
		next_read.pending = true;
		next_read.ret = rows[i].ret;
		next_read.error = rows[i].error;
		is_str(find(400 + i), rows[i].goes_on ? "/r" : "none", rows[i].name);
		if (!rows[i].goes_on)
			is_str(find(400 + i), "/r", "the report is found later");
	}
}

int main(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair))
		abort();
	end = pair[1];
	log_of = kernel_log_of(pair[0]);
	is_str(find(1), "none", "an empty log");
	begin_report("a");
	end_report("/a", 1);
	is_str(find(1), "/a", "a report");
	is_str(find(1), "none", "it is found once");
	begin_report("b");
	put("Call Trace:");
	is_str(find(2), "none",
	       "a kill that is not reported, while the next one is being reported");
	end_report("/b", 3);
	is_str(find(3), "/b", "the next one is found whole");
	begin_report("c");
	end_report("/c", 4);
	begin_report("d");
	end_report("/d", 5);
	is_str(find(99), "none", "a kill without a report");
	is_str(find(5), "/d", "it uses up no report of others");
	is_str(find(4), "/c", "in any order");
	flags = "-,caller=T123";
	begin_report("f");
	end_report("/f", 6);
	is_str(find(6), "/f", "records that name the thread which wrote them");
	begin_report("g");
	put("oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/g,");
	flags = "c,caller=C0";
	put("task_memcg=/g,task=x,pid=7,uid=0");
	is_str(find(7), "/g", "a record that continues another one");
	flags = "-";
	for (unsigned int i = 0; i < KERNEL_LOG_REPORTS + 2; i++) {
		begin_report("e");
		end_report("/e", 100 + i);
	}
	is_str(find(101), "none", "of many reports, the oldest are dropped");
	is_str(find(102), "/e", "and the others kept");
	test_newlines_in_names();
	test_headers();
	test_most();
	test_errors();
	kernel_log_close(log_of);
	close(end);
	return tap_done();
}

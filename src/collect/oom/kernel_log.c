// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/oom/kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "probe/host_facts.h"

#define RECORDS_MOST 65536	    /* maximum number of log records read for one kill */
#define RECORD_ROOM  8192	    /* PRINTK_MESSAGE_MAX is 2048 bytes; an escape takes 4 bytes */
#define WAITING_NS   10000000000ULL /* time for which a report waits for its kill */
#define FLAG_FIELD   3 /* number of fields before the flag, in the header of a record */
#define PRIORITIES   8 /* number of priorities of a facility; facility 0 is the kernel */

/* A report that was read before its kill was looked up. */
struct waiting_report {
	uint64_t read_ns; /* when it was read: CLOCK_MONOTONIC */
	struct oom_report report;
};

struct log_reading {
	struct oom_report now; /* the report that is being read */
	char line[16384];      /* text of the last record, which the next one may continue */
	size_t n;	       /* number of elements of `waiting`, the oldest first */
	struct waiting_report waiting[KERNEL_LOG_REPORTS];
};

struct kernel_log {
	int fd;			     /* < 0: the log is not readable; owned */
	struct log_reading *reading; /* NULL until the first kill: it takes 77 KB; owned */
};

struct kernel_log *kernel_log_of(int fd)
{
	struct kernel_log *log = calloc(1, sizeof(*log));

	if (log)
		log->fd = fd;
	else if (fd >= 0)
		close(fd);
	return log;
}

struct kernel_log *kernel_log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return kernel_log_of(fd);
}

void kernel_log_close(struct kernel_log *log)
{
	if (!log)
		return;
	if (log->fd >= 0)
		close(log->fd);
	free(log->reading);
	free(log);
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void kernel_log_unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		if (at[0] == '\\' && at[1] == 'x' && digit(at[2]) >= 0 && digit(at[3]) >= 0) {
			*to++ = digit(at[2]) << 4 | digit(at[3]);
			at += 3;
		} else {
			*to++ = *at;
		}
	}
	*to = 0;
}

/* Removes element `i` of `waiting`. */
static void drop(struct log_reading *r, size_t i)
{
	r->n--;
	memmove(&r->waiting[i], &r->waiting[i + 1], (r->n - i) * sizeof(r->waiting[0]));
}

static void keep(struct log_reading *r)
{
	if (r->n == KERNEL_LOG_REPORTS)
		drop(r, 0);
	r->waiting[r->n++] =
		(struct waiting_report){.read_ns = host_monotonic_ns(), .report = r->now};
}

/* Passes the lines of the last record to the parser, and keeps a report that is complete. */
static void take_text(struct log_reading *r)
{
	/*
	 * A row of the table of tasks and the last record of a report are one line each: a newline
	 * in them is part of the name of a process.
	 */
	bool whole = r->line[0] == '[' || !strncmp(r->line, "oom-kill:", strlen("oom-kill:"));
	char *rest = r->line, *line;

	kernel_log_unescape(r->line);
	while ((line = rest)) {
		rest = whole ? NULL : strchr(line, '\n');
		if (rest)
			*rest++ = 0;
		if (oom_report_line(&r->now, line)) {
			keep(r);
			oom_report_begin(&r->now, r->now.page_bytes);
		}
	}
	r->line[0] = 0;
}

/*
 * Returns the text of a record "6,1234,5678,-;TEXT\n KEY=VALUE\n", or NULL if the record is not of
 * the kernel. A record with the flag `c` continues the text of the record before it. Further fields
 * may follow the flag, such as caller=T1 of CONFIG_PRINTK_CALLER: info_print_ext_header().
 */
static char *text_of(char *record, bool *ret_continues)
{
	char *text = strchr(record, ';'), *end, *flag = record;

	if (!text || strtoul(record, NULL, 10) / PRIORITIES)
		return NULL;
	*text++ = 0;
	for (int i = 0; i < FLAG_FIELD && flag; i++) {
		flag = strchr(flag, ',');
		flag = flag ? flag + 1 : NULL;
	}
	*ret_continues = flag && memchr(flag, 'c', strcspn(flag, ","));
	end = strchr(text, '\n');
	if (end)
		*end = 0;
	return text;
}

/* Reads all records that are in the log now. */
static void read_on(int fd, struct log_reading *r)
{
	char record[RECORD_ROOM];

	for (int i = 0; i < RECORDS_MOST; i++) {
		ssize_t n = read(fd, record, sizeof(record) - 1);
		bool continues = false;
		char *text;

		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue; /* the kernel has overwritten records that were not read */
		if (n <= 0)
			break;
		record[n] = 0;
		text = text_of(record, &continues);
		if (!text)
			continue;
		if (!continues)
			take_text(r);
		array_append(r->line, sizeof(r->line), text);
	}
	take_text(r);
}

/* Forgets reports of kills that nobody looked up: another process may get the pid. */
static void drop_old(struct log_reading *r)
{
	uint64_t now = host_monotonic_ns();

	while (r->n && now - r->waiting[0].read_ns > WAITING_NS)
		drop(r, 0);
}

bool kernel_log_find(struct kernel_log *log, uint32_t pid, uint64_t page_bytes,
		     struct oom_report *ret)
{
	struct log_reading *r = log->reading;

	if (log->fd < 0)
		return false;
	if (!r)
		r = log->reading = calloc(1, sizeof(*r));
	if (!r)
		return false;
	if (!r->now.page_bytes)
		oom_report_begin(&r->now, page_bytes);
	drop_old(r);
	read_on(log->fd, r);
	for (size_t i = 0; i < r->n; i++) {
		if (r->waiting[i].report.pid != pid)
			continue;
		*ret = r->waiting[i].report;
		drop(r, i);
		return true;
	}
	return false;
}

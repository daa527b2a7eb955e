// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/oom/kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDS_MOST 65536 /* maximum number of log records read for one kill */
#define RECORD_ROOM  8192  /* PRINTK_MESSAGE_MAX is 2048 bytes; an escape takes 4 bytes */
#define PRIORITIES   8	   /* number of priorities of a facility; facility 0 is the kernel */

int kernel_log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	lseek(fd, 0, SEEK_END);
	return fd;
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

/* Passes the lines of a text to the parser. Returns true if the report is complete. */
static bool take_text(struct oom_report *r, char *text, uint32_t pid)
{
	char *rest = text, *line;

	kernel_log_unescape(text);
	while ((line = rest)) {
		rest = strchr(line, '\n');
		if (rest)
			*rest++ = 0;
		if (oom_report_line(r, line, pid))
			return true;
	}
	return false;
}

/*
 * Returns the text of a record "6,1234,5678,-;TEXT\n KEY=VALUE\n", or NULL if the record is not of
 * the kernel. A record with the flag `c` continues the text of the record before it.
 */
static char *text_of(char *record, bool *ret_continues)
{
	char *text = strchr(record, ';'), *end, *flags;

	if (!text || strtoul(record, NULL, 10) / PRIORITIES)
		return NULL;
	*text++ = 0;
	flags = strrchr(record, ',');
	*ret_continues = flags && strchr(flags, 'c');
	end = strchr(text, '\n');
	if (end)
		*end = 0;
	return text;
}

bool kernel_log_find(int fd, uint32_t pid, uint64_t page_bytes, struct oom_report *ret)
{
	char record[RECORD_ROOM], line[2 * RECORD_ROOM] = "";

	oom_report_begin(ret, page_bytes);
	for (int i = 0; fd >= 0 && i < RECORDS_MOST; i++) {
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
		if (continues) {
			size_t len = strlen(line);

			snprintf(line + len, sizeof(line) - len, "%s", text);
			continue;
		}
		if (take_text(ret, line, pid))
			return true;
		snprintf(line, sizeof(line), "%s", text);
	}
	return take_text(ret, line, pid);
}

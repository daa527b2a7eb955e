/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: reads the reports of OOM kills from the kernel log, /dev/kmsg, when a kill happens. */
#ifndef FS_COLLECT_OOM_KERNEL_LOG_H
#define FS_COLLECT_OOM_KERNEL_LOG_H

#include "collect/oom/oom_report.h"

/* Most reports that are kept: the kernel reports at most 10 kills in 5 seconds. */
#define KERNEL_LOG_REPORTS 10

struct kernel_log;

/*
 * Opens the kernel log behind its last line. Returns a log that the caller frees by
 * kernel_log_close(), or NULL if there is no memory for it. Reading needs CAP_SYSLOG if
 * kernel.dmesg_restrict is 1; the open log can be read later without capabilities.
 */
struct kernel_log *kernel_log_open(void);

/* Makes a log of a descriptor, each read of which returns one record. Takes ownership of `fd`. */
struct kernel_log *kernel_log_of(int fd);
void kernel_log_close(struct kernel_log *log); /* NULL is allowed */

/*
 * Finds the report of the kill of process `pid`, which the kernel has logged before it killed.
 * Reports of other kills that are in the log too are kept for later calls. Does not wait. Returns
 * false if there is no such report: the kernel reports at most 10 kills in 5 seconds.
 */
bool kernel_log_find(struct kernel_log *log, uint32_t pid, uint64_t page_bytes,
		     struct oom_report *ret);

/* Undoes the escapes \xNN of a text of /dev/kmsg, in place. */
void kernel_log_unescape(char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: reads the reports of OOM kills from the kernel log, /dev/kmsg, when a kill happens. */
#ifndef FS_COLLECT_OOM_KERNEL_LOG_H
#define FS_COLLECT_OOM_KERNEL_LOG_H

#include "collect/oom/oom_report.h"

/*
 * Opens the kernel log behind its last line. Returns a file descriptor, or -errno. Needs CAP_SYSLOG
 * if kernel.dmesg_restrict is 1. The descriptor can be read later without capabilities.
 */
int kernel_log_open(void);

/*
 * Reads on in the log up to the report of the kill of process `pid`, which the kernel has logged
 * before it killed. Does not wait. Returns false if the log has no such report: the kernel reports
 * at most 10 kills in 5 seconds.
 */
bool kernel_log_find(int fd, uint32_t pid, uint64_t page_bytes, struct oom_report *ret);

/* Undoes the escapes \xNN of a text of /dev/kmsg, in place. */
void kernel_log_unescape(char *text);

#endif

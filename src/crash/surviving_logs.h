/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What may have survived a crash, wherever it is: logs, and the flight recorder's records. */
#ifndef FS_CRASH_SURVIVING_LOGS_H
#define FS_CRASH_SURVIVING_LOGS_H

#include "blackbox/scan.h"
#include "cli/options.h"
#include "crash/triage_files.h"

/* The places of this machine that are there: its file, pstore, the trace instance. */
void survivors_add(struct triage_files *files, const struct options *o);

/* Where the trace of the boot before was saved: beside the recorder's file. */
void survivors_trace_path(const struct options *o, char *ret, size_t size);

/* A file that is open, page by page: a ring that is written to meanwhile. 0, -errno. */
int survivors_scan_fd(struct bb_found *f, int fd);

/* A dump of memory, the same way. */
int survivors_scan_dump(struct bb_found *f, const char *path);

/* Records in all that was read, in order. 0 or -ENOMEM. */
int survivors_scan(struct bb_found *f, const struct triage_files *files);

/* What holds the log as records or as a trace becomes its text, for triage. 0 or -ENOMEM. */
int survivors_to_logs(struct triage_files *files);

#endif

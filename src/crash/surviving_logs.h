/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds logs and flight-recorder records that survived a crash. */
#ifndef FS_CRASH_SURVIVING_LOGS_H
#define FS_CRASH_SURVIVING_LOGS_H

#include "blackbox/scan.h"
#include "cli/options.h"
#include "crash/triage_files.h"

/* Adds the places of this machine that exist: ring file, pstore, trace instance. */
void survivors_add(struct triage_files *files, const struct options *o);

/*
 * Writes the path of the saved trace of the previous boot. The saved trace is a file beside the
 * ring file.
 */
void survivors_trace_path(const struct options *o, char *ret, size_t size);

/*
 * Scans an open file for records by mmap(). A recorder may write to the file meanwhile. Returns 0
 * or -errno.
 */
int survivors_scan_fd(struct bb_found *f, int fd);

/* Scans a memory dump for records, given its path. Returns 0 or -errno. */
int survivors_scan_dump(struct bb_found *f, const char *path);

/* Collects the records in all files that were read, in order. Returns 0 or -ENOMEM. */
int survivors_scan(struct bb_found *f, const struct triage_files *files);

/*
 * Converts files that contain the log as records or as a trace to text, for triage. Returns 0 or
 * -ENOMEM.
 */
int survivors_to_logs(struct triage_files *files);

#endif

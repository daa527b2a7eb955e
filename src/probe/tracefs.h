/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: reads tracefs, also if it is not mounted. */
#ifndef FS_PROBE_TRACEFS_H
#define FS_PROBE_TRACEFS_H

/*
 * Opens the root of tracefs: the mounted one, or else a private mount, which needs CAP_SYS_ADMIN
 * and Linux 5.2, and which no other process sees. Returns a descriptor, which the caller closes, or
 * -errno.
 */
int tracefs_open(void);

/*
 * Returns the number of a tracepoint such as "syscalls/sys_exit_mmap" for perf_event_open(), or
 * -errno. `root` is a descriptor of tracefs_open().
 */
int tracefs_tracepoint(int root, const char *name);

#endif

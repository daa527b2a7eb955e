/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the system calls that faultscope needs after its start: to scan, to answer requests, to
 * write files, and to exit. With this filter, faultscope can create no sockets, BPF programs or
 * processes.
 */
#ifndef FS_PROBE_CALL_FILTER_H
#define FS_PROBE_CALL_FILTER_H

#include <stdbool.h>

/*
 * Makes all system calls fail with EPERM, except those in call_filter.def. Applies to the calling
 * thread and the threads that it starts later or, with `all_threads`, to all threads. Needs
 * no_new_privs. Returns 0 or -errno; -EBUSY if a thread has another filter.
 */
int call_filter_enter(bool all_threads);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the system calls that are left once all is attached and listens: those of looking, of
 * answering, of writing what was found and of ending. No socket, no program and no process is made
 * any more.
 */
#ifndef FS_PROBE_CALL_FILTER_H
#define FS_PROBE_CALL_FILTER_H

#include <stdbool.h>

/*
 * All others are refused with EPERM from here on, to the calling thread and those it starts, or to
 * all threads there are. Needs no_new_privs. Returns 0 or -errno; -EBUSY where a thread has a
 * filter of its own.
 */
int call_filter_enter(bool all_threads);

#endif

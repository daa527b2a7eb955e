/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the system calls that are left once all is attached and listens: those of looking, of
 * answering and of ending. No socket, no program and no process is made any more.
 */
#ifndef FS_PROBE_CALL_FILTER_H
#define FS_PROBE_CALL_FILTER_H

/* All others are refused with EPERM from here on. Needs no_new_privs. 0, -errno. */
int call_filter_enter(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: a process that holds files for faultscope until faultscope ends.
 *
 * The kernel removes a tracepoint of a system call only after a grace period of RCU
 * (kernel/trace/trace_event_perf.c), so removing all of them takes seconds. If the keeper also
 * holds the links, faultscope ends at once, and the kernel removes the tracepoints while the keeper
 * exits. Without a keeper, faultscope ends seconds later.
 */
#ifndef FS_PROBE_KEEPER_H
#define FS_PROBE_KEEPER_H

/*
 * Starts the keeper, which needs as much memory as the caller has at this time. Returns a socket to
 * it, or -errno. The keeper ends when the caller closes the socket, or ends. It sends no SIGCHLD.
 */
int keeper_start(void);

/* Lets the keeper hold `n` open files, too. Returns 0 or -errno. */
int keeper_hold(int keeper, const int *files, int n);

#endif

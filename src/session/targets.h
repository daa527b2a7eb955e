/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Starts to watch the processes that -p or --cgroup names. */
#ifndef FS_SESSION_TARGETS_H
#define FS_SESSION_TARGETS_H

#include "session/session.h"

/*
 * Watches each process of -p and, if the plan says so, its existing and future children. Without
 * -p, watches the processes of the cgroup. Prints errors. Returns 0 or an exit status.
 */
int targets_watch(struct session *s);

/* Says if no cgroup of --cgroup exists, and which ones do. Returns 0 or an exit status. */
int targets_find_cgroup(const struct session *s);

/*
 * Watches the processes in the cgroup of --cgroup and below it, and their future children. Returns
 * the number of processes that are watched.
 */
size_t targets_watch_cgroup(struct session *s);

/* Returns whether all processes of -p run 64-bit programs; false: at least one is not known to. */
bool targets_are_native(const struct options *o);

/* Returns whether a process of -p has a seccomp filter. */
bool targets_are_filtered(const struct options *o);

#endif

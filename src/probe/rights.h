/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the capabilities of this process, and dropping them once everything is attached. */
#ifndef FS_PROBE_RIGHTS_H
#define FS_PROBE_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/capability.h>

#define RIGHTS_KEPT_MAX 4

/* A capability that is kept, and its purpose. */
struct right {
	int capability; /* CAP_*; if the process lacks this one, it keeps `instead` */
	int instead;	/* CAP_* to keep instead of `capability`; -1: none */
	const char *why;
};

/* Privileges that remain after dropping. */
struct rights {
	struct right kept[RIGHTS_KEPT_MAX];
	size_t nr_kept;
	bool no_new_privs;
	int landlock;		 /* Landlock ABI version; 0: not in use */
	const char *no_landlock; /* reason why Landlock is not in use */
	bool filtered;		 /* a seccomp filter permits only some system calls */
	char failed[160];	 /* privileges that could not be dropped, and why; empty: none */
};

/* Files that remain accessible besides reading /proc and /sys. */
struct rights_scope {
	const char *const *readable; /* readable files and directories; ends in NULL; NULL: none */
	const char *writable;	     /* directory in which files may be replaced; NULL: none */
	int renames_in[2];	     /* fds of directories in which to rename a file; <= 0: none */
	bool filters;		     /* permit only the system calls of call_filter.h */
};

/* Purpose for which effective capabilities are raised. */
enum rights_use {
	RIGHTS_FOR_BPF,	    /* for bpf(2) and perf_event_open(2) */
	RIGHTS_FOR_TRACEFS, /* for these calls, and for reading tracepoint ids in tracefs */
};

/*
 * Returns whether this process got capabilities from its file (setcap, set-user-ID): AT_SECURE of
 * getauxval(3). The user who started it has none of them, and must gain nothing by them but BPF.
 */
bool rights_are_of_file(void);

/*
 * Clears effective capabilities that come from the file, and returns to the caller's user if the
 * file is set-user-ID. Files then open with the caller's rights until rights_raise(). Call it
 * before any file of the caller is read. Returns 0 or -errno.
 */
int rights_set_aside(void);

/* Raises the capabilities that `use` needs. Returns the previous ones for rights_lower(). */
cap_t rights_raise(enum rights_use use);
void rights_lower(cap_t had);

/*
 * Drops all capabilities but `keep`, and the ways to regain them, for the calling thread and
 * threads that it starts later. Files then open by owner and mode.
 */
void rights_drop_to(const struct right *keep, size_t n, struct rights *ret);

/* Permits only the system calls of call_filter.h, for the calling thread or for all threads. */
void rights_filter_calls(struct rights *ret, bool all_threads);

/*
 * Drops all capabilities but `keep`, and the ways to regain them. With Landlock, only /proc, /sys
 * and the scope can then be opened. The steps are independent: a step that fails is noted in `ret`,
 * and the next follows.
 */
void rights_drop(const struct right *keep, size_t n, const struct rights_scope *scope,
		 struct rights *ret);

/* Runs call() without effective capabilities. Returns 0, or -errno if these cannot be cleared. */
int rights_try_without(int (*call)(void *ctx), void *ctx, int *ret_answer);

/* Returns a name such as "cap_bpf", in a buffer of at least 32 bytes. */
const char *rights_name(int capability, char *ret, size_t size);

#endif

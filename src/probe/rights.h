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
	int capability; /* CAP_*; `instead` if the process lacks it */
	int instead;	/* -1: nothing */
	const char *why;
};

/* What remains after dropping. */
struct rights {
	struct right kept[RIGHTS_KEPT_MAX];
	size_t nr_kept;
	bool no_new_privs;
	int landlock;		 /* its ABI version; 0: not in use */
	const char *no_landlock; /* why not */
	bool filtered;		 /* a seccomp filter permits only some system calls */
	char failed[160];	 /* what could not be dropped, and why; empty: nothing */
};

/* What remains accessible besides reading /proc and /sys. */
struct rights_scope {
	const char *const *readable; /* files and directories, NULL-terminated; NULL: none */
	const char *writable;	     /* directory in which files are replaced; NULL: none */
	int renames_in[2];	     /* directories in which a file is renamed; 0 or less: none */
	bool filters;		     /* permit only the system calls of call_filter.h */
};

/* Why effective capabilities are raised. */
enum rights_use {
	RIGHTS_FOR_BPF,	    /* bpf(2) and perf_event_open(2) */
	RIGHTS_FOR_TRACEFS, /* these, and reading tracepoint ids */
};

/*
 * Returns whether the capabilities of this process come from its file (setcap, set-user-ID):
 * AT_SECURE of getauxval(3). Its caller then has none of them, and must gain nothing but BPF by
 * them.
 */
bool rights_are_of_file(void);

/*
 * Clears effective capabilities that come from the file, and returns to the caller's user if it is
 * set-user-ID: until rights_raise(), files open as for the caller. Call it before reading anything
 * of the caller's. Returns 0 or -errno.
 */
int rights_set_aside(void);

/* Raises the capabilities that `use` needs. Returns what rights_lower() must lower. */
cap_t rights_raise(enum rights_use use);
void rights_lower(cap_t had);

/*
 * Drops all capabilities but `keep`, and the ways to regain them, for the calling thread and
 * threads that it starts later. Files then open by owner and mode.
 */
void rights_drop_to(const struct right *keep, size_t n, struct rights *ret);

/* Permits only the system calls of call_filter.h, to the calling thread or to all. */
void rights_filter_calls(struct rights *ret, bool all_threads);

/*
 * Drops all capabilities but `keep`, and the ways to regain them. With Landlock, only /proc, /sys
 * and the scope can then be opened. The steps are independent: failures are noted in `ret` and do
 * not stop it.
 */
void rights_drop(const struct right *keep, size_t n, const struct rights_scope *scope,
		 struct rights *ret);

/* Calls `call` without effective capabilities. Returns 0, or -errno when that is impossible. */
int rights_try_without(int (*call)(void *ctx), void *ctx, int *ret_answer);

/* Returns a name such as "cap_bpf", in a buffer of at least 32 bytes. */
const char *rights_name(int capability, char *ret, size_t size);

#endif

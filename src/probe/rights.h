/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the capabilities of this process, and dropping them once all probes are attached. */
#ifndef FS_PROBE_RIGHTS_H
#define FS_PROBE_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/capability.h>

#define RIGHTS_KEPT_MAX 4

/* A capability that faultscope keeps, and its purpose. */
struct right {
	int capability; /* number CAP_*, kept if the process has it */
	int instead;	/* CAP_*, kept if the process lacks `capability`; -1: none */
	const char *why;
};

/* Privileges that remain after rights_drop() or rights_drop_to(). */
struct rights {
	struct right kept[RIGHTS_KEPT_MAX];
	size_t nr_kept;
	bool no_new_privs;
	int landlock;		 /* Landlock ABI version; 0: not in use */
	const char *no_landlock; /* reason why Landlock is not in use */
	bool filtered;		 /* a seccomp filter permits only some system calls */
	char failed[160];	 /* privileges that could not be dropped, and why; empty: none */
};

/* Files that remain accessible, in addition to reading /proc and /sys. */
struct rights_scope {
	const char *const *readable; /* readable files and directories; ends in NULL; NULL: none */
	/* directories whose files may be listed and replaced; NULL: none */
	const char *writable[3];
	/* fds of directories in which files are renamed; an element <= 0 means no directory */
	int renames_in[2];
	bool filters; /* install the filter of system calls, call_filter.h */
};

/* Purpose for which effective capabilities are raised for a short time. */
enum rights_use {
	RIGHTS_FOR_BPF,	    /* for bpf(2) and perf_event_open(2) */
	RIGHTS_FOR_TRACEFS, /* for bpf(2), perf_event_open(2), and reading tracefs */
};

/*
 * Returns whether this process got capabilities from its program file (setcap, set-user-ID), by
 * AT_SECURE of getauxval(3). The user who started the process lacks these capabilities, and must be
 * able to use them only for BPF.
 */
bool rights_are_of_file(void);

/*
 * Clears effective capabilities that come from the program file. If that file is set-user-ID, also
 * returns to the calling user. After this call, files are opened with the user's rights, except
 * between rights_raise() and rights_lower(). Call rights_set_aside() before any file of the user is
 * read. Returns 0 or -errno.
 */
int rights_set_aside(void);

/* Returns whether a capability remains after privileges were dropped. */
bool rights_keep(const struct rights *r, int capability);

/* Raises the capabilities that `use` needs. Returns previous capabilities for rights_lower(). */
cap_t rights_raise(enum rights_use use);
void rights_lower(cap_t had);

/*
 * Drops all capabilities except `keep`, and the ways to regain them, for the calling thread and
 * threads that it starts later. After this call, access to files depends on owner and mode.
 */
void rights_drop_to(const struct right *keep, size_t n, struct rights *ret);

/* Permits only system calls of call_filter.def, for the calling thread or for all threads. */
void rights_filter_calls(struct rights *ret, bool all_threads);

/*
 * Drops all capabilities except `keep`, and the ways to regain them. With Landlock, only /proc,
 * /sys and the files of `scope` can then be opened. If a step fails, `ret` says which one, and the
 * remaining steps are still done.
 */
void rights_drop(const struct right *keep, size_t n, const struct rights_scope *scope,
		 struct rights *ret);

/*
 * Runs call() without effective capabilities, and stores its result in *ret_answer. Returns 0, or
 * -errno if the capabilities cannot be cleared.
 */
int rights_try_without(int (*call)(void *ctx), void *ctx, int *ret_answer);

/* Returns a capability's name such as "cap_bpf", in a buffer of at least 32 bytes. */
const char *rights_name(int capability, char *ret, size_t size);

#endif

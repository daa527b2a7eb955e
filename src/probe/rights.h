/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the rights of this process, and giving them up once all is attached. */
#ifndef FS_PROBE_RIGHTS_H
#define FS_PROBE_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/capability.h>

#define RIGHTS_KEPT_MAX 4

/* A capability that is kept, and what for. */
struct right {
	int capability; /* CAP_*; `instead` where the process has not this one */
	int instead;	/* -1: nothing */
	const char *why;
};

/* What is left after the drop. */
struct rights {
	struct right kept[RIGHTS_KEPT_MAX];
	size_t nr_kept;
	bool no_new_privs;
	int landlock;		 /* its ABI; 0: not in use */
	const char *no_landlock; /* why not */
	bool filtered;		 /* only some system calls are left */
	char failed[160];	 /* what could not be dropped, and why; empty: nothing */
};

/* What stays possible beside reading /proc and /sys. */
struct rights_scope {
	const char *const *readable; /* files and directories, NULL at the end; NULL: none */
	const char *writable;	     /* a directory in which files are replaced; NULL: none */
	int renames_in[2];	     /* directories in which a file is renamed; 0 or below: none */
	bool filters;		     /* only the system calls of call_filter.h are left */
};

/* What effective capabilities are raised for. */
enum rights_use {
	RIGHTS_FOR_BPF,	    /* bpf(2) and perf_event_open(2) */
	RIGHTS_FOR_TRACEFS, /* these, and reading the ids of tracepoints */
};

/*
 * Whether the capabilities of this process come from its file (setcap, set-user-ID): AT_SECURE of
 * getauxval(3). Its caller then has none of them, and must not gain by them anything but BPF.
 */
bool rights_are_of_file(void);

/*
 * Clears the effective capabilities where they come from the file, and becomes the caller again
 * where the file is set-user-ID: until rights_raise(), files open as they do for the caller. To be
 * called before anything of the caller's is read. Returns 0, or -errno where that cannot be done.
 */
int rights_set_aside(void);

/* Puts into effect what was set aside and `use` needs. Returns what rights_lower() takes back. */
cap_t rights_raise(enum rights_use use);
void rights_lower(cap_t had);

/*
 * Gives up all capabilities but `keep`, and the ways to get others, of the calling thread and those
 * it starts later. Files then open by their owner and mode.
 */
void rights_drop_to(const struct right *keep, size_t n, struct rights *ret);

/* Leaves the system calls of call_filter.h alone, to the calling thread or to all. */
void rights_filter_calls(struct rights *ret, bool all_threads);

/*
 * Gives up all capabilities but `keep`, and the ways to get others; from then on only /proc, /sys
 * and what is in the scope can be opened, where the kernel has landlock. No step depends on
 * another: what fails is in `ret`, and is no reason to stop.
 */
void rights_drop(const struct right *keep, size_t n, const struct rights_scope *scope,
		 struct rights *ret);

/* Calls it without any capability in effect. Returns 0, or -errno where that cannot be tried. */
int rights_try_without(int (*call)(void *ctx), void *ctx, int *ret_answer);

/* "cap_bpf", in a buffer of at least 32 bytes. */
const char *rights_name(int capability, char *ret, size_t size);

#endif

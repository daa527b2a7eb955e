/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * triage: common functions that are rarely at fault themselves. If a report is in such a function,
 * the caller of the function is suspect.
 */
#ifndef FS_TRIAGE_LIBRARY_H
#define FS_TRIAGE_LIBRARY_H

#include "triage/incident.h"

enum library {
	LIBRARY_NONE,
	LIBRARY_REPORT,	   /* functions that print the report, or lead to it */
	LIBRARY_CHECK,	   /* functions of sanitizers and lock checking */
	LIBRARY_MEMORY,	   /* memcpy, strlen, copy_to_user and similar functions */
	LIBRARY_LOCK,	   /* functions for locks, waiting and scheduling */
	LIBRARY_ALLOC,	   /* functions that allocate or free memory */
	LIBRARY_CONTAINER, /* functions of lists, trees, reference counts, kobjects */
	/* functions that run callbacks: work queues, timers, notifiers, interrupts */
	LIBRARY_PLUMBING,
	LIBRARY_IO, /* functions that access device registers */
	/* functions that call through a table of operations, such as vfs_read() */
	LIBRARY_DISPATCH,
	LIBRARY_ENTRY, /* entry points of system calls and threads */
};

enum library library_of(struct str function);

/*
 * Returns the class of a frame's function. A module's own function is a common function only if the
 * module exports it to many others: names such as "drv_vmalloc_ring" say nothing.
 */
enum library library_of_frame(const struct frame *f);

/* Returns whether many modules call the function, so that a fault in it points to its caller. */
bool is_helper(const struct frame *f);

/* Returns whether a name matches one of the patterns, separated by blanks; '*' matches any text. */
bool name_fits(const char *patterns, struct str name);

/* Returns the name without suffixes such as ".isra.0", ".constprop.1", ".cold". */
struct str function_plain(struct str function);

#endif

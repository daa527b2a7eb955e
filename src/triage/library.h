/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * triage: common functions that are rarely at fault themselves. If a report is in such a function,
 * the caller of the function is suspect.
 */
#ifndef FS_TRIAGE_LIBRARY_H
#define FS_TRIAGE_LIBRARY_H

#include "triage/str.h"

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

/* Returns the name without suffixes such as ".isra.0", ".constprop.1", ".cold". */
struct str function_plain(struct str function);

#endif

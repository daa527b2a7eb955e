/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * triage: common functions that are rarely at fault themselves: a report in one of them concerns
 * its caller.
 */
#ifndef FS_TRIAGE_LIBRARY_H
#define FS_TRIAGE_LIBRARY_H

#include "triage/str.h"

enum library {
	LIBRARY_NONE,
	LIBRARY_REPORT,	   /* functions that print the report, or lead to it */
	LIBRARY_CHECK,	   /* sanitizers, lock checking */
	LIBRARY_MEMORY,	   /* memcpy, strlen, copy_to_user */
	LIBRARY_LOCK,	   /* locks, waiting, scheduling */
	LIBRARY_ALLOC,	   /* allocating and freeing */
	LIBRARY_CONTAINER, /* lists, trees, reference counts, kobjects */
	LIBRARY_PLUMBING,  /* run callbacks: work queues, timers, notifiers, interrupts */
	LIBRARY_IO,	   /* access device registers */
	LIBRARY_DISPATCH,  /* call through a table of operations: other frames say more */
	LIBRARY_ENTRY,	   /* entry points of system calls and threads */
};

enum library library_of(struct str function);

/* Removes suffixes such as ".isra.0", ".constprop.1", ".cold". */
struct str function_plain(struct str function);

#endif

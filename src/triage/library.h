/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * triage: functions that many call and that are seldom at fault themselves: a report that names one
 * is about its caller.
 */
#ifndef FS_TRIAGE_LIBRARY_H
#define FS_TRIAGE_LIBRARY_H

#include "triage/str.h"

enum library {
	LIBRARY_NONE,
	LIBRARY_REPORT,	   /* what prints the report, and the way into it */
	LIBRARY_CHECK,	   /* sanitizers, lock checking */
	LIBRARY_MEMORY,	   /* memcpy, strlen, copy_to_user */
	LIBRARY_LOCK,	   /* locks, waiting, scheduling */
	LIBRARY_ALLOC,	   /* allocating and freeing */
	LIBRARY_CONTAINER, /* lists, trees, reference counts, kobjects */
	LIBRARY_PLUMBING,  /* what calls back: work queues, timers, notifiers, interrupts */
	LIBRARY_IO,	   /* reading and writing registers of a device */
	LIBRARY_DISPATCH,  /* calls through a table of operations: what is above it is specific */
	LIBRARY_ENTRY,	   /* system calls and threads begin there */
};

enum library library_of(struct str function);

/* A function as the source names it: without ".isra.0", ".constprop.1", ".cold". */
struct str function_plain(struct str function);

#endif

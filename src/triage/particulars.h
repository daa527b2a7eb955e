/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: details of reports, such as the device, the limit, or the task that holds the lock. */
#ifndef FS_TRIAGE_PARTICULARS_H
#define FS_TRIAGE_PARTICULARS_H

#include "triage/judge.h"

/* The log lines of a report. */
struct extent {
	const struct lines *ls;
	enum kind kind;
	int32_t caller;
	uint32_t first, end;
};

/* Returns the text of line i; empty if another task or a program wrote it. */
struct str extent_line(const struct extent *x, uint32_t i);

/* Returns the value of a detail; "" if the report does not have it. */
const char *particular_of(const struct diagnosis *v, const char *name);

/* Explains numbers: of an Xid, of a machine check bank, of an exit code. */
void particulars_of_codes(struct judged *j, const struct extent *x);

/* Finds the process with the most memory, and the task that holds a lock. */
void particulars_of_tasks(struct judged *j, const struct extent *x);

#endif

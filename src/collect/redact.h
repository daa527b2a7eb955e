/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: what is left out of a recording that goes to others: names of the host, of files and
 * of paths, and addresses. What is equal stays equal, and what is apart stays as far apart, so
 * that the same is found in it.
 */
#ifndef FS_COLLECT_REDACT_H
#define FS_COLLECT_REDACT_H

#include <stdbool.h>

#include "records/records.h"

struct redaction {
	__u64 user_shift, kernel_shift; /* of addresses; never told */
	__u64 salt;			/* of names */
	bool all_names;			/* those of common libraries too */
};

/* Chooses what is secret of it. */
void redaction_begin(struct redaction *r);

/* Changes a record, whose texts end within it. */
void redact_record(const struct redaction *r, struct record *h);

#endif

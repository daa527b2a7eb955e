/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: removes addresses, and names of the host, of files and of paths, from a recording that
 * is given to others. Equal values stay equal, and so do distances between addresses of a mapping.
 * Findings therefore do not change.
 */
#ifndef FS_COLLECT_REDACT_H
#define FS_COLLECT_REDACT_H

#include <stdbool.h>

#include "records/records.h"

struct redaction {
	__u64 user_shift, kernel_shift; /* secret: by how many bytes addresses move */
	__u64 salt;			/* secret that is hashed with names */
	bool all_names;			/* also replace names of common libraries */
	char machine[64]; /* a secret that stays the same on this machine, for the host name */
};

/* Initialises a redaction with random secrets. */
void redaction_begin(struct redaction *r);

/* Redacts a record, whose texts must be NUL-terminated. */
void redact_record(const struct redaction *r, struct record *h);

#endif

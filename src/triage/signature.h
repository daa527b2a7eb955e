/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: the first lines of reports, as kernels from 2.6 to 7.x print them. */
#ifndef FS_TRIAGE_SIGNATURE_H
#define FS_TRIAGE_SIGNATURE_H

#include "triage/match.h"

enum {
	SIG_ANYWHERE = 1, /* other text may precede the pattern in the line */
	SIG_JOIN = 2,	  /* the line is a part of the current report's header */
	SIG_WRAPPER = 4,  /* the line only says that the kernel ended after an earlier report */
	SIG_FATAL = 8,	  /* the report ends the task or the kernel */
	SIG_NOTE = 16,	  /* the line gives the reason for a report, before or after its header */
	SIG_BENIGN = 32,  /* the line looks like a report but is none */
	SIG_ASIDE = 128,  /* a report of one line, which does not end the current report */
	SIG_CUT = 256,	  /* the row matches only in the lines after "cut here" */
	SIG_REBOOT = 512, /* the row matches only if the kernel ran before and did not shut down */
	SIG_LAST = 64,	  /* the row is tried only if no other row matches */
};

struct signature {
	const char *pattern; /* pattern in the syntax of match.h */
	enum kind kind;
	uint16_t flags;
	enum access access;
	const char *kernels; /* kernel versions that print the line */
};

extern const struct signature signatures[];
extern const size_t nr_signatures;

/* Index of signatures[] by the first byte of a line; built once per run. */
struct signature_index {
	uint16_t row[1024];
	uint16_t from[257];  /* rows of byte b: row[from[b]] to row[from[b + 1] - 1] */
	uint64_t pair[1024]; /* bit mask of the first two bytes of patterns with SIG_ANYWHERE */
};

void signature_index_make(struct signature_index *ret);

/* Returns the first row that matches a line, or NULL. */
const struct signature *signature_find(const struct signature_index *ix, struct str text,
				       struct captures *ret);

#endif

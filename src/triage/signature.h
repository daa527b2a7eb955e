/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: the first lines of reports, as kernels from 2.6 to 7.x print them. */
#ifndef FS_TRIAGE_SIGNATURE_H
#define FS_TRIAGE_SIGNATURE_H

#include "triage/match.h"

enum {
	SIG_ANYWHERE = 1, /* may stand behind other text in its line */
	SIG_JOIN = 2, /* refines the report whose first lines are being read, where there is one */
	SIG_WRAPPER = 4,  /* only says that a report before it ended the kernel */
	SIG_FATAL = 8,	  /* the task or the kernel ends here */
	SIG_NOTE = 16,	  /* says why, before or after the header proper */
	SIG_BENIGN = 32,  /* looks like one and is none */
	SIG_ASIDE = 128,  /* one line, that does not end a report being read */
	SIG_CUT = 256,	  /* only right behind "cut here" */
	SIG_REBOOT = 512, /* only where a kernel ran before, and did not end by itself */
	SIG_LAST = 64,	  /* tried when no other row fits */
};

struct signature {
	const char *pattern; /* match.h */
	enum kind kind;
	uint16_t flags;
	enum access access;
	const char *kernels; /* that print it */
};

extern const struct signature signatures[];
extern const size_t nr_signatures;

/* Which rows can begin with a byte: made once a run. */
struct signature_index {
	uint16_t row[1024];
	uint16_t from[257];  /* rows of byte b: from[b] to from[b + 1] */
	uint64_t pair[1024]; /* bits: two bytes that a row begins with that may stand anywhere */
};

void signature_index_make(struct signature_index *ret);

/* The first row that fits the text, or NULL. */
const struct signature *signature_find(const struct signature_index *ix, struct str text,
				       struct captures *ret);

#endif

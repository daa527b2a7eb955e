/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: what to do about a limit, as commands for this machine: what each does, and its cost. */
#ifndef FS_RULES_REMEDY_H
#define FS_RULES_REMEDY_H

#include "model/origin.h"

#define REMEDY_MAX 10

enum remedy_kind {
	REMEDY_FIX_CAUSE, /* less of what is limited */
	REMEDY_GAIN_TIME, /* more of it */
	REMEDY_CHECK,	  /* see what it is */
};

struct remedy {
	enum remedy_kind kind;
	bool lasts;	   /* over the next start or boot; else it works at once, until then */
	bool host_wide;	   /* it changes every process and container of this host */
	char say[256];	   /* what it is, in words */
	char command[768]; /* empty: words alone; never cut */
	const char *cost;  /* NULL: none to speak of */
};

struct remedy_for {
	uint64_t want; /* LIMIT_NONE: unlimited; 0: twice what is in use, or else of the limit,
			* rounded up */
	uint64_t most; /* that this machine can use; 0: not known */
	uint32_t pid;  /* of a process' limit; 0: of the shell that asks */
	bool gone;     /* only the next one can be helped */
};

/* Fills ret, up to REMEDY_MAX, best first of each kind; returns how many. */
size_t remedies_for(const struct origin *o, const struct remedy_for *f, struct remedy *ret);

/* The first of a kind that lasts, or not. NULL: there is none. */
const struct remedy *remedy_find(const struct remedy *r, size_t n, enum remedy_kind kind,
				 bool lasts);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: whose code a report points to: the function of the instruction, or one of its callers. */
#ifndef FS_TRIAGE_BLAME_H
#define FS_TRIAGE_BLAME_H

#include "triage/judge.h"

struct blame {
	const struct frame *place; /* frame of the reported instruction; NULL: not known */
	/* the first frame that is no helper, beginning at the instruction; NULL: none */
	const struct frame *caller;
	bool helped;   /* the instruction is in a helper, or not in code: the caller is suspect */
	bool argument; /* the instruction used a pointer that its caller passed unchanged */
	bool remote;   /* the caller used an interface of the kernel that failed further inside */
	/* a module had just called the reported code, which may also be at fault itself */
	bool shared;
	bool used;    /* another module, which uses the suspect's code, may be at fault */
	bool doubted; /* no frame of the trace is reliable */
};

struct blame blame_of(const struct judged *j);

#endif

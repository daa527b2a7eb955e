/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: which limit refused a call, decided from the state read at that moment, in the kernel's
 * own order of checks (mm/mmap.c, mm/vma.c, mm/mremap.c, fs/file.c). What cannot be told is
 * "unknown" with what was looked at, never a guess.
 */
#ifndef FS_RULES_CAUSE_H
#define FS_RULES_CAUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "model/limit.h"
#include "model/model.h"
#include "rules/evidence.h"

#define NEXT_MAX 4

struct verdict {
	const char *cause; /* a name of the list of causes; static */
	bool certain;	   /* one readable fact decides */
	struct evidence evidence[EVIDENCE_MAX];
	size_t nr_evidence;
	/* In the unit of its limit. UINT64_MAX: no figure of the limit is large enough. */
	uint64_t need;		    /* the least with which the call passes; 0: not known */
	uint64_t asked;		    /* by the call itself, of `need`; 0: not known */
	const struct limit *limit;  /* NULL: the one that the cause is named after */
	const char *next[NEXT_MAX]; /* limits that would have refused the call after this one */
	size_t nr_next;
};

/* `arch` as uname has it: how much address space a process has. */
void cause_of(const struct refused_record *r, const struct host_limits *l, const char *arch,
	      struct verdict *ret);

/* All cause names, NULL at the end: the schema lists them. */
extern const char *const cause_names[];

#endif

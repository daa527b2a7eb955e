/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: finds which limit made a call fail. The cause engine repeats the kernel's checks in the
 * kernel's order (mm/mmap.c, mm/vma.c, mm/mremap.c, fs/file.c). It uses the state that was read at
 * the failure. If no value explains the failure, the cause is "unknown", never a guess. The
 * evidence is then the values that were read.
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
	const char *cause; /* one of cause_names[]; static */
	/* true: a value that was read proves the cause; false: the cause is only likely */
	bool certain;
	struct evidence evidence[EVIDENCE_MAX];
	size_t nr_evidence;
	/*
	 * `need` and `asked` are in the unit of the limit. UINT64_MAX: no value of the limit is
	 * large enough.
	 */
	/* the lowest limit with which the call succeeds; 0: not known */
	uint64_t need;
	/* how much the call itself requested, part of `need`; 0: not known */
	uint64_t asked;
	const struct limit *limit;  /* the limit to raise; NULL: the limit that `cause` names */
	const char *next[NEXT_MAX]; /* limits at which the call would have failed next */
	size_t nr_next;
};

/*
 * Fills ret with the cause of a failed call. `arch`, as printed by uname -m, determines the size of
 * the address space.
 */
void cause_of(const struct refused_record *r, const struct host_limits *l, const char *arch,
	      struct verdict *ret);

/* All names of causes, NULL at the end; the JSON schema lists them. */
extern const char *const cause_names[];

#endif

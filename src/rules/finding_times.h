/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: when each finding of a whole measurement opened, changed its severity, and closed. */
#ifndef FS_RULES_FINDING_TIMES_H
#define FS_RULES_FINDING_TIMES_H

#include "rules/rules.h"

#define FINDING_TIMES_MAX   1024 /* maximum number of findings */
#define FINDING_CHANGES_MAX 16	 /* maximum number of changes of a finding */

struct finding_change {
	uint64_t t_ns;
	enum severity severity;
	bool open;
};

/* The changes of one finding. A finding that opens again is another finding. */
struct finding_life {
	const struct rule *rule;
	struct process_key subject;
	char comm[COMM_LEN], place[160]; /* as in struct finding */
	uint64_t since_ns;
	struct finding_change change[FINDING_CHANGES_MAX];
	size_t n;
	uint64_t lost; /* number of changes that were not stored, because the list was full */
};

struct finding_times {
	struct finding_life *life; /* owned */
	size_t n, room;
	uint64_t lost; /* number of findings without an entry */
};

/*
 * Adds the changes of the present window; call it after each scan, before findings_next_window().
 * Returns 0 or -ENOMEM.
 */
int finding_times_add(struct finding_times *t, const struct findings *fs);

/* Returns the changes of a finding; NULL if there is no entry. */
const struct finding_life *finding_times_of(const struct finding_times *t, const struct finding *f);
void finding_times_free(struct finding_times *t);

#endif

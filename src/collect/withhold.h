/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: what the caller of a file with capabilities is not told of processes of others. The
 * kernel shows the addresses of a process, and the files that it maps and has open, to who may
 * ptrace it (ptrace_may_access() in fs/proc). BPF records have them of every process: what /proc
 * would hide is taken out of them before anything sees them. Counters and findings stay.
 */
#ifndef FS_COLLECT_WITHHOLD_H
#define FS_COLLECT_WITHHOLD_H

#include <stdbool.h>

#include "collect/redact.h"
#include "model/model.h"

#define WITHHOLDING_CHILDREN 256

struct withholding {
	bool on;
	bool foreign; /* records have pids of another namespace than our /proc */
	struct redaction redaction;
	__u64 records; /* that were changed or left out */
	/* of processes of the caller: they may end before anything else is known of them */
	struct process_key child[WITHHOLDING_CHILDREN];
};

void withholding_begin(struct withholding *w, bool foreign);

/* A process was born: of whom it is, is asked while its parent is there. */
void withholding_forked(struct withholding *w, const struct fork_record *r);

/* Whether user stacks of that process may be named by what it maps. */
bool withholding_shows(const struct withholding *w, const struct model *m,
		       const struct process_key *of);

/* Takes out of a record what its process does not show to the caller. `m` knows the process. */
void withhold(struct withholding *w, const struct model *m, struct record *h);

#endif

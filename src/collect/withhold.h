/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: hides data of other users' processes if faultscope runs with file capabilities. The
 * kernel shows a process's addresses, mapped files and open files only to users who may ptrace it
 * (ptrace_may_access() in fs/proc). BPF programs, however, record them for every process. What
 * /proc would hide from the caller is removed before other code sees it. Counters and findings are
 * not hidden.
 */
#ifndef FS_COLLECT_WITHHOLD_H
#define FS_COLLECT_WITHHOLD_H

#include <stdbool.h>

#include "collect/redact.h"
#include "model/model.h"

#define WITHHOLDING_CHILDREN 256

struct withholding {
	bool on;
	bool foreign; /* records have pids of another namespace than that of our /proc */
	struct redaction redaction;
	__u64 records; /* number of records changed or dropped */
	/* children of the caller's processes: they may end before their owner can be checked */
	struct process_key child[WITHHOLDING_CHILDREN];
};

void withholding_begin(struct withholding *w, bool foreign);

/*
 * Processes a fork. The child has the owner of its parent, and the owner is checked while the
 * parent lives.
 */
void withholding_forked(struct withholding *w, const struct fork_record *r);

/* Returns whether the caller may see the function names in a process's user stacks. */
bool withholding_shows(const struct withholding *w, const struct model *m,
		       const struct process_key *of);

/* Removes from a record what /proc would hide from the caller. `m` has the record's process. */
void withhold(struct withholding *w, const struct model *m, struct record *h);

#endif

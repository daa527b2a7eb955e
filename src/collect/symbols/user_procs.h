/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: what processes map executable, and their maps of code made at run time. */
#ifndef FS_COLLECT_SYMBOLS_USER_PROCS_H
#define FS_COLLECT_SYMBOLS_USER_PROCS_H

#include "collect/symbols/perf_map.h"
#include "collect/symbols/user_maps.h"

#define USER_PROCS_MAX	   256
#define USER_PERF_MAPS_MAX 64 /* open; 16 MiB together, but one is always allowed */
#define USER_UNKNOWN_MAX   16 /* build-ids of one process that were looked for in vain */

struct user_proc {
	struct process_key of; /* pid 0: a free place */
	struct user_maps maps;
	__u64 used;
	struct perf_map perf;
	bool perf_asked; /* whether it has a perf map was looked up since it was learned */
	__u32 astray;	 /* addresses in no mapping */
	__u32 nr_unknown;
	__u8 unknown[USER_UNKNOWN_MAX][BUILD_ID_BYTES];
};

struct user_procs {
	struct user_proc p[USER_PROCS_MAX];
};

/* NULL: not learned. */
struct user_proc *user_procs_find(struct user_symbols *us, const struct process_key *of);

/*
 * Learns what it maps now; what else is known of it stays. *ret_proc borrows. 0, or -errno, and all
 * stays.
 */
int user_proc_learn(struct user_symbols *us, const struct process_key *of,
		    struct user_proc **ret_proc);

/* The name of code made at run time. */
bool user_proc_jit(struct user_symbols *us, struct user_proc *p, __u64 ip, struct user_symbol *ret);

/* Of a program that it ran before: its perf map, and what was looked for in vain. */
void user_proc_renew(struct user_proc *p);

void user_proc_forget(struct user_proc *p);

#endif

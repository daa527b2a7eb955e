/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: stores the executable mappings and the perf map of each process. */
#ifndef FS_COLLECT_SYMBOLS_USER_PROCS_H
#define FS_COLLECT_SYMBOLS_USER_PROCS_H

#include "collect/symbols/perf_map.h"
#include "collect/symbols/user_maps.h"

#define USER_PROCS_MAX	   256
#define USER_PERF_MAPS_MAX 64 /* maximum number of open perf maps */
#define USER_UNKNOWN_MAX   16 /* maximum number of build-ids per process that no mapped file has */

struct user_proc {
	struct process_key of; /* process of the entry; pid 0: the entry is free */
	struct user_maps maps;
	__u64 used;
	struct perf_map perf;
	bool perf_asked; /* the perf map was searched for after the mappings were read */
	__u32 astray;	 /* number of addresses that are in no mapping */
	__u32 nr_unknown;
	__u8 unknown[USER_UNKNOWN_MAX][BUILD_ID_BYTES];
};

struct user_procs {
	struct user_proc p[USER_PROCS_MAX];
};

/* Returns the entry of a process, or NULL if its mappings were not read. */
struct user_proc *user_procs_find(struct user_symbols *us, const struct process_key *of);

/*
 * Reads a process's mappings again, and keeps its other values. *ret_proc is not owned. Returns 0,
 * or -errno; on error nothing is changed.
 */
int user_proc_learn(struct user_symbols *us, const struct process_key *of,
		    struct user_proc **ret_proc);

/* Names code that was generated at run time. Returns false if no perf map has the address. */
bool user_proc_jit(struct user_symbols *us, struct user_proc *p, __u64 ip, struct user_symbol *ret);

/* After exec: discards the perf map and the unknown build-ids of the old program. */
void user_proc_renew(struct user_proc *p);

void user_proc_forget(struct user_proc *p);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: reads names of processes and cgroups from /proc, a few microseconds per new process. */
#ifndef FS_COLLECT_NAMES_PROCESS_NAMES_H
#define FS_COLLECT_NAMES_PROCESS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/cgroup/cgroup_v2.h"
#include "collect/names/user_names.h"
#include "records/records.h"

#define NAMES_CGROUPS 512
#define NAMES_PROCS   16384

struct names {
	int root; /* descriptor of "/", closed by names_free(); 0: opened at first use */
	bool begun;
	struct cgroup_v2 v2;
	/* cgroup paths by v2 cgroup id, for processes that end before /proc is read */
	struct {
		__u64 id;
		char path[200];
	} * cgroup; /* array of NAMES_CGROUPS entries, hashed by id; owned */
	/* programs of live processes, in slot pid % NAMES_PROCS; new processes evict others */
	struct {
		struct process_key of;
		__u32 execs;  /* number of the exec that started this program */
		char *exe;    /* path of the program; NULL: not known; owned */
		__u32 parent; /* pid of the parent; 0: not known */
		bool moved;   /* the process moved to another cgroup since its names were read */
	} * proc;	      /* array of NAMES_PROCS entries, owned */
	struct user_names users;
	bool commands;	      /* set by the owner: also find command lines and users */
	bool foreign;	      /* records have pids of another namespace: do not read /proc */
};

/* Store a fork or exec that a BPF program reported, for use if /proc/PID/exe may not be read. */
void names_forked(struct names *n, const struct fork_record *r);
void names_execed(struct names *n, const struct exec_record *r);

/* Returns the pid of a process's parent; 0: not known. */
__u32 names_parent(const struct names *n, const struct process_key *of);

/* Stores a cgroup path, for processes that end before their /proc files can be read. */
void names_cgroup(struct names *n, const struct cgroup_path_record *r);

/*
 * Process records do not show moves between v1 cgroups. Returns true if the process has moved since
 * the last call.
 */
bool names_was_moved(struct names *n, const struct process_key *of);

/*
 * Finds program and cgroup of a process, and with `commands` its command line and user. Returns
 * false if program and cgroup are unknown.
 */
bool names_find(struct names *n, const struct process_record *r, struct names_record *ret);

/* Finds names as names_find() does, for a pid in our own /proc. */
bool names_read(__u32 pid, struct names_record *ret);

void names_free(struct names *n);

/*
 * Returns the most specific path in the text of /proc/PID/cgroup: the path in v2, else that of the
 * v1 memory controller, else any path.
 */
void cgroup_of(const char *proc_text, char *ret, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: names of processes and cgroups, from /proc. A few microseconds a new process. */
#ifndef FS_COLLECT_NAMES_PROCESS_NAMES_H
#define FS_COLLECT_NAMES_PROCESS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/cgroup/cgroup_v2.h"
#include "records/records.h"

#define NAMES_CGROUPS 512
#define NAMES_PROCS   16384

struct names {
	int root; /* the directory "/", closed by names_free(); 0: opened at the first use */
	bool begun;
	struct cgroup_v2 v2;
	/* cgroup id (v2) to path: for a process that is gone before /proc can be read */
	struct {
		__u64 id;
		char path[200];
	} * cgroup; /* NAMES_CGROUPS of them, hashed by id; owned */
	/* programs of processes that live: the last of each pid modulo NAMES_PROCS */
	struct {
		struct process_key of;
		__u32 execs;  /* by which it came to run this program */
		char *exe;    /* NULL: not known; owned */
		__u32 parent; /* that forked it; 0: not known */
		bool moved;   /* between cgroups, since it was named */
	} * proc;	      /* owned */
	bool foreign; /* /proc has other pids than the records: nothing is looked up by them */
};

/* What the kernel side tells of programs, for when /proc/PID/exe may not be read. */
void names_forked(struct names *n, const struct fork_record *r);
void names_execed(struct names *n, const struct exec_record *r);

/* The pid of the process that forked it; 0: not known. */
__u32 names_parent(const struct names *n, const struct process_key *of);

/* And of cgroups, for when its processes are gone before /proc can be read. */
void names_cgroup(struct names *n, const struct cgroup_path_record *r);

/*
 * Whether the kernel side told that a process was moved to another cgroup of version 1, of which
 * its gauges do not tell. True once a move.
 */
bool names_was_moved(struct names *n, const struct process_key *of);

/* Fills exe and cgroup; false where neither is known. */
bool names_find(struct names *n, const struct process_record *r, struct names_record *ret);

/* The same of a process given its pid in our own /proc. */
bool names_read(__u32 pid, struct names_record *ret);

void names_free(struct names *n);

/* The path that says most in the text of /proc/PID/cgroup: v2, else v1 memory, else any. */
void cgroup_of(const char *proc_text, char *ret, size_t size);

#endif

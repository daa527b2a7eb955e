/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds the workloads of processes from /proc/PID/cgroup. With only cgroup v2, one read
 * per cgroup is enough, because records have the cgroup's id. With v1 hierarchies, one read is
 * needed for each process and each program that it executes. A process that ended before the read
 * gets its parent's workload. Names of pods come from file names in /var/log/pods and
 * /var/log/containers.
 */
#ifndef FS_COLLECT_NAMES_PROCESS_IDENTITY_H
#define FS_COLLECT_NAMES_PROCESS_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/identity.h"
#include "records/records.h"

struct identities;

struct identity_options {
	/* the directory "/", owned by the caller: proc and var/log are opened below it */
	int root;
	unsigned int collapse; /* COLLAPSE_* flags: parts of names that are left out */
	/* pattern, an extended regular expression: each match in a name becomes "*"; NULL: none */
	const char *pattern;
	bool foreign; /* records have pids of another namespace than that of our /proc */
};

/* Cumulative counters of the lookups of workloads. */
struct identity_counts {
	uint64_t reads; /* reads of /proc/PID/cgroup */
	/* requests answered with the program's name, because the cgroup is unknown */
	uint64_t unresolved;
	/* program starts whose cgroup was not read at once, as there were too many per second */
	uint64_t skipped;
	uint64_t told; /* new cgroups that BPF programs reported */
	uint64_t lost; /* processes not stored because the table is full */
};

/* Returns 0, -EINVAL with `error` set for an invalid pattern, or -ENOMEM. */
int identities_open(const struct identity_options *opt, struct identities **ret, char *error,
		    size_t size);
void identities_close(struct identities *ids);

/*
 * Reads the paths of all v2 cgroups below the directory `dir`, and closes `dir`. Call this if /proc
 * has other pids than records. Cgroups that are created later are reported by BPF programs. Returns
 * how many cgroups were skipped because there were too many.
 */
uint64_t identities_walk(struct identities *ids, int dir);

/*
 * Processes a record from the ring; call it as early as possible. Forks and program starts are
 * stored or looked up at once, so that a process that ends before the next scan still has its
 * workload. Ignores other kinds of records.
 */
void identities_take(struct identities *ids, const struct record *h);

/*
 * Returns the identity of a process, or of the process of an event. If the cgroup is unknown,
 * returns the identity of the program. Never returns NULL. The result is valid until the next call
 * of identities_*() or identity_of*().
 */
const struct identity *identity_of(struct identities *ids, const struct process_record *r);
const struct identity *identity_of_event(struct identities *ids, const struct process_key *of,
					 const char *comm, __u64 t_ns);

/* Returns the identity of a cgroup path, or of the program if the cgroup is of no workload. */
const struct identity *identity_of_cgroup(struct identities *ids, const char *path,
					  const char *comm, __u64 t_ns);

/* Removes a process that has exited without a last record. */
void identities_gone(struct identities *ids, const struct process_key *of);

struct identity_counts identities_counted(const struct identities *ids);

#endif

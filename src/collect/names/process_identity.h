/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds the workloads of processes from /proc/PID/cgroup. With only version 2, it is read
 * once per cgroup (records have its id), else once per process and program. A process that was gone
 * before has its parent's workload. Names of pods come from /var/log/pods and /var/log/containers.
 */
#ifndef FS_COLLECT_NAMES_PROCESS_IDENTITY_H
#define FS_COLLECT_NAMES_PROCESS_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/identity.h"
#include "records/records.h"

struct identities;

struct identity_options {
	/* the directory "/", below which proc, var/log … are opened; owned by the caller */
	int root;
	unsigned int collapse; /* COLLAPSE_* */
	/* extended regular expression: each match in a name becomes "*"; NULL: none */
	const char *pattern;
	bool foreign; /* /proc has other pids than the records */
};

/* Cumulative counters. */
struct identity_counts {
	uint64_t reads;	     /* reads of /proc/PID/cgroup */
	uint64_t unresolved; /* requests for an unknown process: named after its program */
	/* program starts that were not read at once, because there were too many per second */
	uint64_t skipped;
	uint64_t told; /* cgroups that the kernel side reported when they were created */
	uint64_t lost; /* processes above the maximum, which are not stored */
};

/* Returns 0, -EINVAL with `error` set for an invalid pattern, or -ENOMEM. */
int identities_open(const struct identity_options *opt, struct identities **ret, char *error,
		    size_t size);
void identities_close(struct identities *ids);

/*
 * If /proc has other pids than the records: reads the host's current v2 cgroups below this
 * directory, and closes it. The kernel side reports later ones. Returns how many were skipped for
 * want of room.
 */
uint64_t identities_walk(struct identities *ids, int dir);

/*
 * Takes every record from the ring, as early as possible: forks and program starts are stored or
 * read at once, so that a process that is gone at the next scan still has its workload. Ignores
 * other kinds of records.
 */
void identities_take(struct identities *ids, const struct record *h);

/*
 * Returns the identity of a process, or of the process of an event; never NULL, at worst that of
 * its program. Valid until the next call of identities_*() or identity_of*().
 */
const struct identity *identity_of(struct identities *ids, const struct process_record *r);
const struct identity *identity_of_event(struct identities *ids, const struct process_key *of,
					 const char *comm, __u64 t_ns);

/* Removes a process that has exited without a last record. */
void identities_gone(struct identities *ids, const struct process_key *of);

struct identity_counts identities_counted(const struct identities *ids);

#endif

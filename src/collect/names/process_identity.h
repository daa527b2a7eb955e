/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: workloads of processes. By /proc/PID/cgroup of a member, read once a cgroup where
 * version 2 is alone (records have its id) and once a process and program where it is not; by the
 * parent for one that was gone before that; names of pods by /var/log/pods and /var/log/containers.
 */
#ifndef FS_COLLECT_NAMES_PROCESS_IDENTITY_H
#define FS_COLLECT_NAMES_PROCESS_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/identity.h"
#include "records/records.h"

struct identities;

struct identity_options {
	int root; /* the directory "/": proc, var/log … are opened below it; the caller's */
	unsigned int collapse; /* COLLAPSE_* */
	const char *pattern; /* extended regular expression: each match in a name is "*"; or NULL */
	bool foreign;	     /* /proc has other pids than the records */
};

/* How often; cumulative. */
struct identity_counts {
	uint64_t reads; /* of /proc/PID/cgroup */
	uint64_t
		unresolved; /* asked for a process that nothing is known of: named by its program */
	uint64_t skipped;   /* programs started that were not read at once: too many a second */
	uint64_t told;	    /* cgroups that the kernel side told of as they were made */
	uint64_t lost;	    /* processes beyond the cap, of which nothing is remembered */
};

/* -EINVAL with `error` set for a pattern that is none; -ENOMEM. */
int identities_open(const struct identity_options *opt, struct identities **ret, char *error,
		    size_t size);
void identities_close(struct identities *ids);

/*
 * Where /proc has other pids than the records: the host's cgroups of version 2 as they are now,
 * below this directory, which is closed. Those made later the kernel side tells. Returns how many
 * were passed over, for want of room.
 */
uint64_t identities_walk(struct identities *ids, int dir);

/*
 * Every record as it comes from the ring, the sooner the better: births and programs started are
 * remembered or read at once, so that what is gone at the next look still has its workload. Other
 * kinds of records are passed over.
 */
void identities_take(struct identities *ids, const struct record *h);

/*
 * Of a process, or of one that an event is told of. Never NULL: in the worst case its program's.
 * Valid until the next call of identities_*() or identity_of*(); who keeps it copies it.
 */
const struct identity *identity_of(struct identities *ids, const struct process_record *r);
const struct identity *identity_of_event(struct identities *ids, const struct process_key *of,
					 const char *comm, __u64 t_ns);

/* It is gone, though its last record did not come. */
void identities_gone(struct identities *ids, const struct process_key *of);

struct identity_counts identities_counted(const struct identities *ids);

#endif

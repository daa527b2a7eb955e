/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: a cache of workload identities: names of a pod, container, unit or program. The keys are
 * cgroup paths and program names. The cache has a fixed size, and evicts the least recently used
 * entry. If an evicted identity is created again with equal content, it has the same serial number.
 */
#ifndef FS_COLLECT_NAMES_IDENTITY_CACHE_H
#define FS_COLLECT_NAMES_IDENTITY_CACHE_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/identity.h"
#include "records/records.h"

struct known {
	struct identity id;	   /* cached identity; serial 0: the entry is free */
	char key[CGROUP_PATH_LEN]; /* a cgroup path, or ":" and a program name */
	uint64_t used;		   /* value of the use counter at the last use */
	bool waits;		   /* some names of the pod are still missing */
	/* when to look up missing names again, and the pause after that lookup */
	uint64_t retry_ns, pause_ns;
};

struct known_table {
	int root;		/* the directory "/"; owned by the cache's owner */
	unsigned int collapse;	/* COLLAPSE_* flags: parts of names that are left out */
	const regex_t *pattern; /* pattern to replace in names, not owned; NULL: none */
	struct known *known;	/* array of cached identities, owned */
	uint64_t uses;
};

/* The process for which an identity is requested. */
struct member {
	/* pid of the process; 0: the process is not in the /proc that faultscope sees */
	uint32_t pid;
	const char *comm;
	bool kernel_thread;
	uint64_t t_ns; /* time in ns, CLOCK_MONOTONIC; never decreases */
};

int known_init(struct known_table *t); /* returns 0 or -ENOMEM */
void known_free(struct known_table *t);

/*
 * Returns the identity of a cgroup path. If the path is "", returns the identity of the program.
 * The result is valid until the next call.
 */
struct known *known_find(struct known_table *t, const char *path, const struct member *m);

/* Marks an entry as used. After a pause, looks up its missing names again. */
void known_refresh(struct known_table *t, struct known *k, const struct member *m);

/* Replaces each match in the identity's name by "*"; to be called before identity_seal(). */
void identity_rename_by(const regex_t *pattern, struct identity *id);

/* Returns the workload kind of a cgroup path. */
enum workload_kind path_kind(const char *path);

#endif

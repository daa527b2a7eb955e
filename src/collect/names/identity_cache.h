/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: a cache of identities, by the path of a cgroup or the name of a program. The size is
 * fixed, and the least recently used entry is evicted. An evicted identity that is made again with
 * the same content has the same serial.
 */
#ifndef FS_COLLECT_NAMES_IDENTITY_CACHE_H
#define FS_COLLECT_NAMES_IDENTITY_CACHE_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/identity.h"
#include "records/records.h"

struct known {
	struct identity id;	     /* serial 0: the place is free */
	char key[CGROUP_PATH_LEN];   /* a path, or ":" and the name of a program */
	uint64_t used;		     /* when, by the count of uses */
	bool waits;		     /* names of its pod were not all there */
	uint64_t retry_ns, pause_ns; /* then they are looked for again */
};

struct known_table {
	int root;		/* what names are read below; the owner's */
	unsigned int collapse;	/* COLLAPSE_* */
	const regex_t *pattern; /* NULL: none; the owner's */
	struct known *known;	/* owned */
	uint64_t uses;
};

/* Who asks: a member of the cgroup. */
struct member {
	uint32_t pid; /* 0: not in our /proc */
	const char *comm;
	bool kernel_thread;
	uint64_t t_ns; /* CLOCK_MONOTONIC, never back */
};

int known_init(struct known_table *t); /* -ENOMEM */
void known_free(struct known_table *t);

/* By a path that tells something; by the program where it is empty. Valid until the next call. */
struct known *known_find(struct known_table *t, const char *path, const struct member *m);

/* Marks the entry as used, and looks for names again that were missing, when it is time. */
void known_refresh(struct known_table *t, struct known *k, const struct member *m);

/* Replaces each match in the name by "*"; before identity_seal(). */
void identity_rename_by(const regex_t *pattern, struct identity *id);

/* How much a path tells; as workload_kind_of(). */
enum workload_kind path_kind(const char *path);

#endif

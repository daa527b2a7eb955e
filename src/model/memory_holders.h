/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: top consumers of memory. Processes of one program that descend from each other are one
 * consumer: a trainer and its workers, a server and its children; but not everything that a shell
 * or init started.
 */
#ifndef FS_MODEL_MEMORY_HOLDERS_H
#define FS_MODEL_MEMORY_HOLDERS_H

#include "model/pressure.h"

struct top_consumer {
	const struct subject *root;
	size_t processes;
	uint64_t rss_bytes;    /* sum; shared pages count for each process */
	uint64_t swap_bytes;   /* summed up */
	uint64_t shmem_bytes;  /* of the process with most: usually the others share it */
	uint64_t commit_bytes; /* private writable memory, touched or not */
	uint64_t child_bytes;  /* mean resident and swapped bytes of a child; 0: no children */
	double per_second;     /* growth of resident and swapped memory in the last 30 to 60 s */
};

/* Finds the top consumers, the largest first, at most `most`. Returns how many. */
size_t top_consumers_of(const struct model *m, struct top_consumer *ret, size_t most);

/*
 * Returns the growth of a process's resident and swapped memory in bytes per second; its start is
 * in *ret_ns.
 */
double subject_growth(const struct model *m, const struct subject *s, uint64_t *ret_ns);

#endif

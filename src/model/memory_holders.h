/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: who has the memory. Processes of one program that descend from one another are one eater:
 * a trainer and its workers, a server and its children; not all that a shell or init started.
 */
#ifndef FS_MODEL_MEMORY_HOLDERS_H
#define FS_MODEL_MEMORY_HOLDERS_H

#include "model/pressure.h"

struct top_consumer {
	const struct subject *root;
	size_t processes;
	uint64_t rss_bytes;    /* summed up: pages that several share count for each */
	uint64_t swap_bytes;   /* summed up */
	uint64_t shmem_bytes;  /* of the one with most: the others share it, mostly */
	uint64_t commit_bytes; /* private and writable, touched or not */
	uint64_t child_bytes;  /* resident and swapped, of a child in the mean; 0: no children */
	double per_second; /* growth of resident and swapped, of the last half to whole minute */
};

/* The largest first, at most `most`; returns how many. */
size_t top_consumers_of(const struct model *m, struct top_consumer *ret, size_t most);

/* Growth of a process' resident and swapped memory, bytes a second; since when is in *ret_ns. */
double subject_growth(const struct model *m, const struct subject *s, uint64_t *ret_ns);

#endif

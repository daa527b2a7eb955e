/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: the top consumers of memory. Processes of one program that descend from each other count
 * as one consumer, for example a trainer and its workers. Processes that a shell or init started
 * count separately.
 */
#ifndef FS_MODEL_MEMORY_HOLDERS_H
#define FS_MODEL_MEMORY_HOLDERS_H

#include "model/pressure.h"
#include "model/process_tree.h"

struct top_consumer {
	const struct subject *root;
	size_t processes;
	uint64_t rss_bytes;  /* sum of RSS; includes shared pages once per process */
	uint64_t swap_bytes; /* sum of swapped memory of all processes */
	/*
	 * shared memory of the process that has the most; child processes usually share the same
	 * memory
	 */
	uint64_t shmem_bytes;
	uint64_t commit_bytes; /* private writable memory, whether touched or not */
	/* mean resident and swapped bytes of the child processes; 0: the consumer has none */
	uint64_t child_bytes;
	double per_second; /* growth of resident and swapped memory in the last 30 to 60 s */
};

/*
 * Finds at most `most` top consumers, the largest first. Returns the number of consumers, or
 * -ENOMEM.
 */
int top_consumers_of(const struct model *m, struct top_consumer *ret, size_t most);

/* Returns whether a process belongs to a consumer. */
bool top_consumer_has(const struct process_tree *k, const struct top_consumer *e,
		      const struct subject *s);

/*
 * Returns the growth of a process's resident and swapped memory in bytes per second, measured over
 * the last *ret_ns nanoseconds.
 */
double subject_growth(const struct model *m, const struct subject *s, uint64_t *ret_ns);

#endif

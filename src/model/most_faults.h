/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: the few processes that faulted most of all that were watched, ended ones too. */
#ifndef FS_MODEL_MOST_FAULTS_H
#define FS_MODEL_MOST_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "wire.h"

#define TOLLS_MAX 8

struct model;
struct subject;

/* What one had cost by its last look. */
struct toll {
	uint32_t pid;
	char comm[FS_COMM_LEN];
	uint64_t minor, major, stall_ns, cpu_ns;
	uint64_t rss_high_bytes;
	uint32_t map_high, fd_high;
};

/* The most costly first; a major fault counts as a hundred minor ones. */
struct tolls {
	struct toll toll[TOLLS_MAX];
	size_t n;
};

void tolls_add(struct tolls *t, const struct model *m, const struct subject *s);

#endif

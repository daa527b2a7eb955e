/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the interface of a source of records, the live kernel or a recording. Code that uses it is
 * the same for both, and needs no root.
 */
#ifndef FS_PROBE_SOURCE_H
#define FS_PROBE_SOURCE_H

#include "records/records.h"

/* Takes one record, valid for the call only. Returns 0, or -errno to stop. */
struct sink {
	int (*take)(void *ctx, const struct record *h);
	void *ctx;
};

struct source;

struct source_ops {
	/* Sends host and probe records. Call it once, first. */
	int (*start)(struct source *src, const struct sink *sink);
	/*
	 * Performs a scan, which a tick record ends. Returns 0, 1 at the end of a recording, or
	 * -errno.
	 */
	int (*look)(struct source *src, const struct sink *sink);
	/* Sends pending records without a scan. */
	int (*drain)(struct source *src, const struct sink *sink);
	/* Returns a file descriptor that is readable when urgent records are pending; -1: none. */
	int (*fd)(struct source *src);
	void (*close)(struct source *src);
};

struct source {
	const struct source_ops *ops;
	int live;
	int plain;	 /* the source reads /proc, without probes: proc_source.h */
	char error[512]; /* text of an error: what failed, why, and what to do */
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the interface to a source of records. The source is the live kernel or a recording; code
 * that uses the interface works with both sources, and needs no root.
 */
#ifndef FS_PROBE_SOURCE_H
#define FS_PROBE_SOURCE_H

#include "records/records.h"

/* A consumer of records. take() returns 0, or -errno to stop; `h` is only valid in the call. */
struct sink {
	int (*take)(void *ctx, const struct record *h);
	void *ctx;
};

struct source;

struct source_ops {
	/* Sends records about the host and the probes. Call start() once, before all others. */
	int (*start)(struct source *src, const struct sink *sink);
	/*
	 * Performs a scan, whose last record is a tick record. Returns 0, 1 at the end of a
	 * recording, or -errno.
	 */
	int (*look)(struct source *src, const struct sink *sink);
	/* Sends pending records without a scan. */
	int (*drain)(struct source *src, const struct sink *sink);
	/*
	 * Returns a file descriptor that is readable when urgent records are pending, or -1 if
	 * there is none.
	 */
	int (*fd)(struct source *src);
	void (*close)(struct source *src);
};

struct source {
	const struct source_ops *ops;
	int live;
	int plain;	 /* the source reads /proc without probes: see proc_source.h */
	char error[512]; /* text of an error: what failed, why, and what to do */
};

#endif

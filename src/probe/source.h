/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: where records come from. A source is the live kernel or a recording; everything behind
 * it is the same code and needs no root.
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
	/* Host and hook records, once, first. */
	int (*start)(struct source *src, const struct sink *sink);
	/* A whole look, ended by a tick. Returns 0, 1 at the end of a recording, -errno. */
	int (*look)(struct source *src, const struct sink *sink);
	/* What is pending now, without a look. */
	int (*drain)(struct source *src, const struct sink *sink);
	/* Readable when something urgent is pending; -1 where that never happens. */
	int (*fd)(struct source *src);
	void (*close)(struct source *src);
};

struct source {
	const struct source_ops *ops;
	int live;
	int plain;	 /* live, and without hooks: proc_source.h */
	char error[512]; /* after a failure: what, on what, why, what to do */
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: a recording in memory that keeps only the last part of a measurement. The packed chunks
 * (probe/record_packing.h) are in groups. Each group begins with a copy of the state at that time,
 * and its chunks depend on no other group. When the ring is full, the oldest group is dropped: the
 * remaining groups are always a complete recording.
 */
#ifndef FS_PROBE_RECORD_RING_H
#define FS_PROBE_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/source.h"

struct record_ring;

/* Bounds of a ring, at least one of them above 0. 0: no such bound. */
struct ring_bounds {
	uint64_t bytes; /* maximum of packed bytes; the newest group is kept even if it is larger */
	uint64_t ns;	/* time that the ring keeps, in ns; it may keep up to one eighth more */
};

struct ring_use {
	uint64_t bytes;	   /* memory of the ring in bytes */
	uint64_t from_ns;  /* time of the first scan in the ring, CLOCK_MONOTONIC; 0: none */
	uint64_t until_ns; /* time of the newest record, CLOCK_MONOTONIC; 0: none */
	uint64_t dropped;  /* number of groups that were dropped */
	uint64_t lost;	   /* how often the ring began anew, for want of memory */
};

/*
 * Makes a ring. At the begin of each group but the first, the ring calls tell(), which sends the
 * present state to the consumer `sink`: the records of a first scan at that time, with a tick
 * record at the end. tell() returns 0 or the consumer's error. Returns 0 or -ENOMEM.
 */
int record_ring_make(const struct ring_bounds *bounds,
		     int (*tell)(void *ctx, const struct sink *sink), void *ctx,
		     struct record_ring **ret);
void record_ring_free(struct record_ring *r);

/*
 * Adds a record, which tell() must know already. The first group begins with the first record that
 * a source sends. Without memory, the ring begins anew, and
 * record_ring_use() counts that.
 */
void record_ring_take(struct record_ring *r, const struct record *h);

struct ring_use record_ring_use(const struct record_ring *r);

/*
 * Writes the ring as a recording to the file `fd`. `head` is a record that comes first, in a chunk
 * of its own; NULL: none. The recording ends with an end record. The ring goes on unchanged.
 * Returns 0 or -errno.
 */
int record_ring_write(struct record_ring *r, const struct record *head, int fd);

#endif

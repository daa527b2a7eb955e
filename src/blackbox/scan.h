/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blackbox: finds records in bytes of any kind, such as a ring file, pmsg, a memory dump, a log or
 * a trace. Damaged records are counted. Duplicates are dropped. Boots are put in order.
 */
#ifndef FS_BLACKBOX_SCAN_H
#define FS_BLACKBOX_SCAN_H

#include "blackbox/ring_record.h"

#define BB_FOUND_MAX 65536
#define BB_BOOTS_MAX 64

struct bb_boot {
	uint8_t id[BB_BOOT_BYTES];
	uint64_t first_wall_ns;
	uint64_t alive_boot_ns, alive_wall_ns; /* time of the boot's last record or heartbeat */
	uint64_t records;		       /* number of records, not counting heartbeats */
	uint64_t missing; /* missing sequence numbers: overwritten or never written */
	bool stopped;	  /* true: the recorder stopped normally */
};

struct bb_found {
	struct bb_record *record; /* records, ordered by boot, then by sequence */
	size_t n, room;
	struct bb_boot boot[BB_BOOTS_MAX]; /* boots, the oldest first */
	size_t boots;
	uint64_t torn; /* records that are incomplete or damaged */
	uint64_t lost; /* records that were dropped because the maximum was reached */
};

/* Adds the records in `data`, which may be binary or text, in any mixture. Returns 0 or -ENOMEM. */
int bb_scan(struct bb_found *f, const void *data, size_t size);

/* Adds one record. Returns 0 or -ENOMEM. */
int bb_found_add(struct bb_found *f, const struct bb_record *r);

/* Sorts the records, drops duplicates, and fills `boot`. */
void bb_found_settle(struct bb_found *f);

void bb_found_free(struct bb_found *f);

/* Returns the index of a boot in `boot`, or -1. */
int bb_boot_find(const struct bb_found *f, const uint8_t id[BB_BOOT_BYTES]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blackbox: records found in any bytes: a ring file, pmsg, a dump of memory, a log, a trace. What
 * is torn is counted, what is there twice is kept once, and boots are put in order.
 */
#ifndef FS_BLACKBOX_SCAN_H
#define FS_BLACKBOX_SCAN_H

#include "blackbox/ring_record.h"

#define BB_FOUND_MAX 65536
#define BB_BOOTS_MAX 64

struct bb_boot {
	uint8_t id[BB_BOOT_BYTES];
	uint64_t first_wall_ns;
	uint64_t alive_boot_ns, alive_wall_ns; /* its last sign of life, heartbeats among them */
	uint64_t records;		       /* without heartbeats */
	uint64_t missing; /* by their sequence: overwritten or never written, among those kept */
	bool stopped;	  /* the recorder ended in order */
};

struct bb_found {
	struct bb_record *record; /* in order of boots, and of sequence in each */
	size_t n, room;
	struct bb_boot boot[BB_BOOTS_MAX]; /* oldest first */
	size_t boots;
	uint64_t torn; /* that began and were not whole */
	uint64_t lost; /* beyond the caps */
};

/* Adds what is in `data`; returns 0 or -ENOMEM. Binary records and lines of text, mixed. */
int bb_scan(struct bb_found *f, const void *data, size_t size);

/* Adds one; 0 or -ENOMEM. */
int bb_found_add(struct bb_found *f, const struct bb_record *r);

/* Sorts, drops what is there twice, fills `boot`. */
void bb_found_settle(struct bb_found *f);

void bb_found_free(struct bb_found *f);

/* Index of a boot, -1: not among them. */
int bb_boot_find(const struct bb_found *f, const uint8_t id[BB_BOOT_BYTES]);

#endif

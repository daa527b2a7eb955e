/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: checks the records that BPF programs send through the ring. */
#ifndef FS_PROBE_WIRE_RECORDS_H
#define FS_PROBE_WIRE_RECORDS_H

#include <stddef.h>

#include "records/records.h"

#define WIRE_RECORD_MAX 8192 /* bytes of the longest record that the kernel side sends */

/* A buffer for a record of any kind that BPF programs send. */
union wire_record {
	struct record h;
	struct process_record process;
	unsigned char bytes[WIRE_RECORD_MAX];
};

/*
 * Copies a record from `size` bytes of the ring into `ret`. Returns the copy, or NULL if the bytes
 * are not a whole record of a known kind.
 */
struct record *record_of_wire(const void *data, size_t size, union wire_record *ret);

/* Returns the process that a record is about, or NULL for a record whose kind names no process. */
struct process_key *process_of_wire(union wire_record *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the one place where what the kernel side hands over becomes a record of user space. No
 * room but this one knows the layout of the kernel side.
 */
#ifndef FS_PROBE_WIRE_RECORDS_H
#define FS_PROBE_WIRE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "records/precursor_record.h"
#include "records/records.h"
#include "wire_blackbox.h"

#define WIRE_RECORD_MAX 4096 /* bytes of the longest record that the kernel side hands over */

/* Room for any of them. */
union wire_record {
	struct record h;
	struct process_record process;
	unsigned char bytes[WIRE_RECORD_MAX];
};

/*
 * Makes a record of `size` bytes that the kernel side handed over. Returns the record, within
 * `ret`, or NULL where the kernel side handed over no whole record of a known kind.
 */
struct record *record_of_wire(const void *data, size_t size, union wire_record *ret);

void counters_of_wire(const struct fs_counters *c, struct counters *ret);
void losses_of_wire(const struct fs_losses *l, struct losses *ret);
void growth_of_wire(const struct fs_growth *g, struct growth *ret);

/* Returns whether `data` is a whole note of the flight recorder. */
bool precursor_of_wire(const void *data, size_t size, struct precursor_record *ret);

#endif

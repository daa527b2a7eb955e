/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: converts events of the flight recorder's kernel side to records, with function names
 * that are looked up while the module is still loaded.
 */
#ifndef FS_COLLECT_PRECURSOR_NAMES_H
#define FS_COLLECT_PRECURSOR_NAMES_H

#include "collect/symbols/kernel_names.h"
#include "records/precursor_record.h"

#define PRECURSOR_RECORDS 2 /* records of an event: the event itself, and registers of a fault */

struct namer {
	struct kernel_names names;
	struct bb_modules modules;
	bool stale; /* a module was loaded: read the names again when there is time */
};

/* Converts an event to records. `ret` has room for PRECURSOR_RECORDS. Returns how many. */
size_t precursor_records(struct namer *n, const struct precursor_record *p, struct bb_record *ret);

/* Makes a record of `count` more recovered kernel faults at `ip`, after the first was recorded. */
void precursor_again(const struct namer *n, __u64 ip, __u64 count, struct bb_record *ret);

#endif

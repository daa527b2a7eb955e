/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: converts events that the flight recorder's BPF programs captured to records. Function
 * names are looked up at once, while the module is still loaded.
 */
#ifndef FS_COLLECT_PRECURSOR_NAMES_H
#define FS_COLLECT_PRECURSOR_NAMES_H

#include "collect/symbols/kernel_names.h"
#include "records/precursor_record.h"

#define PRECURSOR_RECORDS 2 /* records per event: the event, and registers of a fault */

struct namer {
	struct kernel_names names;
	struct bb_modules modules;
	bool stale; /* a module was loaded: when idle, read the symbol names again */
};

/* Converts an event to at most PRECURSOR_RECORDS records in `ret`. Returns their number. */
size_t precursor_records(struct namer *n, const struct precursor_record *p, struct bb_record *ret);

/* Makes a record of `count` recovered kernel faults at `ip` that followed the first one. */
void precursor_again(const struct namer *n, __u64 ip, __u64 count, struct bb_record *ret);

#endif

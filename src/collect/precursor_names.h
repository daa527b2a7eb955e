/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: what the kernel side saw becomes records, named while the module is still there. */
#ifndef FS_COLLECT_PRECURSOR_NAMES_H
#define FS_COLLECT_PRECURSOR_NAMES_H

#include "collect/symbols/kernel_names.h"
#include "records/precursor_record.h"

#define PRECURSOR_RECORDS 2 /* one, and of a fault its registers */

struct namer {
	struct kernel_names names;
	struct bb_modules modules;
	bool stale; /* a module came: the names are to be read again, when there is time */
};

/* Fills `ret`, of PRECURSOR_RECORDS; returns how many there are. */
size_t precursor_records(struct namer *n, const struct precursor_record *p, struct bb_record *ret);

/* More near misses, equal to those that were told, at one place. */
void precursor_again(const struct namer *n, __u64 ip, __u64 count, struct bb_record *ret);

#endif

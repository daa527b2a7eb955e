/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: names of kernel addresses, from /proc/kallsyms. */
#ifndef FS_COLLECT_SYMBOLS_SYMBOLS_H
#define FS_COLLECT_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stdio.h>

#include "records/records.h"

struct symbols {
	FILE *f; /* NULL: nothing is known; owned */
};

/*
 * Opens it for what comes: what it shows is settled by the rights that it was opened with. Where
 * kptr_restrict hides all addresses from us, nothing is known.
 */
void symbols_open(struct symbols *s);
void symbols_close(struct symbols *s);

/* "symbol+0xoffset" and its module, read while the module is still there. False: not known. */
bool symbols_find(struct symbols *s, __u64 ip, struct symbol_record *ret);

#endif

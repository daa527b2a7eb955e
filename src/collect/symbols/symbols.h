/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: names of kernel addresses, from /proc/kallsyms. */
#ifndef FS_COLLECT_SYMBOLS_SYMBOLS_H
#define FS_COLLECT_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stdio.h>

#include "records/records.h"

struct symbols {
	FILE *f; /* /proc/kallsyms; NULL: no names are available; owned */
};

/*
 * Opens /proc/kallsyms early, because its content depends on the privileges at that time. If
 * kptr_restrict hides the addresses, no names are available.
 */
void symbols_open(struct symbols *s);
void symbols_close(struct symbols *s);

/* Finds "symbol+0xoffset" and the module, while it is loaded. Returns false if not found. */
bool symbols_find(struct symbols *s, __u64 ip, struct symbol_record *ret);

#endif

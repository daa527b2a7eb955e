/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the lines of a table in the format of /proc/kallsyms (kernel/kallsyms.c). */
#ifndef FS_PROBE_KERNEL_SYMBOLS_H
#define FS_PROBE_KERNEL_SYMBOLS_H

#include <stddef.h>

#include "wire.h"

/* A line, "ffffffff9a26a140 D sysctl_max_map_count". The strings end within the table. */
struct kernel_symbol {
	const char *line; /* begins with the address, in hexadecimal digits */
	char kind;	  /* as nm(1) prints it */
	const char *name; /* for a symbol of a module, a tab and the module's name follow */
	size_t len;	  /* length of all that follows the kind */
};

typedef void kernel_symbol_fn(void *ctx, const struct kernel_symbol *s);

/* Calls `take` for each line of a table. The last line is left out, if it is incomplete. */
void kernel_symbols_each(const char *table, size_t size, kernel_symbol_fn *take, void *ctx);

/* Returns the address of a symbol; 0 if the kernel hides it. */
__u64 kernel_symbol_address(const struct kernel_symbol *s);

#endif

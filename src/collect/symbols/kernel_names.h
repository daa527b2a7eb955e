/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: names of the kernel's functions, kept in memory: a fault is to be named within
 * microseconds, before what follows from it.
 */
#ifndef FS_COLLECT_SYMBOLS_KERNEL_NAMES_H
#define FS_COLLECT_SYMBOLS_KERNEL_NAMES_H

#include <stdbool.h>
#include <stdio.h>

#include "blackbox/modules.h"
#include "collect/symbols/symbol_table.h"

#define KERNEL_NAMES_BYTES (16u << 20) /* of text, at most */

struct name_table {
	struct symbol_table table;
	char *text; /* "name [module" each, NUL-terminated; owned */
	size_t used, room;
	__u64 lost; /* functions whose name found no room */
};

struct kernel_names {
	struct name_table kernel, modules;
	struct name_table next; /* of modules, being read */
	FILE *file;		/* that it is read from; NULL: it is not */
};

/* Reads /proc/kallsyms whole. False: it tells nothing. */
bool kernel_names_read(struct kernel_names *k);

/*
 * Reads what modules have anew, a little at a time: the whole takes longer than a fault may wait.
 * True once it is done.
 */
bool kernel_names_step(struct kernel_names *k);
void kernel_names_free(struct kernel_names *k);

/* Functions that are not known: beyond the caps of text or of entries. */
__u64 kernel_names_lost(const struct kernel_names *k);

/*
 * "function+0xoffset"; of a module that is gone "+0xoffset" into it. `ret_module` is empty for the
 * kernel's own code. False: in no code that is or was.
 */
bool kernel_names_find(const struct kernel_names *k, const struct bb_modules *m, __u64 ip,
		       char *ret, size_t size, char ret_module[BB_MODULE_NAME]);

/* Modules that are there now, from /proc/modules. */
void kernel_modules_read(struct bb_modules *m);

#endif

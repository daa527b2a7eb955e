/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: holds the names of kernel functions in memory. A kernel fault must be named within
 * microseconds, before it can crash the machine.
 */
#ifndef FS_COLLECT_SYMBOLS_KERNEL_NAMES_H
#define FS_COLLECT_SYMBOLS_KERNEL_NAMES_H

#include <stdbool.h>
#include <stdio.h>

#include "blackbox/modules.h"
#include "collect/symbols/symbol_table.h"

#define KERNEL_NAMES_BYTES (16u << 20) /* maximum bytes of function names */

struct name_table {
	struct symbol_table table;
	char *text; /* texts "name [module", each NUL-terminated; owned */
	size_t used, room;
	__u64 lost; /* functions left out for lack of room */
};

struct kernel_names {
	struct name_table kernel, modules;
	struct name_table next; /* new table of modules, while it is being read */
	FILE *file;		/* open while `next` is being read; else NULL */
};

/* Reads all of /proc/kallsyms. Returns false if kallsyms shows no addresses. */
bool kernel_names_read(struct kernel_names *k);

/*
 * Reads the functions of modules again, some lines in each call, so that a kernel fault need not
 * wait for all of them. Returns true once all functions are read. Also returns true if
 * /proc/kallsyms cannot be opened: the names that were read before then stay.
 */
bool kernel_names_step(struct kernel_names *k);
void kernel_names_free(struct kernel_names *k);

/* Returns the number of functions left out for lack of room. */
__u64 kernel_names_lost(const struct kernel_names *k);

/*
 * Names an address: "function+0xoffset", or "+0xoffset" if it is in a module that was unloaded or
 * has just been loaded. `ret_module` is "" for the kernel's own code. Returns false if the address
 * is not code.
 */
bool kernel_names_find(const struct kernel_names *k, const struct bb_modules *m, __u64 ip,
		       char *ret, size_t size, char ret_module[BB_MODULE_NAME]);

/* Reads the loaded modules from /proc/modules. */
void kernel_modules_read(struct bb_modules *m);

#endif

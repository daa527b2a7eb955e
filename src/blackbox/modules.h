/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blackbox: address ranges of loaded and unloaded modules. Unloaded modules are kept, because an
 * address in a freed module may be looked up long after the unload.
 */
#ifndef FS_BLACKBOX_MODULES_H
#define FS_BLACKBOX_MODULES_H

#include "blackbox/ring_record.h"

#define BB_MODULES_MAX	512
#define BB_MODULE_PARTS 4
#define BB_MODULE_NAME	56

struct bb_module {
	char name[BB_MODULE_NAME];
	uint64_t start[BB_MODULE_PARTS], bytes[BB_MODULE_PARTS]; /* address ranges; index 0: code */
	uint64_t loaded_ns;   /* time of load; 0: before recording */
	uint64_t unloaded_ns; /* time of unload; 0: still loaded */
};

struct bb_modules {
	struct bb_module module[BB_MODULES_MAX]; /* modules, the oldest first */
	size_t n;
	uint64_t forgotten; /* number of modules that were removed to make room */
};

void bb_module_loaded(struct bb_modules *m, const struct bb_module *one);

/*
 * Marks a module as unloaded. `one` contains its name. If bytes[0] of `one` is not 0, `one` also
 * contains its ranges.
 */
void bb_module_gone(struct bb_modules *m, const struct bb_module *one, uint64_t when_ns);

/*
 * Returns the module that contains an address. If no loaded module contains it, returns the
 * unloaded module that contained the address last. Returns NULL if there is no such module either.
 */
const struct bb_module *bb_module_of(const struct bb_modules *m, uint64_t address);

/* Updates the modules from a record. Call this for each record of a boot, in order. */
void bb_modules_take(struct bb_modules *m, const struct bb_record *r);

/*
 * bb_module_put() adds one module to a record, as key=value pairs. bb_modules_put() adds as many
 * modules as fit into one value, beginning with index `at`, and returns their number.
 */
void bb_module_put(struct bb_record *r, const struct bb_module *one);
size_t bb_modules_put(struct bb_record *r, const struct bb_modules *m, size_t at);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* blackbox: where modules are and were: a freed address is named long after. */
#ifndef FS_BLACKBOX_MODULES_H
#define FS_BLACKBOX_MODULES_H

#include "blackbox/ring_record.h"

#define BB_MODULES_MAX	512
#define BB_MODULE_PARTS 4
#define BB_MODULE_NAME	56

struct bb_module {
	char name[BB_MODULE_NAME];
	uint64_t start[BB_MODULE_PARTS], bytes[BB_MODULE_PARTS]; /* the first is its code */
	uint64_t loaded_ns;					 /* 0: before we looked */
	uint64_t unloaded_ns;					 /* 0: it is there */
};

struct bb_modules {
	struct bb_module module[BB_MODULES_MAX]; /* oldest first */
	size_t n;
	uint64_t forgotten; /* for others' sake */
};

void bb_module_loaded(struct bb_modules *m, const struct bb_module *one);

/* `parts` may be NULL where only the name is known. */
void bb_module_gone(struct bb_modules *m, const struct bb_module *one, uint64_t when_ns);

/* Whose an address is, or was last; NULL: nobody's. */
const struct bb_module *bb_module_of(const struct bb_modules *m, uint64_t address);

/* What journal records of a boot say, in their order. */
void bb_modules_take(struct bb_modules *m, const struct bb_record *r);

/* One as pairs of a record, and several, from `at` on, in one value; returns how many. */
void bb_module_put(struct bb_record *r, const struct bb_module *one);
size_t bb_modules_put(struct bb_record *r, const struct bb_modules *m, size_t at);

#endif

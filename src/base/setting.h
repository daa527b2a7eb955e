/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: one limit or setting of the machine, as it was read. */
#ifndef FS_BASE_SETTING_H
#define FS_BASE_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETTINGS_MAX 48

enum setting_unit { SETTING_COUNT, SETTING_BYTES, SETTING_TEXT };

struct setting {
	const char *key;  /* stable */
	const char *name; /* as people know it: vm.max_map_count */
	enum setting_unit unit;
	const char *of; /* the key of the limit that this is the use of; NULL: of none */
	bool known;	/* else this machine does not tell */
	bool unlimited;
	int64_t value;
	char text[192]; /* of a TEXT */
};

/* By key; NULL where there is none. */
const struct setting *setting_find(const struct setting *s, size_t n, const char *key);

/* The use of a limit: known, and of this key; NULL where there is none. */
const struct setting *setting_use(const struct setting *s, size_t n, const char *key);

#endif

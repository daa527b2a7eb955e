/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: one limit or setting of the machine and its current value. */
#ifndef FS_BASE_SETTING_H
#define FS_BASE_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETTINGS_MAX 48

enum setting_unit { SETTING_COUNT, SETTING_BYTES, SETTING_TEXT };

struct setting {
	const char *key;  /* stable identifier, such as max_map_count */
	const char *name; /* name that users know, such as vm.max_map_count */
	enum setting_unit unit;
	const char *of; /* if the value is the usage of a limit: the key of that limit; else NULL */
	bool known;	/* false: this machine does not provide the value */
	bool unlimited;
	int64_t value;
	char text[192]; /* value of the setting, if it is a text */
};

/* Returns the setting with this key, or NULL. */
const struct setting *setting_find(const struct setting *s, size_t n, const char *key);

/*
 * Returns the setting that holds the usage of the limit with this key, or NULL if it is not known.
 */
const struct setting *setting_use(const struct setting *s, size_t n, const char *key);

#endif

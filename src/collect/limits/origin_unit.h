/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: finds the line that sets a key of a systemd unit, by the rules of systemd.unit(5). */
#ifndef FS_COLLECT_LIMITS_ORIGIN_UNIT_H
#define FS_COLLECT_LIMITS_ORIGIN_UNIT_H

#include "collect/files/rooted_file.h"

/* The line that sets one key of a unit. Initialise `key`. */
struct unit_limit {
	const char *key; /* key, such as "LimitNOFILE" */
	struct origin_line line;
};

/* Adds the lines of a unit file. The last assignment of a key applies; an empty one clears it. */
void unit_scan(struct unit_limit *s, const char *file, struct span text);

/* Reads the unit file and its drop-ins as systemd does. Returns false if no line sets the key. */
bool unit_find(struct files *f, const struct workload *w, const char *unit, const char *key,
	       struct origin_line *ret);

/* Finds the manager's default for a key that units do not set, such as DefaultLimitNOFILE=. */
bool unit_find_default(struct files *f, const struct workload *w, const char *key,
		       struct origin_line *ret);

#endif

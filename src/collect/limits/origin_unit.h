/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: which line of which file sets a key of a systemd unit, by the rules of systemd.unit(5).
 */
#ifndef FS_COLLECT_LIMITS_ORIGIN_UNIT_H
#define FS_COLLECT_LIMITS_ORIGIN_UNIT_H

#include "collect/files/rooted_file.h"

/* What files in their order say of one key; start with the key alone. */
struct unit_limit {
	const char *key; /* LimitNOFILE */
	struct origin_line line;
};

/* Adds what a file says: the last assignment holds, an empty one takes those before it away. */
void unit_scan(struct unit_limit *s, const char *file, struct span text);

/* The unit as its manager sees it: a fragment and drop-ins. False: nothing sets the key. */
bool unit_find(struct files *f, const struct workload *w, const char *unit, const char *key,
	       struct origin_line *ret);

/* What the manager gives to units that do not set it: DefaultLimitNOFILE= and the like. */
bool unit_find_default(struct files *f, const struct workload *w, const char *key,
		       struct origin_line *ret);

#endif

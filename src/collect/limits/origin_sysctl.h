/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: which line of which file sets a sysctl, by the rules of systemd-sysctl(8) and of
 * `sysctl --system`.
 */
#ifndef FS_COLLECT_LIMITS_ORIGIN_SYSCTL_H
#define FS_COLLECT_LIMITS_ORIGIN_SYSCTL_H

#include "collect/files/rooted_file.h"

/* What files in their order say of one key; start with the key alone. */
struct sysctl_setting {
	const char *key; /* vm/max_map_count */
	struct origin_line exact, glob;
	bool excluded; /* from globs */
};

/* Adds what a file says, in the order in which files are applied. */
void sysctl_scan(struct sysctl_setting *s, const char *file, struct span text);

/* The line that is applied in the end: a key of its own beats every glob. NULL: none. */
const struct origin_line *sysctl_line(const struct sysctl_setting *s);

/* In the kernel's command line, as sysctl.vm.max_map_count=N (5.8). False: not there. */
bool sysctl_scan_boot(const char *key, struct span cmdline, struct origin_line *ret);

/* Fills the value in force, where from, and the line. */
void origin_of_sysctl(struct files *f, struct origin *o);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds the line that sets a sysctl, by the rules of systemd-sysctl(8) and `sysctl
 * --system`.
 */
#ifndef FS_COLLECT_LIMITS_ORIGIN_SYSCTL_H
#define FS_COLLECT_LIMITS_ORIGIN_SYSCTL_H

#include "collect/files/rooted_file.h"

/* Lines of sysctl files that set one key. Initialise `key`. */
struct sysctl_setting {
	const char *key; /* key, such as "vm/max_map_count" */
	struct origin_line exact, glob;
	bool excluded; /* a line "-KEY" exempts the key from glob patterns */
};

/* Adds the lines of a sysctl file. Files must be added in the order in which they are applied. */
void sysctl_scan(struct sysctl_setting *s, const char *file, struct span text);

/* Returns the line that sets the key, or NULL. An exact key has precedence over glob patterns. */
const struct origin_line *sysctl_line(const struct sysctl_setting *s);

/* Finds sysctl.KEY=VALUE in the kernel command line (Linux 5.8). Returns false if it is missing. */
bool sysctl_scan_boot(const char *key, struct span cmdline, struct origin_line *ret);

/* Finds the current value of a sysctl, and the line that sets it. */
void origin_of_sysctl(struct files *f, struct origin *o);

#endif

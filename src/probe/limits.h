/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: limits of the machine, read at each scan from files that stay open. */
#ifndef FS_PROBE_LIMITS_H
#define FS_PROBE_LIMITS_H

#include <stdbool.h>

#include "records/records.h"

#define LIMIT_FILES 18

struct limits {
	int fd[LIMIT_FILES];
};

/* Opens the files with limits; a file that cannot be opened reads as 0. */
void limits_open(struct limits *l);
void limits_read(const struct limits *l, struct host_limits *ret);
bool limits_bpf_stats(const struct limits *l); /* returns whether kernel.bpf_stats_enabled is set */
__u64 limits_own_rss_bytes(const struct limits *l);
void limits_close(struct limits *l);

#endif

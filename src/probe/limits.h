/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the limits of this machine, from /proc/sys and /proc/meminfo. */
#ifndef FS_PROBE_LIMITS_H
#define FS_PROBE_LIMITS_H

#include "wire.h"

/* What cannot be read stays 0. */
void limits_read(struct fs_limits *ret);

/* First number of a /proc or /sys file; 0 where there is none. */
unsigned long long limit_number(const char *path);

#endif

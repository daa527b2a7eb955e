/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: reads all limits and settings of the machine and of this shell, once. */
#ifndef FS_PROBE_SETTINGS_H
#define FS_PROBE_SETTINGS_H

#include "base/setting.h"

/*
 * Fills at most SETTINGS_MAX; returns how many. Call it before the load: libbpf raises our
 * RLIMIT_MEMLOCK on kernels before 5.11. Values of the cgroup are left to their reader.
 */
size_t settings_read(struct setting *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: reads limits and settings of the machine and of this process, once. */
#ifndef FS_PROBE_SETTINGS_H
#define FS_PROBE_SETTINGS_H

#include "base/setting.h"

/*
 * Fills at most SETTINGS_MAX values; returns how many. Call this before the load, because libbpf on
 * kernels before 5.11 raises faultscope's RLIMIT_MEMLOCK. Values of the cgroup are set by another
 * function.
 */
size_t settings_read(struct setting *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: all limits and settings of the machine and of this shell, read once. */
#ifndef FS_PROBE_SETTINGS_H
#define FS_PROBE_SETTINGS_H

#include "base/setting.h"

/*
 * Fills SETTINGS_MAX at most; returns how many. Before the load: libbpf raises our own
 * RLIMIT_MEMLOCK on kernels before 5.11. What is known of the cgroup is left to who looks there.
 */
size_t settings_read(struct setting *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: finds the processes of a container, by the cgroups in /proc. */
#ifndef FS_COLLECT_NAMES_CONTAINER_PIDS_H
#define FS_COLLECT_NAMES_CONTAINER_PIDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Finds the processes of a container in the directory `proc`, which is /proc. `id` is the
 * container's ID or at least its first 12 characters, and may begin with the name of the runtime,
 * as Kubernetes writes it: "containerd://ID". Writes up to `most` pids. Returns the number of
 * processes found, which may be above `most`, -EINVAL if `id` is no such ID, or another -errno if
 * `proc` cannot be listed.
 */
int container_pids_find(int proc, const char *id, uint32_t *ret, size_t most);

#endif

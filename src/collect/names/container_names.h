/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: finds the names of Docker and Podman containers. */
#ifndef FS_COLLECT_NAMES_CONTAINER_NAMES_H
#define FS_COLLECT_NAMES_CONTAINER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/workload.h"

/*
 * Finds a container's name. Docker has it in config.v2.json, which only root may read. Podman has
 * it in the command line of the container's monitor (conmon), which is an ancestor of the
 * container's processes. `pid` is a process of the container, and `root` is the directory "/".
 * Returns false if the name is not known.
 */
bool container_name_find(int root, const struct workload *w, uint32_t pid, char *ret, size_t size);

#endif

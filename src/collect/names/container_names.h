/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: finds the names of Docker and Podman containers, if they are readable. */
#ifndef FS_COLLECT_NAMES_CONTAINER_NAMES_H
#define FS_COLLECT_NAMES_CONTAINER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/workload.h"

/*
 * Docker: from its own file, which only root may read. Podman: from the command line of its
 * monitor, an ancestor of the container's processes. `pid` is one of these. Returns false if
 * unknown.
 */
bool container_name_find(int root, const struct workload *w, uint32_t pid, char *ret, size_t size);

#endif

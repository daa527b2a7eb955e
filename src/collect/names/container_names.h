/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: what people call a container of Docker or Podman, where that may be read. */
#ifndef FS_COLLECT_NAMES_CONTAINER_NAMES_H
#define FS_COLLECT_NAMES_CONTAINER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/workload.h"

/*
 * Docker's by its own file, which root alone may read; Podman's by the command line of its monitor,
 * an ancestor of the container's processes. `pid` is one of these. False: not known.
 */
bool container_name_find(int root, const struct workload *w, uint32_t pid, char *ret, size_t size);

#endif

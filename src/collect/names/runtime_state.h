/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds the names of pods and containers in the state files that container runtimes keep
 * on disk. Only root may read these files. The sockets of the runtimes are not used.
 */
#ifndef FS_COLLECT_NAMES_RUNTIME_STATE_H
#define FS_COLLECT_NAMES_RUNTIME_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/names/pod_names.h"
#include "model/workload.h"

/*
 * Finds the state file of the container `w->container` below the directory `root`, and sets the
 * names that the file contains. The sandbox of a pod gets the name "pause". Ignores a file of
 * another pod or ECS task than `w`. Returns whether a file contains the container's name.
 */
bool runtime_state_find(int root, const struct workload *w, struct pod_names *ret);

/* Returns the nth directory that contains state files, or NULL after the last one. */
const char *runtime_state_dir(size_t i);

#endif

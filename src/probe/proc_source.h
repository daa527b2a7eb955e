/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: a live source without probes, for users who may not use BPF: reads only /proc. */
#ifndef FS_PROBE_PROC_SOURCE_H
#define FS_PROBE_PROC_SOURCE_H

#include "probe/source.h"

/* Opens a source of sizes of all visible processes, and limits of the machine. 0 or -ENOMEM. */
int proc_open(struct source **ret);

#endif

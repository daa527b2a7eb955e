/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: a live source that needs no BPF: it reads only /proc, and has no probes. */
#ifndef FS_PROBE_PROC_SOURCE_H
#define FS_PROBE_PROC_SOURCE_H

#include "probe/source.h"

/* Opens a source of process sizes and of limits, without BPF. Returns 0 or -ENOMEM. */
int proc_open(struct source **ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the live source without any hook, for who may not use BPF: /proc alone. */
#ifndef FS_PROBE_PROC_SOURCE_H
#define FS_PROBE_PROC_SOURCE_H

#include "probe/source.h"

/* Sizes of all processes that /proc shows us, and the machine's limits. -ENOMEM. */
int proc_open(struct source **ret);

#endif

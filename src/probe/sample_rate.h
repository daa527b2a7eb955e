/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the rate at which page faults are sampled. */
#ifndef FS_PROBE_SAMPLE_RATE_H
#define FS_PROBE_SAMPLE_RATE_H

#include "wire.h"

/*
 * Adapts the sampling rate to the target number of samples per scan, because each sample costs a
 * walk of the user stack, and space in the recording. `*sampled` is the value of shared->sampled at
 * the last scan.
 */
void sample_rate_adapt(struct fs_shared *shared, __u32 *sampled);

#endif

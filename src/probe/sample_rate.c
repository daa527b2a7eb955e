// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/sample_rate.h"

/* Target number of sampled faults per scan. Sampling rates are at least 1/SAMPLE_EACH_MOST. */
#define SAMPLES_A_LOOK	 256
#define SAMPLE_EACH_MOST (1u << 15)

void sample_rate_adapt(struct fs_shared *shared, __u32 *sampled)
{
	__u32 drawn = shared->sampled - *sampled, each = shared->sample_each;

	*sampled = shared->sampled;
	if (drawn < SAMPLES_A_LOOK / 2 && each > SAMPLE_EACH)
		each /= 2;
	for (; drawn > 2 * SAMPLES_A_LOOK && each && each < SAMPLE_EACH_MOST; drawn /= 2)
		each *= 2;
	shared->sample_each = each;
}

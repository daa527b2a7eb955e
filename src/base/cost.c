// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/cost.h"

#include <stdio.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

double quantile_of(const double *sorted, size_t n, double share)
{
	double at = share * (n - 1);
	size_t below = at;

	if (below + 1 >= n)
		return sorted[n - 1];
	return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

void cost_judge(struct cost *ret, double *value, size_t n)
{
	ret->measured = false;
	if (n < COST_LEAST) {
		snprintf(ret->why, sizeof(ret->why), "too few measurements in the time: %zu", n);
		return;
	}
	qsort(value, n, sizeof(*value), by_value);
	ret->low = quantile_of(value, n, 0.25);
	ret->median = quantile_of(value, n, 0.5);
	ret->high = quantile_of(value, n, 0.75);
	ret->measured = ret->low > 0;
	ret->why[0] = 0;
	if (!ret->measured)
		snprintf(ret->why, sizeof(ret->why),
			 "not measurable here: within the noise, %.0f to %.0f ns", ret->low,
			 ret->high);
}

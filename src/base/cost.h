/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: computes the cost of an operation from noisy measurements, as median and quartiles. */
#ifndef FS_BASE_COST_H
#define FS_BASE_COST_H

#include <stdbool.h>
#include <stddef.h>

#define COST_LEAST 5 /* minimum number of measurements */

struct cost {
	const char *per;	  /* JSON name of the operation: fault, mapping_call, … */
	const char *said;	  /* the operation in words, for output, such as "a fault" */
	bool measured;		  /* false: the cost is unknown, and `why` holds the reason */
	double low, median, high; /* cost of the operation in ns; low and high are quartiles */
	char why[96];
};

/* Returns a quantile of sorted values, interpolated; share 0 to 1, n >= 1. */
double quantile_of(const double *sorted, size_t n, double share);

/*
 * Computes the cost from n measurements, and sorts the array `value`. If the lower quartile is 0 or
 * less, the result is noise: `measured` becomes false, and `why` says so.
 */
void cost_judge(struct cost *ret, double *value, size_t n);

#endif

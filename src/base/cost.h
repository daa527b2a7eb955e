/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: what something costs, from measurements that scatter: median, quartiles, or why not. */
#ifndef FS_BASE_COST_H
#define FS_BASE_COST_H

#include <stdbool.h>
#include <stddef.h>

#define COST_LEAST 5 /* measurements, below which nothing is said */

struct cost {
	const char *per;	  /* stable: fault, mapping_call, … */
	const char *said;	  /* the same for people: "a fault" */
	bool measured;		  /* else `why` says why not */
	double low, median, high; /* ns; quartiles */
	char why[96];
};

/* The value below which a share of the sorted values lies, interpolated. n at least 1. */
double quantile_of(const double *sorted, size_t n, double share);

/*
 * From n measurements, which it sorts. What is not clear of nothing (the lower quartile is no
 * cost at all) is noise, and said to be.
 */
void cost_judge(struct cost *ret, double *value, size_t n);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: a value over the last minutes, in a fixed number of points. When there are too many
 * points, every second one of the older half is dropped: the recent past keeps its detail.
 */
#ifndef FS_MODEL_CURVE_H
#define FS_MODEL_CURVE_H

#include <stddef.h>
#include <stdint.h>

#define CURVE_POINTS 24

struct curve {
	uint32_t n;
	struct {
		uint64_t t_ns; /* CLOCK_MONOTONIC */
		uint64_t value;
	} point[CURVE_POINTS];
};

/* Adds a value. Drops points that are older than an hour. Ignores a time before the last point. */
void curve_add(struct curve *c, uint64_t t_ns, uint64_t value);

#endif

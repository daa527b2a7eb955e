/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: how many events may happen now. An allowance grows with time, up to a maximum; each event
 * takes one.
 */
#ifndef FS_BASE_ALLOWANCE_H
#define FS_BASE_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

struct allowance {
	double left;	/* number of events that may happen now */
	double most;	/* maximum of `left` */
	double per_ns;	/* growth of `left` */
	uint64_t at_ns; /* time of the last change of `left`, CLOCK_MONOTONIC; 0: none yet */
};

/* Returns a full allowance that grows by `per_hour` in an hour. */
struct allowance allowance_of(double per_hour, double most);

/* Takes one. Returns false if less than one is left. `now_ns` is CLOCK_MONOTONIC. */
bool allowance_take(struct allowance *a, uint64_t now_ns);

#endif

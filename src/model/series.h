/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: records peaks of a value over time in limited space, and forecasts when the value reaches
 * a limit. Only peaks are recorded, because the peak reaches a limit before the mean does.
 */
#ifndef FS_MODEL_SERIES_H
#define FS_MODEL_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cycles.h"

#define SERIES_POINTS  48
#define SERIES_STEP_NS 100000000ULL /* minimum time between two points of a series */

/* Maximum time to a predicted event, as a multiple of the time over which growth was measured. */
#define FORECAST_REACH 10

/*
 * Peaks of a value. Points are dense near the present and sparse in the past, so that both an event
 * a second ago and a trend over a day are visible. The first point is never dropped.
 */
struct series {
	uint32_t n;
	uint64_t last_ns, last;	 /* time and value of the latest addition */
	uint64_t run_ns, run;	 /* time and value at which the current rise started */
	uint64_t rise;		 /* height of the current rise so far */
	uint64_t burst, burst_2; /* heights of the largest and of the second-largest earlier rise */
	struct cycles cycles;
	struct {
		uint64_t t_ns;
		uint64_t high; /* peak of the value so far */
		uint64_t low;  /* minimum value since the previous point */
	} point[SERIES_POINTS];
};

/*
 * A burst is a rise of a value within one second, or between two successive scans. The two largest
 * are kept.
 */
struct bursts {
	uint64_t largest, second;
};

/* When a value reaches its limit: estimate and interval (low to high), in seconds from now. */
struct forecast {
	bool known; /* false: the value does not grow, or the fit is unreliable */
	/*
	 * True if the value will almost surely reach the limit. There are two cases: the peaks of
	 * several cycles grew evenly for at least the predicted time, or at most 2 % of the limit
	 * is left. An unsure forecast assumes that growth continues.
	 */
	bool sure;
	double seconds, low, high;
	double per_second; /* present growth per second */
};

/* Adds a value. If its time is before that of the last value, the last value's time is used. */
void series_add(struct series *s, uint64_t t_ns, uint64_t value);

struct bursts series_bursts(const struct series *s);

/*
 * Forecasts when a limit is reached. Growth is a Theil-Sen slope over blocks of equal time, in the
 * longest window up to now in which growth clearly exceeds its scatter. The interval depends on the
 * scatter, on a change of the rate, and on the time ahead. There is no forecast for values that are
 * flat, cycle, level off, or need longer than FORECAST_REACH. A value that did not change before
 * now_ns did not grow. If falls are a large part of a rise, only the peaks of three or more cycles
 * are extrapolated.
 */
struct forecast series_forecast(const struct series *s, uint64_t now_ns, uint64_t limit);

#endif

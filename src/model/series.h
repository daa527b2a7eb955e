/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: what a value did over time, in bounded room, and when it will reach a limit. A limit is
 * reached by the highest value, not by the mean: only high-water marks are kept and extended.
 */
#ifndef FS_MODEL_SERIES_H
#define FS_MODEL_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cycles.h"

#define SERIES_POINTS  48
#define SERIES_STEP_NS 100000000ULL /* least distance of two points */

/* How far a forecast looks ahead: times the time that it was fitted to. */
#define FORECAST_REACH 10

/*
 * The highest value up to a time, at times that stand the closer the later they are: an event of
 * a second ago and a trend of a day both show. The first point stays.
 */
struct series {
	uint32_t n;
	uint64_t last_ns, last;	 /* the latest value */
	uint64_t run_ns, run;	 /* where what may be a burst began */
	uint64_t rise;		 /* of that one */
	uint64_t burst, burst_2; /* the largest rises before it, and the next to the largest */
	struct cycles cycles;
	struct {
		uint64_t t_ns;
		uint64_t high; /* so far */
		uint64_t low;  /* since the point before */
	} point[SERIES_POINTS];
};

/* Rises within a second, or from one look to the next: the largest two. */
struct bursts {
	uint64_t largest, second;
};

/* Where a limit will be reached: seconds from now, with an interval. */
struct forecast {
	bool known; /* false: no growth, or a fit too poor to say */
	/*
	 * Whether what was seen leaves little room for another end: the peaks of several cycles
	 * grew evenly, for as long as is left, or all but the last of the way is done. Else it
	 * comes true if growth goes on.
	 */
	bool sure;
	double seconds, low, high;
	double per_second; /* now */
};

/* A time before the last one is taken for that. */
void series_add(struct series *s, uint64_t t_ns, uint64_t value);

struct bursts series_bursts(const struct series *s);

/*
 * Growth is a rate by Theil-Sen over blocks of equal time, in the longest window that ends now and
 * in which it stands out of its own scatter; the interval comes from that scatter, from a change of
 * the rate where there is one, and from the distance. None is given for what is flat, goes up and
 * down, levels off, or lies further ahead than FORECAST_REACH; what did not change until now_ns,
 * did not grow. Where falls are a good part of the rise, only the peaks of three cycles and more
 * are extended.
 */
struct forecast series_forecast(const struct series *s, uint64_t now_ns, uint64_t limit);

#endif

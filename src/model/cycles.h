/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: detects values that rise and fall repeatedly, as with caches, pools and garbage
 * collectors. Growth within a cycle does not predict when the limit is reached; the peaks of
 * several cycles do.
 */
#ifndef FS_MODEL_CYCLES_H
#define FS_MODEL_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

#define CYCLES_KEPT 8

/*
 * A rise ends when the value falls by at least 1/16 of the peak; a fall ends when the value rises
 * by as much.
 */
#define CYCLES_SWING 16

/* The last cycles of a value, from oldest to latest. Initialise with zeros. */
struct cycles {
	uint32_t n;
	bool falling;
	bool begun;
	uint64_t top_ns, top; /* time and value of the peak of the current or last rise */
	uint64_t since_ns;    /* time when the rise to `top` started */
	/* last: the latest value; step: the largest single step of the current rise */
	uint64_t last, step;
	struct {
		uint64_t peak_ns, peak;
		uint64_t low_ns, low; /* time and value of the lowest point after the peak */
		uint64_t step;	      /* largest single step of the rise to this peak */
	} cycle[CYCLES_KEPT];
};

/* The present level of the peaks, and how fast they grow. */
struct peak_trend {
	bool known;
	bool sure;	   /* every peak and every low is above the previous one */
	double now;	   /* value of the line through the peaks at the time `now_ns` */
	double per_second; /* slope of the line through the peaks */
	double error;	   /* standard error of `per_second` */
	double scatter;	   /* standard deviation of the peaks from the line */
	/* Seconds from the first to the last peak; seconds from the peaks' mean time until now. */
	double span, middle;
	double period; /* mean time between two peaks, in seconds */
	int peaks;
};

/* Adds a value and its time, which must not be before that of the last value. */
void cycles_add(struct cycles *c, uint64_t t_ns, uint64_t value);

/* Returns the mean time between peaks in seconds, or 0 if there are fewer than two peaks. */
double cycles_period(const struct cycles *c);

/* Returns whether a value still rises and falls: it had two peaks, the last one recently. */
bool cycles_go_on(const struct cycles *c, uint64_t now_ns);

/* Returns the highest recent peak of a value that still rises and falls, else 0. */
uint64_t cycles_high(const struct cycles *c, uint64_t now_ns);

/* Returns the largest decrease from a peak to the low after it. */
uint64_t cycles_deepest(const struct cycles *c);

/* Returns whether the current rise is longer and higher than the rise of any earlier cycle. */
bool cycles_left_behind(const struct cycles *c, uint64_t now_ns);

/*
 * Fits a line through the peaks. `known` is false in two cases: fewer than three peaks, or no
 * growth.
 */
struct peak_trend cycles_trend(const struct cycles *c, uint64_t now_ns);

#endif

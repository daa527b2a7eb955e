/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: a value that rises and falls again and again, as caches, pools and garbage collectors
 * make it. A rise within a cycle says nothing about the limit: only the peaks do, and only when
 * there are several.
 */
#ifndef FS_MODEL_CYCLES_H
#define FS_MODEL_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

#define CYCLES_KEPT 8

/* A fall of this share of the peak, one to, ends a rise; so much of a rise ends a fall. */
#define CYCLES_SWING 16

/* Zero-initialise. The last cycles, the oldest first. */
struct cycles {
	uint32_t n;
	bool falling;
	bool begun;
	uint64_t top_ns, top; /* of the rise that goes on, or the last one */
	uint64_t since_ns;    /* when that rise began */
	uint64_t last, step;  /* the latest value; the largest rise at once, in this rise */
	struct {
		uint64_t peak_ns, peak;
		uint64_t low_ns, low; /* after it */
		uint64_t step;	      /* the largest rise at once before it */
	} cycle[CYCLES_KEPT];
};

/* Where the peaks are now, and how they grow. */
struct peak_trend {
	bool known;
	bool sure;	     /* peaks and lows grow, each of them, and evenly */
	double now;	     /* the line through the peaks, at the time asked for */
	double per_second;   /* its slope */
	double error;	     /* of the slope: one standard error */
	double scatter;	     /* of peaks around the line: standard deviation */
	double span, middle; /* seconds from the first peak to the last; from the middle to now */
	double period;	     /* seconds from peak to peak */
	int peaks;
};

/* Times do not go back. */
void cycles_add(struct cycles *c, uint64_t t_ns, uint64_t value);

/* Seconds from peak to peak, in the mean; 0: there were not two. */
double cycles_period(const struct cycles *c);

/* Whether the value goes up and down still: there were two peaks, and the last is not long ago. */
bool cycles_go_on(const struct cycles *c, uint64_t now_ns);

/* The highest peak of late, where the value goes up and down still; else 0. */
uint64_t cycles_high(const struct cycles *c, uint64_t now_ns);

/* The furthest that the value fell from a peak. */
uint64_t cycles_deepest(const struct cycles *c);

/* Whether the rise that goes on has left what the cycles were: it is longer and higher than any. */
bool cycles_left_behind(const struct cycles *c, uint64_t now_ns);

/* A line through the peaks. Not known of less than three, or where they do not grow. */
struct peak_trend cycles_trend(const struct cycles *c, uint64_t now_ns);

#endif

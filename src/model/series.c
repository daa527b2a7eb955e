// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/series.h"

#include <string.h>

/*
 * Length of a burst (a fast rise). It is just below 1 s, so that values of two scans, one second
 * apart, are in separate bursts.
 */
#define BURST_NS 900000000ULL

/* Returns the point to drop: that with the closest neighbours, relative to its age. */
static uint32_t most_dispensable(const struct series *s)
{
	uint64_t now = s->point[s->n - 1].t_ns;
	double least = 0;
	uint32_t found = 1;

	for (uint32_t i = 1; i + 1 < s->n; i++) {
		double gap = s->point[i + 1].t_ns - s->point[i - 1].t_ns;
		double share = gap / (now - s->point[i].t_ns);

		if (i == 1 || share < least) {
			least = share;
			found = i;
		}
	}
	return found;
}

static void end_burst(struct series *s)
{
	if (s->rise > s->burst) {
		s->burst_2 = s->burst;
		s->burst = s->rise;
	} else if (s->rise > s->burst_2) {
		s->burst_2 = s->rise;
	}
	s->rise = 0;
}

static void keep_burst(struct series *s, uint64_t t_ns, uint64_t value)
{
	if (value < s->last || t_ns > s->run_ns + BURST_NS) {
		end_burst(s);
		s->run_ns = t_ns > s->last_ns + BURST_NS ? t_ns : s->last_ns;
		s->run = value < s->last ? value : s->last;
	}
	if (value - s->run > s->rise)
		s->rise = value - s->run;
}

struct bursts series_bursts(const struct series *s)
{
	struct series ended = {};

	if (!s)
		return (struct bursts){};
	ended.rise = s->rise;
	ended.burst = s->burst;
	ended.burst_2 = s->burst_2;
	end_burst(&ended);
	return (struct bursts){ended.burst, ended.burst_2};
}

static void drop_point(struct series *s, uint32_t i)
{
	if (s->point[i + 1].low > s->point[i].low)
		s->point[i + 1].low = s->point[i].low;
	s->n--;
	memmove(&s->point[i], &s->point[i + 1], (s->n - i) * sizeof(s->point[0]));
}

static void add_point(struct series *s, uint64_t t_ns, uint64_t high, uint64_t low)
{
	if (s->n == SERIES_POINTS)
		drop_point(s, most_dispensable(s));
	s->point[s->n].t_ns = t_ns;
	s->point[s->n].high = high;
	s->point[s->n].low = low;
	s->n++;
}

/*
 * Returns whether to move the last point to t_ns instead of adding a point: t_ns is less than a
 * step after the point before it.
 */
static bool is_within_step(const struct series *s, uint64_t t_ns)
{
	return t_ns - s->point[s->n > 1 ? s->n - 2 : 0].t_ns < SERIES_STEP_NS;
}

void series_add(struct series *s, uint64_t t_ns, uint64_t value)
{
	uint64_t high = value;

	if (!s->n) {
		s->run_ns = s->last_ns = t_ns;
		s->run = s->last = value;
		cycles_add(&s->cycles, t_ns, value);
		add_point(s, t_ns, value, value);
		return;
	}
	if (t_ns < s->last_ns)
		t_ns = s->last_ns;
	keep_burst(s, t_ns, value);
	cycles_add(&s->cycles, t_ns, value);
	s->last_ns = t_ns;
	s->last = value;
	if (high < s->point[s->n - 1].high)
		high = s->point[s->n - 1].high;
	if (!is_within_step(s, t_ns)) {
		add_point(s, t_ns, high, value);
		return;
	}
	s->point[s->n - 1].high = high;
	if (s->point[s->n - 1].low > value)
		s->point[s->n - 1].low = value;
	if (s->n > 1)
		s->point[s->n - 1].t_ns = t_ns;
}

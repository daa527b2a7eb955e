// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/cycles.h"

#include <math.h>
#include <string.h>

/*
 * A value is no longer cyclic after a rise that takes longer than LEFT_PERIODS periods, or after
 * QUIET_PERIODS periods without a peak.
 */
#define LEFT_PERIODS  3
#define QUIET_PERIODS 3
#define QUIET_NS      60e9
/* Number of standard errors by which the slope of the peaks must exceed 0. */
#define CLEAR	    3.5
#define SURE_CLEAR  6
#define SURE_PEAKS  4
#define LEAST_PEAKS 3
/*
 * Peaks count as growing only if the lows grow too: with at least this share of the peaks' slope.
 */
#define LOWS_SHARE (1 / 3.0)
/*
 * Growth is ending if the growth of the second half of the peaks is less than this share of the
 * growth of the first half.
 */
#define SLOWED	    0.6
#define LEAST_SWING 2
#define STEPS	    1.5

static uint64_t swing_of(uint64_t peak)
{
	return peak / CYCLES_SWING > LEAST_SWING ? peak / CYCLES_SWING : LEAST_SWING;
}

static void end_rise(struct cycles *c, uint64_t t_ns, uint64_t value)
{
	if (c->n == CYCLES_KEPT) {
		c->n--;
		memmove(&c->cycle[0], &c->cycle[1], c->n * sizeof(c->cycle[0]));
	}
	c->cycle[c->n].peak_ns = c->top_ns;
	c->cycle[c->n].peak = c->top;
	c->cycle[c->n].low_ns = t_ns;
	c->cycle[c->n].low = value;
	c->cycle[c->n].step = c->step;
	c->n++;
	c->falling = true;
	c->step = 0;
}

static void take(struct cycles *c, uint64_t t_ns, uint64_t value)
{
	if (!c->falling) {
		if (value > c->top) {
			c->top = value;
			c->top_ns = t_ns;
		} else if (c->top - value >= swing_of(c->top)) {
			end_rise(c, t_ns, value);
		}
		return;
	}
	if (value <= c->cycle[c->n - 1].low) {
		c->cycle[c->n - 1].low = value;
		c->cycle[c->n - 1].low_ns = t_ns;
	} else if (value - c->cycle[c->n - 1].low >= swing_of(c->cycle[c->n - 1].peak)) {
		c->falling = false;
		c->since_ns = c->cycle[c->n - 1].low_ns;
		c->top_ns = t_ns;
		c->top = value;
	}
}

void cycles_add(struct cycles *c, uint64_t t_ns, uint64_t value)
{
	if (!c->begun) {
		c->begun = true;
		c->top_ns = c->since_ns = t_ns;
		c->top = c->last = value;
		return;
	}
	if (value > c->last && value - c->last > c->step)
		c->step = value - c->last;
	c->last = value;
	take(c, t_ns, value);
}

double cycles_period(const struct cycles *c)
{
	return c->n < 2 ? 0 : (c->cycle[c->n - 1].peak_ns - c->cycle[0].peak_ns) / 1e9 / (c->n - 1);
}

bool cycles_go_on(const struct cycles *c, uint64_t now_ns)
{
	return c->n >= 2 &&
	       now_ns < c->cycle[c->n - 1].peak_ns + QUIET_PERIODS * cycles_period(c) * 1e9;
}

uint64_t cycles_high(const struct cycles *c, uint64_t now_ns)
{
	double late = QUIET_PERIODS * cycles_period(c) * 1e9;
	uint64_t high = 0;

	if (late < QUIET_NS)
		late = QUIET_NS;
	for (uint32_t i = 0; c->n >= 2 && i < c->n; i++)
		if (now_ns < c->cycle[i].peak_ns + late && c->cycle[i].peak > high)
			high = c->cycle[i].peak;
	return high;
}

uint64_t cycles_deepest(const struct cycles *c)
{
	uint64_t deepest = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->cycle[i].peak - c->cycle[i].low > deepest)
			deepest = c->cycle[i].peak - c->cycle[i].low;
	return deepest;
}

bool cycles_left_behind(const struct cycles *c, uint64_t now_ns)
{
	uint64_t high = 0, low = UINT64_MAX;
	double longest = cycles_period(c) * 1e9;

	for (uint32_t i = 0; i < c->n; i++) {
		high = c->cycle[i].peak > high ? c->cycle[i].peak : high;
		low = c->cycle[i].low < low ? c->cycle[i].low : low;
	}
	return c->n && !c->falling && c->top > high && c->top - high > high - low &&
	       now_ns - c->since_ns > LEFT_PERIODS * longest;
}

struct line {
	double mean_x, mean_y, slope, scatter, error;
};

static struct line fit(const double *x, const double *y, int n)
{
	struct line l = {};
	double across = 0, along = 0, rest = 0;

	for (int i = 0; i < n; i++) {
		l.mean_x += x[i] / n;
		l.mean_y += y[i] / n;
	}
	for (int i = 0; i < n; i++) {
		across += (x[i] - l.mean_x) * (x[i] - l.mean_x);
		along += (x[i] - l.mean_x) * (y[i] - l.mean_y);
	}
	if (across <= 0)
		return l;
	l.slope = along / across;
	for (int i = 0; i < n; i++) {
		double off = y[i] - l.mean_y - l.slope * (x[i] - l.mean_x);

		rest += off * off;
	}
	/* counts are integers: a standard deviation below half a unit cannot be measured */
	l.scatter = sqrt((rest + 0.25 * n) / (n > 2 ? n - 2 : 1));
	l.error = l.scatter / sqrt(across);
	return l;
}

/*
 * Returns whether the peaks grew by more than a measurement error. During a fast rise, a scan
 * misses the peak by up to one step between scans, and such errors may look like growth.
 */
static bool outgrow_steps(const struct cycles *c)
{
	uint64_t step = 0, first = c->cycle[0].peak, last = c->cycle[c->n - 1].peak;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->cycle[i].step > step)
			step = c->cycle[i].step;
	return last > first && last - first > STEPS * step;
}

/* Returns whether each peak and each low is above the last, and growth does not slow down. */
static bool grow_evenly(const struct cycles *c, int n)
{
	int half = n / 2;
	double early = (double)c->cycle[half].peak - c->cycle[0].peak;
	double late = (double)c->cycle[n - 1].peak - c->cycle[n - 1 - half].peak;

	for (int i = 1; i < n; i++)
		if (c->cycle[i].peak <= c->cycle[i - 1].peak ||
		    (i < n - 1 && c->cycle[i].low <= c->cycle[i - 1].low))
			return false;
	return late >= SLOWED * early;
}

struct peak_trend cycles_trend(const struct cycles *c, uint64_t now_ns)
{
	/* Student's t at 97.5 %, by degrees of freedom. */
	static const double student[] = {0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45};
	double x[CYCLES_KEPT], peak[CYCLES_KEPT], low[CYCLES_KEPT];
	struct peak_trend t = {.peaks = c->n};
	struct line peaks, lows;
	int n = c->n;

	if (n < LEAST_PEAKS)
		return t;
	for (int i = 0; i < n; i++) {
		x[i] = ((double)c->cycle[i].peak_ns - (double)now_ns) / 1e9;
		peak[i] = c->cycle[i].peak;
		low[i] = c->cycle[i].low;
	}
	peaks = fit(x, peak, n);
	/* while the value falls, the low after the last peak is not known yet */
	lows = fit(x, low, n - c->falling);
	if (peaks.slope <= peaks.error * fmax(CLEAR, student[n - 2]) ||
	    lows.slope < peaks.slope * LOWS_SHARE || !outgrow_steps(c) || !grow_evenly(c, n))
		return t;
	t.known = true;
	t.sure = n >= SURE_PEAKS && peaks.slope > SURE_CLEAR * peaks.error;
	t.per_second = peaks.slope;
	t.error = peaks.error;
	t.scatter = peaks.scatter;
	t.now = peaks.mean_y - peaks.slope * peaks.mean_x;
	t.span = x[n - 1] - x[0];
	t.middle = -peaks.mean_x;
	t.period = t.span / (n - 1);
	return t;
}

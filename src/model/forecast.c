// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>
#include <stdlib.h>

#include "model/series.h"

#define MIN_POINTS 4
#define MAX_BLOCKS 8
#define MIN_WINDOW (1.0 / 512) /* shortest window, as a share of the time observed */

/* CLEAR: growth counts as real if its rate is at least this many standard errors above 0. */
#define CLEAR 3.5
/* Halving the window doubles the number of windows that are tried: CLEAR rises by this factor. */
#define CLEARER 1.15
/* BENT: a rate is changing if its slope is at least this many standard errors from 0. */
#define BENT 2.0
/*
 * A forecast's interval is widened by the share DOUBT_NEAR, and by DOUBT_FAR for each window length
 * that the forecast reaches ahead.
 */
#define DOUBT_NEAR 0.03
#define DOUBT_FAR  0.08
/*
 * There is no forecast for a limit that is far away: at the present rate, reaching it takes more
 * than TOO_FAR * FORECAST_REACH window lengths.
 */
#define TOO_FAR 8
/* No forecast if the latest predicted time is more than this many times the earliest. */
#define VAGUE 8
/*
 * There is no forecast if the value fell in the last FALL_SEEN windows by more than this share of
 * its growth.
 */
#define FALL	  0.5
#define FALL_SEEN 4
/* A value is treated as cyclic if its deepest fall is more than this share of its whole rise. */
#define SWINGS 0.25
/* A forecast without cycles is sure if at most this share of the limit is left. */
#define SURE_LEFT 0.02

/* A window of a series, cut into blocks of equal time. All rates are per second. */
struct trend {
	double seconds;
	int blocks;
	double mark[MAX_BLOCKS + 1]; /* peak of the value at each block boundary */
	double rate, scatter;	     /* mean of the blocks' rates, and their standard deviation */
	double bend, bend_error;     /* change of the rate per second, and its standard error */
	double early, late;	     /* mean rates of the first half and of the last half */
	double fallen;		     /* deepest fall below an earlier peak, divided by the rise */
};

/* Returns Student's t at 97.5 % for `freedom` degrees of freedom. */
static double student(int freedom)
{
	static const double t[MAX_BLOCKS] = {0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36};

	return t[freedom];
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Returns the peak value at t_ns, interpolated between points, and constant after the last one.
 * Successive calls need ascending times: *next is the first point after t_ns.
 */
static double high_at(const struct series *s, double t_ns, uint32_t *next)
{
	double from, to, share;
	uint32_t i = *next;

	while (i < s->n && s->point[i].t_ns <= t_ns)
		i++;
	*next = i;
	if (!i || i == s->n)
		return s->point[i ? i - 1 : 0].high;
	from = s->point[i - 1].t_ns;
	to = s->point[i].t_ns;
	share = (t_ns - from) / (to - from);
	return s->point[i - 1].high + share * (s->point[i].high - s->point[i - 1].high);
}

/* Returns the median slope of all pairs of block boundaries (Theil-Sen estimator), in 1/s. */
static double median_slope(const struct trend *t)
{
	double slope[MAX_BLOCKS * (MAX_BLOCKS + 1) / 2];
	int pairs = 0;

	for (int i = 0; i <= t->blocks; i++)
		for (int j = i + 1; j <= t->blocks; j++)
			slope[pairs++] = (t->mark[j] - t->mark[i]) / (j - i);
	qsort(slope, pairs, sizeof(slope[0]), by_value);
	return (slope[pairs / 2] + slope[(pairs - 1) / 2]) / 2 * t->blocks / t->seconds;
}

/* Sets mean, scatter and slope (least squares) of the rates of the blocks. */
static void fit_rates(struct trend *t)
{
	const double *mark = t->mark;
	double per = t->seconds / t->blocks, middle = (t->blocks - 1) / 2.0;
	double rate[MAX_BLOCKS], sum = 0, squares = 0, along = 0, across = 0, rest = 0;
	/* counts are integers: a scatter below half a unit per block cannot be measured */
	double least = 0.25 / (per * per);

	t->rate = (mark[t->blocks] - mark[0]) / t->seconds;
	t->early = t->late = 0;
	for (int i = 0; i < t->blocks; i++) {
		double x = i - middle;

		rate[i] = (mark[i + 1] - mark[i]) / per;
		sum += (rate[i] - t->rate) * (rate[i] - t->rate);
		squares += x * x;
		along += x * rate[i];
		if (i < t->blocks / 2)
			t->early += rate[i] / (t->blocks / 2);
		if (i >= t->blocks - t->blocks / 2)
			t->late += rate[i] / (t->blocks / 2);
	}
	t->scatter = sqrt(sum / (t->blocks - 1) + least);
	across = along / squares;
	for (int i = 0; i < t->blocks; i++) {
		double off = rate[i] - t->rate - across * (i - middle);

		rest += off * off;
	}
	t->bend = across / per;
	t->bend_error = sqrt((rest + 2 * least) / (t->blocks - 2) / squares) / per;
}

/* Returns the deepest fall of the value below an earlier peak, since from_ns. */
static double deepest_fall(const struct series *s, double from_ns)
{
	double deepest = s->point[s->n - 1].high - s->last;

	for (uint32_t i = s->n - 1; i && s->point[i - 1].t_ns >= from_ns; i--)
		if (s->point[i].low + deepest < s->point[i - 1].high)
			deepest = s->point[i - 1].high - s->point[i].low;
	return deepest;
}

static bool take_trend(const struct series *s, uint64_t now_ns, double window_ns, struct trend *ret)
{
	double from_ns = now_ns - window_ns, rise;
	uint32_t next = 0;
	int points = now_ns >= s->point[s->n - 1].t_ns + SERIES_STEP_NS;

	for (uint32_t i = 0; i < s->n; i++)
		points += s->point[i].t_ns >= from_ns;
	if (points < MIN_POINTS)
		return false;
	ret->blocks = points - 1 < MAX_BLOCKS ? points - 1 : MAX_BLOCKS;
	ret->seconds = window_ns / 1e9;
	for (int i = 0; i <= ret->blocks; i++)
		ret->mark[i] = high_at(s, from_ns + window_ns * i / ret->blocks, &next);
	rise = ret->mark[ret->blocks] - ret->mark[0];
	if (rise <= 0)
		return false;
	fit_rates(ret);
	ret->fallen = deepest_fall(s, now_ns - FALL_SEEN * window_ns) / rise;
	return true;
}

/*
 * Returns the seconds until a value has risen by `left`, if its rate, now `rate`, changes per
 * second by the share `growth` of itself. Returns INFINITY if the value levels off earlier.
 */
static double time_to(double left, double rate, double growth)
{
	double of = growth * left / rate;

	if (fabs(of) < 1e-9)
		return left / rate;
	return of > -1 ? log1p(of) / growth : INFINITY;
}

/*
 * Forecasts for a steady rate when the limit may first be reached. The interval accounts for the
 * uncertainty of rate and scatter, which come from a few blocks, and for future scatter (Fieller's
 * theorem).
 */
static bool extend_steady(const struct trend *t, double left, struct forecast *ret)
{
	double q = student(t->blocks - 1);
	double noise = q * q * t->scatter * t->scatter * t->seconds / t->blocks;
	double a = t->rate * t->rate - noise / t->seconds;
	double b = t->rate * left + noise / 2, root, slope = median_slope(t);

	if (a <= 0 || slope <= 0)
		return false;
	root = sqrt(noise * (t->rate * left + noise / 4 + left * left / t->seconds));
	ret->low = (b - root) / a;
	ret->high = (b + root) / a;
	ret->seconds = left / slope;
	ret->per_second = slope;
	return true;
}

/*
 * Forecasts for a rate that rises. The latest time assumes that the rate stays as it is now, the
 * earliest that it rises faster than before.
 */
static bool extend_faster(const struct trend *t, double left, struct forecast *ret)
{
	double q = student(t->blocks - 2), half = t->seconds / 2;
	double now = t->rate + t->bend * half, error = q * t->bend_error * half;
	double early = t->early > t->late / 64 ? t->early : t->late / 64;
	double share = log(t->late / early) / half, fast = t->late * exp(share * half / 2);
	double even = 2 * left / (now + sqrt(now * now + 2 * t->bend * left));

	if (fast < now)
		fast = now;
	if (share < t->bend / now)
		share = t->bend / now;
	ret->seconds = sqrt(even * time_to(left, fast, share));
	ret->low = time_to(left, fast + error, share + q * t->bend_error / now);
	ret->high = left / (now - error > t->rate ? now - error : t->rate);
	ret->per_second = now;
	return true;
}

/*
 * Forecasts for a rate that falls. The earliest time assumes that the rate stays as it is now, the
 * latest that it continues to fall.
 */
static bool extend_slower(const struct trend *t, double left, struct forecast *ret)
{
	double q = student(t->blocks - 2), half = t->seconds / 2;
	double now = t->rate + t->bend * half, error = q * t->bend_error * half;

	if (now <= error)
		return false;
	ret->seconds = time_to(left, now, t->bend / now);
	ret->high = time_to(left, now - error, (t->bend - q * t->bend_error) / now);
	ret->low = left / (now + error < t->rate ? now + error : t->rate);
	ret->per_second = now;
	return isfinite(ret->seconds) && isfinite(ret->high);
}

/*
 * Returns whether a window yields a forecast. `*slowed` is true if growth was ending in a longer
 * window.
 */
static bool extend(const struct trend *t, double left, double clear, bool *slowed,
		   struct forecast *ret)
{
	double bent = t->bend / t->bend_error, error = t->scatter / sqrt(t->blocks), doubt;
	bool ends = t->late < (*slowed ? 0.85 : 0.5) * t->early, known;
	bool far = left > TOO_FAR * FORECAST_REACH * t->seconds * fmax(t->rate, t->late);

	if (*slowed)
		clear *= 2;
	*slowed |= ends || bent < -BENT;
	if (ends || far || t->fallen > FALL || t->rate < clear * error ||
	    t->rate < student(t->blocks - 1) * error)
		return false;
	if (bent > BENT)
		known = extend_faster(t, left, ret);
	else if (bent < -BENT)
		known = extend_slower(t, left, ret);
	else
		known = extend_steady(t, left, ret);
	if (!known || ret->seconds > FORECAST_REACH * t->seconds)
		return false;
	doubt = 1 + DOUBT_NEAR + DOUBT_FAR * ret->seconds / t->seconds;
	ret->low /= doubt;
	ret->high *= doubt;
	return ret->seconds >= ret->low && ret->seconds <= ret->high &&
	       ret->high <= VAGUE * ret->low;
}

/*
 * Returns whether a value falls so deep, compared with its whole rise, that a rise predicts
 * nothing.
 */
static bool swings(const struct series *s, uint64_t now_ns)
{
	uint64_t high = s->point[s->n - 1].high, first = s->point[0].low;
	double rise = high > first ? high - first : 0;

	return s->cycles.n && !cycles_left_behind(&s->cycles, now_ns) &&
	       cycles_deepest(&s->cycles) > SWINGS * rise;
}

/*
 * Forecasts when the line through the peaks of cycles reaches the limit. The first peak above the
 * limit follows at most one cycle later.
 */
static struct forecast extend_peaks(const struct series *s, uint64_t now_ns, uint64_t limit)
{
	struct peak_trend t = cycles_trend(&s->cycles, now_ns);
	struct forecast f = {};
	double at, far, error, doubt;

	if (!t.known || !cycles_go_on(&s->cycles, now_ns))
		return f;
	at = fmax(0, (limit - t.now) / t.per_second);
	far = (at + t.middle) * t.error;
	error = student(t.peaks - 2) *
		sqrt(t.scatter * t.scatter * (1 + 1.0 / t.peaks) + far * far) / t.per_second;
	if (at > FORECAST_REACH * t.span)
		return f;
	f.seconds = at + t.period / 2;
	doubt = 1 + DOUBT_NEAR + DOUBT_FAR * at / t.span;
	f.low = fmax(0, (at - error) / doubt);
	f.high = (at + t.period + error) * doubt;
	f.per_second = t.per_second;
	f.sure = t.sure && at <= t.span; /* sure only as far ahead as the known cycles reach back */
	f.known = f.high <= VAGUE * f.low || f.high <= 2 * t.period + error;
	return f.known ? f : (struct forecast){};
}

struct forecast series_forecast(const struct series *s, uint64_t now_ns, uint64_t limit)
{
	double left, whole, clear = CLEAR;
	struct forecast f = {};
	bool slowed = false;
	struct trend t;

	if (!s || s->n < MIN_POINTS || s->point[s->n - 1].high >= limit)
		return f;
	if (now_ns < s->point[s->n - 1].t_ns)
		now_ns = s->point[s->n - 1].t_ns;
	if (swings(s, now_ns))
		return extend_peaks(s, now_ns, limit);
	left = limit - s->point[s->n - 1].high;
	whole = now_ns - s->point[0].t_ns;
	for (double share = 1; share >= MIN_WINDOW; share /= 2, clear *= CLEARER) {
		if (!take_trend(s, now_ns, whole * share, &t))
			break;
		f.known = extend(&t, left, clear, &slowed, &f);
		f.sure = f.known && left <= limit * SURE_LEFT;
		if (f.known)
			return f;
	}
	return (struct forecast){};
}

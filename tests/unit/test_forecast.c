// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>
#include <time.h>

#include "../workloads/chance.h"
#include "fixture.h"
#include "tap.h"

#define TRIALS 500

static double exponential(void)
{
	return -log(1 - chance());
}

static int poisson(double mean)
{
	double p = exp(-mean), sum = p, u = chance();
	int n = 0;

	while (u > sum && n < 1000)
		sum += p *= mean / ++n;
	return n;
}

/* A growing value that is scanned each second: its random parameters and its current state. */
struct run {
	double limit, first, left;
	double looks; /* approximate number of scans until the value reaches its limit */
	double rate;  /* growth per scan that reaches the limit in `looks` scans */
	double noise, period, level, until, every, size;
	double t, sum, phase;
	bool idle;
};

static void begin_linear(struct run *r)
{
}

static double linear(struct run *r)
{
	return r->rate * r->t;
}

static void begin_noisy(struct run *r)
{
	r->noise = r->rate * between(0, 3);
}

static double noisy(struct run *r)
{
	return r->rate * r->t + r->noise * normal();
}

static void begin_bursts(struct run *r)
{
	double bursts = between(20, 300);

	if (bursts > 2 * r->looks)
		bursts = 2 * r->looks;
	r->every = bursts / r->looks;
	r->size = r->left / bursts;
}

static double bursts(struct run *r)
{
	return r->sum += poisson(r->every) * r->size;
}

static double bursts_of_all_sizes(struct run *r)
{
	for (int n = poisson(r->every); n > 0; n--)
		r->sum += r->size * exponential();
	return r->sum;
}

static double bursts_some_huge(struct run *r)
{
	for (int n = poisson(r->every); n > 0; n--)
		r->sum += r->size * exp(normal() - 0.5);
	return r->sum;
}

static void begin_batches(struct run *r)
{
	r->period = fmax(1, r->looks / between(5, 45));
	r->phase = r->period * chance();
}

static double batches(struct run *r)
{
	if (--r->phase <= 0) {
		r->phase += r->period;
		r->sum += r->rate * r->period * between(0.8, 1.2);
	}
	return r->sum;
}

static void begin_on_off(struct run *r)
{
	r->period = r->phase = 2 + r->looks / 20 * chance();
	r->until = r->period * between(0.5, 2.5);
}

static double on_off(struct run *r)
{
	if (--r->phase <= 0) {
		r->idle = !r->idle;
		r->phase += (r->idle ? r->until : r->period) * between(0.3, 1.7);
	}
	if (!r->idle)
		r->sum += r->rate * (1 + r->until / r->period) * between(0.5, 1.5);
	return r->sum;
}

static void begin_quadratic(struct run *r)
{
	r->level = chance() < 0.5 ? 1 : 0.5;
	r->noise = r->rate * chance();
}

static double quadratic(struct run *r)
{
	double x = r->t / r->looks;

	return r->left * (r->level * x * x + (1 - r->level) * x) + r->noise * normal();
}

static void begin_exponential(struct run *r)
{
	r->level = log(r->limit / r->first) / r->looks;
	r->noise = 0.2 * r->first * r->level * chance();
}

static double exponentially(struct run *r)
{
	return r->first * (exp(r->level * r->t) - 1) + r->noise * normal();
}

static void begin_after_jump(struct run *r)
{
	r->until = between(3, 8);
	r->level = r->left * between(0, 0.5);
	r->rate = (r->left - r->level) / r->looks;
}

static double after_jump(struct run *r)
{
	return r->rate * r->t + r->level * fmin(1, r->t / r->until);
}

static void begin_after_idle(struct run *r)
{
	r->until = r->looks * between(1, 5);
	r->looks += r->until;
}

static double after_idle(struct run *r)
{
	return r->t < r->until ? 0 : r->rate * (r->t - r->until);
}

static void begin_leaky_saw(struct run *r)
{
	r->level = r->left * between(0.02, 0.12);
	r->period = fmax(3, r->looks / between(20, 60));
}

static double leaky_saw(struct run *r)
{
	return r->rate * r->t + r->level * fmod(r->t, r->period) / r->period;
}

static void begin_saw(struct run *r)
{
	r->level = r->left * between(0, 0.8);
	r->period = between(4, 4 + r->looks / 8);
	r->phase = chance();
	r->until = r->period * 1.15;
}

static double saw(struct run *r)
{
	return r->level * fmod(r->t / r->period + r->phase, 1);
}

static void begin_ragged_saw(struct run *r)
{
	r->level = r->left * between(0, 0.6);
	r->period = r->phase = between(4, 4 + r->looks / 8);
	r->until = r->period * 2;
}

static double ragged_saw(struct run *r)
{
	if (--r->phase <= 0) {
		r->phase += r->period * between(0.5, 1.5);
		r->sum = 0;
	}
	return r->sum += r->level / r->period * between(0.7, 1.3);
}

static double flat(struct run *r)
{
	return 0;
}

static void begin_flat_noise(struct run *r)
{
	r->noise = r->left * between(0, 0.1);
}

static double flat_noise(struct run *r)
{
	return r->noise * normal();
}

static void begin_walk(struct run *r)
{
	r->noise = r->left / sqrt(r->looks) * between(0.3, 1);
}

static double walk(struct run *r)
{
	return r->sum = fmax(-r->first, r->sum + r->noise * normal());
}

static void begin_plateau(struct run *r)
{
	r->period = r->looks * between(0.05, 0.35);
	r->level = r->left * between(0.2, 0.8);
	r->until = 1.5 * r->period;
}

static double plateau(struct run *r)
{
	return r->level * fmin(1, r->t / r->period);
}

static void begin_burst_plateau(struct run *r)
{
	begin_plateau(r);
	r->every = fmin(2, 30 / r->period);
	r->size = r->level / (r->every * r->period);
}

static double burst_plateau(struct run *r)
{
	if (r->t < r->period)
		r->sum += poisson(r->every) * r->size;
	return r->sum;
}

static void begin_saturation(struct run *r)
{
	begin_plateau(r);
	r->period *= 0.6;
	r->until = r->period;
	r->noise = r->level / r->looks * between(0, 3);
}

static double saturation(struct run *r)
{
	return r->level * (1 - exp(-r->t / r->period)) + r->noise * normal();
}

static void begin_step(struct run *r)
{
	r->period = r->looks * between(0, 0.8);
	r->level = r->left * between(0, 0.6);
	r->until = r->period + 3;
}

static double step(struct run *r)
{
	return r->t < r->period ? 0 : r->level;
}

/* Returns growth whose rate varies by about half, up and down, within 50 scans. */
static double wandering(struct run *r)
{
	r->level = 0.98 * r->level + 0.1 * normal();
	return r->sum += r->rate * exp(r->level - 0.12);
}

static double decelerating(struct run *r)
{
	return r->left * sqrt(r->t / r->looks);
}

static const struct kind {
	const char *name;
	void (*begin)(struct run *r);
	double (*value)(struct run *r); /* returns the growth since the first value */
	/* minimum and maximum percentage of trials in which a forecast is given */
	int least, most;
	int held; /* minimum percentage of right forecasts; 0 means 90 */
} kinds[] = {
	{"linear", begin_linear, linear, 95, 100},
	{"linear with noise", begin_noisy, noisy, 80, 100},
	{"linear after a jump", begin_after_jump, after_jump, 80, 100},
	{"linear after idling", begin_after_idle, after_idle, 60, 100},
	{"bursts of one size", begin_bursts, bursts, 70, 100},
	{"bursts of all sizes", begin_bursts, bursts_of_all_sizes, 60, 100},
	{"bursts, some huge", begin_bursts, bursts_some_huge, 50, 100},
	{"regular batches", begin_batches, batches, 65, 100},
	{"on and off", begin_on_off, on_off, 45, 100},
	{"quadratic", begin_quadratic, quadratic, 70, 100},
	{"exponential", begin_exponential, exponentially, 80, 100},
	{"leak under a saw-tooth", begin_leaky_saw, leaky_saw, 70, 100},
	{"decelerating", begin_linear, decelerating, 0, 100},
	{"a rate that wanders", begin_linear, wandering, 0, 100, 70},
	{"saw-tooth", begin_saw, saw, 0, 0},
	{"ragged saw-tooth", begin_ragged_saw, ragged_saw, 0, 0},
	{"flat", begin_linear, flat, 0, 0},
	{"flat with noise", begin_flat_noise, flat_noise, 0, 0},
	{"plateau", begin_plateau, plateau, 0, 0},
	{"step", begin_step, step, 0, 0},
	{"plateau after bursts", begin_burst_plateau, burst_plateau, 0, 1},
	{"saturation with noise", begin_saturation, saturation, 0, 4},
	{"random walk", begin_walk, walk, 0, 4},
};

static double next(struct run *r, const struct kind *kind)
{
	r->t++;
	return fmax(0, r->first + kind->value(r));
}

static struct run draw(const struct kind *kind)
{
	static const double limits[] = {1024, 4096, 65530, 1e9};
	struct run r = {.limit = limits[(int)(4 * chance())]};

	r.first = r.limit * between(0.1, 0.3);
	r.left = r.limit - r.first;
	r.looks = exp(between(log(20), log(1000)));
	r.rate = r.left / r.looks;
	kind->begin(&r);
	return r;
}

struct score {
	int trials, given, early, late;
	double width[TRIALS]; /* width of the forecast interval, divided by the forecast time */
	double error[TRIALS]; /* error of the forecast time, divided by the true time */
};

static void look(struct series *s, double t, double value)
{
	series_add(s, (100 + t) * SECOND, value);
}

/* Scans a growing value and makes a forecast. Simulates further growth to check the forecast. */
static void try_kind(const struct kind *kind, struct score *score)
{
	struct run r = draw(kind);
	double looks = fmax(6, fmax(r.until, r.looks * between(0.1, 0.95)));
	double truth = 0, most = 30 * looks;
	struct series s = {};
	struct forecast f;

	if (kind->begin == begin_after_idle)
		looks = r.until + (r.looks - r.until) * between(0.1, 0.95);
	while (r.t < looks) {
		double value = next(&r, kind);

		if (value >= r.limit)
			return;
		look(&s, r.t + between(0, 0.01), value);
	}
	score->trials++;
	f = series_forecast(&s, s.last_ns, r.limit);
	if (!f.known)
		return;
	while (++truth < most && next(&r, kind) < r.limit)
		;
	/* The value reached the limit at most one second before this scan. */
	score->early += truth < f.low;
	score->late += truth - 1 > f.high || truth >= most;
	score->error[score->given] = fabs(f.seconds - truth) / truth;
	score->width[score->given++] = (f.high - f.low) / f.seconds;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n ? v[n / 2] : 0;
}

static void test_kind(const struct kind *kind)
{
	struct score s = {};
	double given, held;
	int least;

	seed = 42;
	for (int i = 0; i < TRIALS; i++)
		try_kind(kind, &s);
	given = 100.0 * s.given / s.trials;
	held = s.given ? 100.0 * (s.given - s.early - s.late) / s.given : 100;
	printf("# %-22s %6d %6.1f %6.1f %6d %6d %7.2f %7.2f\n", kind->name, s.trials, given, held,
	       s.early, s.late, median(s.width, s.given), median(s.error, s.given));
	ok(s.trials > TRIALS / 2, "%s: tried", kind->name);
	ok(given >= kind->least && given <= kind->most, "%s: given in %d %% to %d %%", kind->name,
	   kind->least, kind->most);
	least = kind->held ? kind->held : 90;
	if (kind->most == 100)
		ok(held >= least, "%s: the interval holds the true time in %d %%", kind->name,
		   least);
}

static void test_kinds(void)
{
	printf("# %-22s %6s %6s %6s %6s %6s %7s %7s\n", "growth", "trials", "given%", "held%",
	       "early", "late", "width", "error");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		test_kind(&kinds[i]);
}

/* Makes a forecast at every scan. At most 0.1 % of the forecasts may contain a time. */
static void test_every_look(const struct kind *kind)
{
	int given = 0, looks = 0;

	seed = 7;
	for (int i = 0; i < TRIALS / 5; i++) {
		struct run r = draw(kind);
		struct series s = {};

		while (r.t < fmin(r.looks, 200) + 2 * r.until) {
			double value = next(&r, kind);

			look(&s, r.t, value);
			looks++;
			given += r.t > 2 * r.until && series_forecast(&s, s.last_ns, r.limit).known;
		}
	}
	ok(given <= looks / 1000, "%s: none at any of %d looks, but %d", kind->name, looks, given);
}

/* Returns a series of `n` values, one every `every` seconds, that grow by `rate` per second. */
static struct series line(int n, double every, double rate)
{
	struct series s = {};

	for (int i = 0; i < n; i++)
		look(&s, i * every, 1000 + rate * i * every);
	return s;
}

static void test_line(void)
{
	struct series s = line(30, 1, 100);
	struct forecast f = series_forecast(&s, s.last_ns, 13900);

	ok(f.known && fabs(f.per_second - 100) < 0.01, "a line: its rate");
	ok(fabs(f.seconds - 100) < 0.01, "a line: when");
	ok(f.low > 60 && f.low < 100 && f.high > 100 && f.high < 160, "a line: within 60 %%");
	f = series_forecast(&s, s.last_ns, 5000);
	ok(f.low > 10 && f.high < 12, "a line: what is near is known well");
	ok(!series_forecast(&s, s.last_ns, 3900).known, "none at the limit");
	ok(!series_forecast(&s, s.last_ns, 2000).known, "none past the limit");
	ok(series_forecast(&s, s.last_ns, 3901).known, "one below the limit");
	ok(series_forecast(&s, s.last_ns, 3900 + 100 * 29 * FORECAST_REACH - 100).known,
	   "one as far as it reaches");
	ok(!series_forecast(&s, s.last_ns, 3900 + 100 * 29 * FORECAST_REACH + 100).known,
	   "none further");
	look(&s, 30, 3800);
	ok(series_forecast(&s, s.last_ns, 5000).known, "a small fall does not end it");
	look(&s, 31, 1000);
	ok(!series_forecast(&s, s.last_ns, 5000).known, "a fall to the begin does");
}

static void test_time_passes(void)
{
	struct series s = line(30, 1, 100);

	ok(series_forecast(&s, s.last_ns + SECOND, 5000).known, "a second later it is known still");
	ok(!series_forecast(&s, s.last_ns + 30 * SECOND, 5000).known,
	   "when nothing more was told for as long as it grew, it is not");
	ok(series_forecast(&s, 0, 5000).known, "a time before the last point is that of it");
}

static void test_few(void)
{
	struct series s = {};

	ok(!series_forecast(NULL, SECOND, 5000).known, "no series: none");
	ok(!series_forecast(&s, SECOND, 5000).known, "no points: none");
	for (int i = 1; i <= 3; i++) {
		s = line(i, 1, 100);
		ok(!series_forecast(&s, s.last_ns, 5000).known, "%d points: none", i);
	}
	s = line(4, 1, 100);
	ok(series_forecast(&s, s.last_ns, 3000).known, "4 points: one");
	s = line(1000, 0.00001, 100);
	ok(s.n == 1 && !series_forecast(&s, s.last_ns, 5000).known,
	   "a thousand points in 10 ms are one: none");
}

static void test_points(void)
{
	struct series s = line(100000, 0.1, 10);
	bool sorted = true, exact = true;
	uint32_t late = 0;

	for (uint32_t i = 1; i < s.n; i++)
		sorted &= s.point[i].t_ns > s.point[i - 1].t_ns;
	for (uint32_t i = 0; i < s.n; i++) {
		double t = (double)s.point[i].t_ns / SECOND - 100;

		exact &= fabs(s.point[i].high - (1000 + 10 * t)) <= 2;
		late += t > 9900;
	}
	ok(s.n <= SERIES_POINTS && s.n >= SERIES_POINTS / 2, "the points stay within their room");
	ok(sorted && exact, "in order of time, each as it was");
	ok(s.point[0].t_ns == 100 * SECOND, "the first stays");
	ok(late >= 12 && late < s.n, "the last hundredth of the time has points of its own: %u",
	   late);
	memset(&s, 0, sizeof(s));
	series_add(&s, SECOND, 10);
	series_add(&s, SECOND + 1, 90);
	series_add(&s, SECOND + 2, 20);
	ok(s.n == 1 && s.point[0].high == 90, "within a step the highest is kept");
	series_add(&s, SECOND / 2, 95);
	ok(s.n == 1 && s.point[0].high == 95, "a time before the last makes no point");
	for (int i = 1; i <= 1000; i++)
		series_add(&s, SECOND + i * SECOND / 100, 100 + i);
	is_u64(s.point[s.n - 1].high, 1100, "the last point is the latest, however many come");
	ok(s.n > SERIES_POINTS / 2, "and the others do not wait for a rest");
}

static void test_bursts(void)
{
	struct series s = {};
	struct bursts b;

	ok(!series_bursts(NULL).largest && !series_bursts(&s).largest, "no points, no burst");
	look(&s, 0, 5000);
	ok(!series_bursts(&s).largest, "what was there first came in no burst");
	look(&s, 1, 5010);
	look(&s, 2, 5800);
	look(&s, 3, 5810);
	look(&s, 4, 5300);
	look(&s, 5, 5900);
	b = series_bursts(&s);
	is_u64(b.largest, 790, "the largest rise from a look to the next");
	is_u64(b.second, 600, "and the second");
	for (int i = 1; i <= 100; i++)
		look(&s, 6 + i / 125.0, 5900 + 20 * i);
	is_u64(series_bursts(&s).largest, 2000, "of many events within a second all is one");
	is_u64(series_bursts(&s).second, 790, "and one alone");
}

static void test_extremes(void)
{
	struct series s = {};
	struct forecast f;

	for (int i = 0; i < 40; i++)
		series_add(&s, UINT64_MAX - 1000 + i, i);
	f = series_forecast(&s, UINT64_MAX, UINT64_MAX - 1);
	ok(!f.known || (isfinite(f.seconds) && isfinite(f.low) && isfinite(f.high)),
	   "times at the end of the clock give no infinite forecast");
	memset(&s, 0, sizeof(s));
	for (int i = 0; i < 10; i++)
		series_add(&s, i * SECOND, i & 1 ? UINT64_MAX - 2 : 0);
	ok(!series_forecast(&s, 10 * SECOND, UINT64_MAX - 1).known, "the widest swings: none");
	for (int i = 0; i < TRIALS * 100; i++) {
		if (!(i % 40))
			memset(&s, 0, sizeof(s));
		series_add(&s,
			   chance() < 0.1 ? chance() * UINT64_MAX : s.last_ns + chance() * SECOND,
			   exp(between(0, 44)));
		f = series_forecast(&s, s.last_ns + chance() * SECOND, exp(between(0, 44)));
		if (f.known && !(f.low >= 0 && f.low <= f.high && isfinite(f.high) &&
				 f.seconds >= f.low && f.seconds <= f.high && f.per_second > 0)) {
			ok(false, "random values, %d: %g in %g to %g", i, f.seconds, f.low, f.high);
			return;
		}
	}
	ok(true, "random values: each interval is one, and holds its time");
}

/* Measures how long a forecast takes. The time is only printed, because machines differ. */
static void tell_cost(void)
{
	struct timespec from, to;
	double ns;
	int known = 0, times = 20000;

	for (int shape = 0; shape < 2; shape++) {
		struct series s = {};

		/* shape 0: even growth; shape 1: a saw-tooth, for which no forecast is possible */
		for (int i = 0; i < 400; i++)
			look(&s, i, 1000 + (shape ? i + i % 10 * 500 : 10 * i));
		clock_gettime(CLOCK_MONOTONIC, &from);
		for (int i = 0; i < times; i++)
			known += series_forecast(&s, s.last_ns, 12000 + i).known;
		clock_gettime(CLOCK_MONOTONIC, &to);
		ns = (to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec);
		printf("# a forecast that is %s: %.2f us\n", shape ? "refused" : "given",
		       ns / times / 1000);
	}
	printf("# a series: %zu bytes; %d given\n", sizeof(struct series), known);
}

int main(void)
{
	test_line();
	test_time_passes();
	test_few();
	test_points();
	test_bursts();
	test_extremes();
	test_kinds();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!kinds[i].most)
			test_every_look(&kinds[i]);
	tell_cost();
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Findings of growth, look by look, over random lives of a value: what never reaches its limit is
 * never called critical by a forecast; of what does reach it, the intervals are right. Seeds are
 * fixed. A third of them was kept apart while the rules were made: its score is told by itself.
 */
#include <math.h>
#include <stdlib.h>

#include "fixture.h"
#include "rules/limits_rules.h"
#include "rules/rules.h"
#include "tap.h"

#define LIVES	   30 /* of each kind */
#define APART(i)   ((i) % 3 == 2)
#define LIMIT	   1000
#define MOST_LOOKS 1500

static struct model m;
static struct findings fs;
static uint64_t seed;

static double chance(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(seed >> 11) / (1ULL << 53);
}

static double between(double low, double high)
{
	return low + (high - low) * chance();
}

static double normal(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += chance();
	return sum - 6;
}

/* What was drawn for a life; each kind uses what it needs. */
struct life {
	double first, top, period, rate, noise, phase, sum, wait;
};

struct kind {
	const char *name;
	bool reaches;
	double (*value)(struct life *l, double t);
};

static double linear(struct life *l, double t)
{
	return l->first + l->rate * t;
}

static double noisy(struct life *l, double t)
{
	return linear(l, t) + 4 * l->noise * normal();
}

static double bursty(struct life *l, double t)
{
	if (--l->wait <= 0) {
		l->wait = between(1, 0.4 * l->period);
		l->sum += l->rate * 0.2 * l->period * between(0.5, 1.5);
	}
	return l->first + l->sum;
}

static double faster(struct life *l, double t)
{
	return l->first + (LIMIT - l->first) * t * t / (6 * l->period) / (6 * l->period);
}

/* A saw-tooth whose floor rises. */
static double leaky_saw(struct life *l, double t)
{
	return l->first + 0.4 * l->rate * t +
	       0.35 * (LIMIT - l->first) * fmod(t / l->period + l->phase, 1);
}

/* The same, and its teeth differ. */
static double ragged_leak(struct life *l, double t)
{
	if (--l->wait <= 0) {
		l->wait = l->period * between(0.7, 1.3);
		l->sum = 0;
	}
	l->sum += 0.3 * (LIMIT - l->first) / l->period * between(0.8, 1.2);
	return l->first + 0.4 * l->rate * t + l->sum;
}

static double plateau(struct life *l, double t)
{
	return l->first + (l->top - l->first) * fmin(1, t / (3 * l->period));
}

static double noisy_plateau(struct life *l, double t)
{
	return fmin(plateau(l, t) + l->noise * normal(), l->top);
}

static double warm_up(struct life *l, double t)
{
	return l->first + (l->top - l->first) * (1 - exp(-t / l->period));
}

/* Batches of files are opened, and then it has what it needs. */
static double stairs(struct life *l, double t)
{
	return l->first + (l->top - l->first) * fmin(1, floor(t / l->period) / 5);
}

static double saw(struct life *l, double t)
{
	return l->first + (l->top - l->first) * fmod(t / l->period + l->phase, 1);
}

static double high_saw(struct life *l, double t)
{
	double foot = 0.6 * l->top;

	return foot + (l->top - foot) * fmod(t / l->period + l->phase, 1);
}

/* Slow up, slow down: a pool that follows the load. */
static double wave(struct life *l, double t)
{
	return l->first + (l->top - l->first) * (0.5 - 0.5 * cos(t / l->period * 6.2831853));
}

static double ragged_saw(struct life *l, double t)
{
	if (--l->wait <= 0) {
		l->wait = l->period * between(0.5, 1.5);
		l->sum = 0;
		l->rate = (l->top - l->first) / l->wait * between(0.4, 1);
	}
	return fmin(l->top, l->first + (l->sum += l->rate));
}

static double noise(struct life *l, double t)
{
	return fmin(0.6 * l->top + 0.1 * l->top * normal(), l->top);
}

/* A few teeth that rise, as caches do that warm up; then they do not. */
static double rising_saw(struct life *l, double t)
{
	double high = fmin(1, (floor(t / l->period) + 1) / 3);

	return l->first + (l->top - l->first) * high * fmod(t / l->period, 1);
}

static const struct kind kinds[] = {
	{"linear", true, linear},
	{"linear with noise", true, noisy},
	{"bursty", true, bursty},
	{"faster and faster", true, faster},
	{"a leak under a saw-tooth", true, leaky_saw},
	{"a leak under a ragged one", true, ragged_leak},
	{"plateau", false, plateau},
	{"plateau with noise", false, noisy_plateau},
	{"warm-up", false, warm_up},
	{"stairs", false, stairs},
	{"saw-tooth", false, saw},
	{"high saw-tooth", false, high_saw},
	{"wave", false, wave},
	{"ragged saw-tooth", false, ragged_saw},
	{"noise", false, noise},
	{"teeth that rise, and stop", false, rising_saw},
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct score {
	int lives, critical, opened_near; /* lives; with a false critical; with F12 at each cycle */
	int told, right;		  /* forecasts, as they change, of those that reach */
	int first; /* told in the first tooth of a saw: they hold if it goes on, and it does not */
	int reached, warned;
};

static struct life draw(void)
{
	struct life l = {.first = between(20, 250), .top = between(550, 950)};

	l.period = exp(between(log(8), log(90)));
	l.rate = (LIMIT - l.first) / (6 * l.period);
	l.noise = between(0, 0.01) * LIMIT;
	l.phase = chance();
	return l;
}

static const struct finding *look(unsigned int t, double value)
{
	struct fs_process_record r = process_record(10, 1, (t + 1) * SECOND - 1);
	struct fs_tick_record tick = tick_record((t + 1) * SECOND);

	model_next_window(&m);
	findings_next_window(&fs);
	r.g.fd_soft = LIMIT;
	r.g.fds = r.g.fd_high = fmax(0, value);
	r.g.map_count = r.g.map_high = 10;
	model_take(&m, &r.h);
	model_take(&m, &tick.h);
	findings_judge(&fs, &m);
	for (size_t i = 0; i < fs.n; i++)
		if (fs.f[i].open && !strcmp(fs.f[i].rule->id, "F13"))
			return &fs.f[i];
	return NULL;
}

static bool is_near(void)
{
	for (size_t i = 0; i < fs.n; i++)
		if (fs.f[i].open && !strcmp(fs.f[i].rule->id, "F12"))
			return true;
	return false;
}

struct told {
	unsigned int at;
	double low, high;
};

static void judge_told(const struct told *t, unsigned int n, unsigned int end, unsigned int fell,
		       struct score *s)
{
	for (unsigned int i = 0; i < n; i++) {
		double truth = (double)end - t[i].at;

		if (fell && t[i].at < fell) {
			s->first++;
			continue;
		}
		s->told++;
		s->right += truth >= t[i].low - 1 && truth <= t[i].high + 1;
	}
}

static void live(const struct kind *kind, uint64_t nth, struct score *s)
{
	struct told told[MOST_LOOKS];
	unsigned int n = 0, t, opened = 0, rises = 0, fell = 0;
	bool critical = false, conditional = true, near = false, reached = false, even;
	double before = 0;
	struct life l;

	seed = nth * 7919 + (kind - kinds) * 104729 + 11;
	l = draw();
	begin_model(&m, NULL);
	memset(&fs, 0, sizeof(fs));
	for (t = 1; t < MOST_LOOKS && !reached; t++) {
		double value = kind->value(&l, t);
		const struct finding *f = look(t, value);

		reached = value >= LIMIT;
		rises += before < LIMIT / 2 && value >= LIMIT / 2;
		if (!fell && value < 0.8 * before)
			fell = t;
		before = value;
		if (f && !reached && f->severity == SEVERITY_CRITICAL)
			critical = true;
		/* one that is only a warning says on what it depends */
		if (f && f->forecast.known && !f->forecast.sure)
			conditional &= f->severity <= SEVERITY_WARNING &&
				       strstr(f->title, "if it goes on") != NULL;
		if (f && f->forecast.known && f->fresh)
			told[n++] = (struct told){t, f->forecast.low, f->forecast.high};
		opened += is_near() && !near;
		near = is_near();
	}
	s->lives++;
	s->reached += reached;
	s->critical += critical && !reached;
	/* of teeth that differ, one that is higher than those of the last minute is news */
	even = kind->value == saw || kind->value == high_saw || kind->value == wave;
	s->opened_near += opened > 3 + (even ? 0 : rises / 5 + t / 120);
	s->warned += reached && n;
	if (!conditional)
		ok(false, "%s, life %d: a forecast that is not sure says so", kind->name, (int)nth);
	if (reached)
		judge_told(told, n, t - 1, fell, s);
	findings_free(&fs);
	model_free(&m);
}

static void add(struct score *to, const struct score *one)
{
	to->lives += one->lives;
	to->critical += one->critical;
	to->opened_near += one->opened_near;
	to->told += one->told;
	to->first += one->first;
	to->right += one->right;
	to->reached += one->reached;
	to->warned += one->warned;
}

static void tell(const char *name, const struct score *s)
{
	printf("# %-28s %5d lives %4d reach, %4d told of it; %4d forecasts, %4d right (and %d of "
	       "a first tooth); %d false critical, %d flap\n",
	       name, s->lives, s->reached, s->warned, s->told, s->right, s->first, s->critical,
	       s->opened_near);
}

int main(void)
{
	struct score all[2] = {}; /* those used while the rules were made; those kept apart */

	for (size_t k = 0; k < NR_KINDS; k++) {
		struct score s = {};

		for (int i = 0; i < LIVES; i++) {
			struct score one = {};

			live(&kinds[k], i, &one);
			if (getenv("SEEDS_SEEN") && APART(i))
				continue;
			add(&s, &one);
			add(&all[APART(i)], &one);
		}
		tell(kinds[k].name, &s);
		ok(kinds[k].reaches ? s.reached == s.lives : !s.reached, "%s: it does what it is",
		   kinds[k].name);
		ok(!s.critical, "%s: no critical forecast that does not come true", kinds[k].name);
		ok(!s.opened_near, "%s: the limit that is near is one finding", kinds[k].name);
		if (kinds[k].reaches)
			ok(s.warned * 10 >= s.reached * 8, "%s: it is told before", kinds[k].name);
	}
	tell("seeds of the making", &all[0]);
	tell("seeds kept apart", &all[1]);
	for (int i = 0; i < 2; i++)
		ok(all[i].right * 100 >= all[i].told * 85, "of forecasts 85 %% are right");
	return tap_done();
}

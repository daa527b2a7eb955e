// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests findings about growth with random series of values. If a value never reaches its limit, no
 * forecast may cause a critical finding. If it does, the time at which it reaches the limit must be
 * in the forecast intervals.
 *
 * Seeds are fixed. A third of the seeds was not used while the rules were written, and the results
 * for these seeds are counted separately.
 */
#include <stdlib.h>

#include "../workloads/growth_patterns.h"
#include "fixture.h"
#include "rules/limits_rules.h"
#include "rules/rules.h"
#include "kept_findings.h"
#include "tap.h"

#define LIVES	   30 /* number of runs of each pattern */
#define APART(i)   ((i) % 3 == 2)
#define MOST_LOOKS 1500

static struct model m;
static struct findings fs;

struct score {
	/*
	 * numbers of simulated processes: all; those with a false critical finding; those for which
	 * F12 nofile-near opens too often
	 */
	int lives, critical, opened_near;
	/*
	 * numbers of forecasts for values that reach their limit: all forecasts that changed; the
	 * right ones
	 */
	int told, right;
	/* forecasts in the first tooth of a saw-tooth, which are right only if growth continues */
	int first;
	int reached, warned;
};

static const struct finding *look(unsigned int t, double value)
{
	struct process_record r = process_record(10, 1, (t + 1) * SECOND - 1);
	struct tick_record tick = tick_record((t + 1) * SECOND);

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
		/*
		 * A forecast that is not sure causes at most a warning. The title then contains a
		 * condition.
		 */
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
	/* A saw-tooth may open F12 nofile-near again if it rises higher than in the last minute. */
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
	/* [0]: seeds that were used while the rules were written; [1]: all other seeds */
	struct score all[2] = {};

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
	numbers_are(0xa68bea71);
	return tap_done();
}

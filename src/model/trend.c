// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/trend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHAINS	    1024
#define SWEEP_EVERY 32 /* number of windows between two removals of exited processes */

struct trend {
	struct table_link link;
	struct process_key of;
	uint64_t first, last; /* numbers of the windows of the first and last value */
	float sample[TREND_FIELDS][TREND_SAMPLES];
};

static struct trend *find(const struct trends *t, const struct process_key *of)
{
	uint64_t hash = subject_hash(of);
	struct trend *one = table_find(&t->by_subject, hash);

	while (one && !same_subject(&one->of, of))
		one = table_next(&one->link, hash);
	return one;
}

static struct trend *make(struct trends *t, const struct process_key *of)
{
	struct trend *one = calloc(1, sizeof(*one)); /* called at most TRENDS_MAX times */

	if (!one)
		return NULL;
	one->first = one->last = t->window;
	if (of) {
		one->of = *of;
		table_add(&t->by_subject, &one->link, subject_hash(of));
		t->n++;
	}
	return one;
}

static float value_of(const struct model *m, const struct subject *s, const struct field *f)
{
	double seconds = model_window_seconds(m);
	uint64_t n = 0;

	if (f->type == FIELD_COUNTER)
		return seconds > 0 ? field_delta(m, s, f) / seconds : 0;
	return field_get(m, s, f, &n) ? n : 0;
}

/* Fills in windows in which a process did not change: counters grew by 0, gauges were constant. */
static void fill(const struct trends *t, struct trend *one)
{
	uint64_t from = one->last + 1;

	if (t->window > TREND_SAMPLES && from < t->window - TREND_SAMPLES)
		from = t->window - TREND_SAMPLES;
	for (size_t i = 0; i < t->fields; i++) {
		float was = t->field[i]->type == FIELD_COUNTER
				    ? 0
				    : one->sample[i][one->last % TREND_SAMPLES];

		for (uint64_t w = from; w < t->window; w++)
			one->sample[i][w % TREND_SAMPLES] = was;
	}
	one->last = t->window;
}

static int look_at(struct trends *t, const struct model *m, const struct subject *s)
{
	struct trend *one = find(t, &s->id);

	if (!one && t->n == TRENDS_MAX) {
		t->lost++;
		return 0;
	}
	if (!one)
		one = make(t, &s->id);
	if (!one)
		return -ENOMEM;
	fill(t, one);
	for (size_t i = 0; i < t->fields; i++) {
		float v = value_of(m, s, t->field[i]);

		one->sample[i][t->window % TREND_SAMPLES] = v;
		if (t->field[i]->type == FIELD_COUNTER)
			t->host->sample[i][t->window % TREND_SAMPLES] += v;
	}
	return 0;
}

static void sweep(struct trends *t, const struct model *m)
{
	struct table_link *one = table_each(&t->by_subject, NULL), *next;

	for (; one; one = next) {
		next = table_each(&t->by_subject, one);
		if (model_find(m, &((struct trend *)one)->of))
			continue;
		table_remove(&t->by_subject, one);
		free(one);
		t->n--;
	}
}

static void drop(struct table_link *one)
{
	free(one);
}

int trends_update(struct trends *t, const struct model *m)
{
	t->window++;
	t->end_ns[t->window % TREND_SAMPLES] = m->last_ns;
	if (!t->host)
		t->host = make(t, NULL);
	if (!t->host || table_make(&t->by_subject, CHAINS))
		return -ENOMEM;
	for (size_t i = 0; i < t->fields; i++)
		t->host->sample[i][t->window % TREND_SAMPLES] = 0;
	t->host->last = t->window;
	for (struct subject *s = model_each_changed(m, NULL); s; s = model_each_changed(m, s))
		if (!s->hidden && look_at(t, m, s))
			return -ENOMEM;
	if (t->window % SWEEP_EVERY == 0)
		sweep(t, m);
	return 0;
}

size_t trends_read(const struct trends *t, const struct process_key *of, const struct field *f,
		   double *ret, size_t n)
{
	struct trend *one = of ? find(t, of) : t->host;
	uint64_t from = t->window < n ? 1 : t->window - n + 1;
	size_t i = 0, there = t->window - from + 1;

	while (i < t->fields && t->field[i] != f)
		i++;
	memset(ret, 0, n * sizeof(*ret));
	if (!one || i == t->fields || !t->window || n > TREND_SAMPLES)
		return 0;
	for (uint64_t w = from; w <= t->window; w++) {
		bool stays = w > one->last && f->type == FIELD_GAUGE;

		if (w >= one->first && (w <= one->last || stays))
			ret[n - there + (w - from)] =
				one->sample[i][(stays ? one->last : w) % TREND_SAMPLES];
	}
	if (one->first > from)
		there = t->window - one->first + 1;
	return there;
}

double trends_span(const struct trends *t, size_t n)
{
	if (n < 2 || n > t->window || n > TREND_SAMPLES)
		return 0;
	return (t->end_ns[t->window % TREND_SAMPLES] -
		t->end_ns[(t->window - n + 1) % TREND_SAMPLES]) /
	       1e9;
}

void trends_clear(struct trends *t)
{
	table_free(&t->by_subject, drop);
	free(t->host);
	t->host = NULL;
	t->n = 0;
	t->window = t->lost = 0;
}

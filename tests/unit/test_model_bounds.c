// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the model at its bounds: times of earlier states, shares of limits, and numbers of rows. */
#include "fixture.h"
#include "model/growth.h"
#include "model/resources.h"
#include "tap.h"

static struct model m;

static const struct subject *seen(uint64_t t_ns, uint64_t pages)
{
	struct process_record r = process_record(10, 1, t_ns);

	r.g.rss_anon_pages = pages;
	model_take(&m, &r.h);
	return model_find(&m, &r.subject);
}

/* Growth is measured since a state that is 30 s old or more, or since the first one. */
static void test_past(void)
{
	const struct subject *s;

	begin_model(&m, NULL);
	for (uint64_t t = 1; t <= 21; t += 4)
		s = seen(t * SECOND, t);
	ok(s->earlier->past[0].t_ns == SECOND && s->earlier->past[1].t_ns == SECOND,
	   "the first one");
	seen(31 * SECOND - 1, 30);
	is_u64(s->earlier->past[1].t_ns, SECOND, "less than 30 s after it");
	seen(31 * SECOND, 31);
	ok(s->earlier->past[0].t_ns == SECOND && s->earlier->past[1].t_ns == 31 * SECOND,
	   "30 s after it, there is a newer one");
	for (uint64_t t = 35; t <= 59; t += 4)
		seen(t * SECOND, t);
	seen(61 * SECOND - 1, 60);
	is_u64(s->earlier->past[0].t_ns, SECOND, "less than 30 s after that");
	seen(61 * SECOND, 61);
	ok(s->earlier->past[0].t_ns == 31 * SECOND && s->earlier->past[1].t_ns == 61 * SECOND &&
		   s->earlier->past[0].rss_pages == 31,
	   "then that one is the older");
	model_free(&m);
}

/* What did not change for long was so until now: a scan tells only of what changed. */
static void test_unchanged(void)
{
	static const struct {
		uint64_t idle_ns, recent_s, past_s; /* the states that growth is measured since */
	} cases[] = {
		{5 * SECOND - 1, 1, 1},
		{5 * SECOND, 4, 1},
		{30 * SECOND - 1, 4, 1},
		{30 * SECOND, 4, 4},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct earlier *e;

		begin_model(&m, NULL);
		seen(SECOND, 100);
		e = seen(4 * SECOND, 101)->earlier;
		ok(e->recent[0].t_ns == SECOND && e->past[0].t_ns == SECOND, "the first state");
		seen(4 * SECOND + cases[i].idle_ns, 102);
		ok(e->recent[0].t_ns == cases[i].recent_s * SECOND &&
			   e->recent[0].rss_pages == (cases[i].recent_s == 1 ? 100 : 101),
		   "the recent state, after %g s without a change", cases[i].idle_ns / 1e9);
		ok(e->past[0].t_ns == cases[i].past_s * SECOND &&
			   e->past[0].rss_pages == (cases[i].past_s == 1 ? 100 : 101),
		   "and the older one");
		model_free(&m);
	}
}

static void cross(uint32_t what, uint64_t value, uint64_t limit)
{
	struct crossing_record r = RECORD(crossing_record, RECORD_CROSSING, 2 * SECOND);

	r.subject = (struct process_key){.start_ns = 1, .pid = 10};
	r.what = what;
	r.value = value;
	r.limit = limit;
	is_u64(model_take(&m, &r.h), 0, "a crossing");
}

/* The highest share of a limit, which may have changed. */
static void test_tops(void)
{
	struct process_record r = process_record(10, 1, SECOND);
	const struct portion *top;
	const struct subject *s;

	begin_model(&m, NULL);
	r.g.fds = r.g.fd_high = 50;
	r.g.fd_soft = 100;
	model_take(&m, &r.h);
	top = &model_find(&m, &r.subject)->top[WHAT_FDS];
	ok(top->value == 50 && top->limit == 100, "a share");
	cross(WHAT_FDS, 100, 200);
	ok(top->value == 50 && top->limit == 100, "an equal one does not replace it");
	cross(WHAT_FDS, 101, 200);
	ok(top->value == 101 && top->limit == 200, "a higher one does");
	cross(WHAT_FDS, 30, 61);
	is_u64(top->value, 101, "a lower one does not");
	cross(WHAT_FDS, 30, 0);
	is_u64(top->value, 101, "nor what has no limit");
	s = model_find(&m, &r.subject);
	ok(s->series[RESOURCE_FDS] && !s->series[RESOURCE_MAPS], "the series of fds has them");
	cross(WHAT_MAPS, 60000, 65530);
	top = &model_find(&m, &r.subject)->top[WHAT_MAPS];
	ok(top->value == 60000 && top->limit == 65530, "mappings have their own");
	ok(s->series[RESOURCE_MAPS] && s->series[RESOURCE_MAPS]->last == 60000, "and their series");
	model_free(&m);
}

/* Memory use starts again at exec(2). */
static void test_exec(void)
{
	struct process_record r = process_record(10, 1, SECOND);
	const struct subject *s;

	begin_model(&m, NULL);
	r.g.execs = 1;
	model_take(&m, &r.h);
	s = model_find(&m, &r.subject);
	is_u64(s->exec_ns, SECOND, "the first exec that is seen");
	r.h.t_ns = 2 * SECOND;
	model_take(&m, &r.h);
	is_u64(s->exec_ns, SECOND, "no other one");
	r.h.t_ns = 3 * SECOND;
	r.g.execs = 2;
	model_take(&m, &r.h);
	is_u64(s->exec_ns, 3 * SECOND, "another one");
	model_free(&m);
}

static void test_origins(void)
{
	struct origin_record r = RECORD(origin_record, RECORD_ORIGIN, SECOND);
	const struct process_key id = {.start_ns = 1, .pid = 10};

	begin_model(&m, NULL);
	r.subject = id;
	for (r.limit = 0; r.limit < MODEL_ORIGINS_MAX; r.limit++)
		is_u64(growth_take_origin(&m, &r), 0, "where a limit was set");
	is_u64(m.origins, MODEL_ORIGINS_MAX, "as many as there is room for");
	is_u64(growth_take_origin(&m, &r), 0, "one more is no error");
	ok(m.origins == MODEL_ORIGINS_MAX && !model_origin(&m, &id, MODEL_ORIGINS_MAX),
	   "and is left out");
	r.limit = MODEL_ORIGINS_MAX - 1;
	r.h.t_ns = 9 * SECOND;
	growth_take_origin(&m, &r);
	ok(m.origins == MODEL_ORIGINS_MAX && model_origin(&m, &id, r.limit)->h.t_ns == 9 * SECOND,
	   "a later record of a limit replaces the one before");
	r.subject.pid++;
	ok(!model_origin(&m, &r.subject, 3), "another process has its own");
	model_free(&m);
}

static void test_hooks(void)
{
	struct hook_record r;
	char name[16];

	if (model_init(&m))
		abort();
	for (int i = 0; i < MODEL_HOOKS_MAX; i++) {
		snprintf(name, sizeof(name), "probe%d", i);
		r = hook_record(name, HOOK_ON);
		model_take(&m, &r.h);
	}
	is_u64(m.hooks, MODEL_HOOKS_MAX, "as many probes as there is room for");
	r = hook_record("other", HOOK_ON);
	is_u64(model_take(&m, &r.h), 0, "one more is no error");
	is_u64(m.hooks, MODEL_HOOKS_MAX, "and is left out");
	r = hook_record(name, HOOK_BLIND);
	model_take(&m, &r.h);
	ok(m.hooks == MODEL_HOOKS_MAX && m.hook[MODEL_HOOKS_MAX - 1].state == HOOK_BLIND &&
		   m.hook[0].state == HOOK_ON,
	   "a later state of a probe replaces the one before");
	model_free(&m);
}

int main(void)
{
	test_past();
	test_unchanged();
	test_tops();
	test_exec();
	test_origins();
	test_hooks();
	return tap_done();
}

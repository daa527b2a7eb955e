// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "fixture.h"
#include "model/snapshot.h"
#include "model/trend.h"
#include "tap.h"

static struct model m;
static struct trends t;
static uint64_t now;

static void begin(void)
{
	begin_model(&m, NULL);
	now = SECOND;
	t = (struct trends){.field = {FIELD(min_flt), FIELD(fds)},
			    .fields = 2};
}

static void end(void)
{
	trends_clear(&t);
	model_free(&m);
}

static void process(uint32_t pid, uint64_t minor, uint32_t fds, uint32_t flags)
{
	struct process_record r = process_record(pid, 1, now + SECOND / 2);

	r.g.min_flt = minor;
	r.g.fds = fds;
	r.g.flags = PROC_BORN | flags;
	model_take(&m, &r.h);
}

static void tick(void)
{
	struct tick_record r = tick_record(now += SECOND);

	model_take(&m, &r.h);
}

static void look(void)
{
	tick();
	trends_update(&t, &m);
	model_next_window(&m);
}

static void is_trend(const struct process_key *of, size_t field, const char *want, const char *name)
{
	double v[8];
	size_t n = trends_read(&t, of, t.field[field], v, 8);
	char got[128] = "";

	for (size_t i = 8 - n; i < 8; i++)
		sprintf(got + strlen(got), "%s%g", *got ? " " : "", v[i]);
	is_str(got, want, name);
}

static void test_rates_and_values(void)
{
	struct process_key a = {.pid = 10, .start_ns = 1}, b = {.pid = 11, .start_ns = 1};

	begin();
	process(10, 100, 5, 0);
	look();
	process(10, 130, 7, 0);
	process(11, 1, 3, 0);
	look();
	look();
	process(10, 131, 7, 0);
	look();
	is_trend(&a, 0, "100 30 0 1", "a rate: nothing happened in a window without a change");
	is_trend(&a, 1, "5 7 7 7", "a value: it stays in a window without a change");
	is_trend(&b, 0, "1 0 0", "of one that came later there is less");
	is_trend(&b, 1, "3 3 3", "its value goes on");
	is_trend(NULL, 0, "100 31 0 1", "of all: the sum");
	is_trend(&(struct process_key){.pid = 12}, 0, "", "of one that is not known: nothing");
	end();
}

static void test_long_idle(void)
{
	struct process_key a = {.pid = 10, .start_ns = 1};

	begin();
	process(10, 7, 5, 0);
	look();
	for (int i = 0; i < 3 * TREND_SAMPLES; i++)
		look();
	is_trend(&a, 0, "0 0 0 0 0 0 0 0", "after a long time nothing of the past is left");
	process(10, 9, 6, 0);
	look();
	is_trend(&a, 0, "0 0 0 0 0 0 0 2", "and it begins again");
	is_trend(&a, 1, "5 5 5 5 5 5 5 6", "with the value it had");
	end();
}

/* The time between the first and the last of some windows. */
static void test_span(void)
{
	double v[TREND_SAMPLES + 1];

	begin();
	ok(!trends_span(&t, 2), "before the first window");
	look();
	ok(!trends_span(&t, 1) && !trends_span(&t, 2), "one window has no span");
	now += SECOND;
	look();
	ok(trends_span(&t, 2) == 2, "two windows");
	ok(!trends_span(&t, 3), "more than there are");
	for (int i = 0; i < TREND_SAMPLES; i++)
		look();
	ok(trends_span(&t, TREND_SAMPLES) == TREND_SAMPLES - 1, "all that are kept");
	ok(!trends_span(&t, TREND_SAMPLES + 1), "and one more");
	is_u64(trends_read(&t, NULL, t.field[0], v, TREND_SAMPLES), TREND_SAMPLES, "all values");
	is_u64(trends_read(&t, NULL, t.field[0], v, TREND_SAMPLES + 1), 0, "and one more");
	is_u64(trends_read(&t, NULL, FIELD(map_count), v, 2), 0, "a field that is not kept");
	end();
}

/* A value of a process that did not change for as long as values are kept. */
static void test_idle(void)
{
	const struct process_key a = {.pid = 10, .start_ns = 1};

	for (int idle = TREND_SAMPLES - 2; idle <= TREND_SAMPLES + 2; idle++) {
		double v[TREND_SAMPLES];
		int wrong = 0;

		begin();
		process(10, 7, 5, 0);
		look();
		for (int i = 0; i < idle; i++)
			look();
		process(10, 9, 6, 0);
		look();
		trends_read(&t, &a, t.field[1], v, TREND_SAMPLES);
		for (int i = 0; i < TREND_SAMPLES - 1; i++)
			wrong += v[i] != (idle + 2 - TREND_SAMPLES + i < 0 ? 0 : 5);
		ok(!wrong && v[TREND_SAMPLES - 1] == 6, "%d windows without a change", idle);
		end();
	}
}

static void test_gone(void)
{
	begin();
	for (uint32_t pid = 100; pid < 200; pid++)
		process(pid, 1, 1, PROC_FINAL);
	look();
	is_u64(t.n, 100, "those that ended in this window are still known");
	for (int i = 0; i < 40; i++)
		look();
	is_u64(t.n, 0, "then they make room");
	end();
}

static void test_cap(void)
{
	begin();
	for (uint32_t pid = 1; pid <= TRENDS_MAX + 3; pid++)
		process(pid, 1, 1, 0);
	look();
	is_u64(t.n, TRENDS_MAX, "no more than the cap");
	is_u64(t.lost, 3, "the others are counted");
	end();
}

static void test_snapshot(void)
{
	struct snapshot s = {};
	struct subject *one;

	begin();
	process(10, 100, 5, 0);
	look();
	process(10, 150, 5, 0);
	process(11, 1, 1, PROC_FINAL);
	tick();
	is_u64(snapshot_take(&s, &m), 0, "a snapshot");
	model_next_window(&m);
	process(10, 999, 9, 0);
	tick();
	one = model_find(&s.m, &(struct process_key){.pid = 10, .start_ns = 1});
	ok(one && one != model_find(&m, &one->id), "has a process of its own");
	is_u64(one ? field_delta(&s.m, one, FIELD(min_flt)) : 0, 50,
	       "with the growth of then");
	is_u64(one ? one->now.g.fds : 0, 5, "and its figures");
	ok(model_find(&s.m, &(struct process_key){.pid = 11, .start_ns = 1}) != NULL,
	   "one that ended then is there");
	ok(!model_find(&m, &(struct process_key){.pid = 11, .start_ns = 1}), "and gone since");
	is_u64(snapshot_take(&s, &m), 0, "again, in its place");
	is_u64(s.m.subjects, 1, "of what is now");
	one = model_each_changed(&s.m, NULL);
	ok(one && one->id.pid == 10 && !model_each_changed(&s.m, one),
	   "who changed is its own list");
	snapshot_free(&s);
	end();
}

static void hold(uint32_t nth, uint64_t count)
{
	struct holding_record r = RECORD(holding_record, RECORD_HOLDING, now);

	r.nth = nth;
	r.g = (struct holding){.subject = {.pid = 10, .start_ns = 1}, .count = count};
	model_take(&m, &r.h);
}

static void test_snapshot_hold(void)
{
	struct snapshot s = {};
	struct process_key id = {.pid = 10, .start_ns = 1};
	const struct holdings *h;

	begin();
	process(10, 1, 1, 0);
	look();
	snapshot_take(&s, &m);
	hold(0, 77);
	hold(1, 5);
	is_u64(snapshot_hold(&s, &m, &id), 0, "what was read since is taken over");
	h = &model_find(&s.m, &id)->held[WHAT_MAPS];
	ok(h->n == 2 && h->sort[0].count == 77 && h->sort[1].count == 5, "whole");
	hold(0, 78);
	is_u64(h->sort[0].count, 77, "as a copy");
	hold(1, 6);
	s.size = s.used + 2 * sizeof(struct holding);
	is_u64(snapshot_hold(&s, &m, &id), 0, "room for just as many");
	is_u64(h->sort[0].count, 78, "for the new ones");
	is_u64(-snapshot_hold(&s, &m, &id), ENOSPC, "and for no more");
	s.size = s.used + 2 * sizeof(struct holding) - 1;
	is_u64(-snapshot_hold(&s, &m, &id), ENOSPC, "a byte too little");
	is_u64(h->n, 2, "what was there stays");
	ok(s.used <= s.size, "never beyond its room");
	snapshot_free(&s);
	end();
}

int main(void)
{
	test_rates_and_values();
	test_long_idle();
	test_span();
	test_idle();
	test_gone();
	test_cap();
	test_snapshot();
	test_snapshot_hold();
	return tap_done();
}

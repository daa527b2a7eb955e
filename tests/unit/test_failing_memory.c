// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what happens when each allocation of memory fails once: a function must return an error, an
 * output must be marked as incomplete, or a counter of lost data must tell. Otherwise every output
 * must be complete.
 */
#define _GNU_SOURCE
#include <locale.h>

#include "failing_memory.h"
#include "model/census.h"
#include "model/pressure.h"
#include "model/resident.h"
#include "model/slow.h"
#include "random_scene.h"

#define SEED  5
#define SCANS 4

/* Returns the number of data that the model and the findings have lost. */
static uint64_t lost_of(const struct scene *s)
{
	const struct model *m = &s->m;

	return m->subjects_lost + m->events_lost + m->growth_lost + m->frames_lost +
	       (m->pressure ? m->pressure->lost : 0) + (m->resident ? m->resident->lost : 0) +
	       (m->slow ? m->slow->lost : 0) + s->findings.lost + s->h.rows_lost + s->h.beyond +
	       s->h.events_lost + s->census.processes_lost + s->census.workloads_lost +
	       s->census.series_limited + s->node.processes_lost;
}

/* Returns whether an output says that it is incomplete. */
static bool tells(const struct buf *b)
{
	return b->failed || (b->s && strstr(b->s, "out of memory"));
}

static bool is_equal(const struct buf *x, const struct buf *y)
{
	return x->len == y->len && (!x->len || !memcmp(x->s, y->s, x->len));
}

/* An output of the state of a scene. */
struct output {
	const char *name;
	const struct renderer *renderer;	 /* NULL: it is a report, a screen, or metrics */
	const struct report_format *report;	 /* NULL: it is a screen, or metrics */
	const struct exposition_format *metrics; /* NULL: it is a screen */
	const char *keys;			 /* keys that are pressed on the screen */
};

/* Presses keys while memory suffices, and then draws the screen. */
static void draw(struct scene *s, const char *keys, struct buf *b)
{
	long left = memory_left, next = memory_next;
	struct view v = s->view;

	v.height = 40;
	memory_left = memory_next = -1;
	tui_open(&s->tui, &v);
	if (tui_update(&s->tui, &v))
		abort();
	for (; *keys; keys++)
		tui_press(&s->tui, &v, *keys);
	memory_left = left;
	memory_next = next;
	tui_frame(&s->tui, &v, b);
	tui_free(&s->tui);
}

static void write_output(struct scene *s, const struct output *o, struct buf *b)
{
	struct story_view story = {.v = &s->view, .h = &s->h, .file = {.name = "x", .error = ""}};
	struct exposition e = {.format = o->metrics, .b = b};
	struct prom_view prom = {
		.m = &s->m, .c = &s->census, .n = &s->node, .up = true, .self = {.libbpf = "1"}};

	*b = (struct buf){};
	if (o->renderer) {
		o->renderer->open(b, &s->view);
		for (size_t i = 0; i < s->m.events; i++)
			o->renderer->event(b, &s->view, &s->m.event[i]);
		for (size_t i = 0; i < s->findings.n; i++)
			o->renderer->finding(b, &s->view, &s->findings.f[i]);
		o->renderer->frame(b, &s->view);
		o->renderer->close(b, &s->view);
	} else if (o->report) {
		o->report->make(b, &story);
	} else if (o->metrics) {
		prom_render(&e, &prom);
	} else {
		draw(s, o->keys, b);
	}
}

/* Tests the model and the rules. What is complete gives the same JSON lines as with all memory. */
static void test_model(const struct output *json)
{
	static struct scene whole, s;
	uint64_t silent = 0, told = 0, counted = 0;
	struct buf want, got;

	play_recording(&s, SEED, SCANS);
	end_scene(&s); /* what functions keep for their next call is made now */
	memory_watch();
	play_recording(&whole, SEED, SCANS);
	memory_watched();
	write_output(&whole, json, &want);
	ok(!whole.err && !want.failed, "%zu places of the model allocate memory", memory_firsts);
	for (size_t i = 0; i < memory_firsts; i++) {
		memory_fail_after(memory_first[i]);
		play_recording(&s, SEED, SCANS);
		if (!memory_recovers())
			abort();
		if (s.err) {
			told++;
		} else if (lost_of(&s) > lost_of(&whole)) {
			counted++;
		} else {
			write_output(&s, json, &got);
			if (!is_equal(&got, &want)) {
				silent++;
				memory_show_failed();
			}
			buf_free(&got);
		}
		end_scene(&s);
	}
	printf("# %" PRIu64 " errors, %" PRIu64 " counted losses\n", told, counted);
	is_u64(silent, 0, "the model says what it lacks");
	ok(told > 20 && counted, "by errors and by counters");
	buf_free(&want);
	end_scene(&whole);
}

static void test_output(struct scene *s, const struct output *o)
{
	uint64_t silent = 0, failed = 0;
	struct buf want, got;

	write_output(s, o, &want);
	buf_free(&want);
	memory_watch();
	write_output(s, o, &want);
	memory_watched();
	for (size_t i = 0; i < memory_firsts; i++) {
		memory_fail_after(memory_first[i]);
		write_output(s, o, &got);
		if (!memory_recovers())
			abort();
		failed += tells(&got);
		if (!tells(&got) && !is_equal(&got, &want)) {
			silent++;
			memory_show_failed();
		}
		buf_free(&got);
	}
	ok(!want.failed && !silent && failed,
	   "%s: %" PRIu64 " of %zu allocations leave it incomplete, and %" PRIu64 " do not tell",
	   o->name, failed, memory_firsts, silent);
	buf_free(&want);
}

int main(void)
{
	static const struct output outputs[] = {
		{"JSON lines", .renderer = &json_renderer},
		{"text", .renderer = &text_renderer},
		{"diagnosis", .renderer = &diagnosis_renderer},
		{"host report", .renderer = &host_renderer},
		{"folded stacks", .renderer = &folded_renderer},
		{"memory report", .renderer = &memory_renderer},
		{"metrics", .metrics = &exposition_text},
		{"OpenMetrics", .metrics = &exposition_openmetrics},
		{"metrics in protobuf", .metrics = &exposition_protobuf},
		{"page of processes", .keys = "1"},
		{"page of mappings", .keys = "3"},
		{"tree of processes", .keys = "1t"},
		{"page of findings", .keys = "6"},
		{"page of a finding", .keys = "6\r"},
		{"page of a process", .keys = "1\r"},
		{"help", .keys = "?"},
	};
	static struct scene s;

	setlocale(LC_ALL, "C.UTF-8");
	test_model(&outputs[0]);
	play_recording(&s, SEED, SCANS);
	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		test_output(&s, &outputs[i]);
	for (size_t i = 0; i < nr_report_formats; i++)
		if (report_formats[i].way == WAY_WHOLE)
			test_output(&s, &(struct output){report_formats[i].name,
							 .report = &report_formats[i]});
	end_scene(&s);
	return tap_done();
}

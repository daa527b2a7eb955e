// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests annotations, names of report formats, and rows and times of a recording at their bounds. */
#include <stdlib.h>

#include "count_text.h"
#include "fixture.h"
#include "model/phases.h"
#include "render/formats/formats.h"
#include "render/gate_results.h"
#include "render/recording_story.h"
#include "render/utc.h"
#include "tap.h"

static struct model m;
static struct findings fs;
static struct gates gates;
static struct buf text;

/* Makes `n` gates, of which all but the first `passed` fail. */
static void make_gates(size_t n, size_t passed)
{
	memset(&gates, 0, sizeof(gates));
	gates.n = n;
	for (size_t i = 0; i < n; i++) {
		struct gate *g = &gates.gate[i];

		snprintf(g->text, sizeof(g->text), "fds.peak>%zu%%", i);
		g->kind = GATE_HIGHEST;
		g->field = FIELD(fds);
		g->percent = true;
		g->value = 90;
		g->state = i < passed ? GATE_PASSED : GATE_TRIPPED;
	}
}

static void make_findings(struct finding *f, size_t n, enum severity severity, bool open)
{
	memset(f, 0, n * sizeof(*f));
	for (size_t i = 0; i < n; i++) {
		f[i].rule = &rules[0];
		f[i].severity = severity;
		f[i].open = open;
		f[i].subject.pid = 100 + i;
		strcpy(f[i].comm, "db");
		snprintf(f[i].title, sizeof(f[i].title), "title %zu", i);
	}
	fs = (struct findings){.f = f, .n = n, .room = n};
}

static const char *annotations(bool command)
{
	struct view v = {
		.m = &m, .findings = &fs, .gates = &gates, .width = 80, .command = command};

	buf_free(&text);
	gates_github(&text, &v);
	return text.s ? text.s : "";
}

/* GitHub shows at most ten errors and ten warnings: others are not written. */
static void test_annotations(void)
{
	struct finding *f = calloc(12, sizeof(*f));

	fs = (struct findings){};
	for (size_t n = 9; n <= 11; n++) {
		make_gates(n + 1, 1);
		is_u64(count(annotations(false), "::error "), n < 10 ? n : 10, "errors");
		ok(!strstr(text.s, "peak>0") && strstr(text.s, "peak>1%25"),
		   "of gates that failed, with a percent sign that GitHub reads");
		ok(!strstr(text.s, "peak>11%25"), "the first ones");
	}
	make_gates(0, 0);
	for (size_t n = 9; n <= 11; n++) {
		make_findings(f, n, SEVERITY_CRITICAL, true);
		is_u64(count(annotations(false), "::warning "), n < 10 ? n : 10, "warnings");
		ok(strstr(text.s, "in db[100]::title 0\n") && !strstr(text.s, "title 10"),
		   "of the first findings");
	}
	make_findings(f, 2, SEVERITY_WARNING, true);
	is_str(annotations(true), "", "lesser findings are no annotations");
	make_findings(f, 2, SEVERITY_CRITICAL, false);
	is_str(annotations(false), "", "nor are findings that are over");
	is_u64(count(annotations(true), "::warning "), 2, "unless a command was watched");
	strcpy(f[0].title, "a%b:c,d");
	ok(strstr(annotations(true), "::a%25b:c,d\n"), "a message needs no escape of : and ,");
	strcpy(f[0].comm, "a,b:c");
	ok(strstr(annotations(true), " in a%2Cb%3Ac[100]::"), "a title does");
	free(f);
	buf_free(&text);
	fs = (struct findings){};
}

static const char *gate_line(bool only_failed)
{
	struct view v = {.m = &m, .findings = &fs, .gates = &gates, .width = 100};

	buf_free(&text);
	gates_text(&text, &v, only_failed);
	return text.s ? text.s : "";
}

static void test_gates_text(void)
{
	struct view none = {.m = &m, .findings = &fs, .width = 100};

	make_gates(2, 1);
	is_str(gate_line(false),
	       "pass fds.peak>0%                90.0%\n"
	       "FAIL fds.peak>1%                90.0%\n",
	       "each gate with its value");
	is_str(gate_line(true), "FAIL fds.peak>1%                90.0%\n", "those that failed");
	gates.gate[1].pid = 7;
	strcpy(gates.gate[1].comm, "db");
	gates.gate[1].most_value = 900;
	gates.gate[1].most_limit = 1000;
	is_str(gate_line(true),
	       "FAIL fds.peak>1%                90.0%         900 of 1,000 in db[7]\n",
	       "and whose value it is");
	gates.gate[1].percent = false;
	gates.gate[1].kind = GATE_TOTAL;
	is_str(gate_line(true), "FAIL fds.peak>1%                90            in db[7]\n",
	       "if the most is all, it is not told twice");
	gates.gate[1].most_value = 90;
	is_str(gate_line(true), "FAIL fds.peak>1%                90            in db[7]\n",
	       "also if it is as much");
	gates.gate[1].most_value = 89;
	is_str(gate_line(true), "FAIL fds.peak>1%                90            89 in db[7]\n",
	       "one that has less is told");
	gates.gate[0].incomplete = true;
	ok(strstr(gate_line(false), "90.0%         at least: something was lost\n"),
	   "a gate that passed may have missed something");
	gates.gate[1].state = GATE_NOT_MEASURED;
	gates.gate[1].field = NULL;
	gates.gate[1].of_phase = &phase_values[0];
	ok(strstr(gate_line(true), "not measured  the program named no phase: see run --phases\n"),
	   "why a gate has no value");
	buf_free(&text);
	gates_text(&text, &none, false);
	ok(!text.len, "without gates, there is nothing to tell");
	buf_free(&text);
}

static void test_formats(void)
{
	char path[64];

	for (size_t i = 0; i < nr_report_formats; i++) {
		const char *suffix = report_formats[i].suffix;

		ok(report_format_find(report_formats[i].name) == &report_formats[i], "%s",
		   report_formats[i].name);
		if (!suffix)
			continue;
		snprintf(path, sizeof(path), "x%s", suffix);
		ok(report_format_of(path) == &report_formats[i], "%s is a file of this format",
		   path);
		ok(!report_format_of(suffix), "%s has no name before it", suffix);
		ok(!report_format_of(suffix + 1), "nor is %s one", suffix + 1);
	}
	ok(!report_format_find("") && !report_format_find("htm"), "there are no others");
	ok(!report_format_of("") && !report_format_of("x.data"), "nor other names of files");
}

/* Rows are in the order of faults, equal ones in that of pids. */
static void test_story_rows(void)
{
	static const struct {
		uint32_t pid, faults;
	} given[] = {{30, 5}, {10, 5}, {20, 7}, {40, 4}, {5, 5}};
	static const uint32_t want[] = {20, 5, 10, 30, 40};
	struct history h = {};
	struct view v = {.m = &m};
	struct story_view s = {.v = &v, .h = &h};
	const struct history_row **rows;
	size_t n = sizeof(given) / sizeof(given[0]);

	if (history_init(&h) || model_init(&m))
		abort();
	for (size_t i = 0; i < n; i++) {
		struct process_record p = process_record(given[i].pid, 1, SECOND);

		p.g.flags = PROC_BORN;
		p.g.min_flt = given[i].faults;
		model_take(&m, &p.h);
	}
	for (int i = 0; i < 2; i++) {
		struct tick_record t = tick_record((i + 1) * SECOND);

		model_take(&m, &t.h);
		history_add_scan(&h, &m);
		model_next_window(&m);
	}
	rows = story_rows(&s);
	is_u64(h.rows, n, "each process has a row");
	for (size_t i = 0; rows && i < n; i++)
		is_u64(rows[i]->id.pid, want[i], "a row");
	free(rows);
	history_free(&h);
	model_free(&m);
}

static void test_story_points(void)
{
	struct history_point *points = calloc(STORY_COLUMNS + 2, sizeof(*points));
	struct history h = {.point = points};
	struct view v = {.m = &m};
	struct story_view s = {.v = &v, .h = &h};

	for (size_t n = STORY_COLUMNS - 1; n <= STORY_COLUMNS + 1; n++) {
		h.points = n;
		is_u64(story_columns(&s), n < STORY_COLUMNS ? n : STORY_COLUMNS, "columns");
	}
	h.points = 4;
	for (size_t i = 0; i < 4; i++)
		points[i].from_ns = (i + 1) * 10;
	is_u64(story_point(&s, 5), 0, "a time before the first point");
	is_u64(story_point(&s, 10), 0, "its begin");
	is_u64(story_point(&s, 11), 0, "a time within it");
	is_u64(story_point(&s, 20), 0, "its end");
	is_u64(story_point(&s, 21), 1, "the next one begins behind it");
	is_u64(story_point(&s, 40), 2, "the end of the last but one");
	is_u64(story_point(&s, 41), 3, "the last one");
	is_u64(story_point(&s, 4000), 3, "which has no end");
	h.points = 0;
	is_u64(story_point(&s, 5), 0, "no point at all");
	h.points = 1;
	is_u64(story_point(&s, 4000), 0, "only one");
	m = (struct model){.first_ns = 5 * SECOND, .last_ns = 5 * SECOND};
	ok(story_seconds(&s) == 0, "one scan takes no time");
	m.last_ns = 7 * SECOND;
	ok(story_seconds(&s) == 2, "from the first scan to the last one");
	m.last_ns = 4 * SECOND;
	ok(story_seconds(&s) == 0, "never less than nothing");
	free(points);
}

int main(void)
{
	test_annotations();
	test_gates_text();
	test_formats();
	test_story_rows();
	test_story_points();
	return tap_done();
}

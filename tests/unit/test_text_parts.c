// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests parts of texts and JSON at their bounds: comparisons, phases, histograms, long names. */
#include <locale.h>
#include <stdlib.h>

#include "count_text.h"
#include "fixture.h"
#include "model/phases.h"
#include "model/pressure.h"
#include "render/diff.h"
#include "render/json_out.h"
#include "render/text/text.h"
#include "tap.h"

static struct model m;
static struct findings fs;
static struct view v = {.m = &m, .findings = &fs, .width = 120};
static struct buf text;

static void is_text(const char *want, const char *name)
{
	is_str(text.s ? text.s : "", want, name);
	buf_free(&text);
}

static void test_json_values(void)
{
	struct json j;

	json_begin(&j, &text);
	json_count_or_null(&j, "a", true, 0);
	json_count_or_null(&j, "b", false, 1);
	json_figure(&j, "c", FIGURE_UNKNOWN);
	json_figure(&j, "d", FIGURE_UNKNOWN - 1);
	json_real_or_null(&j, "e", true, 1);
	json_real_or_null(&j, "f", false, 1);
	json_flag_or_null(&j, "g", true, false);
	json_flag_or_null(&j, "h", false, true);
	json_hex(&j, "i", 0x1f);
	json_hex_or_null(&j, "k", true, 0);
	json_hex_or_null(&j, "l", false, 1);
	json_time(&j, "m", 0);
	json_time(&j, "n", 1700000000 * SECOND);
	json_text_or_null(&j, "o", unless_empty(""));
	json_text_or_null(&j, "p", unless_empty("x"));
	json_finish(&j);
	is_text("{\"a\":0,\"b\":null,\"c\":null,\"d\":18446744073709551614,\"e\":1.000000,"
		"\"f\":null,\"g\":false,\"h\":null,\"i\":\"0x1f\",\"k\":\"0x0\",\"l\":null,"
		"\"m\":null,\"n\":\"2023-11-14T22:13:20.000Z\",\"o\":null,\"p\":\"x\"}\n",
		"what is not known is null");
}

static struct diff_row row_of(const char *key, const char *frames, double a, double b,
			      double weight)
{
	return (struct diff_row){(char *)key, frames, "page faults a second", a, b, weight};
}

static void test_alike(void)
{
	static const struct {
		double a, b;
		bool alike;
	} cases[] = {{100, 100, true},	  {90, 100, true}, {110, 100, true}, {89.9, 100, false},
		     {110.1, 100, false}, {0, 0, false},   {1, 0, false},    {0, 1, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diff_row r = row_of("x", "", cases[i].a, cases[i].b, 0);

		ok(diff_is_alike(&r) == cases[i].alike, "%g and %g", cases[i].a, cases[i].b);
	}
}

/* Rows whose growth is too small to matter are not shown, nor are more than the user asked for. */
static void test_diff_rows(void)
{
	static struct diff d;
	struct diff_row rows[14];

	memset(&d, 0, sizeof(d));
	strcpy(d.side[0].host, "a");
	strcpy(d.side[1].host, "b");
	d.side[0].file.name = "one.fsr";
	d.side[1].file.name = "two.fsr";
	d.side[0].processes = 1;
	d.row[DIFF_WORKLOAD] = rows;
	for (size_t i = 0; i < 14; i++)
		rows[i] = row_of("key", "", 1, 100, 5);
	for (size_t n = 11; n <= 14; n++) {
		d.rows[DIFF_WORKLOAD] = n;
		diff_text(&text, &d, &v, 0);
		is_u64(count(text.s, "  key  ("), n < 12 ? n : 12, "rows, twelve at most");
		buf_free(&text);
	}
	for (size_t most = 1; most <= 3; most++) {
		d.rows[DIFF_WORKLOAD] = 2;
		diff_text(&text, &d, &v, most);
		is_u64(count(text.s, "  key  ("), most < 2 ? most : 2, "rows");
		buf_free(&text);
	}
	rows[0].weight = 1;
	rows[1].weight = 0.999;
	diff_text(&text, &d, &v, 0);
	is_u64(count(text.s, "  key  ("), 1, "the smallest growth that matters");
	ok(strstr(text.s, "one.fsr") && strstr(text.s, ", 1 process\n") &&
		   strstr(text.s, ", 0 processes\n"),
	   "both recordings");
	ok(strstr(text.s, "what grew by workload\n") &&
		   strstr(text.s, " +99          page faults a second     key  (1.0 to 100)"),
	   "what grew, and from where");
	ok(strstr(text.s, "what grew by stack\n nothing\n"), "or nothing");
	ok(strstr(text.s, "what grew by what is held\n nothing is known: record reads"),
	   "what was not read");
	ok(!strstr(text.s, "holds memory"), "few recordings have memory");
	buf_free(&text);
	rows[0] = row_of("same", "f1\nf2\nf3\nf4\nf5\nf6", 100, 100, 0);
	d.row[DIFF_STACK] = rows;
	d.rows[DIFF_STACK] = 1;
	d.rows[DIFF_WORKLOAD] = 0;
	diff_text(&text, &d, &v, 1);
	ok(strstr(text.s, "what each of the two made, and left, by stack\n =100 "),
	   "what is alike");
	ok(strstr(text.s, "             from f1 <- f2 <- f3 <- f4 <- f5\n"), "with five frames");
	buf_free(&text);
	diff_json(&text, &d, &v);
	ok(strstr(text.s, "\"from\":100.000000,\"to\":100.000000,\"growth\":0.000000,"
			  "\"stack\":[\"f1\",\"f2\",\"f3\",\"f4\",\"f5\",\"f6\"]}\n"),
	   "JSON has all frames");
	ok(strstr(text.s, "{\"type\":\"difference_end\",\"left_out\":0,"), "and an end");
	buf_free(&text);
}

/* A frame of a comparison has at most 399 bytes in the text, and 511 in JSON. */
static void test_long_frames(void)
{
	static struct diff d;
	struct diff_row row = row_of("key", "", 1, 100, 5);
	struct view wide = v;

	wide.width = 2000;
	memset(&d, 0, sizeof(d));
	d.side[0].file.name = d.side[1].file.name = "x";
	d.row[DIFF_STACK] = &row;
	d.rows[DIFF_STACK] = 1;
	for (size_t len = 398; len <= 400; len++) {
		char frame[600];

		memset(frame, 'f', len);
		strcpy(frame + len, "\nmain");
		row.frames = frame;
		diff_text(&text, &d, &wide, 0);
		is_u64(strcspn(strstr(text.s, " fff") + 1, " "), len < 399 ? len : 399, "bytes");
		ok(strstr(text.s, "f <- main\n"), "and then the next frame");
		buf_free(&text);
	}
	for (size_t len = 510; len <= 512; len++) {
		char frame[600];

		memset(frame, 'f', len);
		strcpy(frame + len, "\nmain");
		row.frames = frame;
		diff_json(&text, &d, &v);
		is_u64(strcspn(strstr(text.s, "\"fff") + 1, "\""), len < 511 ? len : 511,
		       "bytes in JSON");
		ok(strstr(text.s, "f\",\"main\"]"), "and then the next frame");
		buf_free(&text);
	}
}

static void test_amounts(void)
{
	static const struct {
		const char *metric;
		double v;
		const char *want;
	} cases[] = {{"bytes", -2048, "2.00 KiB"},
		     {"bytes a second", 1024, "1.00 KiB"},
		     {"page faults a second", -2.5, "2.5"},
		     {"descriptors", -1234, "1,234"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		diff_put(&text, cases[i].metric, cases[i].v);
		is_text(cases[i].want, cases[i].metric);
	}
}

/* A name of a phase that does not fit shows its end. */
static void test_phase_names(void)
{
	static struct phases all;
	struct view how = {.m = &m, .findings = &fs};

	memset(&m, 0, sizeof(m));
	m.phases = &all;
	memset(&all, 0, sizeof(all));
	all.n = 1;
	all.phase[0] = (struct phase){.began_ns = SECOND, .ended_ns = 2 * SECOND};
	strcpy(all.phase[0].name, "tests/a.py::last_of_them");
	for (how.width = 36; how.width <= 39; how.width++) {
		text_phases(&text, &how);
		/* 13 columns precede the name, which has 24 */
		ok(strstr(text.s, how.width >= 37 ? "  tests/a.py::last_of_them\n"
						  : "  ...s/a.py::last_of_them\n"),
		   "in %d columns", how.width);
		buf_free(&text);
	}
	strcpy(all.phase[0].name, "\303\251\303\251\303\251\303\251\303\251");
	how.unicode = true;
	how.width = 17;
	text_phases(&text, &how);
	ok(strstr(text.s, "  ...\303\251\n"), "whole characters");
	buf_free(&text);
	m.phases = NULL;
	text_phases(&text, &how);
	is_text("", "a program without phases");
}

static void test_histograms(void)
{
	struct counters c = {};

	begin_model(&m, NULL);
	text_histograms(&text, &v, &c);
	is_text("", "no fault, no histogram");
	c.latency[0][3] = 2;
	c.latency[0][5] = 4;
	c.latency_max_ns[0] = 30000;
	text_histograms(&text, &v, &c);
	is_u64(count(text.s, "below "), 2 + 3, "a row for each bucket between the first and last");
	is_u64(count(text.s, "| 4\n") + count(text.s, "| 2\n") + count(text.s, "| 0\n"), 3,
	       "with its number");
	ok(strstr(text.s, "########|") && !strstr(text.s, " #|"), "the most is a full bar");
	buf_free(&text);
	c = (struct counters){};
	c.latency[1][NR_LATENCY - 1] = 1;
	text_histograms(&text, &v, &c);
	is_u64(count(text.s, "           from "), 1, "the last bucket has no end");
	buf_free(&text);
	model_free(&m);
}

/* A bar has the width that the view leaves: from 8 to 60 cells. */
static void test_bar_width(void)
{
	static const struct {
		int width, cells;
	} cases[] = {{40, 8},	{52, 8},   {53, 9},   {54, 10},
		     {103, 59}, {104, 60}, {105, 60}, {200, 60}};
	struct counters c = {};

	begin_model(&m, NULL);
	c.latency[0][3] = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct view how = {.m = &m, .findings = &fs, .width = cases[i].width};
		const char *bar;

		text_histograms(&text, &how, &c);
		bar = strchr(text.s, '#');
		is_u64(bar ? strspn(bar, "#") : 0, cases[i].cells, "cells");
		buf_free(&text);
	}
	model_free(&m);
}

static const struct frames *stack(int32_t number, const char *frames)
{
	struct frames_record r = RECORD(frames_record, RECORD_FRAMES, SECOND);

	r.subject = (struct process_key){.pid = 10, .start_ns = 1};
	r.stack = number;
	snprintf(r.text, sizeof(r.text), "%s", frames);
	model_take(&m, &r.h);
	return model_frames(&m, &r.subject, number);
}

/* A stack whose first frames another row has shown says more: from where the two differ. */
static void test_unlike_frames(void)
{
	static const struct {
		const char *above, *below, *shown;
	} cases[] = {
		/* the fifth frame is the last that is shown at first */
		{"a\nb\nc\nd\ne\nf", "a\nb\nc\nd\nx\nf", "a <- b <- c <- d <- x <- ..."},
		{"a\nb\nc\nd\ne\nf", "a\nb\nc\nd\ne\nx", "a <- b <- c <- d <- e <- ... <- x"},
		{"a\nb\nc\nd\ne\nf\ng", "a\nb\nc\nd\ne\nf\nx", "a <- b <- c <- d <- e <- ... <- x"},
		{"a\nb\nc\nd\ne", "a\nb\nc\nd\ne\nx", "a <- b <- c <- d <- e <- ... <- x"},
		{"a\nb\nc\nd\ne\nx\ny", "a\nb\nc\nd\ne\nx", "a <- b <- c <- d <- e <- ..."},
	};

	if (model_init(&m))
		abort();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct frames *above = stack(2 * i, cases[i].above);

		text_frames_unlike(&text, stack(2 * i + 1, cases[i].below), &above, 1);
		is_text(cases[i].shown, cases[i].below);
	}
	model_free(&m);
}

static const struct rule *rule_named(const char *id)
{
	for (size_t i = 0; i < nr_rules; i++)
		if (!strcmp(rules[i].id, id))
			return &rules[i];
	return NULL;
}

static void make_finding(struct finding *f, const char *id, size_t nth, bool open)
{
	*f = (struct finding){.rule = rule_named(id), .severity = SEVERITY_WARNING, .open = open};
	f->subject = (struct process_key){.pid = 100 + nth, .start_ns = 1};
	snprintf(f->title, sizeof(f->title), "made %02zu", nth);
}

/* The page of the host has at most twelve findings about memory, and no others. */
static void test_host_findings(void)
{
	static const char *const ids[] = {"F01", "P05", "P07", "P06", "P17", "P01", "P24", "P22",
					  "P21", "M15", "M17", "M30", "P23", "P19", "P20"};
	struct finding *f = calloc(15, sizeof(*f));
	struct view how = {.m = &m, .findings = &fs, .width = 120, .host = true, .once = true};

	for (size_t n = 11; n <= 13; n++) {
		begin_model(&m, NULL);
		for (size_t i = 0; i < n + 2; i++)
			make_finding(&f[i], ids[i], i, i != 1);
		fs = (struct findings){.f = f, .n = n + 2, .room = 15};
		host_renderer.close(&text, &how);
		is_u64(count(text.s, "\nwarning["), n < 12 ? n : 12, "findings");
		ok(!strstr(text.s, "made 00") && !strstr(text.s, "made 01"),
		   "none about files, and none that is over");
		buf_free(&text);
		fs = (struct findings){};
		model_free(&m);
	}
	free(f);
}

/* Of findings of one rule, the first three are written, and the others are counted. */
static void test_alike_findings(void)
{
	struct finding *f = calloc(5, sizeof(*f));

	for (size_t n = 2; n <= 5; n++) {
		char more[64];

		begin_model(&m, NULL);
		for (size_t i = 0; i < n; i++)
			make_finding(&f[i], "F01", i, true);
		fs = (struct findings){.f = f, .n = n, .room = 5};
		text_findings(&text, &v);
		is_u64(count(text.s, ": made "), n < 3 ? n : 3, "findings");
		snprintf(more, sizeof(more), "]: and %zu more; --json has all\n", n - 3);
		ok(n > 3 ? strstr(text.s, more) != NULL : !strstr(text.s, " more; "), "of %zu", n);
		buf_free(&text);
		fs = (struct findings){};
		model_free(&m);
	}
	free(f);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_json_values();
	test_alike();
	test_diff_rows();
	test_long_frames();
	test_amounts();
	test_phase_names();
	test_histograms();
	test_bar_width();
	test_unlike_frames();
	test_host_findings();
	test_alike_findings();
	return tap_done();
}

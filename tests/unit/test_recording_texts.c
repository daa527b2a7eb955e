// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests texts about recordings and summaries at their bounds: sizes, rows that are left out. */
#include <stdlib.h>

#include "count_text.h"
#include "fixture.h"
#include "render/formats/format_makers.h"
#include "render/profile.h"
#include "render/recording_story.h"
#include "render/text/explain_text.h"
#include "render/text/text.h"
#include "tap.h"

static struct model m;
static struct history h;
static struct findings fs;
static struct view v = {.m = &m, .findings = &fs, .width = 100};
static struct story_view s = {.v = &v, .h = &h, .file = {.name = "x.fsr", .error = ""}};
static struct buf text;

static void begin(void)
{
	begin_model(&m, NULL);
	memset(&fs, 0, sizeof(fs));
	if (history_init(&h))
		abort();
}

static void end(void)
{
	buf_free(&text);
	history_free(&h);
	findings_free(&fs);
	model_free(&m);
}

static void add_processes(uint32_t n)
{
	for (uint32_t pid = 1000; pid < 1000 + n; pid++) {
		struct process_record p = process_record(pid, 1, 2 * SECOND);

		p.g.flags = PROC_BORN;
		p.g.min_flt = 7;
		model_take(&m, &p.h);
	}
}

static void scan(uint64_t t_s)
{
	struct tick_record t = tick_record(t_s * SECOND);

	model_take(&m, &t.h);
	history_add_scan(&h, &m);
	model_next_window(&m);
}

static const char *info(void)
{
	buf_free(&text);
	info_text(&text, &s);
	return text.s ? text.s : "";
}

static void test_info(void)
{
	begin();
	scan(2);
	s.file.bytes = 1000;
	s.file.record_bytes = 1000;
	ok(!strstr(info(), "packed"), "a file as large as its records is not packed");
	s.file.record_bytes = 1001;
	ok(strstr(info(), "size       1000 B, packed to 99.9% of its records; at this rate "),
	   "a smaller one is");
	s.file.bytes = 0;
	ok(!strstr(info(), "packed"), "an empty file has no ratio");
	ok(strstr(info(), "size       0 B; at this rate 0 B a day\n"), "nor a rate above 0");
	s.file.bytes = 1024;
	s.file.record_bytes = 0;
	/* one second between the scans */
	ok(strstr(info(), "size       1.00 KiB; at this rate 84.4 MiB a day\n"), "bytes of a day");
	m.last_ns = m.first_ns;
	ok(strstr(info(), "size       1.00 KiB\n"), "a single scan has no rate");
	ok(strstr(info(), "end        cut off: by a crash or a full disk, or it goes on\n"), "cut");
	s.file.end = STORY_AS_ASKED;
	ok(strstr(info(), "end        as asked\n"), "as asked");
	s.file.end = STORY_FULL;
	ok(strstr(info(), "end        full: it would have become larger than --max-size\n"),
	   "full");
	ok(strstr(info(), "damage     none\n"), "no damage");
	s.file.error = "a record is cut off";
	ok(strstr(info(), "damage     a record is cut off\n"), "a damage");
	s.file.damages = 1;
	s.file.lost_bytes = 1;
	s.file.damage_offset = 77;
	ok(strstr(info(), "damage     1 byte cannot be read, the first at offset 77\n"),
	   "and where it is");
	s.file = (struct story_file){.name = "x.fsr", .error = ""};
	end();
}

/* The trace has a track for each of 256 processes, and counts the others. */
static void test_trace(void)
{
	for (uint32_t n = 255; n <= 258; n++) {
		char others[128];

		begin();
		add_processes(n);
		scan(2);
		scan(3);
		format_trace(&text, &s);
		ok(text.s && !text.failed, "a trace of %u processes", n);
		ok(!strstr(text.s, "processes without a track") == (n <= 256),
		   "others have no track");
		snprintf(others, sizeof(others), "\"count\":\"%u\"", n - 256);
		ok(n <= 256 || strstr(text.s, others), "and are counted");
		end();
	}
}

/* Names in the format of perf script have at most 511 bytes, and no parentheses. */
static void test_frames_of_perf(void)
{
	struct growth_record g = RECORD(growth_record, RECORD_GROWTH, 2 * SECOND);
	struct frames_record f = RECORD(frames_record, RECORD_FRAMES, 2 * SECOND);

	for (size_t len = 510; len <= 512; len++) {
		const char *at;

		begin();
		add_processes(1);
		f.subject = g.g.subject = (struct process_key){.pid = 1000, .start_ns = 1};
		f.stack = g.g.stack = 5;
		g.g.what = WHAT_FDS;
		g.g.call = CALL_OPEN;
		g.g.added = 3;
		g.g.removed = 1;
		g.g.first_ns = g.g.last_ns = 2 * SECOND;
		memset(f.text, 'f', len);
		strcpy(f.text + len, "\nmain");
		f.text[3] = '(';
		model_take(&m, &f.h);
		model_take(&m, &g.h);
		scan(2);
		scan(3);
		format_perf_script(&text, &s);
		at = strstr(text.s, "fff_");
		ok(at, "a frame, whose name has no parenthesis");
		is_u64(at ? strcspn(at, " ") : 0, len < 511 ? len : 511, "is cut to 511 bytes");
		ok(strstr(text.s, " 2 descriptors:\n"), "two descriptors are open");
		ok(strstr(text.s, " main (["), "of the outermost function");
		end();
	}
}

/* A command of an explanation stays in one line, so that it can be copied. */
static void test_explain(void)
{
	const struct diagnosis *found = diagnosis_at(0);
	struct diagnosis d = *found;

	memset(&m, 0, sizeof(m));
	v.width = 40;
	d.about[0] = "$ a command that is longer than the forty columns of the view\n"
		     "$x a text that is longer than the forty columns of the view\n"
		     "$\n"
		     "last";
	d.sources = "";
	explain_text(&text, &v, &d);
	ok(strstr(text.s, "\n    $ a command that is longer than the forty columns of the view\n"),
	   "a command is not wrapped");
	ok(strstr(text.s,
		  "\n    $x a text that is longer than the\n    forty columns of the view\n"),
	   "a text is");
	ok(strstr(text.s, "\n    $\n    last\n"), "a sign alone is a text");
	ok(!strstr(text.s, "public reports"), "without sources, there is no heading");
	buf_free(&text);
	d.sources = "one";
	explain_text(&text, &v, &d);
	ok(strstr(text.s, "\n\n  public reports\n    one\n"), "with sources, there is");
	buf_free(&text);
	v.width = 100;
}

static const char *summary(struct totals *t, uint64_t child)
{
	v.child_rss_bytes = child;
	buf_free(&text);
	text_summary(&text, &v, t);
	v.child_rss_bytes = 0;
	return text.s ? text.s : "";
}

static void test_summary(void)
{
	struct totals t = {};
	char row[64];

	begin();
	t.rss = (struct peak){.value = 4096, .pid = 7};
	strcpy(t.rss.comm, "db");
	ok(strstr(summary(&t, 4095), "  resident most seen 4.00 KiB in db[7]\n"), "peak of a scan");
	ok(strstr(summary(&t, 4096), "  resident most seen 4.00 KiB in db[7]\n"),
	   "a child that had as much");
	ok(strstr(summary(&t, 8192),
		  "  resident peak of a process 8.00 KiB; most seen 4.00 KiB in db[7]\n"),
	   "one that had more between two scans");
	t.rss.value = 0;
	ok(!strstr(summary(&t, 8192), "resident"), "nothing was seen");
	for (uint64_t n = 1; n <= 4; n++) {
		t.processes = n;
		t.fault_totals_table.n = 2;
		summary(&t, 0);
		snprintf(row, sizeof(row), "  and %u %s more, that faulted less\n",
			 (unsigned int)n - 2, n == 3 ? "process" : "processes");
		ok(n > 2 ? strstr(text.s, row) != NULL : !strstr(text.s, " more, that"),
		   "%u processes, two rows", (unsigned int)n);
	}
	ok(strstr(text.s, "MINFLT"), "rows have titles");
	t.fault_totals_table.n = 0;
	ok(!strstr(summary(&t, 0), "MINFLT"), "without rows, there are none");
	end();
}

/* In each interval, the text has a line for each of the first sixteen processes. */
static void test_interval(void)
{
	for (uint32_t n = 15; n <= 17; n++) {
		begin();
		add_processes(n);
		scan(2);
		v.layout = LAYOUT_BLOCKS;
		text_interval(&text, &v);
		is_u64(count(text.s, "  proc"), n < 16 ? n : 16, "lines of processes");
		buf_free(&text);
		v.layout = LAYOUT_TABLE;
		text_interval(&text, &v);
		is_u64(count(text.s, "\n"), 1, "or one line for all");
		end();
	}
}

int main(void)
{
	test_info();
	test_trace();
	test_frames_of_perf();
	test_explain();
	test_summary();
	test_interval();
	return tap_done();
}

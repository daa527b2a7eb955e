// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how many rows, cards and crashes HTML pages show, and what they say about others. */
#include <signal.h>
#include <stdlib.h>

#include "count_text.h"
#include "fixture.h"
#include "render/html/html.h"
#include "tap.h"

#define MIB (1ULL << 20)

static struct model m;
static struct history h;
static struct findings fs;
static struct view v = {.m = &m, .findings = &fs, .width = 80};
static struct story_view s = {.v = &v, .h = &h, .file = {.name = "x.fsr", .error = ""}};
static struct buf text;

static bool has(const char *what)
{
	return text.s && strstr(text.s, what);
}

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
	model_free(&m);
}

static void scan(uint64_t t_s)
{
	struct tick_record t = tick_record(t_s * SECOND);

	model_take(&m, &t.h);
	history_add_scan(&h, &m);
	model_next_window(&m);
}

static void add_process(uint32_t pid, uint64_t minor, uint32_t flags)
{
	struct process_record p = process_record(pid, 1, m.last_ns + SECOND / 2);

	p.g.flags = PROC_BORN | flags;
	p.g.min_flt = minor;
	model_take(&m, &p.h);
}

static void add_signal(uint32_t pid, uint32_t number, uint64_t code)
{
	struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, m.last_ns + SECOND / 4);

	r.subject = (struct process_key){.pid = pid, .start_ns = 1};
	r.signal = number;
	r.code = code;
	snprintf(r.comm, sizeof(r.comm), "proc%u", pid);
	model_take(&m, &r.h);
}

/* The page names eight processes that crashed, and counts the others. */
static void test_crashes(void)
{
	for (uint32_t n = 0; n <= 10; n += n ? 1 : 7) {
		char more[64];

		begin();
		for (uint32_t pid = 100; pid < 100 + n; pid++)
			add_process(pid, 1, 0);
		scan(2);
		for (uint32_t pid = 100; pid < 100 + n; pid++) {
			add_signal(pid, SIGSEGV, 1);
			add_process(pid, 1, PROC_FINAL);
		}
		scan(3);
		is_u64(html_crashes(&text, &s), n, "crashes");
		if (!n) {
			ok(!text.len, "none, no list");
			end();
			continue;
		}
		is_u64(count(text.s, "<li "), n < 8 ? n : 8, "that are listed");
		ok(count(text.s, "<ol") == 1 && count(text.s, "</ol>") == 1, "in one list");
		snprintf(more, sizeof(more), ">%u</span> more are in", n - 8);
		ok(n > 8 ? has(more) : !has(" more are in"), "others are counted");
		end();
	}
}

/* A signal is a crash only if the process ended by it, and got no later one. */
static void test_crash(void)
{
	static const struct {
		const char *what;
		uint32_t first, second, final;
		size_t crashes;
	} cases[] = {
		{"it ended", SIGSEGV, 0, PROC_FINAL, 1},
		{"it lives", SIGSEGV, 0, 0, 0},
		{"two signals, one end", SIGSEGV, SIGSEGV, PROC_FINAL, 1},
		{"it ended by the second one", SIGSEGV, SIGBUS, PROC_FINAL, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		add_process(100, 1, 0);
		scan(2);
		add_signal(100, cases[i].first, 1);
		if (cases[i].second)
			add_signal(100, cases[i].second, 2);
		add_process(100, 1, cases[i].final);
		scan(3);
		is_u64(html_crashes(&text, &s), cases[i].crashes, cases[i].what);
		if (cases[i].second)
			ok(has(cases[i].second == SIGBUS ? "SIGBUS" : "code 2"), "the last one");
		end();
	}
}

/* The table of events has 400 rows; equal events that follow one another have one. */
static void test_events(void)
{
	for (uint32_t n = 399; n <= 402; n++) {
		char left[64];

		begin();
		add_process(100, 1, 0);
		scan(2);
		for (uint32_t i = 0; i < n; i++)
			add_signal(100, SIGSEGV, i);
		scan(3);
		html_events(&text, &s);
		is_u64(count(text.s, "</td></tr>"), n < 400 ? n : 400, "rows");
		snprintf(left, sizeof(left), ">%u</span> rows after ", n - 400);
		ok(n > 400 ? has(left) : !has(" rows after "), "of %u events", n);
		end();
	}
	for (uint32_t n = 1; n <= 3; n++) {
		char more[64];

		begin();
		add_process(100, 1, 0);
		scan(2);
		for (uint32_t i = 0; i < n; i++)
			add_signal(100, SIGSEGV, 7);
		scan(3);
		html_events(&text, &s);
		is_u64(count(text.s, "</td></tr>"), 1, "equal events have one row");
		snprintf(more, sizeof(more), ">%u</span> more such events", n - 1);
		ok(n > 1 ? has(more) : !has(" more such"), "that counts them");
		end();
	}
	begin();
	scan(2);
	html_events(&text, &s);
	ok(has("Nothing: no finding opened"), "or nothing happened");
	end();
}

/* The heat map has 24 processes that faulted. */
static void test_heat(void)
{
	for (uint32_t n = 23; n <= 25; n++) {
		begin();
		for (uint32_t pid = 100; pid < 102 + n; pid++)
			add_process(pid, 0, 0);
		scan(2);
		for (uint32_t pid = 100; pid < 100 + n; pid++)
			add_process(pid, 5, 0);
		scan(3);
		html_heat(&text, &s);
		is_u64(count(text.s, "data-is=\"process\""), n < 24 ? n : 24, "rows");
		ok(!has("Nothing faulted"), "of processes that faulted");
		end();
	}
	begin();
	add_process(100, 0, 0);
	scan(2);
	scan(3);
	html_heat(&text, &s);
	ok(has("Nothing faulted"), "without faults, there is no map");
	end();
}

/* The page shows the resident memory of twelve processes. */
static void test_memory(void)
{
	for (uint32_t n = 11; n <= 14; n++) {
		begin();
		for (uint32_t pid = 100; pid < 100 + n; pid++) {
			struct resident_record r = RECORD(resident_record, RECORD_RESIDENT, SECOND);
			struct resident_sum_record sum =
				RECORD(resident_sum_record, RECORD_RESIDENT_SUM, SECOND);

			add_process(pid, 1, 0);
			r.subject = r.toucher = sum.subject =
				(struct process_key){.pid = pid, .start_ns = 1};
			r.stack = -1;
			r.bytes = r.low = r.high = sum.anon_bytes = 2 * MIB;
			sum.rows = 1;
			sum.each = 64;
			model_take(&m, &r.h);
			model_take(&m, &sum.h);
		}
		scan(2);
		html_memory(&text, &s);
		is_u64(count(text.s, "<h3 "), n < 12 ? n : 12, "processes");
		ok(has(n == 13	 ? ">1 other process has at most 2.00 MiB each.<"
		       : n == 14 ? ">2 other processes have at most 2.00 MiB each.<"
				 : "</section>"),
		   "others are counted");
		ok(!has(" other process") == (n <= 12), "of %u", n);
		end();
	}
	begin();
	scan(2);
	html_memory(&text, &s);
	ok(has("Not in this recording"), "a recording without memory says so");
	end();
}

/* The verdict has a card for each of sixteen findings. */
static void test_cards(void)
{
	struct finding *f = calloc(20, sizeof(*f));
	struct gauge_list gauges = {};
	size_t different = 0;

	for (size_t n = 15; n <= 18; n++) {
		char more[64];

		begin();
		scan(2);
		different = 0;
		memset(f, 0, 20 * sizeof(*f));
		for (size_t i = 0; different < n && i < nr_rules; i++) {
			f[different].rule = &rules[i];
			f[different].open = true;
			f[different].severity = f[different].worst =
				different % 2 ? SEVERITY_WARNING : SEVERITY_CRITICAL;
			f[different].subject = (struct process_key){.pid = 100 + i, .start_ns = 1};
			strcpy(f[different].comm, "db");
			snprintf(f[different].title, sizeof(f[different].title), "title%zu", i);
			different++;
		}
		fs = (struct findings){.f = f, .n = n, .room = n};
		html_verdict(&text, &s, &gauges);
		is_u64(count(text.s, "<article "), n < 16 ? n : 16, "cards");
		snprintf(more, sizeof(more), ">%zu</span> less grave findings", n - 16);
		ok(n > 16 ? has(more) : !has("less grave"), "of %zu findings", n);
		ok(strstr(text.s, "finding critical") < strstr(text.s, "finding warning"),
		   "the gravest first");
		fs = (struct findings){};
		end();
	}
	free(f);
}

int main(void)
{
	test_crashes();
	test_crash();
	test_events();
	test_heat();
	test_memory();
	test_cards();
	return tap_done();
}

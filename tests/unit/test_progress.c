// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the progress line, and the totals that `run --summary` prints. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>

#include "error_output.h"
#include "fixture.h"
#include "live/progress.h"
#include "tap.h"

static uint64_t stopped_ns; /* CLOCK_MONOTONIC while it stands still; 0: it does not */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (!stopped_ns || clock != CLOCK_MONOTONIC)
		return syscall(SYS_clock_gettime, clock, ret);
	*ret = (struct timespec){stopped_ns / SECOND, stopped_ns % SECOND};
	return 0;
}

static void says(double done, double total, double seconds, const char *want)
{
	char text[120];

	progress_format("reading", done, total, seconds, text, sizeof(text));
	is_str(text, want, want);
}

static struct model m;

static void process(uint32_t pid, uint64_t minor, uint64_t major, uint64_t rss, uint32_t flags)
{
	struct process_record r = process_record(pid, 1, m.last_ns + SECOND / 2);

	r.g.min_flt = minor;
	r.g.maj_flt = major;
	r.g.rss_anon_pages = rss;
	r.g.flags = PROC_BORN | flags;
	model_take(&m, &r.h);
}

static void next_window(void)
{
	struct tick_record t = tick_record(m.last_ns + SECOND);

	model_take(&m, &t.h);
	model_next_window(&m);
}

static void is_order(const char *want, const char *name)
{
	struct totals t;
	char got[128] = "";

	model_totals(&m, &t);
	for (size_t i = 0; i < t.fault_totals_table.n; i++)
		sprintf(got + strlen(got), "%s%u", *got ? " " : "",
			t.fault_totals_table.fault_totals[i].pid);
	is_str(got, want, name);
}

static void test_tolls(void)
{
	struct totals t;

	begin_model(&m, NULL);
	process(10, 50, 0, 1000, 0);
	process(11, 10, 1, 10, PROC_FINAL);
	next_window();
	is_order("11 10", "a major fault as a hundred minor ones; who ended is remembered");
	process(10, 60, 1, 500, 0);
	next_window();
	is_order("10 11", "who lives goes on");
	model_totals(&m, &t);
	is_u64(t.rss.value, 1000 * 4096, "the most that was seen resident");
	is_u64(t.rss.pid, 10, "and whose it was");
	is_u64(t.fault_totals_table.fault_totals[0].rss_high_bytes, 1000 * 4096, "of each too");
	for (uint32_t pid = 20; pid < 40; pid++)
		process(pid, pid, 0, 1, PROC_FINAL);
	next_window();
	is_order("10 11 39 38 37 36 35 34", "no more than the cap, the most costly ones");
	model_totals(&m, &t);
	is_u64(t.processes, 22, "all are counted");
	model_free(&m);
}

/* Checks what a progress line writes at a time after its begin. */
static void writes(struct progress *p, uint64_t after_ns, const char *want, const char *name)
{
	stopped_ns = p->began_ns + after_ns;
	errors_begin();
	progress_at(p, 1, 4);
	errors_are(want, name);
}

/* The line appears after two seconds, and changes five times a second at most. */
static void test_times(void)
{
	static const char line[] = "\r\033[Kfaultscope: reading: 25 %, 6.0 s left";
	struct progress p;

	stopped_ns = 1000 * SECOND;
	errors_begin();
	progress_begin(&p, "reading");
	errors_are("", "the begin says nothing");
	ok(!p.on, "a file shows no progress");
	writes(&p, 9 * SECOND, "", "at any time");
	p.on = true; /* as on a terminal */
	writes(&p, 2 * SECOND - 1, "", "nothing within two seconds");
	errors_begin();
	progress_end(&p);
	errors_are("", "and nothing to remove");
	p.on = true;
	writes(&p, 2 * SECOND, line, "then a line");
	writes(&p, 2 * SECOND + SECOND / 5 - 1, "", "no other within 0.2 s");
	writes(&p, 2 * SECOND + SECOND / 5, "\r\033[Kfaultscope: reading: 25 %, 6.6 s left",
	       "then another");
	writes(&p, 2 * SECOND + SECOND / 5, "", "once");
	errors_begin();
	progress_end(&p);
	errors_are("\r\033[K", "the end removes it");
	errors_begin();
	progress_end(&p);
	errors_are("", "once");
	writes(&p, 60 * SECOND, "", "nothing comes after the end");
	stopped_ns = 0;
}

int main(void)
{
	test_times();
	says(40, 100, 4, "reading: 40 %, 6.0 s left");
	says(1, 100, 3, "reading: 1 %, 4m 57s left");
	says(0, 100, 3, "reading: 0 %");
	says(200, 100, 3, "reading: 100 %, 0.0 s left");
	says(5, 0, 3, "reading: for 3.0 s");
	test_tolls();
	return tap_done();
}

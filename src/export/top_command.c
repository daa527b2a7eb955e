// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "export/top_command.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/host_facts.h"
#include "render/completeness.h"
#include "render/text/fleet_table.h"
#include "cli/messages.h"
#include "session/session.h"
#include "live/terminal.h"

#define INTERVAL_S    2.0
#define TIMEOUT_LEAST 1.0
#define TIMEOUT_MOST  10.0
#define EXPORTER_PORT ":10435"
#define URL_BYTES     2048
#define NS_PER_S      1e9

struct top {
	struct session s; /* of which only the view, the output and the end are of use */
	struct fleet fleet;
	struct fetch *fetch;
	char (*url)[URL_BYTES]; /* `urls` of them; owned */
	uint32_t urls;
	double interval_s;
	uint64_t answers; /* pages that were taken */
};

static int add_url(struct top *t, const char *given)
{
	int err =
		t->urls == FLEET_HOSTS_MAX ? -E2BIG : fetch_url(given, t->url[t->urls], URL_BYTES);

	if (err == -E2BIG)
		complain("--from: more than %d hosts", FLEET_HOSTS_MAX);
	else if (err)
		complain(
			"--from %s: not an address\n  try: host:port, or https://host:port/metrics",
			given);
	else
		t->urls++;
	return err;
}

static int add_urls(struct top *t, const char *list)
{
	char *copy = strdup(list), *save = NULL;
	int err = copy ? 0 : -ENOMEM;

	for (char *one = copy ? strtok_r(copy, ",", &save) : NULL; one && !err;
	     one = strtok_r(NULL, ",", &save))
		err = add_url(t, one);
	free(copy);
	return err;
}

static int open_fleet(struct top *t)
{
	const char **names = calloc(t->urls, sizeof(*names));
	char(*name)[LABEL_BYTES] = calloc(t->urls, sizeof(*name));
	int err = names && name ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < t->urls && !err; i++) {
		fetch_name(t->url[i], EXPORTER_PORT, name[i], sizeof(name[i]));
		names[i] = name[i];
	}
	if (!err)
		err = fleet_init(&t->fleet, names, t->urls);
	free(names);
	free(name);
	return err;
}

static int open_fetch(struct top *t)
{
	const char **urls = calloc(t->urls, sizeof(*urls));
	char error[512] = "out of memory";
	int err = urls ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < t->urls && !err; i++)
		urls[i] = t->url[i];
	if (!err)
		err = fetch_open(&t->s.o->fetch, urls, t->urls, &t->fetch, error, sizeof(error));
	if (err)
		complain("top: %s", error);
	free(urls);
	return err;
}

static void show(struct top *t)
{
	struct buf frame = {};
	int width, height;

	if (t->s.out.redraws && terminal_size(t->s.out.fd, &width, &height)) {
		t->s.out.view.width = t->s.o->width ? (int)t->s.o->width : width;
		t->s.out.view.height = height;
	}
	fleet_text(&frame, &t->s.out.view, &t->fleet, t->interval_s);
	if (t->s.out.redraws)
		terminal_redraw(&t->s.out.text, &frame);
	else if (frame.s)
		buf_add(&t->s.out.text, frame.s, frame.len);
	buf_free(&frame);
	session_flush(&t->s);
}

static int on_signal(void *ctx, const struct signalfd_siginfo *si)
{
	struct top *t = ctx;

	if (si->ssi_signo != SIGWINCH)
		t->s.loop.done = true;
	else if (t->s.out.redraws)
		show(t);
	return 0;
}

static int on_keys(void *ctx)
{
	struct top *t = ctx;

	return session_on_keys(&t->s);
}

/* Signals and keys: its descriptor is one that a transfer can be waited for beside. */
static int open_loop(struct top *t)
{
	static const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
	struct loop *l = &t->s.loop;
	int err;

	l->on_signal = on_signal;
	l->ctx = t;
	err = loop_open(l, wanted, sizeof(wanted) / sizeof(wanted[0]));
	/* a file cannot be waited for, and has no keys */
	if (!err && t->s.out.redraws)
		loop_watch(l, STDIN_FILENO, on_keys);
	return err;
}

static void on_page(void *ctx, uint32_t i, const char *page, size_t len, const char *why)
{
	struct top *t = ctx;

	if (!page)
		fleet_down(&t->fleet, i, why);
	else if (!fleet_take(&t->fleet, i, page, len, host_monotonic_ns()))
		t->answers++;
}

static void fetch_pages(struct top *t)
{
	double timeout_s = t->interval_s < TIMEOUT_LEAST  ? TIMEOUT_LEAST
			   : t->interval_s > TIMEOUT_MOST ? TIMEOUT_MOST
							  : t->interval_s;
	int err = fetch_all(t->fetch, timeout_s, t->s.loop.poll, on_page, t);

	if (err == 1) {
		loop_once(&t->s.loop, 0);
	} else if (err) {
		complain("top: out of memory");
		t->s.status = EXIT_FAILED;
		t->s.loop.done = true;
	}
}

static void wait_until(struct top *t, uint64_t ns)
{
	uint64_t now;

	while (!t->s.loop.done && (now = host_monotonic_ns()) < ns)
		loop_once(&t->s.loop, (ns - now + 999999) / 1000000);
}

/* Rates are known from the second page on: on paper the first would be a table without. */
static void loop(struct top *t)
{
	uint64_t left = t->s.o->count ? t->s.o->count : t->s.out.redraws ? UINT64_MAX : 1;
	uint64_t next = host_monotonic_ns();

	fetch_pages(t);
	if (t->s.out.redraws && !t->s.loop.done)
		show(t);
	while (left && !t->s.loop.done) {
		next += t->interval_s * NS_PER_S;
		wait_until(t, next);
		if (t->s.loop.done)
			break;
		fetch_pages(t);
		if (t->s.loop.done)
			break;
		show(t);
		left--;
		if (next < host_monotonic_ns())
			next = host_monotonic_ns(); /* it took longer than the interval */
	}
}

static void close_top(struct top *t)
{
	fetch_free(t->fetch);
	fleet_free(&t->fleet);
	free(t->url);
}

static int open_top(struct top *t, const struct options *o)
{
	int err = 0;

	t->interval_s = o->interval > 0 ? o->interval : INTERVAL_S;
	t->s.out.redraws = !o->output && !o->count && terminal_can_redraw(t->s.out.fd);
	if (t->s.out.redraws && !o->top)
		t->s.out.view.top = SIZE_MAX;
	t->url = calloc(FLEET_HOSTS_MAX, sizeof(*t->url));
	if (!t->url)
		return EXIT_FAILED;
	for (size_t i = 0; i < o->froms && !err; i++)
		err = add_urls(t, o->from[i]);
	if (err || !t->urls)
		return EXIT_USAGE;
	err = open_fetch(t);
	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	if (open_fleet(t) || open_loop(t)) {
		complain("top: out of memory or files");
		return EXIT_FAILED;
	}
	return 0;
}

/* What the last table lacks: hosts that did not answer, and parts of pages. */
static void judge_completeness(struct top *t)
{
	const struct fleet_host *h = t->fleet.host;
	uint64_t bad = 0, lost = 0, down = 0;
	struct buf gaps = {};

	for (uint32_t i = 0; i < t->fleet.hosts; i++) {
		down += h[i].why[0] != 0;
		bad += h[i].bad_lines;
		lost += h[i].lost;
	}
	if (down)
		gap_add(&gaps, "not read: %" PRIu64 " of %u hosts", down, t->fleet.hosts);
	if (bad)
		gap_add(&gaps, "not read: %" PRIu64 " lines that are no samples", bad);
	if (lost)
		gap_add(&gaps, "lost: %" PRIu64 " workloads beyond the most that is kept", lost);
	t->s.status = status_of_gaps(t->s.status, &gaps);
	buf_free(&gaps);
}

int command_top(const struct options *o)
{
	struct top t = {};
	struct run_plan plan;
	int err;

	plan_init(&plan, o);
	err = session_begin(&t.s, &plan);
	if (!err)
		err = open_top(&t, o);
	if (!err) {
		if (t.s.out.redraws)
			terminal_enter(t.s.out.fd, STDIN_FILENO);
		loop(&t);
		if (t.s.out.redraws)
			terminal_leave();
		if (!t.answers && !t.s.status) {
			complain("top: no exporter answered");
			t.s.status = EXIT_FAILED;
		}
		judge_completeness(&t);
	} else {
		t.s.status = err;
	}
	close_top(&t);
	return session_end(&t.s);
}

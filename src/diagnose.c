// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* diagnose: a verdict on some processes: what they hold, what grows, what was refused, and why. */
#include <string.h>
#include <unistd.h>

#include "collect/holdings.h"
#include "probe/host.h"
#include "targets.h"

#define TIERS_ALL     0xfu
#define WATCH_SECONDS 3.0
#define HOLDERS_MOST  16 /* processes of which the holdings are read: those with the most */

static bool is_nearer(const struct subject *a, const struct subject *b, enum fs_what what)
{
	const struct fs_gauges *x = &a->now.g, *y = &b->now.g;

	return what == FS_WHAT_MAPS ? x->map_count > y->map_count : x->fds > y->fds;
}

static bool is_among(const struct subject *one, struct subject *const *tried, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tried[i] == one)
			return true;
	return false;
}

/* The one with the most among those that were not tried yet. */
static struct subject *next_holder(struct session *s, enum fs_what what,
				   struct subject *const *tried, size_t n)
{
	struct subject *best = NULL;

	for (struct subject *one = model_each(&s->m, NULL); one; one = model_each(&s->m, one)) {
		if (one->final || one->hidden || is_among(one, tried, n))
			continue;
		if (!best || is_nearer(one, best, what))
			best = one;
	}
	return best;
}

/* Of one that is gone, or not ours to read, the report tells that it was not. */
static void read_holders(struct session *s, enum fs_what what)
{
	struct sink sink = {.take = collector_take, .ctx = &s->collector};
	struct subject *tried[HOLDERS_MOST];

	for (size_t n = 0; n < HOLDERS_MOST; n++) {
		tried[n] = next_holder(s, what, tried, n);
		if (!tried[n])
			return;
		holdings_read(tried[n]->id.pid, &tried[n]->id, what, &sink);
	}
}

/* One bounded read of each holder's maps and descriptors: what grew before us is only there. */
static void read_holdings(struct session *s)
{
	if (host_is_in_pid_namespace())
		return; /* /proc has other pids */
	read_holders(s, FS_WHAT_MAPS);
	read_holders(s, FS_WHAT_FDS);
}

static int open_live(struct session *s)
{
	struct live_options lo;
	int err;

	strcpy(s->mode, "targets");
	s->filter.children = true;
	s->attributes_all = true;
	s->after_first_look = read_holdings;
	targets_describe(s);
	lo = session_live_options(s, false, TIERS_ALL);
	err = session_open_live(s, &lo);
	return err ? err : targets_watch(s, true);
}

static int check_arguments(struct options *o)
{
	if (!o->replay && !o->filter.pids) {
		complain("diagnose: of which process?\n"
			 "  try: sudo faultscope diagnose -p PID, or diagnose --replay FILE");
		return EXIT_USAGE;
	}
	if (!o->replay && !o->duration)
		o->duration = WATCH_SECONDS;
	if (!o->format || o->format == &text_renderer)
		o->format = &diagnosis_renderer;
	return 0;
}

/* Once at the end, by all that was found meanwhile. */
static int verdict_status(const struct session *s)
{
	enum severity least = s->o->min_severity_given ? s->o->min_severity : SEVERITY_WARNING;

	return s->findings.reached[least] ? EXIT_GATE : 0;
}

int command_diagnose(const struct options *given)
{
	struct options o = *given;
	struct session s;
	int err = check_arguments(&o), status;

	if (err)
		return err;
	session_measure(&s, &o, open_live);
	status = s.status ? 0 : verdict_status(&s);
	err = session_end(&s);
	return err ? err : status;
}

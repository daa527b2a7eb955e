// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* record: writes a recording, and shows progress on the terminal. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "collect/redact.h"
#include "cli/options_incident.h"
#include "session/read_holdings.h"
#include "probe/host_facts.h"
#include "render/text/empty_renderer.h"
#include "session/commands.h"
#include "session/session.h"
#include "live/terminal.h"

#define INTERVAL_ALL	10.0 /* default interval for all processes, in seconds */
#define INTERVAL_TARGET 1.0
#define NAME_BYTES	4096

struct recording {
	char name[NAME_BYTES];
	struct redaction redaction;
	bool progress; /* true: standard error is a terminal, so progress is shown */
	uint64_t begun_ns, looks;
};

/* Expands %p (pid), %h (host), %t (time) and %% in the name of a recording. Returns 0 or -1. */
static int expand(const struct options *o, const char *pattern, char *ret, size_t size)
{
	time_t now = time(NULL);
	struct buf b = {};
	char text[256];
	struct tm tm;
	bool good = true;

	for (; *pattern && good; pattern++) {
		if (*pattern != '%') {
			buf_putc(&b, *pattern);
			continue;
		}
		switch (*++pattern) {
		case 'p':
			buf_printf(&b, "%u",
				   o->filter.pids == 1 ? o->filter.pid[0] : (unsigned)getpid());
			break;
		case 'h':
			gethostname(text, sizeof(text) - 1);
			text[sizeof(text) - 1] = 0;
			buf_puts(&b, text);
			break;
		case 't':
			strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
			buf_puts(&b, text);
			break;
		case '%':
			buf_putc(&b, '%');
			break;
		default:
			good = false;
			pattern--;
		}
	}
	good = good && b.len && b.len < size;
	if (good)
		memcpy(ret, b.s, b.len + 1);
	buf_free(&b);
	return good ? 0 : -1;
}

/* Returns the size of the recording so far, or of the ring. */
static uint64_t bytes_of(const struct session *s)
{
	if (s->incidents)
		return record_ring_use(s->incidents->in.ring).bytes;
	return s->in.collector.rec ? recorder_bytes(s->in.collector.rec) : 0;
}

static void put_state(struct buf *b, const struct session *s)
{
	const struct recording *r = s->plan.ctx;
	double seconds = (host_monotonic_ns() - r->begun_ns) / 1e9;
	struct totals totals;

	put_span(b, seconds);
	if (s->plan.duration)
		buf_printf(b, " of %s", as_span(s->plan.duration).s);
	buf_printf(b, ", %s %s, ", as_count(r->looks).s, as_words(r->looks, "scan{|s}").s);
	/* as reports do, count all processes seen so far, not only those that are alive now */
	model_totals(&s->in.m, &totals);
	buf_printf(b, "%s %s, %s", as_count(totals.processes).s,
		   as_words(totals.processes, "process{|es}").s, as_bytes(bytes_of(s)).s);
	if (s->incidents)
		buf_printf(b, " in memory, %s %s", as_count(s->incidents->in.store.stored).s,
			   as_words(s->incidents->in.store.stored, "incident{|s}").s);
}

static void tell_progress(struct session *s)
{
	struct recording *r = s->plan.ctx;
	struct buf b = {};

	if (!r->looks++)
		r->begun_ns = host_monotonic_ns();
	if (!r->progress || s->o->quiet)
		return;
	buf_puts(&b, "\r\033[K");
	put_state(&b, s);
	buf_puts(&b, "  (Ctrl-C stops it)");
	if (b.s)
		fputs(b.s, stderr);
	buf_free(&b);
}

static void tell_end(struct session *s)
{
	struct recording *r = s->plan.ctx;
	struct buf b = {};

	if (s->o->quiet || s->status)
		return;
	put_state(&b, s);
	if (b.s)
		fprintf(stderr, "%sfaultscope: recorded %s in %s\n", r->progress ? "\r\033[K" : "",
			b.s, r->name);
	buf_free(&b);
}

/* Ignores errors: the next scan reports them. */
static void catch_up(void *ctx)
{
	struct session *s = ctx;
	struct sink sink = session_sink(s);

	if (s->in.src)
		s->in.src->ops->drain(s->in.src, &sink);
}

/* Opens the log of findings, and the ring of --ring, whose incidents go to --output. */
static int open_log_and_ring(struct session *s)
{
	const struct recording *r = s->plan.ctx;
	const struct incident_options opt = options_incident(s->o);
	char error[512];

	if (event_log_open(s))
		return EXIT_FAILED;
	if (r->progress && !s->o->quiet)
		event_log_replaces_progress(s);
	if (!options_has_ring(s->o))
		return 0;
	if (incident_watch_open(s, &opt, r->name, error, sizeof(error))) {
		complain("%s", error);
		return EXIT_FAILED;
	}
	s->incidents->catch_up = catch_up;
	s->incidents->calm_ns = s->plan.interval * 1e9;
	return 0;
}

static void open_scope(struct session *s)
{
	s->in.scope.writable[0] = s->incidents->in.store.dir;
}

static void fill_plan(struct run_plan *p, const struct options *o, struct recording *r)
{
	plan_init(p, o);
	plan_targets(p);
	p->record = options_has_ring(o) ? NULL : r->name;
	p->records_alone = true;
	p->output = NULL;
	p->renderer = &silent_renderer;
	p->attributes_all = p->whom == WATCH_TARGETS;
	if (!o->interval)
		p->interval = p->whom == WATCH_TARGETS ? INTERVAL_TARGET : INTERVAL_ALL;
	if (o->redact) {
		redaction_begin(&r->redaction);
		p->redaction = &r->redaction;
	}
	if (options_has_ring(o) || o->log.given)
		p->before_open = open_log_and_ring;
	if (options_has_ring(o))
		p->before_drop = open_scope;
	p->after_first_scan = holders_read;
	p->after_scan = tell_progress;
	p->ctx = r;
}

int command_record(const struct options *o)
{
	struct recording r = {.progress = terminal_can_redraw(STDERR_FILENO)};
	struct run_plan plan;
	struct session s;

	if (expand(o, o->output ? o->output : INCIDENT_STORE_PLACE, r.name, sizeof(r.name))) {
		complain("%s: unknown %% sequence in the file name: use %%p (process), %%h (host), "
			 "%%t (time) or "
			 "%%%%",
			 o->output);
		return EXIT_USAGE;
	}
	fill_plan(&plan, o, &r);
	session_measure(&s, &plan);
	/* at its end, the recording gets the mappings and fds that processes hold */
	if (!s.status)
		holders_read(&s);
	tell_end(&s);
	return session_end(&s);
}

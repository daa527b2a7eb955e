// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/incident_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/holdings_reader.h"
#include "incident/pressure_trigger.h"
#include "incident/snapshot_socket.h"
#include "probe/host_facts.h"
#include "session/session.h"

#define RAISED_NS 1000000000ULL /* time between scans while an incident waits */

static void take_news(void *ctx, const struct incident_news *one)
{
	event_log_incident(ctx, one);
}

/* Adds a reason to the text about detail that could not be raised. */
static void note_lack(struct incident_record *r, const char *what, const char *why)
{
	size_t len = strlen(r->not_raised);

	snprintf(r->not_raised + len, sizeof(r->not_raised) - len, "%s%s: %s", len ? "; " : "",
		 what, why);
}

/* Reads what the process of the incident holds, as far as faultscope may still do so. */
static void read_held(struct session *s, struct incident_record *r)
{
	struct sink sink = session_sink(s);
	const struct subject *of = model_find(&s->in.m, &r->subject);
	int maps, fds;

	if (!r->subject.pid)
		return;
	if (!of || of->final) {
		note_lack(r, "mappings and file descriptors", "the process has ended");
		return;
	}
	if (host_is_in_pid_namespace()) {
		note_lack(r, "mappings and file descriptors",
			  "the process is in another pid namespace");
		return;
	}
	maps = holdings_read(r->subject.pid, &r->subject, WHAT_MAPS, &sink);
	fds = holdings_read(r->subject.pid, &r->subject, WHAT_FDS, &sink);
	r->raised |= (maps ? 0 : INCIDENT_RAISED_MAPS) | (fds ? 0 : INCIDENT_RAISED_FDS);
	if (maps || fds)
		note_lack(r,
			  !fds	  ? "mappings"
			  : !maps ? "file descriptors"
				  : "mappings and file descriptors",
			  strerror(maps ? -maps : -fds));
}

static void raise_detail(void *ctx, struct incident_record *r)
{
	struct session *s = ctx;
	struct incident_watch *w = s->incidents;

	read_held(s, r);
	if (!w->raised && !loop_every(&s->loop, RAISED_NS))
		w->raised = true;
	if (w->raised)
		r->raised |= INCIDENT_RAISED_SCANS;
	if (w->lacks)
		note_lack(r, w->lacks, "needs --export.profiles");
}

static void lower_detail(void *ctx)
{
	struct session *s = ctx;

	s->incidents->raised = false;
	loop_every(&s->loop, s->incidents->calm_ns);
}

int incident_watch_open(struct session *s, const struct incident_options *o, const char *dir,
			char *error, size_t size)
{
	struct incident_watch *w = calloc(1, sizeof(*w));
	int err;

	if (!w) {
		snprintf(error, size, "out of memory");
		return -ENOMEM;
	}
	w->pressure = w->socket = -1;
	err = incidents_open(&w->in, o, dir, collector_tell, &s->in.collector, error, size);
	if (err) {
		free(w);
		return err;
	}
	w->in.raise = raise_detail;
	w->in.lower = lower_detail;
	w->in.news = take_news;
	w->in.ctx = s;
	if (o->on & INCIDENT_ON_PRESSURE)
		w->pressure = pressure_trigger_open();
	if (w->pressure < 0 && o->on & INCIDENT_ON_PRESSURE)
		w->no_pressure = w->pressure;
	w->socket = snapshot_listen(dir);
	if (w->socket == -EADDRINUSE)
		complain("another faultscope uses %s: faultscope snapshot asks that one", dir);
	s->incidents = w;
	s->in.collector.ring = w->in.ring;
	return 0;
}

void incident_watch_close(struct session *s)
{
	struct incident_watch *w = s->incidents;

	if (!w)
		return;
	if (w->catch_up && incidents_wait(&w->in))
		w->catch_up(s);
	if (w->pressure >= 0)
		close(w->pressure);
	if (w->socket >= 0) {
		snapshot_unlink(w->in.store.fd);
		close(w->socket);
	}
	incidents_close(&w->in);
	s->in.collector.ring = NULL;
	s->incidents = NULL;
	free(w);
}

static int on_pressure(void *ctx)
{
	struct session *s = ctx;
	struct incident_cause c = {.trigger = INCIDENT_PRESSURE};
	char title[192];

	snprintf(title, sizeof(title),
		 "all tasks waited for memory for %d ms or more within %d s (PSI full)",
		 PRESSURE_STALL_MS, PRESSURE_WINDOW_MS / 1000);
	c.title = title;
	incidents_trigger(&s->incidents->in, &c);
	return 0;
}

bool incident_watch_request(struct session *s, enum incident_trigger trigger, const char *reason,
			    char *ret, size_t size)
{
	struct incident_cause c = {.trigger = trigger, .title = *reason ? reason : "requested"};
	struct incident_watch *w = s->incidents;
	const char *name;

	if (!w) {
		snprintf(ret, size, "no incidents: there is no ring (see --ring)");
		return false;
	}
	if (w->catch_up)
		w->catch_up(s);
	name = incidents_trigger(&w->in, &c);
	if (name)
		snprintf(ret, size, "%s/%s", w->in.store.dir, name);
	else
		snprintf(ret, size, "no incident was written: %s",
			 w->in.failing ? "the store cannot be written"
				       : "there were too many requests; try again in a minute");
	return name;
}

static int on_socket(void *ctx)
{
	char reason[SNAPSHOT_REASON_BYTES], path[PATH_MAX + 64], answer[SNAPSHOT_ANSWER_BYTES];
	struct session *s = ctx;
	int client = snapshot_accept(s->incidents->socket, reason);

	if (client < 0)
		return 0;
	if (incident_watch_request(s, INCIDENT_SNAPSHOT, reason, path, sizeof(path)))
		snprintf(answer, sizeof(answer), "+%.500s", path);
	else
		snprintf(answer, sizeof(answer), "-%.500s", path);
	snapshot_answer(client, answer);
	return 0;
}

int incident_watch_begin(struct session *s)
{
	struct incident_watch *w = s->incidents;

	if (!w)
		return 0;
	return loop_watch_priority(&s->loop, w->pressure, on_pressure)
		       ?: loop_watch(&s->loop, w->socket, on_socket);
}

void incident_watch_look(struct session *s)
{
	if (s->incidents)
		incidents_look(&s->incidents->in, &s->in.m, &s->in.findings);
}

void incident_watch_next_window(struct session *s)
{
	if (s->incidents)
		incidents_next_window(&s->incidents->in);
}

void incident_watch_work(struct session *s)
{
	if (s->incidents)
		incidents_work(&s->incidents->in);
}

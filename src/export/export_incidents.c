// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The flight recorder of processes: a ring in memory, and incidents. The exporter's metrics need no
 * state of processes; for the ring, the session keeps it as in other commands.
 */
#include <stdio.h>
#include <string.h>

#include "cli/messages.h"
#include "cli/options_incident.h"
#include "collect/redact.h"
#include "export/export.h"
#include "probe/host_facts.h"

#define SCAN_NS 20000000000ULL /* time between scans if nobody scrapes */

/* Scans now: readers of a recording judge what came before a scan, together with its values. */
static void catch_up(void *ctx)
{
	struct export *x = ctx;

	x->collected_ns = 0; /* also if the last scan was a moment ago */
	export_collect(x, 0);
}

/*
 * Names the workload of a process as the metrics do. With --redact, only the redacted cgroup of the
 * model may be used.
 */
static void identify(void *ctx, const struct finding *f, struct log_workload *ret)
{
	struct export *x = ctx;
	const struct identity *id = identity_of_event(x->ids, &f->subject, f->comm, f->seen_ns);

	*ret = (struct log_workload){.name = id->name,
				     .namespace = id->namespace,
				     .pod = id->pod,
				     .container = id->container,
				     .unit = id->kind == KIND_UNIT ? id->name : NULL};
}

/* Opens the log before the ring, whose incidents it reports. Returns 0 or an exit status. */
static int open_log(struct export *x)
{
	int err = event_log_open(&x->s);

	if (!err && !x->o->redact)
		event_log_identify_by(&x->s, identify, x);
	return err;
}

int export_incidents_open(struct export *x)
{
	const struct options *o = x->o;
	const char *dir = o->incident.store ? o->incident.store : INCIDENT_STORE_PLACE;
	const struct incident_options opt = options_incident(o);
	char error[512];

	if (!options_has_ring(o))
		return 0;
	if (open_log(x))
		return EXIT_FAILED;
	if (incident_watch_open(&x->s, &opt, dir, error, sizeof(error))) {
		complain("incidents are not stored: %s", error);
		return 0;
	}
	x->s.incidents->catch_up = catch_up;
	x->s.incidents->lacks = x->o->profiles ? NULL
				: x->o->faults ? "stacks"
					       : "stacks and fault latency";
	if (x->s.incidents->no_pressure)
		complain("memory pressure triggers no incident: %s",
			 strerror(-x->s.incidents->no_pressure));
	return 0;
}

/*
 * At the end of a scan, sends the last values of processes that have ended. The records that were
 * pending go to the metrics too.
 */
static int find_ends(struct export *x)
{
	const struct sink sink = {.take = export_take, .ctx = x};
	struct session *s = &x->s;
	int ended;

	if (s->in.ends.foreign || s->in.m.window % ENDS_EVERY)
		return 0;
	ended = ends_find(&s->in.ends, &s->in.collector, s->in.src, &sink);
	return ended < 0 ? ended : 0;
}

int export_incidents_take(struct export *x, const struct record *h)
{
	int err = 0;

	if (!x->s.incidents)
		return 0;
	/* before the tick record, because a replay shows what comes after it one interval later */
	if (h->kind == RECORD_TICK)
		err = find_ends(x);
	return err ?: collector_take(&x->s.in.collector, h);
}

int export_incidents_before_scan(struct export *x)
{
	const struct sink sink = {.take = collector_take, .ctx = &x->s.in.collector};

	return x->s.incidents ? pressure_scan(&x->s.in.pressure, &x->s.in.m, &sink) : 0;
}

/* Judges events that came without a scan. */
void export_incidents_look(struct export *x)
{
	if (!x->s.incidents)
		return;
	findings_judge_events(&x->s.in.findings, &x->s.in.m);
	event_log_look(&x->s);
	incident_watch_look(&x->s);
}

void export_incidents_scanned(struct export *x)
{
	struct session *s = &x->s;

	if (!s->incidents)
		return;
	findings_judge(&s->in.findings, &s->in.m);
	event_log_look(s);
	incident_watch_look(s);
	incident_watch_work(s);
	event_log_work(s);
	findings_next_window(&s->in.findings);
	incident_watch_next_window(s);
}

/* Returns whether the ring needs a scan now, because nobody has scraped for a while. */
bool export_incidents_scan_is_due(const struct export *x)
{
	return x->s.incidents &&
	       (x->s.incidents->raised || host_monotonic_ns() >= x->collected_ns + SCAN_NS);
}

void export_incidents_count(const struct export *x, struct prom_incidents *ret)
{
	const struct incidents *in = x->s.incidents ? &x->s.incidents->in : NULL;
	struct ring_use use;

	if (!in)
		return;
	use = record_ring_use(in->ring);
	ret->on = true;
	memcpy(ret->by, in->counts.by, sizeof(ret->by));
	ret->merged = in->counts.merged;
	ret->repeated = in->counts.repeated;
	ret->over_rate = in->counts.over_rate;
	ret->failed = in->store.failed;
	ret->ring_bytes = use.bytes;
	ret->ring_s = (use.until_ns - use.from_ns) / 1e9;
}

bool export_snapshot(void *ctx, struct buf *body)
{
	char text[PATH_MAX + 64];
	struct export *x = ctx;
	bool done = incident_watch_request(&x->s, INCIDENT_HTTP, "requested by HTTP", text,
					   sizeof(text));

	buf_printf(body, "%s\n", text);
	return done;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "incident/incidents.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/units.h"
#include "probe/host_facts.h"
#include "render/incident_pages.h"
#include "render/render.h"
#include "rules/fault.h"

/* An incident is completed at the latest this long after its time is over. */
#define LATE_NS 30000000000ULL

#define NS_PER_MS	  1000000ULL
#define MANUAL_HOURLY	  120 /* maximum number of incidents per hour that somebody requests */
#define MANUAL_AT_ONCE	  10
#define AUTOMATIC_AT_ONCE 6 /* incidents that may follow one another without a pause */

static void announce(const struct incidents *in, const struct incident_news *news)
{
	if (in->news)
		in->news(in->ctx, news);
}

static void announce_dropped(void *ctx, const char *name)
{
	announce(ctx, &(struct incident_news){INCIDENT_DROPPED, NULL, name,
					      "the store has reached its bounds"});
}

static int compile(struct incidents *in, char *error, size_t size)
{
	char why[128];
	int err;

	if (!in->o.signal_pattern)
		return 0;
	err = regcomp(&in->signal_regex, in->o.signal_pattern, REG_EXTENDED | REG_NOSUB);
	in->has_signal_regex = !err;
	if (!err)
		return 0;
	regerror(err, &in->signal_regex, why, sizeof(why));
	snprintf(error, size, "%.64s: %s", in->o.signal_pattern, why);
	return -EINVAL;
}

int incidents_open(struct incidents *in, const struct incident_options *o, const char *dir,
		   int (*tell)(void *ctx, const struct sink *sink), void *ctx, char *error,
		   size_t size)
{
	double most = o->per_hour > 4 ? o->per_hour / 4.0 : 1;
	int err;

	memset(in, 0, sizeof(*in));
	in->store = INCIDENT_STORE_CLOSED;
	in->o = *o;
	in->automatic =
		allowance_of(o->per_hour, most < AUTOMATIC_AT_ONCE ? AUTOMATIC_AT_ONCE : most);
	in->manual = allowance_of(MANUAL_HOURLY, MANUAL_AT_ONCE);
	err = compile(in, error, size);
	if (err)
		return err;
	err = incident_store_open(&in->store, dir, &o->store);
	if (err)
		snprintf(error, size, "cannot make %s: %s", dir, strerror(-err));
	in->store.dropped_one = announce_dropped;
	in->store.ctx = in;
	if (!err) {
		err = record_ring_make(&o->ring, tell, ctx, &in->ring);
		if (err)
			snprintf(error, size, "out of memory");
	}
	if (err)
		incidents_close(in);
	return err;
}

/* Reports the first of several failures. */
static void report_failure(struct incidents *in, const struct incident_waiting *w, int err)
{
	if (err && !in->failing)
		announce(in, &(struct incident_news){INCIDENT_FAILED, &w->r, w->name, NULL, err});
	in->failing = err;
}

static int write_one(struct incidents *in, struct incident_waiting *w)
{
	struct ring_use use = record_ring_use(in->ring);
	int err;

	w->r.h = (struct record){RECORD_INCIDENT, sizeof(w->r), use.from_ns};
	w->r.until_ns = use.until_ns;
	err = incident_store_put(&in->store, in->ring, &w->r, w->name);
	report_failure(in, w, err);
	if (!err)
		announce(in,
			 &(struct incident_news){w->due_ns ? INCIDENT_STORED : INCIDENT_COMPLETED,
						 &w->r, w->name});
	return err;
}

void incidents_close(struct incidents *in)
{
	for (size_t i = 0; i < INCIDENTS_AT_ONCE && in->ring; i++)
		if (in->waiting[i].due_ns) {
			in->waiting[i].due_ns = 0;
			write_one(in, &in->waiting[i]);
		}
	record_ring_free(in->ring);
	if (in->has_signal_regex)
		regfree(&in->signal_regex);
	if (in->store.dir[0])
		incident_store_close(&in->store);
	in->ring = NULL;
}

static bool is_manual(enum incident_trigger t)
{
	return t == INCIDENT_USR1 || t == INCIDENT_SNAPSHOT || t == INCIDENT_HTTP;
}

/* Equal triggers have the same finding, event or cause, and the same workload and program. */
static uint64_t hash_of(const struct incident_record *r)
{
	uint64_t hash = hash64_bytes(HASH64_BEGIN, r->finding, sizeof(r->finding));

	if (!r->finding[0])
		hash = hash64_bytes(hash, &r->trigger, sizeof(r->trigger));
	hash = hash64_bytes(hash, r->cause, sizeof(r->cause));
	hash = hash64_bytes(hash, r->comm, sizeof(r->comm));
	return hash64_bytes(hash, r->workload, sizeof(r->workload));
}

/* Returns whether an equal trigger came a short time ago, and notes this one if not. */
static bool is_repeated(struct incidents *in, const struct incident_record *r)
{
	uint64_t hash = hash_of(r);

	for (size_t i = 0; i < INCIDENTS_SEEN; i++)
		if (in->seen[i].at_ns && in->seen[i].hash == hash &&
		    r->at_ns < in->seen[i].at_ns + in->o.rest_ns)
			return true;
	return false;
}

static void note_seen(struct incidents *in, const struct incident_record *r)
{
	size_t i = in->nr_seen++ % INCIDENTS_SEEN;

	in->seen[i].hash = hash_of(r);
	in->seen[i].at_ns = r->at_ns;
}

static bool is_same(const struct incident_record *a, const struct incident_record *b)
{
	return hash_of(a) == hash_of(b) ||
	       (a->subject.pid && same_subject(&a->subject, &b->subject));
}

/*
 * Returns the incident that contains a trigger: one that still waits, and has the same finding or
 * process.
 */
static struct incident_waiting *waiting_for(struct incidents *in, const struct incident_record *r)
{
	for (size_t i = 0; i < INCIDENTS_AT_ONCE; i++)
		if (in->waiting[i].due_ns && is_same(&in->waiting[i].r, r) &&
		    !is_manual(r->trigger))
			return &in->waiting[i];
	return NULL;
}

/*
 * Returns a place for an incident. Some places are only for incidents that somebody requests. If no
 * place is free, completes the incident whose time is over next, to use its place.
 */
static struct incident_waiting *place_for(struct incidents *in, bool manual)
{
	struct incident_waiting *next = &in->waiting[0];

	for (size_t i = 0; i < INCIDENTS_AT_ONCE - (manual ? 0 : INCIDENTS_BY_HAND); i++) {
		if (!in->waiting[i].due_ns)
			return &in->waiting[i];
		if (in->waiting[i].due_ns < next->due_ns)
			next = &in->waiting[i];
	}
	next->due_ns = 0;
	write_one(in, next);
	return next;
}

static void fill(struct incident_record *r, const struct incident_cause *c)
{
	uint64_t now = host_monotonic_ns();

	memset(r, 0, sizeof(*r));
	r->at_ns = c->at_ns ? c->at_ns : now;
	r->wall_ns = host_wall_ns() - (now > r->at_ns ? now - r->at_ns : 0);
	r->trigger = c->trigger;
	if (c->subject)
		r->subject = *c->subject;
	if (c->finding) {
		r->severity = c->finding->severity + 1;
		array_copy(r->finding, sizeof(r->finding), c->finding->rule->id);
		array_copy(r->title, sizeof(r->title), c->finding->title);
	}
	if (c->title)
		array_copy(r->title, sizeof(r->title), c->title);
	array_copy(r->comm, sizeof(r->comm), c->comm ? c->comm : "");
	array_copy(r->cause, sizeof(r->cause), c->cause ? c->cause : "");
	array_copy(r->workload, sizeof(r->workload), c->workload ? c->workload : "");
}

/* Returns whether to begin an incident, and counts what is ignored. */
static bool is_wanted(struct incidents *in, const struct incident_record *r)
{
	bool manual = is_manual(r->trigger);

	if (!manual && is_repeated(in, r)) {
		in->counts.repeated++;
		return false;
	}
	if (!allowance_take(manual ? &in->manual : &in->automatic, host_monotonic_ns())) {
		in->counts.over_rate++;
		announce(in, &(struct incident_news){INCIDENT_REFUSED_RATE, r, NULL,
						     "too many incidents in a short time"});
		return false;
	}
	return true;
}

/* Chooses a name that no incident has, since two triggers may come in one millisecond. */
static void name_it(struct incidents *in, struct incident_waiting *w)
{
	const char *what = incident_kind(&w->r);
	uint64_t wall_ns = w->r.wall_ns;
	struct stored_names names;
	bool taken = true;

	if (stored_names_read(in->store.dir, &names)) {
		stored_name(wall_ns, what, w->name);
		stored_names_free(&names);
		return;
	}
	for (; taken; wall_ns += NS_PER_MS) {
		stored_name(wall_ns, what, w->name);
		taken = false;
		for (size_t i = 0; i < names.n && !taken; i++)
			taken = !strcmp(names.name[i], w->name);
	}
	stored_names_free(&names);
}

/*
 * Makes a later trigger that of an incident which waits: a limit was near, and now a call failed.
 * The file gets a name with the new finding.
 */
static const char *replace_trigger(struct incidents *in, struct incident_waiting *w,
				   const struct incident_record *r)
{
	struct incident_record was = w->r;
	char name[STORED_NAME_BYTES];

	strcpy(name, w->name);
	w->r = *r;
	w->r.more = was.more;
	w->r.raised = was.raised;
	memcpy(w->r.not_raised, was.not_raised, sizeof(was.not_raised));
	w->of_state = false;
	w->due_ns = host_monotonic_ns() + in->o.after_ns;
	name_it(in, w);
	if (write_one(in, w))
		return NULL;
	unlinkat(in->store.fd, name, 0);
	announce(in,
		 &(struct incident_news){INCIDENT_DROPPED, NULL, name,
					 "a later trigger of the same incident has a new file"});
	return w->name;
}

/* Adds a trigger to an incident that waits. */
static const char *merge(struct incidents *in, struct incident_waiting *w,
			 const struct incident_record *r, bool of_state)
{
	bool known = is_repeated(in, r);

	w->r.more++;
	in->counts.merged++;
	note_seen(in, r);
	return w->of_state && !of_state && !known ? replace_trigger(in, w, r) : NULL;
}

const char *incidents_trigger(struct incidents *in, const struct incident_cause *c)
{
	bool of_state = c->finding && rule_is_state(c->finding->rule);
	struct incident_waiting *w;
	struct incident_record r;

	fill(&r, c);
	in->counts.triggers++;
	w = in->ring ? waiting_for(in, &r) : NULL;
	if (w)
		return merge(in, w, &r, of_state);
	if (!in->ring || !is_wanted(in, &r))
		return NULL;
	note_seen(in, &r);
	w = place_for(in, is_manual(r.trigger));
	w->r = r;
	w->of_state = of_state;
	w->due_ns = host_monotonic_ns() + in->o.after_ns;
	in->counts.by[r.trigger]++;
	name_it(in, w);
	if (in->raise)
		in->raise(in->ctx, &w->r);
	return write_one(in, w) ? NULL : w->name;
}

bool incidents_wait(const struct incidents *in)
{
	for (size_t i = 0; i < INCIDENTS_AT_ONCE; i++)
		if (in->waiting[i].due_ns)
			return true;
	return false;
}

/*
 * Returns whether the time after a trigger is over, and the ring has it. The last scan may have
 * begun before its end: then the next one completes the incident.
 */
static bool is_over(const struct incidents *in, const struct incident_waiting *w)
{
	uint64_t until_ns = record_ring_use(in->ring).until_ns, now = host_monotonic_ns();
	bool lacks_end = until_ns >= w->r.at_ns && until_ns < w->due_ns;

	return now >= w->due_ns && (!lacks_end || now >= w->due_ns + LATE_NS);
}

void incidents_work(struct incidents *in)
{
	bool waited = incidents_wait(in);

	for (size_t i = 0; i < INCIDENTS_AT_ONCE; i++) {
		struct incident_waiting *w = &in->waiting[i];

		if (!w->due_ns || !is_over(in, w))
			continue;
		w->due_ns = 0;
		write_one(in, w);
	}
	if (waited && !incidents_wait(in) && in->lower)
		in->lower(in->ctx);
}

static const char *workload_of_process(const struct model *m, const struct process_key *of,
				       const char *comm, char *ret, size_t size)
{
	const struct subject *s = model_find(m, of);
	struct workload_of_process p = s ? workload_of_subject(s) : (struct workload_of_process){};

	p.comm = comm;
	workload_name(&p, ret, size);
	return ret;
}

static void look_at_finding(struct incidents *in, const struct model *m, struct finding *f)
{
	struct incident_cause c = {.trigger = INCIDENT_FINDING, .finding = f, .cause = f->cause};
	char workload[256] = "";
	const char *last;

	if (!f->open || !f->fresh || f->triggered || f->severity != SEVERITY_CRITICAL)
		return;
	f->triggered = true;
	c.at_ns = f->seen_ns;
	if (finding_has_process(f)) {
		c.subject = &f->subject;
		c.comm = f->comm;
		c.workload =
			workload_of_process(m, &f->subject, f->comm, workload, sizeof(workload));
	} else if (f->place[0]) {
		struct workload_of_process p = {.cgroup = f->place};

		last = strrchr(f->place, '/');
		p.comm = last && last[1] ? last + 1 : f->place;
		workload_name(&p, workload, sizeof(workload));
		c.workload = workload;
	}
	incidents_trigger(in, &c);
}

static bool is_chosen(const struct incidents *in, const char *cause)
{
	for (size_t i = 0; in->o.cause[i] && cause; i++)
		if (!strcmp(in->o.cause[i], cause))
			return true;
	return false;
}

static void look_at_refused(struct incidents *in, const struct model *m,
			    const struct refused_record *r)
{
	struct incident_cause c = {.trigger = INCIDENT_REFUSED, .at_ns = r->h.t_ns};
	char workload[256], title[192];
	struct verdict v = {};

	if (!in->o.cause[0])
		return;
	cause_of(r, &m->tick.limits, m->host.arch, &v);
	if (!is_chosen(in, v.cause))
		return;
	c.cause = v.cause;
	c.subject = &r->subject;
	c.comm = r->comm;
	c.workload = workload_of_process(m, &r->subject, r->comm, workload, sizeof(workload));
	snprintf(title, sizeof(title), "%s failed: %s", call_name(r->call), v.cause);
	c.title = title;
	incidents_trigger(in, &c);
}

static void look_at_signal(struct incidents *in, const struct model *m,
			   const struct signal_record *r)
{
	struct incident_cause c = {.trigger = INCIDENT_SIGNAL, .at_ns = r->h.t_ns};
	char workload[256], title[192], name[32];
	struct verdict v = {};

	workload_of_process(m, &r->subject, r->comm, workload, sizeof(workload));
	if (!in->has_signal_regex || !(r->flags & SIGNAL_FATAL) ||
	    regexec(&in->signal_regex, workload, 0, NULL, 0))
		return;
	if (r->signal == SIGSEGV || r->signal == SIGBUS)
		fault_of(r, &m->tick.limits, &v);
	c.cause = v.cause;
	c.subject = &r->subject;
	c.comm = r->comm;
	c.workload = workload;
	snprintf(title, sizeof(title), "%s was killed by %s", r->comm,
		 signal_name(r->signal, name, sizeof(name)));
	c.title = title;
	incidents_trigger(in, &c);
}

static void look_at_oom(struct incidents *in, const struct model *m, const struct oom_record *r)
{
	struct incident_cause c = {.trigger = INCIDENT_OOM, .at_ns = r->h.t_ns};
	char workload[256], title[192];

	if (!(in->o.on & INCIDENT_ON_OOM))
		return;
	c.subject = &r->subject;
	c.comm = r->comm;
	c.workload = workload_of_process(m, &r->subject, r->comm, workload, sizeof(workload));
	snprintf(title, sizeof(title), "%s (pid %u) was OOM-killed", r->comm, r->subject.pid);
	c.title = title;
	incidents_trigger(in, &c);
}

void incidents_look(struct incidents *in, const struct model *m, struct findings *fs)
{
	if (!in->ring)
		return;
	/* findings first: they say what an event means, and their incident contains the event */
	for (size_t i = 0; i < fs->n && in->o.on & INCIDENT_ON_FINDING; i++)
		look_at_finding(in, m, &fs->f[i]);
	for (; in->judged < m->events; in->judged++) {
		const union event *e = &m->event[in->judged];

		if (e->h.kind == RECORD_REFUSED)
			look_at_refused(in, m, &e->refused);
		else if (e->h.kind == RECORD_SIGNAL)
			look_at_signal(in, m, &e->signal);
		else if (e->h.kind == RECORD_OOM)
			look_at_oom(in, m, &e->oom);
	}
}

void incidents_next_window(struct incidents *in)
{
	in->judged = 0;
}

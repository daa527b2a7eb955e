// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "session/replay_outline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/recording.h"

/* Adds a mark. Returns its description, which the caller fills; NULL: there is no room. */
static struct outline_finding *add_mark(struct outline *o, uint64_t t_ns, enum tui_mark_kind kind)
{
	if (o->n == OUTLINE_MARKS_MAX) {
		o->lost++;
		return NULL;
	}
	o->mark[o->n] = (struct tui_mark){t_ns, kind};
	o->what[o->n] = (struct outline_finding){};
	return &o->what[o->n++];
}

/* Returns the index of a critical finding in o->critical, or nr_critical. */
static size_t critical_at(const struct outline *o, const struct finding *f)
{
	size_t i = 0;

	while (i < o->nr_critical && (o->critical[i].rule != f->rule ||
				      !same_subject(&o->critical[i].subject, &f->subject)))
		i++;
	return i;
}

/* Notes whether a finding is critical. Returns true if it has become critical. */
static bool becomes_critical(struct outline *o, const struct finding *f)
{
	size_t i = critical_at(o, f);
	bool was = i < o->nr_critical, is = f->open && f->severity == SEVERITY_CRITICAL;

	if (was && !is)
		o->critical[i] = o->critical[--o->nr_critical];
	if (was || !is || o->nr_critical == FINDINGS_MAX)
		return false;
	o->critical[o->nr_critical].rule = f->rule;
	o->critical[o->nr_critical++].subject = f->subject;
	return true;
}

static void mark_finding(struct outline *o, const struct finding *f)
{
	bool critical = becomes_critical(o, f);
	bool opened = f->open && f->since_ns > o->m.prev_ns;
	struct outline_finding *what;
	char who[WHO_BYTES];

	if ((!critical && !opened) || f->severity < o->least)
		return;
	what = add_mark(o, o->m.last_ns, critical ? MARK_CRITICAL : MARK_OPENED);
	if (!what)
		return;
	finding_who(f, who, sizeof(who));
	what->subject = f->subject;
	snprintf(what->text, sizeof(what->text), "%s %s %.64s: %.120s", severity_name(f->severity),
		 f->rule->id, who, f->title);
}

/* Marks the trigger of an incident at the first scan that shows it. */
static void mark_trigger(struct outline *o)
{
	const struct incident_record *r = o->m.incident;
	struct outline_finding *what;

	if (!r || r->at_ns <= o->m.prev_ns || r->at_ns > o->m.last_ns)
		return;
	what = add_mark(o, o->m.last_ns, MARK_TRIGGER);
	if (!what)
		return;
	what->subject = r->subject;
	snprintf(what->text, sizeof(what->text), "trigger of the incident: %.180s", r->title);
}

static void finish(struct outline *o)
{
	if (o->m.incident && o->m.incident->at_ns > o->m.last_ns) {
		o->m.incident->at_ns = o->m.last_ns; /* no scan came after the trigger */
		o->m.prev_ns = o->m.last_ns - 1;
		mark_trigger(o);
	}
	if (o->m.last_ns)
		o->span.end_ns = o->m.last_ns;
	o->read_ns = UINT64_MAX;
	o->complete = true;
}

void outline_step(struct outline *o)
{
	const struct sink sink = {.take = collector_take, .ctx = &o->collector};

	if (o->complete)
		return;
	if (o->src->ops->look(o->src, &sink)) {
		finish(o); /* the end, or damage: the session reports it when it gets there */
		return;
	}
	findings_judge(&o->findings, &o->m);
	for (size_t i = 0; i < o->findings.n; i++)
		if (o->findings.f[i].fresh)
			mark_finding(o, &o->findings.f[i]);
	mark_trigger(o);
	if (!o->span.begin_ns)
		o->span.begin_ns = o->m.last_ns;
	if (!o->span.wall_ns)
		o->span.wall_ns = o->m.tick.wall_ns;
	if (o->span.end_ns < o->m.last_ns)
		o->span.end_ns = o->m.last_ns;
	o->read_ns = o->m.last_ns;
	model_next_window(&o->m);
	findings_next_window(&o->findings);
}

int outline_begin(struct outline *o, struct source *src, const struct filter *filter,
		  enum severity least)
{
	int err = model_init(&o->m);

	o->src = src;
	o->least = least;
	o->filter = *filter;
	o->collector.m = &o->m;
	o->collector.filter = &o->filter;
	o->span.end_ns = replay_last_ns(src);
	if (!err)
		outline_step(o);
	return err;
}

void outline_end(struct outline *o)
{
	if (o->src)
		o->src->ops->close(o->src);
	collector_free(&o->collector);
	findings_free(&o->findings);
	model_free(&o->m);
}

ssize_t outline_after(const struct outline *o, uint64_t t_ns)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->mark[i].t_ns > t_ns)
			return i;
	return -1;
}

ssize_t outline_before(const struct outline *o, uint64_t t_ns)
{
	for (size_t i = o->n; i-- > 0;)
		if (o->mark[i].t_ns < t_ns)
			return i;
	return -1;
}

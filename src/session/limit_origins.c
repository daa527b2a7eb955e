// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/limit_origins.h"

#include <stdio.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/limits/limit_source.h"
#include "model/pressure.h"
#include "model/resources.h"
#include "probe/host_facts.h"
#include "rules/need.h"
#include "rules/remedy.h"

#define DESCRIBED_MAX 2048 /* longest description of where a limit comes from */

static void copy_command(const struct remedy *r, char *ret, size_t size)
{
	/* a command that does not fit is left out as a whole */
	if (r && (size_t)snprintf(ret, size, "%s", r->command) >= size)
		*ret = 0;
}

static void fill_record(struct origin_record *r, const struct origin *o,
			const struct remedy_for *want)
{
	struct remedy list[REMEDY_MAX];
	size_t n = remedies_for(o, want, list);
	char described[DESCRIBED_MAX];
	struct buf text = BUF_IN(described);

	origin_describe(o, &text);
	array_copy(r->set_by, sizeof(r->set_by), described);
	copy_command(remedy_find(list, n, REMEDY_WORKAROUND, false), r->at_once,
		     sizeof(r->at_once));
	copy_command(remedy_find(list, n, REMEDY_WORKAROUND, true), r->for_good,
		     sizeof(r->for_good));
	for (size_t i = 0; i < n; i++)
		r->host_wide |= list[i].kind == REMEDY_WORKAROUND && list[i].scope == SCOPE_HOST;
	for (size_t i = 0; i < n && !r->cost[0]; i++)
		snprintf(r->cost, sizeof(r->cost), "%s", list[i].risk);
}

/*
 * Returns whether to look up the origins of limits. Only -p, run and diagnose look up origins,
 * because they watch few processes. The first scan may come before all probes are attached.
 */
static bool may_read_origins(const struct session *s)
{
	return s->in.src->live && (s->plan.attributes || s->plan.whom != WATCH_ALL) &&
	       !host_is_in_pid_namespace() && s->in.m.origins < MODEL_ORIGINS_MAX;
}

/*
 * Returns the limit value to suggest. It is enough for the failed call, or else for the current
 * usage. Returns 0 if no limit can be suggested.
 */
static uint64_t wanted_of(const struct session *s, const struct finding *f,
			  const struct subject *subject, const struct limit *limit)
{
	if (f->want && f->limit == limit && limit != &limit_table[LIMIT_MAX_MAP_COUNT])
		return f->want;
	if (subject && limit == &limit_table[LIMIT_MAX_MAP_COUNT])
		return limit_above(limit, subject->now.g.map_high,
				   s->in.m.tick.limits.max_map_count);
	return 0;
}

static void try_lookup(struct session *s, const struct finding *f, const struct limit *limit)
{
	struct origin_record r = {.h = {RECORD_ORIGIN, sizeof(r), host_monotonic_ns()}};
	const struct subject *subject = model_find(&s->in.m, &f->subject);
	struct origin_of of = {.pid = f->subject.pid};
	char cgroup[256];
	struct remedy_for want = {.pid = f->subject.pid};
	uint64_t most = need_most(limit, &s->in.m.tick.limits);
	struct origin o;
	int root;

	if (subject) {
		of.ppid = subject->now.g.ppid;
		of.cgroup = subject->cgroup;
		/*
		 * for an OOM kill, use the cgroup whose limit was reached, not the most restrictive
		 * one now
		 */
		of.at_cgroup = f->rule->trigger == ON_OOM &&
			       cgroup_above(subject->cgroup, f->limit_up, cgroup, sizeof(cgroup));
		if (of.at_cgroup)
			of.cgroup = cgroup;
		want.gone = subject->final;
	}
	want.want = wanted_of(s, f, subject, limit);
	want.most = most == LIMIT_NONE ? 0 : most;
	if (f->rule->trigger == ON_CGROUP) {
		of.cgroup = f->place;
		of.at_cgroup = true;
	}
	root = origin_root();
	if (root < 0)
		return;
	r.subject = f->subject;
	r.limit = limit - limit_table;
	if (!origin_find(root, &of, limit - limit_table, &o))
		fill_record(&r, &o, &want);
	/* store a failed lookup too, so that the lookup is not repeated */
	collector_take(&s->in.collector, &r.h);
	close(root);
}

/*
 * Returns whether a call with a larger request has failed since the origin of the limit was looked
 * up. If so, the suggested value must be higher.
 */
static bool is_outgrown(const struct session *s, const struct finding *f,
			const struct origin_record *known)
{
	return f->want > s->in.origin_want[known - s->in.m.origin];
}

/* Returns whether the limit was set by --assume. Such a limit has no origin. */
static bool is_assumed(const struct session *s, const struct limit *limit)
{
	int i = resource_find(limit->name);

	return i >= 0 && s->in.m.assumed[i];
}

void origins_attach(struct session *s, struct finding *f)
{
	const struct limit *limit = f->limit   ? f->limit
				    : f->cause ? limit_of_cause(f->cause)
					       : NULL;
	const struct origin_record *known;

	if (!limit || !f->open || f->set_by[0] || is_assumed(s, limit))
		return;
	known = model_origin(&s->in.m, &f->subject, limit - limit_table);
	if ((!known || is_outgrown(s, f, known)) && may_read_origins(s)) {
		try_lookup(s, f, limit);
		known = model_origin(&s->in.m, &f->subject, limit - limit_table);
		if (known)
			s->in.origin_want[known - s->in.m.origin] = f->want;
	}
	if (known)
		finding_take_origin(f, known);
}

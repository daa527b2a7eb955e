// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* OOM kills: counts them by what is to blame, and stores a page for each of them. */
#include <string.h>

#include "export/export.h"
#include "model/oom_kills.h"
#include "rules/oom_page.h"

_Static_assert(CENSUS_OOM_CAUSE_HUGETLB - CENSUS_OOM_CAUSE_UNKNOWN == NR_OOM_BLAMES - 1,
	       "a counter for each value of enum oom_blame, in its order");

void export_oom_open(struct export *x)
{
	int err = oom_store_open(&x->oom, x->o->oom.store, x->o->oom.keep);

	if (err)
		complain("OOM kills are not stored: cannot make %s: %s",
			 x->o->oom.store ? x->o->oom.store : OOM_STORE_PLACE, strerror(-err));
}

static int take_in_model(void *ctx, const struct record *h)
{
	struct export *x = ctx;

	return collector_pass(&x->s.in.collector, h);
}

/*
 * Returns the workload of a killed process. If the process was killed before its cgroup was read,
 * the page of the kill has the cgroup: the kernel logs it.
 */
static const struct identity *victim(struct export *x, const struct oom_record *r)
{
	const struct identity *id = identity_of_event(x->ids, &r->subject, r->comm, r->h.t_ns);
	const struct oom_kill *kill = oom_kills_last(&x->s.in.m);

	if (id->kind != KIND_COMM || !kill || !kill->has_scene ||
	    kill->first.subject.pid != r->subject.pid ||
	    kill->first.subject.start_ns != r->subject.start_ns)
		return id;
	return identity_of_cgroup(x->ids, kill->scene.victim_cgroup, r->comm, r->h.t_ns);
}

int export_oom_take(struct export *x, const struct oom_record *h)
{
	const struct sink sink = {.take = take_in_model, .ctx = x};
	struct oom_record r = *h;
	bool continues = oom_kills_continue(&x->s.in.m, &r);
	int err = oom_scenes_take(&x->s.in.collector.oom, &x->s.in.m, &r, &sink);
	const struct identity *id = victim(x, &r);
	struct oom_page page;

	node_oom(&x->node, &r, id);
	if (err || continues || !oom_kills_last(&x->s.in.m))
		return err;
	oom_page_of(oom_kills_last(&x->s.in.m), x->s.in.m.tick.limits.page_bytes, &page);
	node_oom_cause(&x->node, &r, id, CENSUS_OOM_CAUSE_UNKNOWN + page.blame);
	return 0;
}

void export_oom_store(struct export *x)
{
	bool failed = x->oom.failed;
	int err = oom_store_write(&x->oom, &x->s.in.m);

	if (err && !failed)
		complain("cannot store an OOM kill in %s: %s", x->oom.dir, strerror(-err));
}

int export_oom_scan(struct export *x)
{
	const struct sink sink = {.take = take_in_model, .ctx = x};

	if (x->s.incidents)
		return 0; /* export_incidents_before_scan() reads them */
	return pressure_scan_only_cgroups(&x->s.in.pressure, &x->s.in.m, &sink);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "export/export.h"
#include "model/pressure.h"
#include "probe/host_facts.h"

#define NS_PER_S  1000000000ULL
#define SHARED_NS 100000000ULL /* scrapes within 0.1 s share one collection */
/* share of a scrape's time-out that is reserved for rendering and transfer */
#define TIMEOUT_SPARED 0.05

/* Removes processes that ended without a last record, because an exit event was lost. */
static void poll_probe_losses(struct export *x)
{
	struct process_key of;
	uint64_t told_ns;
	uint32_t at = 0;

	while (census_each(&x->census, &at, &of, &told_ns)) {
		if (!ends_is_gone(&x->s.in.ends, of.pid, told_ns))
			continue;
		census_gone(&x->census, &of);
		node_gone(&x->node, &of);
		identities_gone(x->ids, &of);
		export_resident_gone(x, &of);
	}
}

static void look(struct export *x)
{
	struct sink sink = {.take = export_take, .ctx = x};
	int err;

	ends_begin(&x->s.in.ends, &x->s.in.m, x->s.in.src);
	err = export_incidents_before_scan(x);
	if (!err)
		err = x->s.in.src->ops->look(x->s.in.src, &sink);
	x->partial = err == -ETIMEDOUT;
	x->up = !err;
	if (!err && ends_may_be_lost(&x->s.in.ends, &x->s.in.m, &x->s.in.m.tick.losses))
		poll_probe_losses(x);
	export_resident_read(x);
	if (!err)
		err = export_oom_scan(x);
	export_oom_store(x);
	export_incidents_scanned(x);
	model_next_window(&x->s.in.m);
}

/* Notes which workloads are near the memory limit of a cgroup. */
static void find_short_of_memory(struct export *x)
{
	const struct model *m = &x->s.in.m;

	for (size_t i = 0; m->pressure && i < m->pressure->levels; i++) {
		const struct level *l = &m->pressure->level[i];
		uint64_t kept = level_kept_bytes(l);
		double share = (double)kept / l->now.n[CGROUP_LIMIT];

		if (level_has_limit(l) && level_is_there(m, l) && kept != FIGURE_UNKNOWN &&
		    share >= URGENT_SHARE)
			census_memory(&x->census, l->now.path, share);
	}
}

void export_collect(struct export *x, double timeout_s)
{
	uint64_t now = host_monotonic_ns();

	if (x->collected_ns && now - x->collected_ns < SHARED_NS && x->up)
		return;
	x->collected_ns = now;
	x->deadline_ns = timeout_s > 0 ? now + timeout_s * (1 - TIMEOUT_SPARED) * NS_PER_S : 0;
	if (x->replay)
		export_replay_scan(x);
	else
		look(x);
	x->deadline_ns = 0;
	node_report_expire(&x->node, host_monotonic_ns());
	find_short_of_memory(x);
	census_update(&x->census, host_boottime_ns(), x->s.in.m.tick.limits.max_map_count);
}

static struct prom_view view_of(struct export *x)
{
	uint64_t now = host_monotonic_ns();
	struct prom_view v = {
		.resident = export_resident_places(x),
		.m = &x->s.in.m,
		.c = &x->census,
		.n = &x->node,
		.live = !x->replay,
		.up = x->up,
		.partial = x->partial,
		.native = x->o->native_histograms,
		.scrape_s = (now - x->collected_ns) / 1e9,
		.boot_s = (host_wall_ns() - now) / 1e9,
	};

	export_self(x, &v.self);
	export_incidents_count(x, &v.incidents);
	v.self.start_s = x->start_s;
	return v;
}

void export_render(struct export *x, const struct exposition_format *format, struct buf *b)
{
	struct exposition e = {.format = format, .b = b};
	struct prom_view v = view_of(x);

	prom_render(&e, &v);
}

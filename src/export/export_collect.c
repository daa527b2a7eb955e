// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "export/export.h"
#include "probe/host_facts.h"
#include "rules/cause.h"
#include "rules/fault.h"

#define NS_PER_S       1000000000ULL
#define SHARED_NS      100000000ULL /* scrapes this close to each other have one collection */
#define TIMEOUT_SPARED 0.05	    /* of a scrape's time: for rendering and the way back */

static const char *module_of(struct export *x, uint64_t ip, char *site, size_t size)
{
	struct symbol_record r = {.ip = ip};
	const struct symbol *known = model_symbol(&x->s.in.m, ip);

	if (!known && x->s.in.collector.live && symbols_find(&x->s.in.collector.symbols, ip, &r)) {
		r.h = (struct record){RECORD_SYMBOL, sizeof(r), host_monotonic_ns()};
		if (!model_take(&x->s.in.m, &r.h))
			known = model_symbol(&x->s.in.m, ip);
	}
	snprintf(site, size, "%s", known ? known->symbol : "");
	return known ? known->module : NULL;
}

static void take_kernel_fault(struct export *x, const struct kernel_fault_record *r)
{
	char site[64];
	const char *module = module_of(x, r->ip, site, sizeof(site));

	node_kernel_fault(&x->node, r, module, site);
}

static void take_process(struct export *x, const struct process_record *r)
{
	const struct identity *id = identity_of(x->ids, r);

	/* what the tables have no room for is counted there, and no reason to stop */
	census_take(&x->census, r, id, x->node.now_ns);
	node_take(&x->node, r, id);
}

static const struct identity *who(struct export *x, const struct process_key *of, const char *comm,
				  uint64_t t_ns)
{
	return identity_of_event(x->ids, of, comm, t_ns);
}

void export_take_refused(struct export *x, const struct refused_record *r)
{
	struct verdict v = {};

	cause_of(r, &x->s.in.m.tick.limits, x->s.in.m.host.arch, &v);
	node_refused(&x->node, r, v.cause ? v.cause : "unknown");
}

static void take_signal(struct export *x, const struct signal_record *r,
			const struct identity *id)
{
	struct verdict v = {};

	if (r->signal == SIGSEGV || r->signal == SIGBUS)
		fault_of(r, &x->s.in.m.tick.limits, &v);
	node_signal(&x->node, r, id, v.cause);
}

static bool is_late(struct export *x)
{
	return x->deadline_ns && host_monotonic_ns() > x->deadline_ns;
}

int export_take(void *ctx, const struct record *h)
{
	struct export *x = ctx;
	int err = 0;

	x->node.now_ns = host_boottime_ns();
	identities_take(x->ids, h);
	switch (h->kind) {
	case RECORD_PROCESS:
		take_process(x, (const struct process_record *)h);
		break;
	case RECORD_REFUSED:
		export_take_refused(x, (const struct refused_record *)h);
		break;
	case RECORD_SIGNAL: {
		const struct signal_record *r = (const struct signal_record *)h;

		take_signal(x, r, who(x, &r->subject, r->comm, h->t_ns));
		break;
	}
	case RECORD_OOM: {
		const struct oom_record *r = (const struct oom_record *)h;

		node_oom(&x->node, r, who(x, &r->subject, r->comm, h->t_ns));
		break;
	}
	case RECORD_PRESSURE:
		node_pressure(&x->node, (const struct memory_wait_record *)h);
		break;
	case RECORD_REPORT:
		node_report(&x->node, (const struct report_record *)h);
		break;
	case RECORD_KERNEL_FAULT:
		take_kernel_fault(x, (const struct kernel_fault_record *)h);
		break;
	case RECORD_HOST:
	case RECORD_HOOK:
	case RECORD_LIMITS:
	case RECORD_TICK:
		err = model_take(&x->s.in.m, h);
		break;
	}
	/* what was taken is taken: the source goes on behind it the next time */
	return err ?: is_late(x) ? -ETIMEDOUT : 0;
}

/* Last records that were lost, or never are: who is no longer there did not say so. */
static void look_after(struct export *x)
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
	}
}

static void look(struct export *x)
{
	struct sink sink = {.take = export_take, .ctx = x};
	int err;

	ends_begin(&x->s.in.ends, &x->s.in.m, x->s.in.src);
	err = x->s.in.src->ops->look(x->s.in.src, &sink);
	x->partial = err == -ETIMEDOUT;
	x->up = !err;
	if (!err && ends_may_be_lost(&x->s.in.ends, &x->s.in.m))
		look_after(x);
	model_next_window(&x->s.in.m);
}

void export_collect(struct export *x, double timeout_s)
{
	uint64_t now = host_monotonic_ns();

	if (x->collected_ns && now - x->collected_ns < SHARED_NS && x->up)
		return;
	x->collected_ns = now;
	x->deadline_ns = timeout_s > 0 ? now + timeout_s * (1 - TIMEOUT_SPARED) * NS_PER_S : 0;
	if (x->replay)
		export_replay_look(x);
	else
		look(x);
	x->deadline_ns = 0;
	node_report_expire(&x->node, host_monotonic_ns());
	census_update(&x->census, host_boottime_ns(), x->s.in.m.tick.limits.max_map_count);
}

static struct prom_view view_of(struct export *x)
{
	uint64_t now = host_monotonic_ns();
	struct prom_view v = {
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
	v.self.start_s = x->start_s;
	return v;
}

void export_render(struct export *x, const struct exposition_format *format, struct buf *b)
{
	struct exposition e = {.format = format, .b = b};
	struct prom_view v = view_of(x);

	prom_render(&e, &v);
}

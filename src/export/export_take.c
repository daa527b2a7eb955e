// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes each record of a scan or a probe for the exporter. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "export/export.h"
#include "probe/host_facts.h"
#include "rules/cause.h"
#include "rules/fault.h"

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

static int take_process(struct export *x, const struct process_record *r)
{
	const struct identity *id = identity_of(x->ids, r);

	if (id->kind == KIND_POD)
		export_on_pod(x);
	/* a full table counts the records that it drops, so the scan need not stop */
	census_take(&x->census, r, id, x->node.now_ns);
	node_take(&x->node, r, id);
	return export_resident_take_process(x, r, id);
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

static void take_signal(struct export *x, const struct signal_record *r, const struct identity *id)
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
		err = take_process(x, (const struct process_record *)h);
		break;
	case RECORD_REFUSED:
		export_take_refused(x, (const struct refused_record *)h);
		break;
	case RECORD_SIGNAL: {
		const struct signal_record *r = (const struct signal_record *)h;

		take_signal(x, r, who(x, &r->subject, r->comm, h->t_ns));
		break;
	}
	case RECORD_OOM:
		err = export_oom_take(x, (const struct oom_record *)h);
		break;
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
		if (!x->s.incidents)
			err = model_take(&x->s.in.m, h);
		break;
	default:
		err = export_resident_take(x, h);
	}
	/* export_oom_take() passes on the records of a kill with those that explain it */
	if (!err && h->kind != RECORD_OOM)
		err = export_incidents_take(x, h);
	/* after a time-out, the next scan continues after this record */
	return err ?: is_late(x) ? -ETIMEDOUT : 0;
}

int export_drain(void *ctx)
{
	struct export *x = ctx;
	struct sink sink = {.take = export_take, .ctx = x};

	if (x->replay || !x->s.in.src)
		return 0;
	x->s.in.src->ops->drain(x->s.in.src, &sink);
	export_oom_store(x);
	export_incidents_look(x);
	return 0;
}

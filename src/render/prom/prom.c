// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/prom/prom.h"

#include <string.h>

#include "model/fields.h"
#include "render/incident_pages.h"

#define NONE ((const char *const[]){NULL})

/*
 * Buckets of page-fault latency: the first one ends at 2^-21 s (0.5 us), the last one begins at 2^1
 * s. BPF programs of `export` count with these bounds; in recordings of other commands, the real
 * bounds are 7 % higher.
 */
#define LATENCY_FIRST	(-21)
#define LATENCY_BUCKETS 24

static void put(struct exposition *e, enum metric_id id, double v)
{
	exposition_family(e, &metrics[id]);
	exposition_sample(e, NONE, v, NULL);
}

static bool is_on(const struct prom_view *v, const char *hook)
{
	return model_hook_on(v->m, hook);
}

/*
 * Names of the collectors (groups of metrics), and the probe that each needs. If the probe's attach
 * type has one of the LACKS_* bits, it cannot provide the metrics.
 */
static const struct {
	const char *name, *hook;
	uint32_t lacks;
} collectors[] = {
	{"processes", "scan", LACKS_OTHERS},
	{"faults", "fault_begin"},
	{"stall", "fault_end"},
	{"refusals", "calls"},
	{"signals", "signal"},
	{"oom", "oom"},
	{"reclaim", "reclaim"},
	{"kernel", "fault_kernel"},
	{"reports", "log"},
	{"resident", "resident"},
};

static void put_collectors(struct exposition *e, const struct prom_view *v)
{
	exposition_family(e, &metrics[METRIC_ID_COLLECTOR]);
	for (size_t i = 0; i < sizeof(collectors) / sizeof(collectors[0]); i++)
		exposition_sample(e, (const char *const[]){collectors[i].name},
				  is_available(v->m, collectors[i].hook, collectors[i].lacks),
				  NULL);
}

/* Says why collectors are not running. */
static void put_collectors_off(struct exposition *e, const struct prom_view *v)
{
	bool begun = false;

	for (size_t i = 0; i < sizeof(collectors) / sizeof(collectors[0]); i++) {
		const struct hook_view *hook = model_hook(v->m, collectors[i].hook);

		if (is_available(v->m, collectors[i].hook, collectors[i].lacks) || !hook ||
		    !hook->why[0])
			continue;
		if (!begun)
			exposition_family(e, &metrics[METRIC_ID_COLLECTOR_OFF]);
		begun = true;
		exposition_sample(e, (const char *const[]){collectors[i].name, hook->why}, 1, NULL);
	}
}

static void put_probes(struct exposition *e, const struct prom_view *v)
{
	exposition_family(e, &metrics[METRIC_ID_PROBE]);
	for (size_t i = 0; i < v->m->hooks; i++) {
		const struct hook_view *h = &v->m->hook[i];

		exposition_sample(
			e,
			(const char *const[]){h->name, h->state == HOOK_ON ? h->mechanism : "none"},
			1, NULL);
	}
}

static void put_dropped(struct exposition *e, const struct prom_view *v)
{
	const struct losses *l = &v->m->tick.losses;
	const struct {
		const char *buffer;
		uint64_t n;
	} all[] = {
		{"ring", l->ring},
		{"process_map", l->map},
		{"fault_slot", l->slot},
		{"missed", l->missed},
		{"process_table", v->c->processes_lost + v->n->processes_lost},
		{"workload_table", v->c->workloads_lost},
	};

	exposition_family(e, &metrics[METRIC_ID_DROPPED]);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		exposition_sample(e, (const char *const[]){all[i].buffer}, all[i].n, NULL);
	if (v->resident)
		exposition_sample(e, (const char *const[]){"resident_pages"}, v->resident->lost,
				  NULL);
}

static void put_programs(struct exposition *e, const struct prom_self *self)
{
	if (!self->programs)
		return;
	exposition_family(e, &metrics[METRIC_ID_BPF_SECONDS]);
	for (size_t i = 0; i < self->programs; i++)
		exposition_sample(e, (const char *const[]){self->program[i].name},
				  self->program[i].run_ns / 1e9, NULL);
	exposition_family(e, &metrics[METRIC_ID_BPF_RUNS]);
	for (size_t i = 0; i < self->programs; i++)
		exposition_sample(e, (const char *const[]){self->program[i].name},
				  self->program[i].runs, NULL);
}

static void put_kernel_memory(struct exposition *e, const struct tick_record *t)
{
	if (!t->own_tables_bytes)
		return; /* no BPF programs are loaded, or a recording does not contain the value */
	exposition_family(e, &metrics[METRIC_ID_KERNEL_MEMORY]);
	exposition_sample(e, (const char *const[]){"maps"}, t->own_tables_bytes, NULL);
	exposition_sample(e, (const char *const[]){"state"}, t->own_state_bytes, NULL);
}

static void put_self(struct exposition *e, const struct prom_view *v)
{
	exposition_family(e, &metrics[METRIC_ID_BUILD]);
	/* a recording has the version of the program that recorded it, but no revision */
	exposition_sample(e,
			  (const char *const[]){v->m->host.version, v->live ? v->self.revision : "",
						v->self.libbpf, v->m->host.kernel},
			  1, NULL);
	put(e, METRIC_ID_UP, v->up);
	put_collectors(e, v);
	put_collectors_off(e, v);
	put_probes(e, v);
	put(e, METRIC_ID_SCRAPE, v->scrape_s);
	put_dropped(e, v);
	put_programs(e, &v->self);
	put(e, METRIC_ID_PROCESS_CPU, v->self.cpu_s);
	put(e, METRIC_ID_PROCESS_RESIDENT, v->self.rss_bytes);
	put_kernel_memory(e, &v->m->tick);
	put(e, METRIC_ID_PROCESS_FDS, v->self.open_fds);
	put(e, METRIC_ID_PROCESS_MAX_FDS, v->self.max_fds);
	put(e, METRIC_ID_PROCESS_START, v->self.start_s);
}

static void put_incidents(struct exposition *e, const struct prom_incidents *in)
{
	if (!in->on)
		return;
	exposition_family(e, &metrics[METRIC_ID_INCIDENTS]);
	for (uint32_t i = 0; i < NR_INCIDENT_TRIGGERS; i++)
		exposition_sample(e, (const char *const[]){incident_trigger_name(i)}, in->by[i],
				  NULL);
	exposition_family(e, &metrics[METRIC_ID_INCIDENTS_IGNORED]);
	exposition_sample(e, (const char *const[]){"merged"}, in->merged, NULL);
	exposition_sample(e, (const char *const[]){"repeated"}, in->repeated, NULL);
	exposition_sample(e, (const char *const[]){"rate"}, in->over_rate, NULL);
	put(e, METRIC_ID_INCIDENTS_FAILED, in->failed);
	put(e, METRIC_ID_RING_SECONDS, in->ring_s);
	put(e, METRIC_ID_RING_BYTES, in->ring_bytes);
}

static void put_accesses(struct exposition *e, const struct prom_view *v)
{
	static const char *const access[] = {"read", "write", "exec"};
	static const char *const page[] = {"not_present", "protected"};

	if (!is_available(v->m, "fault_begin", LACKS_ACCESS | LACKS_PROTECTION))
		return;
	exposition_family(e, &metrics[METRIC_ID_ACCESSES]);
	for (int a = 0; a < 3; a++)
		for (int p = 0; p < 2; p++)
			exposition_sample(e, (const char *const[]){access[a], page[p]},
					  v->n->access[a][p], NULL);
}

static void put_backings(struct exposition *e, const struct prom_view *v)
{
	if (!is_on(v, "fault_class"))
		return;
	exposition_family(e, &metrics[METRIC_ID_BACKINGS]);
	for (int b = 0; b < NR_BACKINGS; b++)
		exposition_sample(e, (const char *const[]){node_backing_name(b)}, v->n->backing[b],
				  NULL);
}

static void put_durations(struct exposition *e, const struct prom_view *v)
{
	static const char *const severity[NR_ENDS] = {[END_MINOR] = "minor", [END_MAJOR] = "major"};

	if (!is_on(v, "fault_end"))
		return;
	exposition_family(e, &metrics[METRIC_ID_DURATION]);
	for (int end = 0; end < NR_ENDS; end++) {
		uint64_t bucket[LATENCY_BUCKETS] = {};
		const struct node_exemplar *slow = &v->n->slowest[end];
		struct exemplar x = {
			.pid = slow->pid,
			.comm = slow->comm,
			.site = slow->site,
			.value = slow->value,
			.at_s = v->boot_s + slow->t_ns / 1e9,
		};
		struct distribution d = {
			.count = bucket,
			.buckets = LATENCY_BUCKETS,
			.first_exponent = LATENCY_FIRST,
			.sum = v->n->stall_ns[end] / 1e9,
			.slowest = slow->pid ? &x : NULL,
			.native = v->native,
		};

		if (end == END_MINOR && model_hook_has(v->m, "fault_end", LACKS_MINOR))
			continue;
		for (size_t i = 0; i < NR_LATENCY; i++)
			bucket[i < LATENCY_BUCKETS ? i : LATENCY_BUCKETS - 1] +=
				v->n->latency[end][i];
		exposition_distribution(e, (const char *const[]){severity[end]}, &d);
	}
}

static void put_fixups(struct exposition *e, const struct prom_view *v)
{
	exposition_family(e, &metrics[METRIC_ID_FIXUPS]);
	for (size_t i = 0; i < v->n->modules; i++) {
		const struct node_module *m = &v->n->module[i];
		const struct node_exemplar *last = node_exemplar(v->n, m->name, -1);
		struct exemplar x = {};

		if (i && !m->fixups)
			continue; /* skip a module that is listed only for its reports */
		if (last)
			x = (struct exemplar){.pid = last->pid,
					      .comm = last->comm,
					      .site = last->site,
					      .value = 1,
					      .at_s = v->boot_s + last->t_ns / 1e9};
		exposition_sample(e, (const char *const[]){m->name}, m->fixups, last ? &x : NULL);
	}
}

static void put_reports(struct exposition *e, const struct prom_view *v)
{
	exposition_family(e, &metrics[METRIC_ID_REPORTS]);
	for (size_t i = 0; i < v->n->modules; i++)
		for (int kind = 0; kind < NR_REPORTS; kind++) {
			const struct node_module *m = &v->n->module[i];

			if (!i || m->reports[kind])
				exposition_sample(
					e, (const char *const[]){kernel_report_name(kind), m->name},
					m->reports[kind], NULL);
		}
}

static void put_kernel(struct exposition *e, const struct prom_view *v)
{
	/* letters of the taint bits, in bit order: Documentation/admin-guide/tainted-kernels.rst */
	static const char flags[] = "PFSRMBUDAWCIOELKXTNJ";

	if (is_on(v, "fault_kernel")) {
		exposition_family(e, &metrics[METRIC_ID_KERNEL_FAULTS]);
		exposition_sample(e, (const char *const[]){"user"}, v->n->kernel_user, NULL);
		exposition_sample(e, (const char *const[]){"kernel"}, v->n->kernel_kernel, NULL);
		put_fixups(e, v);
	}
	if (is_on(v, "log"))
		put_reports(e, v);
	exposition_family(e, &metrics[METRIC_ID_TAINTED]);
	for (size_t i = 0; flags[i]; i++)
		if (v->self.tainted >> i & 1)
			exposition_sample(e, (const char *const[]){(char[]){flags[i], 0}}, 1, NULL);
}

static void put_machine(struct exposition *e, const struct prom_view *v)
{
	if (v->m->tick.limits.max_map_count) /* 0: it was not read */
		put(e, METRIC_ID_MAPPINGS_LIMIT, v->m->tick.limits.max_map_count);
	put_accesses(e, v);
	put_backings(e, v);
	put_durations(e, v);
	put_kernel(e, v);
	if (!v->resident)
		return;
	put(e, METRIC_ID_RESIDENT_SECONDS, v->resident->read_s);
	if (v->resident->each)
		put(e, METRIC_ID_RESIDENT_EACH, v->resident->each);
}

static double value_of(const struct prom_view *v, const struct exported *x,
		       const struct census_workload *w)
{
	if (!(x->flags & EXPORT_GAUGE))
		return w->counter[x->what] * (x->unit == UNIT_NS ? 1e-9 : 1);
	if (x->what == CENSUS_SWAP_PAGES)
		return (double)w->gauge[x->what] * v->m->tick.limits.page_bytes;
	return w->gauge[x->what];
}

static const char *name_of(const struct census *c, const struct census_workload *w)
{
	return w == &c->other ? CENSUS_OTHER : w->id.name;
}

static void put_cell(struct exposition *e, const struct prom_view *v, const struct exported *x,
		     const struct census_workload *w)
{
	bool gauge = x->flags & EXPORT_GAUGE;
	const char *name = name_of(v->c, w);
	const struct node_exemplar *last = gauge ? NULL : node_exemplar(v->n, name, x->what);
	const char *const label[] = {name, x->label[0], x->label[1]};
	struct exemplar last_one = {};

	if (!gauge && !w->counter[x->what] && census_is_rare(v->c, w, x->what))
		return;
	/* skip the fd limit if no process of the workload has one */
	if (gauge && x->what == CENSUS_WORST_FDS_LIMIT && !w->gauge[x->what])
		return;
	if (last)
		last_one = (struct exemplar){.pid = last->pid,
					     .comm = last->comm,
					     .site = last->site,
					     .value = 1,
					     .at_s = v->boot_s + last->t_ns / 1e9};
	exposition_sample(e, label, value_of(v, x, w), last ? &last_one : NULL);
}

/* Returns workload `i` of the page; `~other` is the last workload, and NULL follows. */
static const struct census_workload *workload_at(const struct census *c, size_t i)
{
	return i < c->owned ? c->own[i] : i == c->owned ? &c->other : NULL;
}

static void put_info(struct exposition *e, const struct census_workload *w)
{
	const struct identity *id = &w->id;
	bool one = w->one;

	exposition_sample(e,
			  (const char *const[]){id->name, workload_kind_name(id->kind),
						id->namespace, w->one_pod ? id->pod : "",
						w->one_container ? id->container : "",
						w->one_pod ? id->pod_uid : "",
						one ? id->container_id : "", one ? id->cgroup : ""},
			  1, NULL);
}

static bool is_exported(const struct model *m, const struct exported *x)
{
	return !x->hook || model_hook_on(m, x->hook);
}

static void put_family(struct exposition *e, const struct prom_view *v, enum metric_id family)
{
	const struct census_workload *w;
	bool begun = false;

	for (size_t k = 0; k < NR_EXPORTED; k++) {
		if (exported[k].family != family || !is_exported(v->m, &exported[k]))
			continue;
		if (!begun)
			exposition_family(e, &metrics[family]);
		begun = true;
		for (size_t i = 0; (w = workload_at(v->c, i)); i++)
			put_cell(e, v, &exported[k], w);
	}
}

static void put_workloads(struct exposition *e, const struct prom_view *v)
{
	const struct census *c = v->c;

	put(e, METRIC_ID_WORKLOADS, c->owned);
	put(e, METRIC_ID_FOLDED, c->folded);
	put(e, METRIC_ID_LIMITED, c->series_limited);
	exposition_family(e, &metrics[METRIC_ID_WORKLOAD]);
	for (size_t i = 0; i < c->owned; i++)
		put_info(e, c->own[i]);
	for (int family = 0; family < NR_METRICS; family++)
		put_family(e, v, family);
}

static void put_resident(struct exposition *e, const struct prom_view *v)
{
	const struct resident_places *r = v->resident;

	if (!r)
		return;
	exposition_family(e, &metrics[METRIC_ID_RESIDENT]);
	for (size_t i = 0; i < r->n; i++) {
		const struct resident_place *one = &r->place[i];

		exposition_sample(
			e, (const char *const[]){one->workload, one->code, one->kind, one->by},
			one->bytes, NULL);
	}
}

void prom_render(struct exposition *e, const struct prom_view *v)
{
	put_self(e, v);
	put_incidents(e, &v->incidents);
	put_machine(e, v);
	if (!v->partial) {
		put_workloads(e, v);
		put_resident(e, v);
	}
	exposition_end(e);
}

static uint32_t series_without(const struct model *m, unsigned int flags)
{
	uint32_t n = 0;

	for (size_t k = 0; k < NR_EXPORTED; k++)
		n += !(exported[k].flags & flags) && is_exported(m, &exported[k]);
	return n;
}

struct prom_series prom_series_of(const struct model *m, bool zeros)
{
	unsigned int sparse = zeros ? 0 : EXPORT_SPARSE;

	return (struct prom_series){
		/* workloads have an info metric, but ~other has none */
		.each = series_without(m, EXPORT_RARE | sparse) + 1,
		.of_other = series_without(m, EXPORT_RARE),
	};
}

uint32_t prom_series_else(const struct prom_view *v)
{
	struct exposition e = {.format = &exposition_text, .b = &(struct buf){}};
	struct prom_view partial = *v;

	partial.partial = true;
	prom_render(&e, &partial);
	buf_free(e.b);
	/* add 3 for the metrics of the census, which are not on a partial page */
	return e.series + 3 + (v->resident ? resident_places_series(v->resident) + 1 : 0);
}

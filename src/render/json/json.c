// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "base/overhead.h"
#include "base/units.h"
#include "model/fields.h"
#include "model/frame_list.h"
#include "model/frames.h"
#include "model/growers.h"
#include "model/slow.h"
#include "model/holdings.h"
#include "model/resident.h"
#include "render/crash/kernel_records.h"
#include "render/completeness.h"
#include "rules/cause.h"
#include "rules/diagnoses.h"
#include "rules/fault.h"
#include "rules/gates.h"
#include "rules/shortage.h"
#include "render/json/json_pressure.h"
#include "render/json/json_stack.h"
#include "render/json/line_rows.h"
#include "render/losses.h"

static const char *const what_name[] = {"maps", "fds"}; /* names of enum what in JSON */

void line_identity(struct json *j, const struct view *v, uint64_t wall_ns, bool is_start)
{
	const struct host_record *h = &v->m->host;

	if (!v->identifies)
		return;
	json_count_or_null(j, "time_ns", wall_ns, wall_ns);
	json_text(j, "program_version", h->version);
	if (is_start)
		return;
	json_text(j, "host", h->host);
	json_text_or_null(j, "boot_id", unless_empty(h->boot_id));
	json_text(j, "kernel", h->kernel);
}

static void put_value(struct json *j, const char *key, const struct evidence *e)
{
	if (e->unit == IN_TEXT)
		json_text(j, key, e->text);
	else if (unit_is_real(e->unit))
		json_real(j, key, e->real);
	else
		json_count(j, key, e->value);
}

static void put_levels(struct json *j, const char *key, uint32_t levels)
{
	json_array(j, key);
	for (int level = 0; level < NR_OVERHEAD_LEVELS; level++)
		if (levels >> level & 1)
			json_text(j, NULL, overhead_level_name(level));
	json_end_array(j);
}

static void put_overhead_for_others(struct json *j, const char *key, const struct model *m)
{
	char events[160];

	json_text(j, key,
		  overhead_for_others_text(model_events_of_others(m), events, sizeof(events)));
}

static void put_hooks(struct json *j, const char *key, const struct model *m)
{
	json_object(j, key);
	for (size_t i = 0; i < m->hooks; i++) {
		const struct hook_view *hook = &m->hook[i];

		json_text(j, hook->name,
			  hook->state == HOOK_ON || hook_is_pending(hook) ? hook->mechanism
									  : hook->why);
	}
	json_end(j);
}

/* Adds the names of the probes that are not attached yet, if there are some. */
static void put_pending(struct json *j, const char *key, const struct model *m)
{
	if (!model_has_pending_hooks(m))
		return;
	json_array(j, key);
	for (size_t i = 0; i < m->hooks; i++)
		if (hook_is_pending(&m->hook[i]))
			json_text(j, NULL, m->hook[i].name);
	json_end_array(j);
}

/* Adds the limits set by --assume for `scope` (process, cgroup or host) and for narrower scopes. */
static void put_assumed(struct json *j, const char *key, const struct view *v,
			enum resource_scope scope)
{
	bool any = false;

	for (int i = 0; i < NR_RESOURCES; i++) {
		if (!v->m->assumed[i] || resources[i].scope > scope)
			continue;
		if (!any)
			json_object(j, key);
		json_count(j, resources[i].limit, v->m->assumed[i]);
		any = true;
	}
	if (any)
		json_end(j);
}

static void put_user_caller(struct json *j, const char *key, const struct frames *f)
{
	char caller[USER_LINE_BYTES];

	if (f && frames_user_caller(f, caller, sizeof(caller)))
		json_text(j, key, caller);
}

/* Converts pages to bytes. Returns 0 while per-CPU page counters make the number negative. */
static uint64_t pages_to_bytes(const struct view *v, int64_t pages)
{
	return pages > 0 ? pages * v->m->tick.limits.page_bytes : 0;
}

static const char *gate_state_name(enum gate_state state)
{
	static const char *const name[] = {"passed", "failed", "not measured"};

	return name[state];
}

static void put_losses(struct json *j, const char *key, const struct view *v)
{
	struct loss lost[LOSSES_MAX];
	size_t n = losses_of(v, lost);

	json_object(j, key);
	for (size_t i = 0; i < n; i++)
		json_count(j, lost[i].key, lost[i].n);
	json_count(j, "coalesced", v->m->tick.losses.coalesced);
	json_end(j);
}

/* Adds the counts of walks by the reason why they ended. Counts of 0 are left out. */
static void put_walks(struct json *j, const char *key, const __u64 *ends)
{
	json_object(j, key);
	for (uint32_t i = 0; i < STACK_ENDS_MAX; i++)
		if (ends[i] && stack_end_name(i))
			json_count(j, stack_end_name(i), ends[i]);
	json_end(j);
}

static void put_opened(struct json *j, const char *key, const struct findings *f)
{
	json_object(j, key);
	for (int i = NR_SEVERITIES - 1; i >= 0; i--)
		json_count(j, severity_name(i), f->opened[i]);
	json_end(j);
}

#include "render/json/live_lines.def"

static void json_open(struct buf *b, const struct view *v)
{
	put_line_start(b, v, &v->m->host);
}

static void json_attached(struct buf *b, const struct view *v)
{
	put_line_probes(b, v, v->m);
}

static void write_histogram(struct json *j, const struct histogram *h, const struct counters *c)
{
	const uint64_t *n = h->counts(c);

	json_object(j, h->key);
	json_array(j, "buckets");
	for (size_t i = 0; i < h->buckets; i++) {
		if (!n[i])
			continue;
		json_array(j, NULL);
		if (histogram_le(h, i) == UINT64_MAX)
			json_null(j, NULL);
		else
			json_count(j, NULL, histogram_le(h, i));
		json_count(j, NULL, n[i]);
		json_end_array(j);
	}
	json_end_array(j);
	json_count(j, "total", histogram_total(h, c));
	if (h->max) {
		json_count(j, "p50", histogram_quantile(h, c, 0.5));
		json_count(j, "p99", histogram_quantile(h, c, 0.99));
		json_count(j, "max", h->max(c));
	}
	json_end(j);
}

static void write_histograms(struct json *j, const struct view *v, const char *group,
			     const struct counters *c)
{
	const char *within = NULL;

	for (size_t i = 0; i < nr_histograms; i++) {
		const struct histogram *h = &histograms[i];

		if (strcmp(h->group, group) || !is_available(v->m, h->hook, h->lacks))
			continue;
		if (h->sparse && !histogram_total(h, c))
			continue;
		if (h->within && (!within || strcmp(within, h->within))) {
			if (within)
				json_end(j);
			json_object(j, h->within);
			within = h->within;
		}
		write_histogram(j, h, c);
	}
	if (within)
		json_end(j);
}

static void write_grids(struct json *j, const struct view *v, const char *group,
			const struct counters *c)
{
	for (size_t i = 0; i < nr_grids; i++) {
		const struct grid *g = &grids[i];

		if (strcmp(g->group, group) || !is_available(v->m, g->hook, g->lacks))
			continue;
		json_object(j, g->key);
		for (size_t row = 0; row < g->rows; row++) {
			uint64_t any = 0;

			for (size_t k = 0; k < g->columns; k++)
				any |= g->cell(c, row, k);
			if (!any)
				continue;
			if (!g->column) {
				json_count(j, g->row(row), g->cell(c, row, 0));
				continue;
			}
			json_object(j, g->row(row));
			for (size_t k = 0; k < g->columns; k++)
				json_count(j, g->column[k], g->cell(c, row, k));
			json_end(j);
		}
		json_end(j);
	}
}

static void write_fields(struct json *j, const struct view *v, const struct subject *s,
			 const char *group)
{
	for (size_t i = 0; i < nr_fields; i++) {
		const struct field *f = &fields[i];
		uint64_t n;

		if (strcmp(f->group, group))
			continue;
		if (!field_get(v->m, s, f, &n) || (f->unit == UNIT_LIMIT && n == UINT64_MAX))
			json_null(j, f->key);
		else
			json_count(j, f->key, n);
	}
}

static void write_process(struct buf *b, const struct view *v, const struct subject *s)
{
	const struct counters *c = facts_counters(&s->now);
	struct workload_of_process of = workload_of_subject(s);
	const char *group = "";
	char name[256];
	struct json j;

	workload_name(&of, name, sizeof(name));
	json_begin(&j, b);
	json_text(&j, "type", "process");
	json_real(&j, "t", view_seconds(v, s->last_ns));
	json_time(&j, "time", view_wall_ns(v, s->last_ns));
	line_identity(&j, v, view_wall_ns(v, s->last_ns), false);
	put_process(&j, v, s, name);
	write_fields(&j, v, s, "");
	for (size_t i = 0; i < nr_fields; i++) {
		if (!strcmp(fields[i].group, group))
			continue;
		group = fields[i].group;
		json_object(&j, group);
		write_fields(&j, v, s, group);
		write_grids(&j, v, group, c);
		write_histograms(&j, v, group, c);
		json_end(&j);
	}
	json_finish(&j);
}

/* Writes who holds memory, for the processes that were read in this window. */
static void json_memory(struct buf *b, const struct view *v)
{
	/* Only the command `memory` reads it. Others need not search all processes each time. */
	if (!model_resident_each(v->m, NULL))
		return;
	for (const struct subject *s = model_each(v->m, NULL); s; s = model_each(v->m, s)) {
		const struct resident_of *of = model_resident(v->m, &s->id);

		if (of && !s->hidden && view_shows(v, &s->id) && of->now.sum.h.t_ns > v->m->prev_ns)
			put_line_memory(b, v, s, of);
	}
}

#define SORTS_TOLD 16

static void write_growth(struct buf *b, const struct view *v, const struct subject *s,
			 enum what what)
{
	struct grower g[SORTS_TOLD];
	uint64_t added;
	size_t n = buf_rows(b, growers_of(v->m, &s->id, what, g, SORTS_TOLD, &added));

	if (n)
		put_line_growth(b, v, s, what, added, g, n);
}

/* Writes what a process held at the beginning, and what it created. */
static void write_who_grew(struct buf *b, const struct view *v, const struct subject *s)
{
	for (int what = WHAT_MAPS; what <= WHAT_FDS; what++) {
		if (s->held[what].n)
			put_line_holdings(b, v, s, what, &s->held[what]);
		write_growth(b, v, s, what);
	}
}

static void json_frame(struct buf *b, const struct view *v)
{
	json_pressure(b, v);
	if (v->host)
		return;
	json_memory(b, v);
	for (const struct subject *s = model_each_changed(v->m, NULL); s;
	     s = model_each_changed(v->m, s))
		if (!s->hidden) {
			write_process(b, v, s);
			if (s->final) /* the model forgets it after this frame */
				write_who_grew(b, v, s);
			view_write_part(v, b);
		}
}

static void write_refused(struct buf *b, const struct view *v, const struct refused_record *r)
{
	struct verdict verdict;
	char name[24];

	cause_of(r, &v->m->tick.limits, v->m->host.arch, &verdict);
	put_line_failed_call(b, v, r, &verdict, model_frames(v->m, &r->subject, r->stack),
			     r->error ? errno_name(r->error, name, sizeof(name)) : NULL);
}

static void write_signal(struct buf *b, const struct view *v, const struct signal_record *r)
{
	struct verdict fault;
	char name[24];

	fault_of(r, &v->m->tick.limits, &fault);
	put_line_signal(b, v, r, &fault, signal_name(r->signal, name, sizeof(name)),
			r->stack ? model_frames(v->m, &r->subject, r->stack - 1) : NULL);
}

static void write_oom(struct buf *b, const struct view *v, const struct oom_record *r)
{
	const struct subject *s = model_find(v->m, &r->subject);
	const char *cgroup = s ? s->cgroup : NULL;
	char limit[CGROUP_PATH_LEN];
	struct verdict oom;
	bool above;

	oom_of(r, &oom);
	above = oom.cause && !strcmp(oom.cause, "memcg") && r->memory.limit != UINT64_MAX &&
		cgroup_above(cgroup, r->memory.up, limit, sizeof(limit));
	put_line_oom(b, v, r, &oom, cgroup, above ? limit : NULL);
}

static void json_event(struct buf *b, const struct view *v, const union event *e)
{
	switch (e->h.kind) {
	case RECORD_CROSSING:
		put_line_threshold(b, v, &e->crossing);
		break;
	case RECORD_REFUSED:
		write_refused(b, v, &e->refused);
		break;
	case RECORD_SIGNAL:
		write_signal(b, v, &e->signal);
		break;
	case RECORD_OOM:
		write_oom(b, v, &e->oom);
		break;
	case RECORD_SLOW_FAULTS:
		put_line_slow_faults(b, v, &e->slow,
				     model_frames(v->m, &e->slow.subject, e->slow.stack));
		break;
	case RECORD_KERNEL_FAULT:
		put_line_kernel_fault(b, v, &e->kernel_fault,
				      model_symbol(v->m, e->kernel_fault.ip));
		break;
	}
}

static void json_finding(struct buf *b, const struct view *v, const struct finding *f)
{
	if (!v->host || shortage_is_about(f->rule))
		put_line_finding(b, v, f);
}

static void write_phases(struct buf *b, const struct view *v)
{
	uint64_t values[NR_PHASE_VALUES];

	for (size_t i = 0; v->m->phases && i < v->m->phases->n; i++) {
		const struct phase *p = &v->m->phases->phase[i];

		for (size_t j = 0; j < NR_PHASE_VALUES; j++)
			values[j] = phase_values[j].get(p);
		put_line_phase(b, v, p, values);
	}
}

static void json_close(struct buf *b, const struct view *v)
{
	struct buf gaps = {};

	for (const struct subject *s = model_each(v->m, NULL); s; s = model_each(v->m, s))
		if (!s->hidden && (!s->final || v->host))
			write_who_grew(b, v, s);
	if (v->host)
		json_answer(b, v);
	if (v->recorded)
		blackbox_json_crash_signs(b, v->recorded);
	write_phases(b, v);
	gaps_of(&gaps, v);
	put_line_end(b, v, &gaps);
	buf_free(&gaps);
}

const struct renderer json_renderer = {
	.name = "json",
	.help = "JSON Lines, one object a line (faultscope schema)",
	.open = json_open,
	.attached = json_attached,
	.event = json_event,
	.finding = json_finding,
	.frame = json_frame,
	.close = json_close,
};

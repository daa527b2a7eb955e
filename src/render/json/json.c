// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "model/fields.h"
#include "model/growers.h"
#include "model/slow.h"
#include "model/holdings.h"
#include "render/crash/kernel_records.h"
#include "render/completeness.h"
#include "render/gate_results.h"
#include "render/render.h"
#include "rules/cause.h"
#include "rules/fault.h"
#include "rules/shortage.h"
#include "render/json_out.h"
#include "render/json/json_pressure.h"
#include "render/losses.h"

static void begin(struct json *j, struct buf *b, const struct view *v, const char *type,
		  uint64_t t_ns)
{
	json_begin(j, b);
	json_text(j, "type", type);
	json_real(j, "t", view_seconds(v, t_ns));
}

static void say_limits(struct json *j, const struct host_limits *l)
{
	json_object(j, "limits");
	json_count(j, "max_map_count", l->max_map_count);
	json_count(j, "file_max", l->file_max);
	json_count(j, "file_nr", l->file_nr);
	json_count(j, "nr_open", l->nr_open);
	json_count(j, "commit_limit_bytes", l->commit_limit_bytes);
	json_count(j, "committed_bytes", l->committed_bytes);
	json_count(j, "mem_total_bytes", l->mem_total_bytes);
	json_count(j, "swap_total_bytes", l->swap_total_bytes);
	json_count(j, "inotify_instances", l->inotify_instances);
	json_count(j, "overcommit_memory", l->overcommit_memory);
	json_end(j);
}

/* Limits of --assume that stand in figures of this scope; nothing where there are none. */
static void say_assumed(struct json *j, const struct view *v, enum resource_scope scope)
{
	bool any = false;

	for (int i = 0; i < NR_RESOURCES; i++) {
		if (!v->m->assumed[i] || resources[i].scope > scope)
			continue;
		if (!any)
			json_object(j, "assumed");
		json_count(j, resources[i].limit, v->m->assumed[i]);
		any = true;
	}
	if (any)
		json_end(j);
}

static void json_open(struct buf *b, const struct view *v)
{
	const struct host_record *h = &v->m->host;
	time_t wall = h->wall_ns / 1000000000ULL;
	struct tm tm = {};
	char text[64];
	struct json j;

	begin(&j, b, v, "start", v->m->origin_ns);
	json_count(&j, "schema", 1);
	json_text(&j, "version", h->version);
	json_text(&j, "kernel", h->kernel);
	json_text(&j, "arch", h->arch);
	json_text(&j, "host", h->host);
	json_text(&j, "boot_id", h->boot_id);
	gmtime_r(&wall, &tm);
	snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	json_text(&j, "time", text);
	json_text(&j, "mode", h->mode);
	json_text(&j, "target", h->target);
	json_array(&j, "tiers");
	for (int tier = 0; tier < 4; tier++)
		if (h->tiers >> tier & 1)
			json_count(&j, NULL, tier);
	json_end_array(&j);
	json_object(&j, "hooks");
	for (size_t i = 0; i < v->m->hooks; i++) {
		const struct hook_view *hook = &v->m->hook[i];

		snprintf(text, sizeof(text), "%s", hook->mechanism);
		json_text(&j, hook->name, hook->state == HOOK_ON ? text : hook->why);
	}
	json_end(&j);
	say_limits(&j, &v->m->tick.limits);
	say_assumed(&j, v, OF_HOST);
	json_finish(&j);
}

static void say_histogram(struct json *j, const struct histogram *h, const struct counters *c)
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

static void say_histograms(struct json *j, const struct view *v, const char *group,
			   const struct counters *c)
{
	const char *within = NULL;

	for (size_t i = 0; i < nr_histograms; i++) {
		const struct histogram *h = &histograms[i];

		if (strcmp(h->group, group) || !is_told(v->m, h->hook, h->lacks))
			continue;
		if (h->sparse && !histogram_total(h, c))
			continue;
		if (h->within && (!within || strcmp(within, h->within))) {
			if (within)
				json_end(j);
			json_object(j, h->within);
			within = h->within;
		}
		say_histogram(j, h, c);
	}
	if (within)
		json_end(j);
}

static void say_grids(struct json *j, const struct view *v, const char *group,
		      const struct counters *c)
{
	for (size_t i = 0; i < nr_grids; i++) {
		const struct grid *g = &grids[i];

		if (strcmp(g->group, group) || !is_told(v->m, g->hook, g->lacks))
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

static void say_fields(struct json *j, const struct view *v, const struct subject *s,
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

static void say_process(struct buf *b, const struct view *v, const struct subject *s)
{
	const struct counters *c = facts_counters(&s->now);
	const char *group = "";
	char name[256];
	struct json j;

	begin(&j, b, v, "process", s->last_ns);
	json_count(&j, "pid", s->id.pid);
	json_count(&j, "start_time_ns", s->id.start_ns);
	json_count(&j, "ppid", s->now.g.ppid);
	json_count(&j, "uid", s->now.g.uid);
	json_text(&j, "comm", s->now.g.comm);
	json_text_or_null(&j, "exe", s->exe);
	json_text_or_null(&j, "cgroup", s->cgroup);
	workload_name(s->cgroup, s->now.g.comm, name, sizeof(name));
	json_text(&j, "workload", name);
	if (s->now.g.flags & PROC_SHARES_MM)
		json_flag(&j, "shares_maps", true);
	if (s->final)
		json_flag(&j, "final", true);
	say_assumed(&j, v, OF_PROCESS);
	say_fields(&j, v, s, "");
	for (size_t i = 0; i < nr_fields; i++) {
		if (!strcmp(fields[i].group, group))
			continue;
		group = fields[i].group;
		json_object(&j, group);
		say_fields(&j, v, s, group);
		say_grids(&j, v, group, c);
		say_histograms(&j, v, group, c);
		json_end(&j);
	}
	json_finish(&j);
}

static void json_frame(struct buf *b, const struct view *v)
{
	json_pressure(b, v);
	if (v->host)
		return;
	for (const struct subject *s = model_each_changed(v->m, NULL); s;
	     s = model_each_changed(v->m, s))
		if (!s->hidden)
			say_process(b, v, s);
}

static void say_evidence(struct json *j, const struct evidence *e, size_t n)
{
	json_array(j, "evidence");
	for (size_t i = 0; i < n; i++) {
		json_object(j, NULL);
		json_text(j, "field", e[i].field);
		json_text(j, "value", e[i].value);
		json_text_or_null(j, "limit", e[i].limit[0] ? e[i].limit : NULL);
		json_end(j);
	}
	json_end_array(j);
}

static const char *const what_name[] = {"maps", "fds"}; /* by enum what */

/* Frames of a stack, innermost first; none where it is not known. */
static void say_stack(struct json *j, const struct view *v, const struct process_key *id,
		      int32_t stack)
{
	const struct frames *f = model_frames(v->m, id, stack);
	const char *at = f ? f->text : "";
	char line[512];

	json_array(j, "stack");
	while (*at) {
		size_t n = strcspn(at, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)(n < 500 ? n : 500), at);
		json_text(j, NULL, line);
		at += n + (at[n] == '\n');
	}
	json_end_array(j);
	if (f)
		json_flag(j, "stack_may_be_short", f->flags & FRAMES_SHORT);
}

#define SORTS_TOLD 16

static void say_sort_held(struct json *j, const struct holding *h)
{
	json_object(j, NULL);
	json_text(j, "name", h->name);
	json_text(j, "kind", holding_kind_name(h->kind));
	json_count(j, "count", h->count);
	json_count(j, "bytes", h->bytes);
	json_flag(j, "pattern", h->names > 1);
	json_end(j);
}

static void say_holdings(struct buf *b, const struct view *v, const struct subject *s,
			 enum what what)
{
	const struct holdings *h = &s->held[what];
	struct json j;

	if (!h->n)
		return;
	begin(&j, b, v, "holdings", v->m->last_ns);
	json_count(&j, "pid", s->id.pid);
	json_text(&j, "comm", s->now.g.comm);
	json_text(&j, "what", what_name[what]);
	json_flag(&j, "all", !h->sort[0].cut);
	json_array(&j, "sorts");
	for (size_t i = 0; i < h->n; i++)
		say_sort_held(&j, &h->sort[i]);
	json_end_array(&j);
	json_finish(&j);
}

static void say_growth(struct buf *b, const struct view *v, const struct subject *s,
		       enum what what)
{
	struct grower g[SORTS_TOLD];
	uint64_t added;
	size_t n = growers_of(v->m, &s->id, what, g, SORTS_TOLD, &added);
	struct json j;

	if (!n)
		return;
	begin(&j, b, v, "growth", v->m->last_ns);
	json_count(&j, "pid", s->id.pid);
	json_text(&j, "comm", s->now.g.comm);
	json_text(&j, "what", what_name[what]);
	json_count(&j, "made", added);
	json_array(&j, "sorts");
	for (size_t i = 0; i < n; i++) {
		json_object(&j, NULL);
		json_text(&j, "name", g[i].name);
		json_count(&j, "made", g[i].added);
		json_count(&j, "gone", g[i].removed);
		say_stack(&j, v, &s->id, g[i].stack);
		json_end(&j);
	}
	json_end_array(&j);
	json_finish(&j);
}

static void say_refused(struct json *j, const struct view *v, const struct refused_record *r)
{
	struct verdict verdict;
	char name[24];

	cause_of(r, &v->m->tick.limits, v->m->host.arch, &verdict);
	json_text(j, "call", call_name(r->call));
	json_text_or_null(j, "errno", r->error ? errno_name(r->error, name, sizeof(name)) : NULL);
	json_text(j, "cause", verdict.cause);
	json_flag(j, "certain", verdict.certain);
	json_count(j, "count", r->count);
	json_array(j, "args");
	for (int i = 0; i < 6; i++)
		json_count(j, NULL, r->args[i]);
	json_end_array(j);
	say_evidence(j, verdict.evidence, verdict.nr_evidence);
	json_array(j, "would_fail_next");
	for (size_t i = 0; i < verdict.nr_next; i++)
		json_text(j, NULL, verdict.next[i]);
	json_end_array(j);
	say_stack(j, v, &r->subject, r->stack);
}

static void say_address(struct json *j, const struct view *v, uint64_t address)
{
	char text[24];

	if (!v->addresses)
		return;
	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	json_text(j, "address", text);
}

static void say_fault(struct json *j, const struct view *v, const struct signal_record *r)
{
	struct verdict fault;

	fault_of(r, &v->m->tick.limits, &fault);
	json_text(j, "class", fault.cause);
	json_flag(j, "certain", fault.certain);
	json_text_or_null(j, "mapping", fault_mapping(r));
	json_text_or_null(j, "file", *r->file.name ? r->file.name : NULL);
	say_evidence(j, fault.evidence, fault.nr_evidence);
	say_address(j, v, r->address);
}

/* Per-CPU counters may be below 0 for a moment. */
static uint64_t pages_to_bytes(const struct view *v, int64_t pages)
{
	return pages > 0 ? pages * v->m->tick.limits.page_bytes : 0;
}

static void say_oom(struct json *j, const struct view *v, const struct oom_record *r)
{
	const struct subject *s = model_find(v->m, &r->subject);
	char limit[CGROUP_PATH_LEN];
	struct verdict oom;
	bool above;

	oom_of(r, &oom);
	above = oom.cause && !strcmp(oom.cause, "memcg") && r->memory.limit != UINT64_MAX &&
		cgroup_above(s ? s->cgroup : NULL, r->memory.up, limit, sizeof(limit));
	json_text_or_null(j, "constraint", oom.cause);
	json_flag(j, "certain", oom.certain);
	json_text_or_null(j, "cgroup", s ? s->cgroup : NULL);
	json_text_or_null(j, "limit_cgroup", above ? limit : NULL);
	json_count(j, "rss_bytes",
		   pages_to_bytes(v, (uint64_t)r->rss_file_pages + (uint64_t)r->rss_anon_pages +
					     (uint64_t)r->rss_shmem_pages));
	json_count(j, "anon_bytes", pages_to_bytes(v, r->rss_anon_pages));
	json_count(j, "shmem_bytes", pages_to_bytes(v, r->rss_shmem_pages));
	json_count(j, "swap_bytes", pages_to_bytes(v, r->swap_pages));
	json_count(j, "by_pid", r->by);
	json_text(j, "by_comm", r->by_comm);
	say_evidence(j, oom.evidence, oom.nr_evidence);
}

static void say_slow(struct json *j, const struct view *v, const struct slow_faults_record *r)
{
	json_text(j, "class", slow_sort(r));
	json_text_or_null(j, "file", r->file[0] ? r->file : NULL);
	json_count(j, "inode", r->inode);
	json_count(j, "count", r->count);
	json_count(j, "total_ns", r->total_ns);
	json_count(j, "max_ns", r->max_ns);
	json_count(j, "read_bytes", r->read_bytes);
	json_count(j, "reclaim_ns", r->waited_ns[WAIT_RECLAIM]);
	json_count(j, "compaction_ns", r->waited_ns[WAIT_COMPACTION]);
	json_count(j, "lock_ns", r->waited_ns[WAIT_LOCK]);
	json_count(j, "disk_ns", r->waited_ns[WAIT_DISK]);
	if (r->holder) {
		json_count(j, "holder_pid", r->holder);
		json_text(j, "holder_comm", r->holder_comm);
		json_flag(j, "holder_writes", r->holder_writes);
	} else {
		json_null(j, "holder_pid");
		json_null(j, "holder_comm");
		json_null(j, "holder_writes");
	}
	say_stack(j, v, &r->subject, r->stack);
}

static void say_kernel_fault(struct json *j, const struct view *v,
			     const struct kernel_fault_record *r)
{
	const struct symbol *sym = model_symbol(v->m, r->ip);

	json_text_or_null(j, "symbol", sym ? sym->symbol : NULL);
	json_text_or_null(j, "module", sym && sym->module[0] ? sym->module : NULL);
	json_text(j, "access", r->error_code & 16 ? "exec" : r->error_code & 2 ? "write" : "read");
	json_text(j, "address_class",
		  r->address >> 63     ? "kernel half"
		  : r->address < 65536 ? "near-null"
				       : "user half");
	/* a probing read survives by design; of others that is not known at their begin */
	if (r->nofault)
		json_flag(j, "fixed_up", true);
	else
		json_null(j, "fixed_up");
	json_count(j, "count", r->count);
	say_address(j, v, r->address);
}

/* Every event record begins alike: header, subject; its kind tells where tid and comm are. */
static void json_event(struct buf *b, const struct view *v, const union event *e)
{
	struct json j;
	char name[24];

	switch (e->h.kind) {
	case RECORD_CROSSING:
		begin(&j, b, v, "crossing", e->h.t_ns);
		json_count(&j, "pid", e->crossing.subject.pid);
		json_text(&j, "comm", e->crossing.comm);
		json_text(&j, "what", what_name[e->crossing.what & 1]);
		json_count(&j, "value", e->crossing.value);
		json_count(&j, "limit", e->crossing.limit);
		json_count(&j, "percent", e->crossing.percent);
		break;
	case RECORD_REFUSED:
		begin(&j, b, v, "refused", e->h.t_ns);
		json_count(&j, "pid", e->refused.subject.pid);
		json_count(&j, "tid", e->refused.tid);
		json_text(&j, "comm", e->refused.comm);
		say_refused(&j, v, &e->refused);
		break;
	case RECORD_SIGNAL:
		begin(&j, b, v, "signal", e->h.t_ns);
		json_count(&j, "pid", e->signal.subject.pid);
		json_count(&j, "tid", e->signal.tid);
		json_text(&j, "comm", e->signal.comm);
		json_text(&j, "signal", signal_name(e->signal.signal, name, sizeof(name)));
		json_count(&j, "code", e->signal.code);
		say_fault(&j, v, &e->signal);
		break;
	case RECORD_OOM:
		begin(&j, b, v, "oom", e->h.t_ns);
		json_count(&j, "pid", e->oom.subject.pid);
		json_text(&j, "comm", e->oom.comm);
		say_oom(&j, v, &e->oom);
		break;
	case RECORD_SLOW_FAULTS:
		begin(&j, b, v, "slow_faults", e->h.t_ns);
		json_count(&j, "pid", e->slow.subject.pid);
		json_count(&j, "tid", e->slow.tid);
		json_text(&j, "comm", e->slow.comm);
		say_slow(&j, v, &e->slow);
		break;
	case RECORD_KERNEL_FAULT:
		begin(&j, b, v, "kernel_fault", e->h.t_ns);
		json_count(&j, "pid", e->kernel_fault.subject.pid);
		json_count(&j, "tid", e->kernel_fault.tid);
		json_text(&j, "comm", e->kernel_fault.comm);
		say_kernel_fault(&j, v, &e->kernel_fault);
		break;
	default:
		return;
	}
	json_finish(&j);
}

static void json_finding(struct buf *b, const struct view *v, const struct finding *f)
{
	struct json j;

	if (v->host && !shortage_is_about(f->rule))
		return;
	begin(&j, b, v, "finding", f->seen_ns);
	json_text(&j, "id", f->rule->id);
	json_text(&j, "severity", severity_name(f->severity));
	json_text(&j, "state", f->open ? "open" : "cleared");
	if (!finding_has_process(f)) {
		json_null(&j, "pid");
		json_null(&j, "comm");
	} else {
		json_count(&j, "pid", f->subject.pid);
		json_text(&j, "comm", f->comm);
	}
	json_text_or_null(&j, "place", f->place[0] ? f->place : NULL);
	json_text(&j, "title", f->title);
	json_text_or_null(&j, "cause", f->cause);
	say_evidence(&j, f->evidence, f->nr_evidence);
	json_text_or_null(&j, "set_by", f->set_by[0] ? f->set_by : NULL);
	json_array(&j, "remedy");
	for (size_t i = 0; i < f->nr_remedies; i++)
		json_text(&j, NULL, f->remedy[i]);
	json_end_array(&j);
	if (f->forecast.known) {
		json_object(&j, "forecast");
		json_real(&j, "seconds", f->forecast.seconds);
		json_real(&j, "low", f->forecast.low);
		json_real(&j, "high", f->forecast.high);
		json_real(&j, "per_second", f->forecast.per_second);
		json_end(&j);
	} else {
		json_null(&j, "forecast");
	}
	json_array(&j, "because");
	for (size_t i = 0; i < f->nr_because; i++)
		json_text(&j, NULL, f->because[i]->id);
	json_end_array(&j);
	json_finish(&j);
}

static void say_who_grew(struct buf *b, const struct view *v)
{
	for (const struct subject *s = model_each(v->m, NULL); s; s = model_each(v->m, s))
		for (int what = WHAT_MAPS; what <= WHAT_FDS && !s->hidden; what++) {
			say_holdings(b, v, s, what);
			say_growth(b, v, s, what);
		}
}

static void json_close(struct buf *b, const struct view *v)
{
	const struct tick_record *t = &v->m->tick;
	struct loss lost[LOSSES_MAX];
	size_t n = losses_of(v, lost);
	struct buf gaps = {};
	struct json j;

	say_who_grew(b, v);
	if (v->host)
		json_answer(b, v);
	if (v->recorded)
		blackbox_json_portents(b, v->recorded);
	begin(&j, b, v, "end", v->m->last_ns);
	json_object(&j, "losses");
	for (size_t i = 0; i < n; i++)
		json_count(&j, lost[i].key, lost[i].n);
	json_count(&j, "coalesced", t->losses.coalesced);
	json_end(&j);
	json_object(&j, "own");
	json_count(&j, "cpu_ns", t->own_cpu_ns);
	json_count(&j, "bpf_ns", t->own_bpf_ns);
	json_count(&j, "rss_bytes", t->own_rss_bytes);
	json_end(&j);
	json_object(&j, "findings");
	for (int i = NR_SEVERITIES - 1; i >= 0; i--)
		json_count(&j, severity_name(i), v->findings->opened[i]);
	json_end(&j);
	gaps_of(&gaps, v);
	gaps_json(&j, &gaps);
	buf_free(&gaps);
	if (v->ending)
		json_text(&j, "ending", v->ending);
	if (v->gates)
		gates_json(&j, v);
	json_finish(&j);
}

const struct renderer json_renderer = {
	.name = "json",
	.help = "JSON Lines, one object a line (faultscope schema)",
	.open = json_open,
	.event = json_event,
	.finding = json_finding,
	.frame = json_frame,
	.close = json_close,
};

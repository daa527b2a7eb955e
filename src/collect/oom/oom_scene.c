// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/oom/oom_scene.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "collect/names/process_names.h"
#include "model/oom_kills.h"
#include "model/pressure.h"
#include "probe/host_facts.h"

void oom_scenes_open(struct oom_scenes *o)
{
	memset(o, 0, sizeof(*o));
	o->opened = true;
	o->foreign = host_is_in_pid_namespace();
	o->log = kernel_log_open();
	o->root = o->known.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	o->known.collapse = COLLAPSE_DEFAULT;
}

void oom_scenes_close(struct oom_scenes *o)
{
	if (!o->opened)
		return;
	kernel_log_close(o->log);
	if (o->root >= 0)
		close(o->root);
	known_free(&o->known);
}

static const struct level *level_with(const struct model *m, const char *path)
{
	const struct pressure *p = m->pressure;

	for (size_t i = 0; p && *path && i < p->levels; i++)
		if (!strcmp(p->level[i].now.path, path))
			return &p->level[i];
	return NULL;
}

/*
 * Returns whether the values of a kill are those of a cgroup: of the one whose limit was reached,
 * or of the one of a process that a program killed.
 */
static bool is_in_cgroup(const struct oom_record *r)
{
	return oom_has_limit(r) && (r->sent || oom_is_of_cgroup(r));
}

/* Finds the victim's cgroup: in the kernel's report, else in the model, else in /proc. */
static void find_victim_cgroup(const struct oom_scenes *o, const struct model *m,
			       const struct oom_record *r, const struct oom_report *report,
			       char *ret, size_t size)
{
	const struct subject *s = model_find(m, &r->subject);
	char name[48], text[4096];

	if (report->victim_cgroup[0]) {
		array_copy(ret, size, report->victim_cgroup);
	} else if (s && s->cgroup) {
		array_copy(ret, size, s->cgroup);
	} else if (!o->foreign) {
		snprintf(name, sizeof(name), "/proc/%u/cgroup", r->subject.pid);
		if (io_read(AT_FDCWD, name, text, sizeof(text)) > 0)
			cgroup_of(text, ret, size);
		/* an exiting process is in the root cgroup already, which has no limit */
		if (oom_has_limit(r) && !strcmp(ret, "/"))
			ret[0] = 0;
	}
}

static void fill_curve(const struct curve *c, struct oom_scene_record *s)
{
	for (uint32_t i = 0; c && i < c->n && i < OOM_CURVE_POINTS; i++) {
		s->curve_ns[i] = c->point[i].t_ns;
		s->curve_bytes[i] = c->point[i].value;
	}
}

static uint64_t bytes_of(int64_t pages, uint64_t page)
{
	return pages > 0 ? pages * page : 0;
}

static uint64_t difference(uint64_t whole, uint64_t part)
{
	return whole == FIGURE_UNKNOWN || part == FIGURE_UNKNOWN || part > whole ? whole
										 : whole - part;
}

/* Fills what the last scan before the kill read of the cgroup. */
static void fill_from_level(const struct level *l, struct oom_scene_record *s)
{
	const uint64_t *n = l->now.n;

	s->source = OOM_FROM_SCAN;
	s->values_ns = l->now.h.t_ns;
	s->used = n[CGROUP_USED];
	s->limit = n[CGROUP_LIMIT];
	s->swap_used = n[CGROUP_SWAP_USED];
	s->memory[OOM_ANON] = n[CGROUP_ANON];
	s->memory[OOM_SHMEM] = n[CGROUP_SHMEM];
	s->memory[OOM_FILE] = difference(n[CGROUP_FILE], n[CGROUP_SHMEM]);
	s->memory[OOM_OTHER_KERNEL] = n[CGROUP_KERNEL];
}

/* Fills what the last scan before the kill read of the machine. */
static void fill_from_host(const struct model *m, struct oom_scene_record *s)
{
	const struct host_limits *l = &m->tick.limits;
	const struct pressure *p = m->pressure;

	if (!m->last_ns)
		return;
	s->source = OOM_FROM_SCAN;
	s->values_ns = m->last_ns;
	s->limit = l->mem_total_bytes;
	s->used = difference(l->mem_total_bytes, l->mem_available_bytes);
	s->swap_limit = l->swap_total_bytes;
	s->swap_used = difference(l->swap_total_bytes, l->swap_free_bytes);
	s->memory[OOM_HUGETLB] = l->huge_pages * l->huge_page_bytes;
	if (!p || !p->known)
		return;
	s->memory[OOM_ANON] = p->now.n[HOST_ANON];
	s->memory[OOM_SHMEM] = p->now.n[HOST_SHMEM];
	s->memory[OOM_FILE] = difference(p->now.n[HOST_CACHED], p->now.n[HOST_SHMEM]);
	s->memory[OOM_SLAB] = p->now.n[HOST_SLAB];
	s->memory[OOM_PAGE_TABLES] = p->now.n[HOST_PAGE_TABLES];
}

/*
 * Adds the anonymous memory by which the victim grew after the scan: its values at the kill are
 * known. Shared memory is not added, since the process may have mapped what existed before.
 */
static void add_growth(const struct model *m, const struct oom_record *r,
		       struct oom_scene_record *s)
{
	const struct subject *victim = model_find(m, &r->subject);
	int64_t pages = r->rss_anon_pages;
	uint64_t bytes;

	if (s->source != OOM_FROM_SCAN || s->memory[OOM_ANON] == FIGURE_UNKNOWN)
		return;
	if (victim && victim->now.t_ns && !victim->final)
		pages -= victim->now.g.rss_anon_pages;
	bytes = bytes_of(pages, m->tick.limits.page_bytes);
	s->memory[OOM_ANON] += bytes;
	if (s->used == FIGURE_UNKNOWN)
		return;
	s->used += bytes;
	if (s->used > s->limit) /* the process grew into memory that others freed */
		s->used = s->limit;
}

/* The page counters, which the BPF program read at the kill, are newer than those of a scan. */
static void fill_counters(const struct model *m, const struct oom_record *r,
			  struct oom_scene_record *s)
{
	uint64_t page = m->tick.limits.page_bytes;

	if (!oom_has_limit(r) || !page)
		return;
	s->used = r->memory.used * page;
	s->limit = r->memory.limit * page;
	s->swap_used = r->swap_used != UINT64_MAX ? r->swap_used * page : FIGURE_UNKNOWN;
	s->swap_limit = r->swap_limit != UINT64_MAX ? r->swap_limit * page : FIGURE_UNKNOWN;
}

static void fill_workload(struct oom_scenes *o, const struct oom_record *r,
			  struct oom_scene_record *s)
{
	struct member member = {
		.pid = o->foreign ? 0 : r->subject.pid, .comm = r->comm, .t_ns = r->h.t_ns};
	const struct known *k;

	if (o->root < 0 || !s->victim_cgroup[0] || (!o->known.known && known_init(&o->known)))
		return;
	k = known_find(&o->known, s->victim_cgroup, &member);
	array_copy(s->namespace, sizeof(s->namespace), k->id.namespace);
	array_copy(s->pod, sizeof(s->pod), k->id.pod);
	array_copy(s->container, sizeof(s->container),
		   k->id.container[0] ? k->id.container : k->id.container_id);
}

static void fill_scene(struct oom_scenes *o, const struct model *m, const struct oom_record *r,
		       const struct oom_report *report, bool found, struct oom_scene_record *s)
{
	bool in_cgroup = found ? report->cgroup[0] : is_in_cgroup(r);
	const struct level *l;

	s->subject = r->subject;
	s->kill_ns = r->h.t_ns;
	s->wall_ns = host_wall_ns() - (host_monotonic_ns() - r->h.t_ns);
	memset(s->memory, 0xff, sizeof(s->memory));
	s->used = s->limit = s->swap_used = s->swap_limit = FIGURE_UNKNOWN;
	s->in_log = found;
	find_victim_cgroup(o, m, r, report, s->victim_cgroup, sizeof(s->victim_cgroup));
	if (found)
		array_copy(s->cgroup, sizeof(s->cgroup), report->cgroup);
	else if (in_cgroup && s->victim_cgroup[0])
		cgroup_above(s->victim_cgroup, r->memory.up, s->cgroup, sizeof(s->cgroup));
	l = level_with(m, s->cgroup);
	if (found) {
		s->source = OOM_FROM_LOG;
		s->values_ns = r->h.t_ns;
		oom_report_fill(report, s);
	} else if (l) {
		fill_from_level(l, s);
	} else if (!in_cgroup) {
		fill_from_host(m, s);
	}
	add_growth(m, r, s);
	if (!found && in_cgroup)
		fill_counters(m, r, s);
	fill_curve(l ? &l->used : in_cgroup ? NULL : &m->memory_used, s);
	fill_workload(o, r, s);
}

/* Adds what the model knows about a process that held memory. */
static void add_history(const struct model *m, struct oom_holder_record *h)
{
	const struct subject *s = model_living(m, h->pid);
	uint64_t page = m->tick.limits.page_bytes;
	const struct past *past;

	if (!s)
		return;
	if (s->cgroup)
		array_copy(h->cgroup, sizeof(h->cgroup), s->cgroup);
	past = subject_past(s);
	if (past->t_ns) {
		h->before_bytes = past->kept_pages * page;
		h->before_ns = past->t_ns;
	}
}

static bool holds_more(const void *a, const void *b)
{
	const struct oom_holder_record *x = a, *y = b;

	return x->anon + x->shmem + x->swap > y->anon + y->shmem + y->swap;
}

/* Lists the processes of the cgroup by the values of the last scan. */
static void holders_of_scan(const struct model *m, const struct oom_record *r, const char *cgroup,
			    struct oom_report *ret)
{
	uint64_t page = m->tick.limits.page_bytes;

	ret->holders = 0;
	for (const struct subject *s = model_each(m, NULL); s; s = model_each(m, s)) {
		const struct gauges *g = &s->now.g;
		struct oom_holder_record h = {.h = {RECORD_OOM_HOLDER, sizeof(h)},
					      .pid = s->id.pid,
					      .rss = gauges_rss_pages(g) * page,
					      .anon = bytes_of(g->rss_anon_pages, page),
					      .file = bytes_of(g->rss_file_pages, page),
					      .shmem = bytes_of(g->rss_shmem_pages, page),
					      .swap = bytes_of(g->swap_pages, page),
					      .page_tables = FIGURE_UNKNOWN};

		if (s->final || g->flags & (PROC_NO_MM | PROC_SHARES_MM) ||
		    same_subject(&s->id, &r->subject) ||
		    (*cgroup && !cgroup_is_within(s->cgroup, cgroup)))
			continue;
		array_copy(h.comm, sizeof(h.comm), g->comm);
		array_insert(ret->holder, &ret->holders, OOM_HOLDERS, sizeof(h), holds_more, &h);
	}
}

/* Adds the victim, with the values that the BPF program read when the process was killed. */
static void add_victim(const struct model *m, const struct oom_record *r, struct oom_report *ret)
{
	uint64_t page = m->tick.limits.page_bytes;
	struct oom_holder_record h = {
		.h = {RECORD_OOM_HOLDER, sizeof(h)},
		.pid = r->subject.pid,
		.score_adj = r->score_adj,
		.rss = bytes_of(r->rss_anon_pages + r->rss_file_pages + r->rss_shmem_pages, page),
		.anon = bytes_of(r->rss_anon_pages, page),
		.file = bytes_of(r->rss_file_pages, page),
		.shmem = bytes_of(r->rss_shmem_pages, page),
		.swap = bytes_of(r->swap_pages, page),
		.page_tables = r->page_table_bytes ? r->page_table_bytes : FIGURE_UNKNOWN};

	array_copy(h.comm, sizeof(h.comm), r->comm);
	for (size_t i = 0; i < ret->holders; i++)
		if (ret->holder[i].pid == h.pid) {
			/* the kernel's own list has the same values, of before 6.8 only their sum
			 */
			if (ret->holder[i].anon == FIGURE_UNKNOWN)
				ret->holder[i] = h;
			return;
		}
	array_insert(ret->holder, &ret->holders, OOM_HOLDERS, sizeof(h), holds_more, &h);
}

static int send_holders(const struct model *m, const struct oom_record *r,
			struct oom_report *report, const struct sink *sink)
{
	int err = 0;

	for (size_t i = 0; !err && i < report->holders; i++) {
		struct oom_holder_record *h = &report->holder[i];

		h->h.t_ns = r->h.t_ns;
		h->subject = r->subject;
		h->kill_ns = r->h.t_ns;
		h->nth = i;
		add_history(m, h);
		err = sink->take(sink->ctx, &h->h);
	}
	return err;
}

int oom_scenes_take(struct oom_scenes *o, const struct model *m, struct oom_record *r,
		    const struct sink *sink)
{
	struct oom_scene_record s = {.h = {RECORD_OOM_SCENE, sizeof(s), r->h.t_ns}};
	bool continues = oom_kills_continue(m, r), found = false;
	struct oom_report report;
	int err;

	if (!continues && o->log && !r->sent)
		found = kernel_log_find(o->log, r->subject.pid, m->tick.limits.page_bytes, &report);
	if (!found)
		oom_report_begin(&report, m->tick.limits.page_bytes);
	if (found && r->constraint == OOM_UNKNOWN)
		r->constraint = report.constraint;
	err = sink->take(sink->ctx, &r->h);
	if (err || continues || !o->opened)
		return err;
	fill_scene(o, m, r, &report, found, &s);
	err = sink->take(sink->ctx, &s.h);
	if (!report.holders && (s.cgroup[0] || !is_in_cgroup(r)))
		holders_of_scan(m, r, s.cgroup, &report);
	add_victim(m, r, &report);
	return err ?: send_holders(m, r, &report, sink);
}

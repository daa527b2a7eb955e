// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/json/json_pressure.h"

#include "model/memory_holders.h"
#include "render/json_out.h"
#include "rules/shortage.h"

#define EATERS_TOLD 16

static void begin(struct json *j, struct buf *b, const struct view *v, const char *type,
		  uint64_t t_ns)
{
	json_begin(j, b);
	json_text(j, "type", type);
	json_real(j, "t", view_seconds(v, t_ns));
}

static void say_figure(struct json *j, const char *key, uint64_t value)
{
	if (value == FIGURE_UNKNOWN)
		json_null(j, key);
	else
		json_count(j, key, value);
}

static void say_share(struct json *j, const char *key, const struct stall *s, uint32_t hundredths)
{
	if (s->known)
		json_real(j, key, hundredths / 100.0);
	else
		json_null(j, key);
}

static void say_stall(struct json *j, const char *key, const struct stall *s)
{
	json_object(j, key);
	say_share(j, "avg10", s, s->avg10);
	say_share(j, "avg60", s, s->avg60);
	say_share(j, "avg300", s, s->avg300);
	say_figure(j, "total_us", s->known ? s->total_us : FIGURE_UNKNOWN);
	json_end(j);
}

static void say_stalls(struct json *j, const struct stall *some, const struct stall *full)
{
	json_object(j, "waiting");
	say_stall(j, "some", some);
	say_stall(j, "full", full);
	json_end(j);
}

static void say_host(struct buf *b, const struct view *v)
{
	const struct pressure_record *r = &v->m->pressure->now;
	const struct host_limits *l = &v->m->tick.limits;
	struct json j;

	begin(&j, b, v, "pressure", r->h.t_ns);
	say_stalls(&j, &r->some, &r->full);
	json_count(&j, "memory_total_bytes", l->mem_total_bytes);
	json_count(&j, "memory_available_bytes", l->mem_available_bytes);
	json_count(&j, "memory_free_bytes", l->mem_free_bytes);
	json_count(&j, "swap_total_bytes", l->swap_total_bytes);
	json_count(&j, "swap_free_bytes", l->swap_free_bytes);
	json_count(&j, "committed_bytes", l->committed_bytes);
	json_count(&j, "commit_limit_bytes", l->commit_limit_bytes);
	json_count(&j, "overcommit_memory", l->overcommit_memory);
	json_count(&j, "huge_page_bytes", l->huge_page_bytes);
	json_count(&j, "huge_pages", l->huge_pages);
	json_count(&j, "huge_pages_free", l->huge_pages_free);
	json_count(&j, "huge_pages_reserved", l->huge_pages_reserved);
	for (size_t i = 0; i < NR_HOST_FIGURES; i++)
		say_figure(&j, host_figure_key(i), r->n[i]);
	json_finish(&j);
}

static void say_cgroup(struct buf *b, const struct view *v, const struct level *l)
{
	struct json j;

	begin(&j, b, v, "cgroup", l->now.h.t_ns);
	json_text(&j, "path", l->now.path);
	json_count(&j, "version", l->now.version);
	say_stalls(&j, &l->now.some, &l->now.full);
	say_figure(&j, "kept_bytes", level_kept_bytes(l));
	for (size_t i = 0; i < NR_CGROUP_FIGURES; i++)
		say_figure(&j, cgroup_figure_key(i), l->now.n[i]);
	json_finish(&j);
}

static void say_mount(struct buf *b, const struct view *v, const struct mount_record *r)
{
	struct json j;

	begin(&j, b, v, "file_system", r->h.t_ns);
	json_text(&j, "path", r->path);
	json_flag(&j, "in_memory", r->flags & MOUNT_IN_MEMORY);
	json_count(&j, "size_bytes", r->size_bytes);
	json_count(&j, "used_bytes", r->used_bytes);
	json_count(&j, "free_bytes", r->free_bytes);
	json_count(&j, "inodes", r->inodes);
	json_count(&j, "inodes_free", r->inodes_free);
	json_finish(&j);
}

void json_pressure(struct buf *b, const struct view *v)
{
	const struct pressure *p = v->m->pressure;

	if (!p || !p->known)
		return;
	say_host(b, v);
	for (size_t i = 0; i < p->levels; i++)
		if (level_is_there(v->m, &p->level[i]))
			say_cgroup(b, v, &p->level[i]);
	for (size_t i = 0; v->host && i < p->mounts; i++)
		if (mount_is_there(v->m, &p->mount[i]))
			say_mount(b, v, &p->mount[i].now);
}

static void say_eater(struct json *j, const struct eater *e)
{
	json_object(j, NULL);
	json_count(j, "pid", e->root->id.pid);
	json_text(j, "comm", e->root->now.g.comm);
	json_count(j, "processes", e->processes);
	json_count(j, "rss_bytes", e->rss_bytes);
	json_count(j, "swap_bytes", e->swap_bytes);
	json_count(j, "shmem_bytes", e->shmem_bytes);
	json_count(j, "committed_bytes", e->commit_bytes);
	json_real(j, "bytes_per_second", e->per_second);
	json_end(j);
}

static void say_victims(struct json *j, const struct view *v)
{
	const struct pressure *p = v->m->pressure;

	json_array(j, "next_victims");
	for (size_t i = 0; p && i < p->scores; i++) {
		const struct subject *s = model_find(v->m, &p->score[i].subject);

		if (!s || s->final)
			continue;
		json_object(j, NULL);
		json_count(j, "pid", s->id.pid);
		json_text(j, "comm", s->now.g.comm);
		json_count(j, "oom_score", p->score[i].score);
		json_signed(j, "oom_score_adj", p->score[i].adj);
		json_count(j, "rss_bytes",
			   gauges_rss_pages(&s->now.g) * v->m->tick.limits.page_bytes);
		json_end(j);
	}
	json_end_array(j);
}

static void say_positive(struct json *j, const char *key, double value)
{
	if (value < 0)
		json_null(j, key);
	else
		json_real(j, key, value);
}

void json_answer(struct buf *b, const struct view *v)
{
	struct eater e[EATERS_TOLD];
	size_t n = eaters_of(v->m, e, EATERS_TOLD);
	struct shortage a;
	struct json j;

	shortage_of(v->m, v->findings, &a);
	begin(&j, b, v, "host", v->m->last_ns);
	json_flag(&j, "short", a.is_short);
	json_text(&j, "kind", a.kind);
	json_text_or_null(&j, "finding", a.main ? a.main->rule->id : NULL);
	json_text_or_null(&j, "title", a.main ? a.main->title : NULL);
	json_text_or_null(&j, "place", a.main && a.main->place[0] ? a.main->place : NULL);
	say_positive(&j, "waiting_share", a.some);
	say_positive(&j, "all_waiting_share", a.full);
	say_positive(&j, "since_seconds", a.since_seconds);
	json_flag(&j, "since_longer", a.since_longer);
	json_array(&j, "who");
	for (size_t i = 0; i < n; i++)
		say_eater(&j, &e[i]);
	json_end_array(&j);
	say_victims(&j, v);
	json_finish(&j);
}

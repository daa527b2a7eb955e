// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/model.h"

#include <string.h>

#include "base/overhead.h"

struct subject *model_find(const struct model *m, const struct process_key *id)
{
	uint64_t hash = subject_hash(id);
	struct subject *s = table_find(&m->subject, hash);

	while (s && !same_subject(&s->id, id))
		s = table_next(&s->link, hash);
	return s;
}

struct subject *model_each(const struct model *m, const struct subject *after)
{
	return (struct subject *)table_each(&m->subject, after ? &after->link : NULL);
}

const struct counters *facts_read_counters(const struct facts *f, struct counters *zeros)
{
	return f->c ? sparse_read(f->c, zeros) : zeros;
}

struct past facts_past(const struct facts *f, uint64_t t_ns)
{
	return (struct past){t_ns, gauges_rss_pages(&f->g), gauges_swap_pages(&f->g),
			     gauges_kept_pages(&f->g)};
}

const struct facts *subject_read_prev(const struct subject *s, struct facts *room)
{
	if (s->earlier)
		return &s->earlier->prev;
	*room = (struct facts){
		.g = {.min_flt = s->base_min, .maj_flt = s->base_maj, .fds = s->now.g.fds},
		.u = {.cpu_ns = s->base_cpu_ns}};
	return room;
}

/* Without earlier values, the first ones are valid for all times. */
static const struct past *fill_past(const struct subject *s, struct past room[2])
{
	room[0] = room[1] = facts_past(&s->now, s->now.t_ns);
	return room;
}

const struct past *subject_read_past(const struct subject *s, struct past room[2])
{
	return s->earlier ? s->earlier->past : fill_past(s, room);
}

const struct past *subject_read_recent(const struct subject *s, struct past room[2])
{
	return s->earlier ? s->earlier->recent : fill_past(s, room);
}

uint64_t facts_counter(const struct facts *f, size_t at)
{
	return f->c ? sparse_counter(f->c, at) : 0;
}

uint64_t gauges_rss_pages(const struct gauges *g)
{
	/* The sum is unsigned, because values of a hostile recording could overflow. */
	int64_t n = (uint64_t)g->rss_file_pages + (uint64_t)g->rss_anon_pages +
		    (uint64_t)g->rss_shmem_pages;

	return n > 0 ? n : 0;
}

uint64_t gauges_swap_pages(const struct gauges *g)
{
	return g->swap_pages > 0 ? g->swap_pages : 0;
}

uint64_t gauges_kept_pages(const struct gauges *g)
{
	int64_t n = (uint64_t)g->rss_anon_pages + (uint64_t)g->rss_shmem_pages;

	return (n > 0 ? n : 0) + gauges_swap_pages(g);
}

const char *event_comm(const union event *e)
{
	switch (e->h.kind) {
	case RECORD_CROSSING:
		return e->crossing.comm;
	case RECORD_REFUSED:
		return e->refused.comm;
	case RECORD_SIGNAL:
		return e->signal.comm;
	case RECORD_OOM:
		return e->oom.comm;
	case RECORD_SLOW_FAULTS:
		return e->slow.comm;
	default:
		return e->kernel_fault.comm;
	}
}

/* Searches the text of a hook record, because all versions of recordings contain this text. */
bool hook_is_unwanted(const char *why)
{
	return strstr(why, SWITCHED_OFF) != NULL;
}

bool hook_is_pending(const struct hook_view *v)
{
	return v->state == HOOK_OFF && v->mechanism[0];
}

bool model_has_pending_hooks(const struct model *m)
{
	for (size_t i = 0; i < m->hooks; i++)
		if (hook_is_pending(&m->hook[i]))
			return true;
	return false;
}

unsigned int model_events_of_others(const struct model *m)
{
	unsigned int at = 0;

	for (size_t i = 0; i < m->hooks; i++) {
		const struct hook_view *v = &m->hook[i];

		if (v->state == HOOK_ON || hook_is_pending(v))
			at |= overhead_events_of(v->name, v->lacks & SPARES_CALLS,
						 v->lacks & TAXES_SWITCHES);
	}
	return at;
}

const struct subject *model_living(const struct model *m, uint32_t pid)
{
	for (const struct subject *s = model_each(m, NULL); s; s = model_each(m, s))
		if (s->id.pid == pid && !s->final)
			return s;
	return NULL;
}

const struct hook_view *model_hook(const struct model *m, const char *name)
{
	for (size_t i = 0; i < m->hooks; i++)
		if (!strcmp(m->hook[i].name, name))
			return &m->hook[i];
	return NULL;
}

bool model_hook_on(const struct model *m, const char *name)
{
	const struct hook_view *v = model_hook(m, name);

	return v && v->state == HOOK_ON;
}

bool model_hook_has(const struct model *m, const char *name, uint32_t bits)
{
	return model_hook_on(m, name) && model_hook(m, name)->lacks & bits;
}

const struct symbol *model_symbol(const struct model *m, uint64_t ip)
{
	for (size_t i = 0; i < m->symbols; i++)
		if (m->symbol[i].ip == ip)
			return &m->symbol[i];
	return NULL;
}

double model_window_seconds(const struct model *m)
{
	uint64_t from = m->prev_ns ? m->prev_ns : m->origin_ns;

	return m->last_ns > from && from ? (m->last_ns - from) / 1e9 : 0;
}

bool model_watches_all(const struct model *m)
{
	return !strcmp(m->host.mode, "all");
}

bool model_watches_targets(const struct model *m)
{
	return !strcmp(m->host.mode, "targets");
}

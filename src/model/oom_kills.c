// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/oom_kills.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct oom_kill *oom_kills_last(const struct model *m)
{
	return m->ooms && m->ooms->n ? &m->ooms->kill[m->ooms->n - 1] : NULL;
}

const struct frames *oom_kills_stack(const struct model *m, const struct oom_record *r)
{
	const struct frames *f = NULL;

	if (!r->stack)
		return NULL;
	for (const struct subject *s = model_each(m, NULL); s && !f; s = model_each(m, s))
		if (s->id.pid == r->by)
			f = model_frames(m, &s->id, r->stack - 1);
	return f ? f : model_frames(m, &r->subject, r->stack - 1);
}

bool oom_has_limit(const struct oom_record *r)
{
	return r->memory.known && r->memory.limit != UINT64_MAX;
}

bool oom_memsw_is_full(const struct oom_record *r)
{
	return r->version == 1 && r->swap_limit != UINT64_MAX &&
	       r->swap_used + OOM_COUNTER_SLACK >= r->swap_limit;
}

/* Returns whether the page counters show that the limit of a cgroup was reached. */
static bool counters_are_full(const struct oom_record *r)
{
	return oom_has_limit(r) && (r->memory.used + OOM_COUNTER_SLACK >= r->memory.limit ||
				    oom_memsw_is_full(r));
}

bool oom_is_of_cgroup(const struct oom_record *r)
{
	return r->constraint == OOM_MEMCG || (r->constraint == OOM_UNKNOWN && counters_are_full(r));
}

bool oom_kills_continue(const struct model *m, const struct oom_record *r)
{
	const struct oom_kill *last = oom_kills_last(m);
	const struct oom_record *f = last ? &last->first : NULL;

	if (!f || r->h.t_ns < f->h.t_ns || r->h.t_ns - f->h.t_ns > OOM_SAME_NS || r->by != f->by ||
	    !r->sent != !f->sent)
		return false;
	/* a program such as earlyoom sends SIGTERM, and SIGKILL after that */
	if (r->sent && same_subject(&r->subject, &f->subject))
		return true;
	return r->group && f->group && r->cgroup_id == f->cgroup_id &&
	       !same_subject(&r->subject, &f->subject);
}

static void add_victim(struct oom_kill *k, const struct oom_record *r)
{
	int64_t pages = r->rss_anon_pages + r->rss_shmem_pages + r->swap_pages;
	uint32_t n = k->victims < OOM_VICTIMS_MAX ? k->victims : OOM_VICTIMS_MAX;
	struct oom_victim *v = &k->victim[n];

	for (uint32_t i = 0; i < n; i++)
		if (same_subject(&k->victim[i].id, &r->subject))
			return;
	k->victims++;
	if (n == OOM_VICTIMS_MAX)
		return;
	*v = (struct oom_victim){.id = r->subject, .score_adj = r->score_adj};
	v->kept_pages = pages > 0 ? pages : 0;
	memcpy(v->comm, r->comm, sizeof(v->comm));
}

static struct oom_kill *new_kill(struct oom_kills *o)
{
	if (o->n == OOM_KILLS_MAX)
		memmove(&o->kill[0], &o->kill[1], --o->n * sizeof(o->kill[0]));
	memset(&o->kill[o->n], 0, sizeof(o->kill[0]));
	o->kill[o->n].serial = ++o->serial;
	return &o->kill[o->n++];
}

static void take_kill(struct model *m, const struct oom_record *r)
{
	struct oom_kill *k;

	if (oom_kills_continue(m, r)) {
		add_victim(&m->ooms->kill[m->ooms->n - 1], r);
		return;
	}
	k = new_kill(m->ooms);
	k->first = *r;
	add_victim(k, r);
}

/* Returns the kill that a record of user space belongs to, or NULL. */
static struct oom_kill *kill_of(const struct model *m, const struct process_key *victim,
				uint64_t kill_ns)
{
	for (size_t i = m->ooms->n; i--;) {
		struct oom_kill *k = &m->ooms->kill[i];

		if (k->first.h.t_ns == kill_ns && same_subject(&k->first.subject, victim))
			return k;
	}
	return NULL;
}

static void take_scene(struct model *m, const struct oom_scene_record *r)
{
	struct oom_kill *k = kill_of(m, &r->subject, r->kill_ns);

	if (!k)
		return;
	k->scene = *r;
	k->has_scene = true;
}

static void take_holder(struct model *m, const struct oom_holder_record *r)
{
	struct oom_kill *k = kill_of(m, &r->subject, r->kill_ns);

	if (!k || r->nth >= OOM_HOLDERS)
		return;
	k->holder[r->nth] = *r;
	if (k->holders <= r->nth)
		k->holders = r->nth + 1;
}

int oom_kills_take(struct model *m, const struct record *h)
{
	if (!m->ooms)
		m->ooms = calloc(1, sizeof(*m->ooms)); /* has room for OOM_KILLS_MAX kills */
	if (!m->ooms)
		return -ENOMEM;
	if (h->kind == RECORD_OOM)
		take_kill(m, (const struct oom_record *)h);
	else if (h->kind == RECORD_OOM_SCENE)
		take_scene(m, (const struct oom_scene_record *)h);
	else
		take_holder(m, (const struct oom_holder_record *)h);
	return 0;
}

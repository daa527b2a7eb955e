// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/shared_limits.h"

#include <string.h>

#include "base/units.h"

/* Who speaks goes on until another has so much more. */
#define STAY 1.25

static bool is_one_user(const struct subject *a, const struct subject *b)
{
	return a->now.g.uid == b->now.g.uid;
}

static bool is_one_cgroup(const struct subject *a, const struct subject *b)
{
	return a->cgroup && b->cgroup && !strcmp(a->cgroup, b->cgroup);
}

static uint64_t threads_of(const struct model *m, const struct subject *s)
{
	return s->now.g.threads;
}

static uint64_t memory_of(const struct model *m, const struct subject *s)
{
	const struct fs_gauges *g = &s->now.g;
	int64_t pages = g->rss_anon_pages + g->rss_shmem_pages;

	return pages > 0 ? pages * m->tick.limits.page_bytes : 0;
}

static const struct {
	bool (*is_shared)(const struct subject *a, const struct subject *b);
	uint64_t (*part)(const struct model *m, const struct subject *s);
	const char *what; /* the process itself has of it */
} shared[NR_RESOURCES] = {
	[RESOURCE_THREADS] = {is_one_user, threads_of, "its own threads"},
	[RESOURCE_CGROUP_MEMORY] = {is_one_cgroup, memory_of, "its own memory"},
	[RESOURCE_CGROUP_PIDS] = {is_one_cgroup, threads_of, "its own threads"},
};

bool limit_is_told_of(const struct occasion *o, const struct finding *open,
		      enum resource_id resource)
{
	uint64_t own, most = 0;
	uint32_t pid = 0;

	if (!shared[resource].part)
		return true;
	own = shared[resource].part(o->m, o->s);
	for (struct subject *s = model_each(o->m, NULL); s; s = model_each(o->m, s)) {
		uint64_t part;

		if (s == o->s || s->final || s->hidden || !shared[resource].is_shared(s, o->s))
			continue;
		part = shared[resource].part(o->m, s);
		if (part > most || (part == most && (!pid || s->id.pid < pid))) {
			most = part;
			pid = s->id.pid;
		}
	}
	if (!pid || own > most || (own == most && o->s->id.pid < pid))
		return true;
	return open && most < own * STAY;
}

void limit_share_evidence(struct finding *f, const struct occasion *o, enum resource_id resource)
{
	struct buf b = {};
	uint64_t part;

	if (!shared[resource].part)
		return;
	part = shared[resource].part(o->m, o->s);
	if (resources[resource].bytes)
		put_bytes(&b, part);
	else
		put_count(&b, part);
	finding_evidence(f, shared[resource].what, b.s ? b.s : "", NULL);
	buf_free(&b);
}

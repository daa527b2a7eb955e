// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/shared_limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/units.h"

/*
 * Another process takes over the finding about a shared limit if it uses at least this many times
 * as much of the limit.
 */
#define STAY 1.25

static uint64_t key_of_user(const struct subject *s)
{
	return (uint64_t)s->now.g.uid + 1;
}

/*
 * Returns a hash of the cgroup that has the limit. This cgroup may be some levels above the
 * process's own cgroup. In cgroup v1, the path belongs to another hierarchy, so two limits may have
 * the same path. The hash therefore includes the value of the limit.
 */
static uint64_t key_of_level(const struct subject *s, const struct level_room *l)
{
	const char *path = s->cgroup ? s->cgroup : "";
	size_t len = strlen(path);
	char limit[24];

	for (uint32_t up = l->up; up && len; up--)
		while (len && path[--len] != '/')
			;
	snprintf(limit, sizeof(limit), " %" PRIu64, (uint64_t)l->limit);
	return hash64_bytes(hash64_bytes(HASH64_BEGIN, limit, strlen(limit)), path, len) | 1;
}

static uint64_t key_of_memory(const struct subject *s)
{
	return key_of_level(s, &s->memory);
}

static uint64_t key_of_pids(const struct subject *s)
{
	return key_of_level(s, &s->pids);
}

static uint64_t threads_of(const struct model *m, const struct subject *s)
{
	return s->now.g.threads;
}

static uint64_t memory_of(const struct model *m, const struct subject *s)
{
	const struct gauges *g = &s->now.g;
	int64_t pages = g->rss_anon_pages + g->rss_shmem_pages;

	return pages > 0 ? pages * m->tick.limits.page_bytes : 0;
}

static const struct {
	/* returns a hash that is equal for all processes that share the limit */
	uint64_t (*key)(const struct subject *s);
	uint64_t (*part)(const struct model *m, const struct subject *s);
	const char *what; /* evidence field with how much of the limit the process itself uses */
} shared[NR_RESOURCES] = {
	[RESOURCE_THREADS] = {key_of_user, threads_of, "its own threads"},
	[RESOURCE_CGROUP_MEMORY] = {key_of_memory, memory_of, "its own memory"},
	[RESOURCE_CGROUP_PIDS] = {key_of_pids, threads_of, "its own threads"},
};

bool limit_is_told_of(const struct occasion *o, const struct finding *open,
		      enum resource_id resource)
{
	uint64_t own, key, most = 0;
	uint32_t pid = 0;

	if (!shared[resource].part)
		return true;
	own = shared[resource].part(o->m, o->s);
	key = shared[resource].key(o->s);
	for (struct subject *s = model_each(o->m, NULL); s; s = model_each(o->m, s)) {
		uint64_t part;

		if (s == o->s || s->final || s->hidden || shared[resource].key(s) != key)
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

static bool is_over(const struct model *m, const struct finding *f)
{
	const struct subject *s = model_find(m, &f->subject);

	return !s || s->final;
}

bool limit_was_told_of(const struct occasion *o, struct finding *f, enum resource_id resource)
{
	if (!shared[resource].key)
		return false;
	f->shared = shared[resource].key(o->s);
	for (size_t i = 0; i < o->findings->n; i++) {
		const struct finding *other = &o->findings->f[i];

		if (other->rule == f->rule && other->shared == f->shared &&
		    other->worst >= f->severity && !same_subject(&other->subject, &o->s->id) &&
		    is_over(o->m, other))
			return true;
	}
	return false;
}

void limit_share_evidence(struct finding *f, const struct occasion *o, enum resource_id resource)
{
	uint64_t part;

	if (!shared[resource].part)
		return;
	part = shared[resource].part(o->m, o->s);
	finding_number(f, shared[resource].what, resources[resource].bytes ? IN_BYTES : IN_COUNT,
		       part);
}

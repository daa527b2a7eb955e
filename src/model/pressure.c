// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/pressure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define BASE_NS	      10000000000ULL
#define WATCH_PERCENT 50 /* growth is recorded from this % of the limit on */
#define TMPFS_PERCENT 5	 /* a tmpfs counts as in use if more than this % of its size is filled */

const char *host_figure_key(size_t i)
{
	static const char *const key[] = {
#define X(id, key, source, name) key,
		HOST_FIGURES(X)
#undef X
	};

	return key[i];
}

const char *cgroup_figure_key(size_t i)
{
	static const char *const key[] = {
#define X(id, key) key,
		CGROUP_FIGURES(X)
#undef X
	};

	return key[i];
}

/* Returns a key for a cgroup or mount in findings, with pid 0, which no process has. */
static struct process_key id_of(const char *path, uint32_t salt)
{
	return (struct process_key){
		.start_ns = hash64_bytes(HASH64_BEGIN ^ salt, path, strlen(path)) | 1};
}

/*
 * Stores a record in `of`. `of->base` is then a record that is 10 to 20 s old, or the first record.
 */
#define ROLL(of, r)                                                                                \
	do {                                                                                       \
		if (!(of)->newer.h.t_ns)                                                           \
			(of)->base = (of)->newer = *(r);                                           \
		if ((r)->h.t_ns >= (of)->newer.h.t_ns + BASE_NS) {                                 \
			(of)->base = (of)->newer;                                                  \
			(of)->newer = *(r);                                                        \
		}                                                                                  \
		(of)->now = *(r);                                                                  \
	} while (0)

static void watch_fill(struct series *s, uint64_t t_ns, uint64_t value, uint64_t limit)
{
	if (value != FIGURE_UNKNOWN && limit && limit != FIGURE_UNKNOWN &&
	    (s->n || value >= limit / 100 * WATCH_PERCENT))
		series_add(s, t_ns, value);
}

bool level_is_there(const struct model *m, const struct level *l)
{
	return l->now.h.t_ns > m->prev_ns;
}

bool mount_is_there(const struct model *m, const struct mount_use *u)
{
	return u->now.h.t_ns > m->prev_ns;
}

bool mount_may_matter(const struct mount_record *r)
{
	return r->flags & MOUNT_IN_MEMORY ? r->used_bytes > r->size_bytes / 100 * TMPFS_PERCENT
					  : r->free_bytes < r->size_bytes / 100;
}

bool cgroup_is_within(const char *cgroup, const char *path)
{
	size_t len = strlen(path);

	return cgroup && len && !strncmp(cgroup, path, len) &&
	       (!cgroup[len] || cgroup[len] == '/' || path[len - 1] == '/');
}

bool cgroup_above(const char *cgroup, uint32_t up, char *ret, size_t size)
{
	if (!cgroup || strlen(cgroup) >= size)
		return false;
	strcpy(ret, cgroup);
	for (; up; up--) {
		char *slash = strrchr(ret, '/');

		if (!slash || !ret[1])
			return false;
		slash[slash == ret] = 0;
	}
	return true;
}

bool level_holds(const struct level *l, const char *cgroup)
{
	return cgroup_is_within(cgroup, l->now.path);
}

bool level_has_limit(const struct level *l)
{
	return l->now.n[CGROUP_LIMIT] != FIGURE_UNKNOWN && l->now.n[CGROUP_LIMIT];
}

uint64_t level_kept_bytes(const struct level *l)
{
	static const enum cgroup_figure kept[] = {CGROUP_ANON, CGROUP_SHMEM, CGROUP_KERNEL};
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (l->now.n[kept[i]] != FIGURE_UNKNOWN)
			sum += l->now.n[kept[i]];
	return l->now.n[CGROUP_ANON] == FIGURE_UNKNOWN ? FIGURE_UNKNOWN : sum;
}

static struct level *level_place(struct model *m, const struct process_key *id)
{
	struct pressure *p = m->pressure;
	struct level *gone = NULL;

	for (size_t i = 0; i < p->levels; i++) {
		if (p->level[i].id.start_ns == id->start_ns)
			return &p->level[i];
		if (!level_is_there(m, &p->level[i]))
			gone = &p->level[i];
	}
	if (p->levels < LEVELS_MAX)
		return &p->level[p->levels++];
	p->lost += !gone;
	return gone;
}

static void take_level(struct model *m, const struct cgroup_record *r)
{
	struct process_key id = id_of(r->path, 0);
	struct level *l = level_place(m, &id);

	if (!l)
		return;
	if (l->id.start_ns != id.start_ns)
		*l = (struct level){.id = id};
	ROLL(l, r);
	if (r->n[CGROUP_USED] != FIGURE_UNKNOWN)
		curve_add(&l->used, r->h.t_ns, r->n[CGROUP_USED]);
	watch_fill(&l->series, r->h.t_ns, level_kept_bytes(l), r->n[CGROUP_LIMIT]);
}

static struct mount_use *mount_place(struct model *m, const struct process_key *id)
{
	struct pressure *p = m->pressure;
	struct mount_use *gone = NULL;

	for (size_t i = 0; i < p->mounts; i++) {
		if (p->mount[i].id.start_ns == id->start_ns)
			return &p->mount[i];
		if (!mount_is_there(m, &p->mount[i]))
			gone = &p->mount[i];
	}
	if (p->mounts < MOUNTS_MAX)
		return &p->mount[p->mounts++];
	p->lost += !gone;
	return gone;
}

static void take_mount(struct model *m, const struct mount_record *r)
{
	struct process_key id = id_of(r->path, r->pid + 1);
	struct mount_use *u = mount_place(m, &id);
	struct mount_record was;

	if (!u)
		return;
	if (u->id.start_ns != id.start_ns)
		*u = (struct mount_use){.id = id};
	was = u->now;
	u->now = *r;
	if (!r->largest[0] && was.largest[0]) {
		/* a scan measures no files: keep what was found when a call failed */
		memcpy(u->now.largest, was.largest, sizeof(was.largest));
		u->now.largest_bytes = was.largest_bytes;
		u->now.largest_uid = was.largest_uid;
		u->now.unnamed_bytes = was.unnamed_bytes;
	}
	watch_fill(&u->series, r->h.t_ns, r->used_bytes, r->size_bytes);
}

static void take_score(struct pressure *p, const struct score_record *r)
{
	if (r->nth < SCORES_MAX) {
		p->score[r->nth] = *r;
		p->scores = r->nth + 1;
	}
}

int pressure_take(struct model *m, const struct record *h)
{
	if (!m->pressure)
		m->pressure = calloc(1, sizeof(*m->pressure)); /* has room for LEVELS_MAX cgroups */
	if (!m->pressure)
		return -ENOMEM;
	switch (h->kind) {
	case RECORD_SHORTAGE:
		ROLL(m->pressure, (const struct pressure_record *)h);
		m->pressure->known = true;
		break;
	case RECORD_LEVEL:
		take_level(m, (const struct cgroup_record *)h);
		break;
	case RECORD_MOUNT:
		take_mount(m, (const struct mount_record *)h);
		break;
	case RECORD_SCORE:
		take_score(m->pressure, (const struct score_record *)h);
		break;
	}
	return 0;
}

static double rate_of(uint64_t now, uint64_t base, uint64_t ns)
{
	if (now == FIGURE_UNKNOWN || base == FIGURE_UNKNOWN || !ns)
		return -1;
	return now > base ? (now - base) / (ns / 1e9) : 0;
}

double host_rate(const struct model *m, enum host_figure i)
{
	const struct pressure *p = m->pressure;

	if (!p || !p->known)
		return -1;
	return rate_of(p->now.n[i], p->base.n[i], p->now.h.t_ns - p->base.h.t_ns);
}

double level_rate(const struct level *l, enum cgroup_figure i)
{
	return rate_of(l->now.n[i], l->base.n[i], l->now.h.t_ns - l->base.h.t_ns);
}

uint64_t host_figure(const struct model *m, enum host_figure i)
{
	return m->pressure && m->pressure->known ? m->pressure->now.n[i] : FIGURE_UNKNOWN;
}

/* Returns the share of time stalled; in the first 10 s, the kernel's 10 s average is used. */
static double stall_of(const struct stall *now, const struct stall *base, uint64_t ns)
{
	if (!now->known)
		return -1;
	if (ns < BASE_NS)
		return now->avg10 / 1e4;
	return rate_of(now->total_us, base->total_us, ns) / 1e6;
}

double host_stall(const struct model *m, bool full)
{
	const struct pressure *p = m->pressure;

	if (!p || !p->known)
		return -1;
	return stall_of(full ? &p->now.full : &p->now.some, full ? &p->base.full : &p->base.some,
			p->now.h.t_ns - p->base.h.t_ns);
}

double level_stall(const struct level *l, bool full)
{
	return stall_of(full ? &l->now.full : &l->now.some, full ? &l->base.full : &l->base.some,
			l->now.h.t_ns - l->base.h.t_ns);
}

struct forecast level_forecast(const struct model *m, const struct level *l)
{
	if (!level_has_limit(l) || !l->series.n)
		return (struct forecast){};
	return series_forecast(&l->series, m->last_ns, l->now.n[CGROUP_LIMIT]);
}

struct forecast mount_forecast(const struct model *m, const struct mount_use *u)
{
	if (!u->series.n)
		return (struct forecast){};
	return series_forecast(&u->series, m->last_ns, u->now.size_bytes);
}

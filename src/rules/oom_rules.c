// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * P17 oom-killed: shows which process the OOM killer killed, whose limit was reached, and what had
 * used the memory. The victim is the process with the highest score, not always the one that grew.
 * Files in tmpfs may even have filled the cgroup without any process.
 */
#include "rules/pressure_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

/* the evidence shows the size of tmpfs if it is at least 1/SHMEM_TELLS of the limit */
#define SHMEM_TELLS 4
/* the victim counts as the cause if it grew by at least this share of the largest growth */
#define ALIKE 0.5

/*
 * The time spans in which the rule searches for growth. The shortest span comes first, because the
 * process that caused the OOM kill was still growing.
 */
enum span_of { SINCE_LOOK, SINCE_RECENT, SINCE_MINUTE, NR_SPANS };

static const struct {
	uint64_t ns;
	/* growth by less than 1/least_share of the limit does not count */
	unsigned int least_share;
} spans[NR_SPANS] = {{0, 8}, {5000000000ULL, 32}, {30000000000ULL, 32}};

#define LEAST_BYTES (1u << 20)
/* a process that holds less than 1/HELD_SHARE of the limit is not the cause */
#define HELD_SHARE 8

/* The memory limit that was reached when the OOM killer ran. */
struct limited {
	/* true: a cgroup's limit; false: the memory of the machine or of NUMA nodes */
	bool cgroup;
	bool known;		   /* whether `path` is known */
	char path[256];		   /* path of the cgroup that has the limit */
	uint64_t limit;		   /* the limit in bytes; 0: not known */
	const struct level *level; /* values of the cgroup at `path`; NULL: not read */
};

struct grown_process {
	const char *comm; /* name of the process; NULL: there is none */
	uint32_t pid;
	bool is_victim;
	uint64_t kept, grown; /* bytes that the process holds, and bytes by which it grew */
	uint64_t ns;	      /* time in which the process grew; 0: it was not seen before */
};

static uint64_t bytes_of(const struct model *m, uint64_t pages)
{
	return pages * m->tick.limits.page_bytes;
}

static uint64_t victim_bytes(const struct model *m, const struct oom_record *r)
{
	int64_t pages = r->rss_anon_pages + r->rss_shmem_pages + r->swap_pages;

	return pages > 0 ? bytes_of(m, pages) : 0;
}

static const struct level *level_at(const struct model *m, const char *path)
{
	const struct pressure *p = m->pressure;

	for (size_t i = 0; p && i < p->levels; i++)
		if (!strcmp(p->level[i].now.path, path) && level_has_limit(&p->level[i]))
			return &p->level[i];
	return NULL;
}

/*
 * Returns the limit that was reached. The record shows how many levels the cgroup with the limit is
 * above the victim's cgroup.
 */
static struct limited limited_by(const struct occasion *o, bool cgroup)
{
	const struct level_room *memory = &o->oom->memory;
	bool bounded = memory->known && memory->limit != UINT64_MAX;
	struct limited l = {.cgroup = cgroup};

	if (!cgroup) {
		l.limit = o->m->tick.limits.mem_total_bytes;
		return l;
	}
	if (bounded)
		l.limit = bytes_of(o->m, memory->limit);
	l.known = cgroup_above(o->s ? o->s->cgroup : NULL, bounded ? memory->up : 0, l.path,
			       sizeof(l.path));
	l.level = l.known ? level_at(o->m, l.path) : NULL;
	if (l.level && !bounded)
		l.limit = l.level->now.n[CGROUP_LIMIT];
	return l;
}

/*
 * Returns how many pages a process held at the beginning of the time span, and stores the length of
 * *ret_ns. For SINCE_LOOK, which begins at the last scan, *ret_ns is not changed.
 */
static uint64_t kept_before(const struct subject *s, enum span_of span, uint64_t t_ns,
			    uint64_t *ret_ns)
{
	const struct past *p = span == SINCE_MINUTE ? subject_past(s) : subject_recent(s);
	/* the last record of an exited process shows its memory after it was freed */
	const struct facts *last = s->final ? subject_prev(s) : &s->now;
	uint64_t at = t_ns > spans[span].ns ? t_ns - spans[span].ns : 0;

	if (span == SINCE_LOOK)
		return gauges_kept_pages(&last->g);
	if (last->t_ns && last->t_ns <= at) { /* the process has not changed since */
		*ret_ns = at;
		return gauges_kept_pages(&last->g);
	}
	p += p[1].t_ns <= at;
	if (s->exec_ns && s->exec_ns >= p->t_ns) {
		*ret_ns = s->exec_ns;
		return 0;
	}
	*ret_ns = p->t_ns;
	return p->kept_pages;
}

/*
 * Returns true if the process also grew in the last seconds: a process that has stopped growing is
 * not the cause.
 */
static bool grows_still(const struct occasion *o, const struct subject *s, uint64_t kept_pages)
{
	uint64_t since;

	return s->id.pid == o->oom->by ||
	       kept_pages > kept_before(s, SINCE_RECENT, o->t_ns, &since);
}

static struct grown_process suspect_of(const struct occasion *o, const struct subject *s,
				       const char *comm, uint32_t pid, uint64_t kept_pages,
				       enum span_of span)
{
	struct grown_process x = {
		.comm = comm, .pid = pid, .is_victim = pid == o->oom->subject.pid};
	uint64_t since = o->m->last_ns < o->t_ns ? o->m->last_ns : o->m->prev_ns, before = 0;

	if (s)
		before = kept_before(s, span, o->t_ns, &since);
	x.kept = bytes_of(o->m, kept_pages);
	x.grown = kept_pages > before ? bytes_of(o->m, kept_pages - before) : 0;
	x.ns = s && o->t_ns > since ? o->t_ns - since : 0;
	if (s && span == SINCE_MINUTE && !grows_still(o, s, kept_pages))
		x.grown = 0;
	return x;
}

static struct grown_process victim_of(const struct occasion *o, enum span_of span)
{
	uint64_t pages = victim_bytes(o->m, o->oom) / bytes_of(o->m, 1), last;

	/* the kernel's counters are per CPU and may lag: the last scan may have seen more pages */
	last = o->s && !o->s->final ? gauges_kept_pages(&o->s->now.g) : 0;
	return suspect_of(o, o->s, o->oom->comm, o->oom->subject.pid, pages > last ? pages : last,
			  span);
}

static bool is_candidate(const struct occasion *o, const struct limited *l, const struct subject *s)
{
	if (s->final || s->now.g.flags & (PROC_SHARES_MM | PROC_NO_MM) ||
	    s->id.pid == o->oom->subject.pid)
		return false;
	/*
	 * the process that requested memory is in the cgroup too, because it reached the same limit
	 */
	return !l->cgroup || s->id.pid == o->oom->by ||
	       (l->known && cgroup_is_within(s->cgroup, l->path));
}

struct scene {
	/* `other` is the process that grew most, apart from the victim */
	struct grown_process victim, other;
	uint64_t grown, kept; /* sums in bytes over all processes that may be the cause */
	/* most bytes of tmpfs and shared memory that any one process maps */
	uint64_t mapped;
};

/*
 * Returns true for faultscope itself: it often starts when memory is already short, so its own
 * growth is not the cause.
 */
static bool is_this_program(const struct grown_process *x)
{
	return !strncmp(x->comm, "faultscope", strlen("faultscope"));
}

/*
 * Returns true if a process other than the victim holds enough memory to be the cause. It must hold
 * at least 1/HELD_SHARE of the limit, or at least half as much as the victim. faultscope itself
 * must hold at least half of the limit.
 */
static bool has_much(const struct limited *l, const struct scene *c, const struct grown_process *x)
{
	if (is_this_program(x))
		return x->kept >= l->limit / 2;
	return x->kept >= l->limit / HELD_SHARE || x->kept >= c->victim.kept / 2;
}

static void add_suspect(struct scene *c, const struct limited *l, const struct grown_process *x)
{
	c->grown += x->grown;
	c->kept += x->kept;
	if (x->is_victim)
		c->victim = *x;
	else if (x->grown > c->other.grown && has_much(l, c, x))
		c->other = *x;
}

static struct scene scene_of(const struct occasion *o, const struct limited *l, enum span_of span)
{
	const struct oom_record *r = o->oom;
	struct grown_process x = victim_of(o, span);
	struct scene c = {.mapped = r->rss_shmem_pages > 0 ? r->rss_shmem_pages : 0};
	bool seen = r->by == r->subject.pid;

	add_suspect(&c, l, &x);
	for (const struct subject *s = model_each(o->m, NULL); s; s = model_each(o->m, s)) {
		uint64_t kept = gauges_kept_pages(&s->now.g);

		if (!is_candidate(o, l, s))
			continue;
		if (s->id.pid == r->by && r->by_kept_pages > kept)
			kept = r->by_kept_pages;
		seen |= s->id.pid == r->by;
		x = suspect_of(o, s, s->now.g.comm, s->id.pid, kept, span);
		add_suspect(&c, l, &x);
		if (s->now.g.rss_shmem_pages > (int64_t)c.mapped)
			c.mapped = s->now.g.rss_shmem_pages;
	}
	if (!seen && r->by_kept_pages) {
		x = suspect_of(o, NULL, r->by_comm, r->by, r->by_kept_pages, span);
		add_suspect(&c, l, &x);
	}
	c.mapped = bytes_of(o->m, c.mapped);
	return c;
}

static struct grown_process grower_of(const struct occasion *o, const struct limited *l,
				      struct scene *ret)
{
	for (enum span_of i = SINCE_LOOK; i < NR_SPANS; i++) {
		struct scene c = scene_of(o, l, i);
		uint64_t least = l->limit / spans[i].least_share;

		*ret = c;
		if (c.grown < least || c.grown < LEAST_BYTES)
			continue;
		if (c.victim.grown >= LEAST_BYTES && c.victim.grown > c.other.grown * ALIKE)
			return c.victim;
		if (c.other.grown >= LEAST_BYTES)
			return c.other;
	}
	return (struct grown_process){};
}

/*
 * Returns the bytes of tmpfs files that no process maps: these files stay when a process is killed.
 */
static uint64_t files_left(const struct limited *l, const struct scene *c)
{
	uint64_t shmem = l->level ? l->level->now.n[CGROUP_SHMEM] : FIGURE_UNKNOWN;

	return shmem != FIGURE_UNKNOWN && shmem > c->mapped ? shmem - c->mapped : 0;
}

static bool files_filled_it(const struct limited *l, const struct scene *c,
			    const struct grown_process *grower)
{
	uint64_t left = files_left(l, c);

	return left && left >= l->limit / SHMEM_TELLS && left > c->victim.kept &&
	       left > grower->kept;
}

/* Returns how many bytes of the used memory belong to no process that faultscope saw. */
static uint64_t unseen_bytes(const struct occasion *o, const struct limited *l,
			     const struct scene *c)
{
	uint64_t used = l->cgroup && o->oom->memory.known ? bytes_of(o->m, o->oom->memory.used) : 0;

	return used > c->kept ? used - c->kept : 0;
}

static void say_title(const struct occasion *o, const struct limited *l, struct finding *f)
{
	const char *constraint = o->verdict->cause;
	char name[24];

	if (o->oom->sent)
		finding_title(f, "killed by %.15s[%u] (%s), not by the kernel's OOM killer",
			      o->oom->by_comm, o->oom->by,
			      signal_name(o->oom->sent, name, sizeof(name)));
	else if (l->cgroup && l->known && o->oom->memory.up)
		finding_title(
			f,
			"killed by the OOM killer: memory.max of %.100s, above its cgroup, reached",
			l->path);
	else
		finding_title(f, "killed by the OOM killer: %s",
			      l->cgroup	    ? "memory.max of its cgroup reached"
			      : !constraint ? "the limit is not known"
			      : !strcmp(constraint, "none")
				      ? "the host's memory and swap are exhausted"
				      : "the memory of its NUMA nodes is exhausted (cpuset or "
					"memory policy)");
}

static void say_grower(struct finding *f, const struct grown_process *g)
{

	if (!g->comm)
		return;
	evidence_about(finding_number(f, "largest growth before the kill", IN_BYTES,
				      g->ns ? g->grown : g->kept),
		       "%.15s[%u]%s%s", g->comm, g->pid, g->is_victim ? " (the victim)" : "",
		       g->ns ? "" : ", new: all its memory");
	if (g->ns)
		finding_real(f, "time of this growth", IN_SECONDS, g->ns / 1e9);
}

static void say_files(struct finding *f, const struct limited *l, const struct scene *c)
{
	uint64_t shmem = l->level ? l->level->now.n[CGROUP_SHMEM] : FIGURE_UNKNOWN;

	if (shmem == FIGURE_UNKNOWN || shmem < l->limit / SHMEM_TELLS)
		return;
	evidence_bytes(f, "shared memory and tmpfs in its cgroup", shmem, l->limit);
	evidence_bytes(f, "tmpfs mapped by no process", files_left(l, c), FIGURE_UNKNOWN);
}

static void help_files(struct finding *f, const struct limited *l, const struct scene *c,
		       bool filled)
{

	if (filled)
		remedy_command(
			finding_remedy(
				f, REMEDY_FIX,
				"remove files of tmpfs, or keep them on a disk: %s of the %s are "
				"tmpfs files that no process maps, and that stay when a process "
				"is killed",
				as_bytes(files_left(l, c)).s, as_bytes(l->limit).s),
			"df -t tmpfs; ls -lS /dev/shm | head");
	else if (l->level && l->level->now.n[CGROUP_SHMEM] != FIGURE_UNKNOWN &&
		 l->level->now.n[CGROUP_SHMEM] >= l->limit / SHMEM_TELLS)
		finding_remedy(f, REMEDY_FIX,
			       "remove files of /dev/shm, or raise the limit by their size: tmpfs "
			       "files count as memory of the cgroup that first touched them, and "
			       "stay when a process is killed");
}

static void help_grower(const struct occasion *o, struct finding *f, const struct limited *l,
			const struct scene *c, const struct grown_process *g)
{
	uint64_t unseen = unseen_bytes(o, l, c);

	if (g->is_victim)
		finding_remedy(f, REMEDY_FIX,
			       "the killed process itself grew: let it keep less memory. In "
			       "training, keep loss.item() instead of the loss with its graph, or "
			       "use a smaller batch. In a service, limit the caches, queues or "
			       "heap (-Xmx, GOMEMLIMIT)");
	else if (g->comm)
		finding_remedy(f, REMEDY_FIX,
			       "%.15s[%u] grew, not the killed process: give it a limit of its own "
			       "(systemctl set-property UNIT MemoryMax=BYTES), a smaller batch, or "
			       "fewer workers",
			       g->comm, g->pid);
	else if (unseen > l->limit / 2)
		finding_remedy(f, REMEDY_CHECK,
			       "find what uses the memory: %s of the %s belong to no observed "
			       "process. memory.stat of the cgroup shows whether it is memory of "
			       "other processes, tmpfs files, or kernel memory",
			       as_bytes(unseen).s, as_bytes(l->limit).s);
	else
		finding_remedy(
			f, REMEDY_FIX,
			"use a smaller batch or fewer workers: no process grew, but all processes "
			"together need too much");
}

/*
 * Suggests a higher limit. If a process grew, says how long the higher limit would suffice: a
 * process that keeps growing fills any limit.
 */
static void help_room(const struct occasion *o, struct finding *f, const struct limited *l,
		      const struct grown_process *g)
{
	const char *what = l->cgroup ? "in memory.max or as much swap" : "swap";
	uint64_t victim = victim_bytes(o->m, o->oom);

	if (g->comm && g->ns)
		pressure_help_growth(f, o->m, l->cgroup && l->limit ? l->limit : victim,
				     g->grown / (g->ns / 1e9), what);
	else
		pressure_help_room(f, o->m, victim, what);
}

bool oom_killed(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct oom_record *r = o->oom;
	bool cgroup = o->verdict->cause && !strcmp(o->verdict->cause, "memcg"), files;
	struct limited l = limited_by(o, cgroup);
	struct scene c;
	struct grown_process g = grower_of(o, &l, &c);

	files = files_filled_it(&l, &c, &g);
	if (files)
		g = (struct grown_process){};
	f->severity = SEVERITY_CRITICAL;
	f->level = 1;
	f->cause = cgroup ? "cgroup_memory" : NULL;
	f->limit_up = cgroup ? r->memory.up : 0;
	say_title(o, &l, f);
	if (o->s && o->s->cgroup)
		finding_text(f, "cgroup", "%.150s", o->s->cgroup);
	finding_take_evidence(f, o->verdict);
	evidence_bytes(f, "memory of the victim", victim_bytes(o->m, r), FIGURE_UNKNOWN);
	finding_text(f, "process that requested memory", "%.15s[%u]", r->by_comm, r->by);
	say_grower(f, &g);
	say_files(f, &l, &c);
	help_room(o, f, &l, &g);
	if (!files)
		help_grower(o, f, &l, &c, &g);
	help_files(f, &l, &c, files);
	return true;
}

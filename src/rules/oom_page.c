// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/oom_page.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"
#include "rules/oom_advice.h"

/* a process that grew by less than 1/GROWTH_TELLS of the limit is not the cause */
#define GROWTH_TELLS 4
/* many processes are the cause if none holds more than 1/MANY_SHARE of what all hold */
#define MANY_SHARE 4
#define MANY_LEAST 8

static const struct {
	const char *key, *text;
} kinds[] = {
#define X(id, key, text) {key, text},
	OOM_KINDS(X) OOM_PARTS(X)
#undef X
};

const char *oom_kind_key(size_t kind)
{
	return kinds[kind].key;
}

const char *oom_kind_text(enum oom_memory kind)
{
	return kinds[kind].text;
}

const char *oom_blame_key(enum oom_blame blame)
{
	static const char *const keys[NR_OOM_BLAMES] = {
		[OOM_BLAME_UNKNOWN] = "unknown",       [OOM_BLAME_VICTIM] = "victim",
		[OOM_BLAME_PROCESS] = "other_process", [OOM_BLAME_MANY] = "many_processes",
		[OOM_BLAME_TMPFS] = "tmpfs",	       [OOM_BLAME_CACHE] = "page_cache",
		[OOM_BLAME_KERNEL] = "kernel",	       [OOM_BLAME_HUGETLB] = "hugetlb",
	};

	return keys[blame];
}

const char *oom_scope_key(enum oom_scope scope)
{
	static const char *const keys[] = {[OOM_SCOPE_UNKNOWN] = "unknown",
					   [OOM_SCOPE_CGROUP] = "cgroup",
					   [OOM_SCOPE_HOST] = "host",
					   [OOM_SCOPE_NODES] = "nodes",
					   [OOM_SCOPE_DAEMON] = "daemon"};

	return keys[scope];
}

const char *oom_source_key(uint32_t source)
{
	return source == OOM_FROM_LOG ? "kernel_log" : source == OOM_FROM_SCAN ? "scan" : "none";
}

size_t oom_curve_points(const struct oom_scene_record *s)
{
	size_t n = 0;

	while (n < OOM_CURVE_POINTS && s->curve_ns[n])
		n++;
	return n;
}

static bool is_known(uint64_t bytes)
{
	return bytes != FIGURE_UNKNOWN;
}

static uint64_t known(uint64_t bytes)
{
	return is_known(bytes) ? bytes : 0;
}

uint64_t oom_holder_kept(const struct oom_holder_record *h)
{
	if (is_known(h->anon) && is_known(h->shmem))
		return h->anon + h->shmem + known(h->swap);
	return is_known(h->rss) ? h->rss + known(h->swap) : FIGURE_UNKNOWN;
}

static void find_scope(struct oom_page *p)
{
	const struct oom_record *r = &p->kill->first;

	p->certain = true;
	if (r->sent) {
		p->scope = OOM_SCOPE_DAEMON;
		return;
	}
	switch (r->constraint) {
	case OOM_MEMCG:
		p->scope = OOM_SCOPE_CGROUP;
		return;
	case OOM_NONE:
		p->scope = OOM_SCOPE_HOST;
		return;
	case OOM_CPUSET:
	case OOM_POLICY:
		p->scope = OOM_SCOPE_NODES;
		return;
	}
	/* the kernel did not log the kill, because it had logged many before */
	p->certain = false;
	p->scope = oom_is_of_cgroup(r) ? OOM_SCOPE_CGROUP
		   : r->memory.known   ? OOM_SCOPE_HOST
				       : OOM_SCOPE_UNKNOWN;
}

/*
 * Returns whether the limit of memory and swap together was reached. The kernel checks it first:
 * try_charge(), mm/memcontrol.c. If both limits are equal, the memory limit is the answer, since it
 * is the one to raise.
 */
static bool is_by_memsw(const struct oom_record *r)
{
	return oom_memsw_is_full(r) &&
	       (r->swap_limit > r->memory.limit ||
		r->memory.used + OOM_COUNTER_SLACK < r->memory.limit);
}

static void find_limit(struct oom_page *p)
{
	const struct oom_record *r = &p->kill->first;
	const struct oom_scene_record *s = &p->kill->scene;

	p->used = p->limit = FIGURE_UNKNOWN;
	if (p->kill->has_scene) {
		p->used = s->used;
		p->limit = s->limit;
	}
	if (p->scope != OOM_SCOPE_CGROUP)
		return;
	if (!is_known(p->limit) && r->memory.limit != UINT64_MAX) {
		p->used = r->memory.used * p->page_bytes;
		p->limit = r->memory.limit * p->page_bytes;
	}
	p->by_memsw = is_by_memsw(r);
	if (p->by_memsw) {
		p->used = r->swap_used * p->page_bytes;
		p->limit = r->swap_limit * p->page_bytes;
	}
	p->limit_file = p->by_memsw	  ? "memory.memsw.limit_in_bytes"
			: r->version == 1 ? "memory.limit_in_bytes"
					  : "memory.max";
}

static bool is_larger(const void *a, const void *b)
{
	return ((const struct oom_part *)a)->bytes > ((const struct oom_part *)b)->bytes;
}

static void add_part(struct oom_page *p, enum oom_memory kind, uint64_t bytes)
{
	struct oom_part one = {.kind = kind, .bytes = bytes};

	if (is_known(bytes) && bytes)
		array_insert(p->part, &p->parts, NR_OOM_KINDS, sizeof(one), is_larger, &one);
}

/*
 * Without the kernel's report, adds up what is known of the processes. This is the kind that filled
 * the memory only if it is at least half of what was in use.
 */
static void add_parts_of_processes(struct oom_page *p)
{
	uint64_t anon = 0, shmem = 0, tables = 0;

	for (uint32_t i = 0; i < p->kill->holders; i++) {
		const struct oom_holder_record *h = &p->kill->holder[i];

		anon += known(h->anon) + known(h->swap);
		tables += known(h->page_tables);
		if (known(h->shmem) > shmem)
			shmem = known(h->shmem);
	}
	add_part(p, OOM_ANON, anon);
	add_part(p, OOM_SHMEM, shmem);
	add_part(p, OOM_PAGE_TABLES, tables);
	p->kind_known = p->parts && is_known(p->used) && p->part[0].bytes >= p->used / 2;
}

/* Sorts the kinds of memory by size. The first one is what filled the memory. */
static void sort_parts(struct oom_page *p)
{
	const struct oom_scene_record *s = &p->kill->scene;

	for (size_t i = 0; p->kill->has_scene && i < NR_OOM_KINDS; i++)
		add_part(p, i, s->memory[i]);
	p->kind_known = p->parts > 0;
	if (!p->parts)
		add_parts_of_processes(p);
	if (p->kind_known)
		p->kind = p->part[0].kind;
}

static uint64_t held_of_kind(const struct oom_page *p, const struct oom_holder_record *h)
{
	if (p->kind_known && p->kind == OOM_PAGE_TABLES)
		return known(h->page_tables);
	if (p->kind_known && p->kind == OOM_SHMEM && is_known(h->shmem))
		return h->shmem;
	if (p->kind_known && p->kind == OOM_ANON && is_known(h->anon))
		return h->anon + known(h->swap);
	return known(oom_holder_kept(h));
}

static void find_holder(struct oom_page *p)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < p->kill->holders; i++) {
		const struct oom_holder_record *h = &p->kill->holder[i];
		uint64_t bytes = held_of_kind(p, h);

		if (bytes > most) {
			most = bytes;
			p->holder = h;
		}
	}
}

static bool is_victim(const struct oom_page *p, const struct oom_holder_record *h)
{
	return h->pid == p->kill->first.subject.pid;
}

static uint64_t growth_of(const struct oom_holder_record *h)
{
	uint64_t now = known(oom_holder_kept(h));

	return h->before_ns && now > h->before_bytes ? now - h->before_bytes : 0;
}

/* Returns the process that grew most, if it grew much; NULL: none, or the growth is not known. */
static const struct oom_holder_record *grower_of(const struct oom_page *p)
{
	const struct oom_holder_record *found = NULL;

	for (uint32_t i = 0; i < p->kill->holders; i++) {
		const struct oom_holder_record *h = &p->kill->holder[i];

		if (growth_of(h) > (found ? growth_of(found) : 0))
			found = h;
	}
	return found && is_known(p->limit) && growth_of(found) >= p->limit / GROWTH_TELLS ? found
											  : NULL;
}

/*
 * Returns the most shared memory that a process can map. Before Linux 6.8, the kernel lists only
 * the resident memory of a process. Shared memory is a part of that, and at most what all processes
 * together have apart from anonymous memory. FIGURE_UNKNOWN: not known.
 */
static uint64_t mapped_at_most(const struct oom_page *p, const struct oom_holder_record *h)
{
	const struct oom_scene_record *s = &p->kill->scene;
	uint64_t anon = known(s->memory[OOM_ANON]), others = FIGURE_UNKNOWN;

	if (is_known(h->shmem))
		return h->shmem;
	if (s->tasks_kept_bytes)
		others = s->tasks_kept_bytes > anon ? s->tasks_kept_bytes - anon : 0;
	return h->rss < others ? h->rss : others;
}

/*
 * Finds the bytes of shared memory and tmpfs files that no process maps. A file that several
 * processes map counts once: the largest mapping of one process is taken.
 */
static void find_unmapped(struct oom_page *p)
{
	uint64_t mapped = 0, all = known(p->kill->scene.memory[OOM_SHMEM]);

	for (uint32_t i = 0; i < p->kill->holders; i++) {
		const struct oom_holder_record *h = &p->kill->holder[i];
		uint64_t one = mapped_at_most(p, h);

		p->unmapped_at_least |= !is_known(h->shmem);
		if (one > mapped)
			mapped = one;
	}
	p->unmapped_bytes = all > mapped ? all - mapped : 0;
}

/*
 * Returns whether many processes hold the memory, and none of them a large part of it. The kernel's
 * report says how many there are. Without it, the listed processes are those of the last scan that
 * hold most.
 */
static bool are_many(const struct oom_page *p)
{
	const struct oom_scene_record *s = &p->kill->scene;
	uint64_t largest = p->holder ? known(oom_holder_kept(p->holder)) : 0;
	uint64_t all = s->tasks_kept_bytes;
	uint32_t tasks = s->tasks;

	if (p->kind_known && p->kind == OOM_PAGE_TABLES) {
		largest = p->holder ? held_of_kind(p, p->holder) : 0;
		all = p->part[0].bytes;
	} else if (!tasks && p->kind_known) {
		all = p->part[0].bytes;
		tasks = p->kill->holders;
	}
	return tasks >= MANY_LEAST && all && largest < all / MANY_SHARE;
}

/*
 * Finds by how much the culprit grew: since an earlier scan, or since it started. The start time is
 * of CLOCK_BOOTTIME, which equals CLOCK_MONOTONIC unless the machine was suspended.
 */
static void find_growth(struct oom_page *p)
{
	const struct oom_record *r = &p->kill->first;
	const struct oom_holder_record *h = p->culprit;

	p->grown_bytes = growth_of(h);
	if (p->grown_bytes) {
		p->grown_ns = r->h.t_ns - h->before_ns;
	} else if (!h->before_ns && is_victim(p, h) && r->subject.start_ns < r->h.t_ns) {
		p->grown_bytes = known(oom_holder_kept(h));
		p->grown_ns = p->grown_bytes ? r->h.t_ns - r->subject.start_ns : 0;
	}
}

static void blame_process(struct oom_page *p)
{
	const struct oom_holder_record *grower = grower_of(p);

	p->culprit = p->holder;
	/* a process that grew may be to blame although another one holds more, and always has */
	if (grower && p->holder && growth_of(grower) > growth_of(p->holder) * 2)
		p->culprit = grower;
	if (are_many(p) && p->culprit == p->holder) {
		p->blame = OOM_BLAME_MANY;
		return;
	}
	if (!p->culprit)
		return;
	p->blame = is_victim(p, p->culprit) ? OOM_BLAME_VICTIM : OOM_BLAME_PROCESS;
	find_growth(p);
}

static void find_blame(struct oom_page *p)
{
	if (!p->kind_known) {
		/* the listed processes hold less than half: who holds the rest is not known */
		if (!is_known(p->used))
			blame_process(p);
		return;
	}
	switch (p->kind) {
	case OOM_SHMEM:
		if (p->unmapped_bytes > known(p->kill->scene.memory[OOM_SHMEM]) / 2)
			p->blame = OOM_BLAME_TMPFS;
		else
			blame_process(p);
		return;
	case OOM_FILE:
		p->blame = OOM_BLAME_CACHE;
		return;
	case OOM_SLAB:
	case OOM_SOCK:
	case OOM_OTHER_KERNEL:
		p->blame = OOM_BLAME_KERNEL;
		return;
	case OOM_KERNEL_STACK:
		p->blame = are_many(p) ? OOM_BLAME_MANY : OOM_BLAME_KERNEL;
		return;
	case OOM_HUGETLB:
		p->blame = OOM_BLAME_HUGETLB;
		return;
	default:
		blame_process(p);
	}
}

void oom_page_of(const struct oom_kill *k, uint64_t page_bytes, struct oom_page *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->kill = k;
	ret->page_bytes = page_bytes;
	find_scope(ret);
	find_limit(ret);
	sort_parts(ret);
	find_holder(ret);
	if (k->has_scene)
		find_unmapped(ret);
	find_blame(ret);
	oom_advise(ret);
}

void oom_put_blame(struct buf *b, const struct oom_page *p)
{
	switch (p->blame) {
	case OOM_BLAME_VICTIM:
		buf_puts(b, "the killed process itself");
		break;
	case OOM_BLAME_PROCESS:
		buf_printf(b, "%.15s[%u], not the killed process", p->culprit->comm,
			   p->culprit->pid);
		break;
	case OOM_BLAME_MANY:
		buf_printf(b, "%s processes together: none of them holds much",
			   as_count(p->kill->scene.tasks).s);
		break;
	case OOM_BLAME_TMPFS:
		buf_puts(b, "tmpfs files or shared memory that no process maps");
		break;
	case OOM_BLAME_CACHE:
		buf_puts(b, "page cache that the kernel could not drop");
		break;
	case OOM_BLAME_KERNEL:
		buf_puts(b, "kernel memory, which no process shows as its own");
		break;
	case OOM_BLAME_HUGETLB:
		buf_puts(b, "hugetlb pages, which the kernel uses for nothing else");
		break;
	default:
		buf_puts(b, "not known");
	}
}

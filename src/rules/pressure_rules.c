// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/pressure_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "rules/limits_rules.h"
#include "rules/stall_rules.h"

/*
 * The thresholds of an open finding are half as high. Without this, a value near the threshold
 * would close and open the finding again and again.
 */
#define OPENED(open, threshold) ((open) ? (threshold) / 2.0 : (threshold))

/* there is memory pressure if PSI some is at least this share of time */
#define STALL_SOME 0.10
/* the finding is critical if PSI full is at least this share of time */
#define STALL_FULL 0.20
#define SWAP_INS   50 /* pages swapped in per second; fewer are no thrashing */
#define SWAP_OUTS  10
/*
 * If the kernel has no PSI: pages per second, swapped in plus swapped out. Fewer are no thrashing.
 */
#define BLIND_SWAPS    500
#define REFAULTS       200
#define HINTS	       10000 /* NUMA hint faults per second; fewer are not reported */
#define MIGRATED_SHARE 0.05
/* "high" events of a cgroup per second (memory.events); fewer are not reported */
#define THROTTLES 5
/* the finding is a warning if at most this percentage of memory and swap is available */
#define LEFT_WARNS   10
#define LEFT_PRESSES 5
/*
 * if at least this percentage of a cgroup's limit is not reclaimable, there is little room for page
 * cache
 */
#define KEPT_SHORT 90

static uint64_t page_bytes(const struct model *m)
{
	return m->tick.limits.page_bytes ? m->tick.limits.page_bytes : 4096;
}

static uint64_t swap_used(const struct host_limits *l)
{
	return l->swap_total_bytes > l->swap_free_bytes ? l->swap_total_bytes - l->swap_free_bytes
							: 0;
}

static double known(double rate)
{
	return rate > 0 ? rate : 0;
}

/* Returns how many pages per second are swapped in, including pages from zswap. */
static double swapped_in(const struct model *m)
{
	return known(host_rate(m, HOST_SWAP_IN)) + known(host_rate(m, HOST_ZSWAP_IN));
}

static double swapped_out(const struct model *m)
{
	return known(host_rate(m, HOST_SWAP_OUT)) + known(host_rate(m, HOST_ZSWAP_OUT));
}

/* Adds a rate in pages per second as evidence in bytes per second. */
static void say_pages(struct finding *f, const struct model *m, const char *field, double rate)
{
	if (rate >= 0)
		finding_real(f, field, IN_BYTES_PER_SECOND, rate * page_bytes(m));
}

static void say_stall(struct finding *f, const struct stall *some, const struct stall *full)
{
	if (!some->known) {
		finding_text(f, "memory pressure (PSI)", "not measured: the kernel has no PSI");
		return;
	}
	finding_real(f, "memory pressure, some, 10 s", IN_PERCENT, some->avg10 / 100.0);
	finding_real(f, "memory pressure, some, 60 s", IN_PERCENT, some->avg60 / 100.0);
	finding_real(f, "memory pressure, some, 300 s", IN_PERCENT, some->avg300 / 100.0);
	finding_real(f, "memory pressure, full, 10 s", IN_PERCENT, full->avg10 / 100.0);
	finding_real(f, "memory pressure, full, 60 s", IN_PERCENT, full->avg60 / 100.0);
}

/* Returns the cgroup with the most memory pressure, if that is more than `least`; NULL: none. */
static const struct level *worst_level(const struct model *m, double least)
{
	const struct pressure *p = m->pressure;
	const struct level *worst = NULL;

	for (size_t i = 0; p && i < p->levels; i++)
		if (level_is_there(m, &p->level[i]) && level_stall(&p->level[i], false) > least) {
			worst = &p->level[i];
			least = level_stall(worst, false);
		}
	return worst;
}

static void say_where(struct finding *f, const struct model *m)
{
	const struct level *l = worst_level(m, host_stall(m, false) / 2);
	struct evidence *e;

	if (!l)
		return;
	e = finding_number(f, "cgroup with the most pressure", IN_BYTES, l->now.n[CGROUP_USED]);
	evidence_about(e, "%.120s", l->now.path);
	if (level_has_limit(l))
		evidence_limit(e, l->now.n[CGROUP_LIMIT]);
	finding_real(f, "memory pressure of that cgroup, some", IN_PERCENT,
		     level_stall(l, false) * 100);
}

static enum severity severity_of_stall(double full)
{
	return full >= STALL_FULL ? SEVERITY_CRITICAL : SEVERITY_WARNING;
}

static bool waited_a_minute(const struct model *m)
{
	const struct pressure *p = m->pressure;

	return p && p->now.some.known && p->now.some.avg60 >= STALL_SOME * 1e4;
}

bool swap_thrashes(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct model *m = o->m;
	double in = swapped_in(m), out = swapped_out(m), some = host_stall(m, false);

	/*
	 * The kernel writes a page to swap only once if programs only read the page afterwards. If
	 * memory pressure lasts for a minute, swap-ins alone are therefore enough.
	 */
	if (in < OPENED(open, SWAP_INS) || (out < OPENED(open, SWAP_OUTS) && !waited_a_minute(m)) ||
	    (some >= 0 ? some < OPENED(open, STALL_SOME) : in + out < BLIND_SWAPS))
		return false;
	f->severity = severity_of_stall(host_stall(m, true));
	f->level = f->severity + 1;
	if (some >= 0)
		finding_title(f,
			      "swap thrashing: the working set does not fit into memory (PSI "
			      "some %.0f %%)",
			      some * 100);
	else
		finding_title(f, "swap thrashing: the working set does not fit into memory");
	say_pages(f, m, "swapped in", in);
	say_pages(f, m, "swapped out", out);
	say_stall(f, &m->pressure->now.some, &m->pressure->now.full);
	evidence_bytes(f, "swap in use", swap_used(&m->tick.limits),
		       m->tick.limits.swap_total_bytes);
	stall_say_swap(f, m);
	say_where(f, m);
	pressure_say_who(f, m);
	/* the host needs as much more memory as it has swapped out */
	pressure_help_room(f, m, swap_used(&m->tick.limits), "memory");
	finding_advise(f);
	return true;
}

bool cache_thrashes(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct model *m = o->m;
	double file = host_rate(m, HOST_REFAULT_FILE), some = host_stall(m, false);
	double in = swapped_in(m);

	/* without PSI, a busy page cache looks the same as memory pressure */
	if (file < OPENED(open, REFAULTS) || in > file / 4 || some < OPENED(open, STALL_SOME))
		return false;
	f->severity = severity_of_stall(host_stall(m, true));
	f->level = f->severity + 1;
	finding_title(f,
		      "page cache thrashing: files are read again right after reclaim (PSI some "
		      "%.0f %%)",
		      some * 100);
	say_pages(f, m, "read again after reclaim (refaults)", file);
	if (host_rate(m, HOST_MAJOR) >= 0)
		finding_real(f, "major faults", IN_PER_SECOND, host_rate(m, HOST_MAJOR));
	say_stall(f, &m->pressure->now.some, &m->pressure->now.full);
	say_where(f, m);
	pressure_say_who(f, m);
	if (m->tick.limits.swap_total_bytes)
		finding_remedy(f, REMEDY_FIX,
			       "leave memory for the page cache: raise memory.max, or run fewer "
			       "programs at a time");
	else
		finding_host_remedy(f, REMEDY_FIX,
				    "add some swap: without swap, only program code and mapped "
				    "files are reclaimable. Or raise memory.max, or run fewer "
				    "programs at a time");
	finding_advise(f);
	return true;
}

bool pages_migrate(const struct occasion *o, const struct finding *open, struct finding *f)
{
	double hints = host_rate(o->m, HOST_NUMA_HINTS);
	double local = host_rate(o->m, HOST_NUMA_LOCAL);
	double migrated = host_rate(o->m, HOST_NUMA_MIGRATED);

	if (hints < OPENED(open, HINTS) || migrated < hints * OPENED(open, MIGRATED_SHARE))
		return false;
	f->severity = SEVERITY_WARNING;
	f->level = 1;
	finding_title(f, "NUMA balancing causes %.0f hint faults a second", hints);
	finding_real(f, "hint faults on another node", IN_PER_SECOND,
		     hints > local ? hints - local : 0);
	say_pages(f, o->m, "migrated", migrated);
	finding_advise(f);
	return true;
}

/*
 * Returns true if P05, P06 or P07 is open. These findings explain the memory pressure, so P23 does
 * not open.
 */
static bool is_told_better(const struct occasion *o)
{
	static const char *const better[] = {"P05", "P06", "P07"};

	for (size_t i = 0; o->findings && i < o->findings->n; i++)
		for (size_t k = 0; k < sizeof(better) / sizeof(better[0]); k++)
			if (o->findings->f[i].open &&
			    !strcmp(o->findings->f[i].rule->id, better[k]))
				return true;
	return false;
}

bool work_waits(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct model *m = o->m;
	double some = host_stall(m, false);

	if (some < OPENED(open, STALL_SOME) || is_told_better(o))
		return false;
	f->severity = severity_of_stall(host_stall(m, true));
	f->level = f->severity + 1;
	finding_title(f, "memory pressure: PSI some %.0f %% (tasks wait for memory)", some * 100);
	say_stall(f, &m->pressure->now.some, &m->pressure->now.full);
	if (host_rate(m, HOST_DIRECT_STALLS) >= 0)
		finding_real(f, "direct reclaims", IN_PER_SECOND, host_rate(m, HOST_DIRECT_STALLS));
	if (host_rate(m, HOST_COMPACT_STALLS) >= 0)
		finding_real(f, "waits for compaction", IN_PER_SECOND,
			     host_rate(m, HOST_COMPACT_STALLS));
	say_where(f, m);
	pressure_say_who(f, m);
	finding_advise(f);
	return true;
}

/*
 * If the value does not grow, suggests to raise the limit by 20 %. If it grows, says how long twice
 * the limit would suffice.
 */
static void help_limit(struct finding *f, const struct model *m, const struct forecast *c,
		       uint64_t limit, const char *what)
{
	if (c->known)
		pressure_help_growth(f, m, limit, c->per_second, what);
	else
		pressure_help_room(f, m, limit / 5, what);
}

/* Returns the share of memory and swap that is available, in percent. */
static double left_percent(const struct host_limits *l)
{
	uint64_t all = l->mem_total_bytes + l->swap_total_bytes;

	return all && l->mem_available_bytes
		       ? (l->mem_available_bytes + l->swap_free_bytes) * 100.0 / all
		       : 100;
}

bool memory_is_short(const struct model *m, const struct subject *s)
{
	const struct pressure *p = m->pressure;

	if (left_percent(&m->tick.limits) <= LEFT_WARNS ||
	    (swapped_in(m) >= SWAP_INS && swapped_out(m) >= SWAP_OUTS))
		return true;
	for (size_t i = 0; p && i < p->levels; i++) {
		const struct level *l = &p->level[i];
		uint64_t kept = level_kept_bytes(l);

		if (level_is_there(m, l) && level_has_limit(l) && level_holds(l, s->cgroup) &&
		    kept != FIGURE_UNKNOWN && kept >= l->now.n[CGROUP_LIMIT] / 100 * KEPT_SHORT)
			return true;
	}
	return false;
}

bool memory_is_near_its_end(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct host_limits *l = &o->m->tick.limits;
	uint64_t left = l->mem_available_bytes + l->swap_free_bytes;
	double percent = left_percent(l);
	struct forecast c;

	if (percent > (open ? LEFT_WARNS + 2 : LEFT_WARNS))
		return false;
	f->severity = percent <= LEFT_PRESSES ? SEVERITY_CRITICAL : SEVERITY_WARNING;
	f->level = f->severity + 1;
	finding_title(f, "%s of memory and swap are left, %.0f %% of the total", as_bytes(left).s,
		      percent);
	evidence_bytes(f, "memory available", l->mem_available_bytes, l->mem_total_bytes);
	evidence_bytes(f, "swap free", l->swap_free_bytes, l->swap_total_bytes);
	c = resource_forecast(o->m, NULL, RESOURCE_MEMORY);
	f->forecast = c;
	pressure_say_who(f, o->m);
	help_limit(f, o->m, &c, l->mem_total_bytes / 5, "swap");
	finding_advise(f);
	return true;
}

static void say_level_use(struct finding *f, const struct level *l)
{
	static const struct {
		enum cgroup_figure figure;
		const char *field;
	} rows[] = {{CGROUP_ANON, "anonymous"},
		    {CGROUP_SHMEM, "shared memory and tmpfs"},
		    {CGROUP_SWAP_USED, "swapped out"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (l->now.n[rows[i].figure] != FIGURE_UNKNOWN && l->now.n[rows[i].figure])
			evidence_bytes(f, rows[i].field, l->now.n[rows[i].figure],
				       rows[i].figure == CGROUP_SWAP_USED
					       ? l->now.n[CGROUP_SWAP_LIMIT]
					       : FIGURE_UNKNOWN);
}

bool cgroup_is_throttled(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct level *l = o->level;
	uint64_t high = l->now.n[CGROUP_HIGH], used = l->now.n[CGROUP_USED];
	double rate = level_rate(l, CGROUP_TIMES_HIGH), some = level_stall(l, false);

	if (high == FIGURE_UNKNOWN || used == FIGURE_UNKNOWN || used < high / 100 * 95 ||
	    rate < OPENED(open, THROTTLES) || (some >= 0 && some < OPENED(open, STALL_SOME)))
		return false;
	f->severity = severity_of_stall(level_stall(l, true));
	f->level = f->severity + 1;
	finding_title(f, "throttled at memory.high: %s of %s, %.0f times a second",
		      as_bytes(used).s, as_bytes(high).s, rate);
	evidence_bytes(f, "memory", used, high);
	say_stall(f, &l->now.some, &l->now.full);
	say_level_use(f, l);
	pressure_say_who(f, o->m);
	remedy_with_scope(finding_remedy(f, REMEDY_WORKAROUND,
					 "raise memory.high of the cgroup to %" PRIu64
					 ", or run systemctl set-property UNIT MemoryHigh=%" PRIu64,
					 high + high / 2, high + high / 2),
			  SCOPE_CGROUP);
	finding_advise(f);
	return true;
}

struct room {
	uint64_t used, limit;
};

/*
 * Returns level 2 or 3 if the limit will be reached soon; 0 if it is far away. If there is no
 * forecast now, but there was one a moment ago, returns 2.
 */
static uint32_t soon_level(const struct occasion *o, const struct room *r, const struct forecast *c,
			   const struct finding *open, struct finding *f)
{
	bool was_soon = open && open->grew_ns, pressed = was_soon && open->level == 3;

	if (!c->known && was_soon && limit_growth_held(o, open, r->used, r->limit)) {
		f->grew_ns = open->grew_ns;
		f->grew_to = open->grew_to;
		return 2;
	}
	if (!c->known || c->seconds >= LIMIT_SOON_SECONDS * (was_soon ? LIMIT_STAY : 1))
		return 0;
	limit_growth_keep(o, r->used, f);
	return c->sure && c->seconds < LIMIT_PRESS_SECONDS * (pressed ? LIMIT_STAY : 1) ? 3 : 2;
}

/*
 * Returns the level (1 to 3) for the share in use and the time until the limit; 0: far from the
 * limit. The level of an open finding falls only three percentage points below its threshold.
 */
static uint32_t fill_level(const struct occasion *o, const struct room *r, const struct forecast *c,
			   const struct finding *open, const unsigned int *at, struct finding *f)
{
	uint32_t level = 0, soon = soon_level(o, r, c, open, f);

	for (uint32_t i = 0; i < 3; i++)
		if (r->used * 100.0 / r->limit >= at[i] - (open && open->level > i ? 3 : 0))
			level = i + 1;
	return soon > level ? soon : level;
}

bool cgroup_fills(const struct occasion *o, const struct finding *open, struct finding *f)
{
	static const unsigned int at[] = {80, 92, 97};
	const struct level *l = o->level;
	uint64_t kept = level_kept_bytes(l), limit = l->now.n[CGROUP_LIMIT];
	uint64_t swap = l->now.n[CGROUP_SWAP_LIMIT];
	struct forecast c = level_forecast(o->m, l);
	bool swaps = swap != 0 && o->m->tick.limits.swap_free_bytes > limit / 10;

	if (!level_has_limit(l) || kept == FIGURE_UNKNOWN)
		return false;
	f->level = fill_level(o, &(struct room){kept, limit}, &c, open, at, f);
	if (!f->level)
		return false;
	/*
	 * with free swap, the kernel swaps at the limit and does not kill: the finding is not
	 * critical
	 */
	if (swaps && f->level > 2)
		f->level = 2;
	f->severity = f->level - 1;
	f->cause = "cgroup_memory";
	finding_title(f, "%s of %s is not reclaimable (%.0f %%); at 100 %% %s", as_bytes(kept).s,
		      as_bytes(limit).s, kept * 100.0 / limit,
		      swaps ? "it swaps" : "the OOM killer kills a process");
	evidence_bytes(f, "not reclaimable", kept, limit);
	limit_say_forecast(f, &c, true);
	say_level_use(f, l);
	if (known(level_rate(l, CGROUP_TIMES_MAX)) > 0)
		finding_real(f, "limit reached", IN_PER_SECOND, level_rate(l, CGROUP_TIMES_MAX));
	pressure_say_who(f, o->m);
	help_limit(f, o->m, &c, limit, swaps ? "in memory.max" : "in memory.max or as much swap");
	return true;
}

bool tmpfs_fills(const struct occasion *o, const struct finding *open, struct finding *f)
{
	static const unsigned int at[] = {80, 90, 98};
	const struct mount_record *r = &o->mount->now;
	struct forecast c = mount_forecast(o->m, o->mount);

	if (!(r->flags & MOUNT_IN_MEMORY) || !r->size_bytes)
		return false;
	f->level = fill_level(o, &(struct room){r->used_bytes, r->size_bytes}, &c, open, at, f);
	if (!f->level)
		return false;
	f->severity = f->level - 1;
	finding_title(f,
		      "tmpfs: %s of %s in use (%.0f %%); when it is full, writes fail with ENOSPC "
		      "and page faults with SIGBUS",
		      as_bytes(r->used_bytes).s, as_bytes(r->size_bytes).s,
		      r->used_bytes * 100.0 / r->size_bytes);
	evidence_bytes(f, "in use", r->used_bytes, r->size_bytes);
	limit_say_forecast(f, &c, true);
	tmpfs_help(f, o->m, r->size_bytes, 0, r->path, SCOPE_HOST);
	return true;
}

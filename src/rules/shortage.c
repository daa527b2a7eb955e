// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/shortage.h"

#include <math.h>
#include <string.h>

/* share of time; if PSI some is lower, the age of the pressure is not computed */
#define WAITS 0.02
/* seconds; the largest age that is computed, three times the span of the longest PSI average */
#define SINCE_MOST_S 900

enum { NONE, SWAP, PAGE_CACHE, WAITING, MEMORY, COMMIT, CGROUP, THROTTLED, TMPFS, KILLED };

static const char *const kind_name[] = {
	[NONE] = "none",
	[SWAP] = "swap",
	[PAGE_CACHE] = "page_cache",
	[WAITING] = "pressure",
	[MEMORY] = "memory",
	[COMMIT] = "commit",
	[CGROUP] = "cgroup",
	[THROTTLED] = "cgroup_throttled",
	[TMPFS] = "tmpfs",
	[KILLED] = "oom_killed",
};

/*
 * The rules about memory shortage by precedence: shortages that exist now, then near ones, then
 * forecasts.
 */
static const struct {
	const char *id;
	int kind;
} kinds[] = {
	{"P05", SWAP},	 {"P07", THROTTLED}, {"P06", PAGE_CACHE}, {"P17", KILLED},
	{"P01", TMPFS},	 {"P24", MEMORY},    {"P22", CGROUP},	  {"P21", TMPFS},
	{"M15", COMMIT}, {"M17", COMMIT},    {"M30", COMMIT},	  {"P23", WAITING},
	{"P19", MEMORY}, {"P20", SWAP},	     {"M31", COMMIT},	  {"M16", COMMIT},
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static size_t rank_of(const struct rule *rule)
{
	for (size_t i = 0; i < NR_KINDS; i++)
		if (!strcmp(kinds[i].id, rule->id))
			return i;
	return NR_KINDS;
}

bool shortage_is_about(const struct rule *rule)
{
	return rank_of(rule) < NR_KINDS;
}

/*
 * Returns true if finding `a` matters more than `b`. If each of them is a warning or critical, the
 * order of kinds[] decides, so that a shortage that exists precedes a forecast. Otherwise the
 * severity decides first.
 */
static bool is_graver(const struct finding *a, const struct finding *b)
{
	if (a->severity >= SEVERITY_WARNING && b->severity >= SEVERITY_WARNING)
		return rank_of(a->rule) < rank_of(b->rule);
	return a->severity != b->severity ? a->severity > b->severity
					  : rank_of(a->rule) < rank_of(b->rule);
}

/*
 * Estimates when the memory pressure began. Constant pressure x that began t seconds ago shows as x
 * (1 - exp(-t / 300)) in the average over 300 s (kernel/sched/psi.c: calc_avgs()).
 */
static void tell_since(const struct stall *some, struct shortage *ret)
{
	double now = some->avg10 > some->avg60 ? some->avg10 : some->avg60;

	ret->since_seconds = -1;
	if (!some->known || now < WAITS * 1e4)
		return;
	ret->since_longer = some->avg300 >= now * (1 - exp(-SINCE_MOST_S / 300.0));
	ret->since_seconds = ret->since_longer ? SINCE_MOST_S : -300 * log(1 - some->avg300 / now);
}

void shortage_of(const struct model *m, const struct findings *fs, struct shortage *ret)
{
	const struct finding *main = NULL;

	*ret = (struct shortage){.kind = kind_name[NONE], .since_seconds = -1};
	for (size_t i = 0; i < fs->n; i++) {
		const struct finding *f = &fs->f[i];

		if (f->open && shortage_is_about(f->rule) && (!main || is_graver(f, main)))
			main = f;
	}
	ret->main = main;
	ret->some = host_stall(m, false);
	ret->full = host_stall(m, true);
	if (m->pressure && m->pressure->known)
		tell_since(&m->pressure->now.some, ret);
	if (!main || main->severity < SEVERITY_WARNING)
		return;
	ret->is_short = true;
	ret->kind = kind_name[kinds[rank_of(main->rule)].kind];
}

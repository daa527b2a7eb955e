// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rules P12 mmap-lock-contention and P13 mmap-lock-other-process: threads wait for the mmap_lock of
 * their process, which another thread or process holds.
 */
#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "model/slow.h"
#include "rules/growth_rules.h"
#include "rules/pressure_rules.h"
#include "rules/stall_rules.h"

#define WAITS 0.05 /* waits that take less than this share of one thread's time open no finding */
/*
 * P12 opens in two cases. Waits take at least this share of one thread's time. Or waits in page
 * faults take at least this share of the time of all page faults.
 */
#define CONVOY 0.3
/*
 * ns; a stall shorter than this has severity INFO, because threads that start together wait briefly
 */
#define CONVOY_NS 3000000000ULL
/*
 * ns; a stall shorter than this has severity INFO, because a single read of /proc/PID/maps is
 * harmless
 */
#define AGENT_NS 2000000000ULL
/*
 * ns; if threads wait longer than this in one window for another process, the finding is a warning
 * at once
 */
#define AT_ONCE_NS 500000000ULL
/*
 * minimum of the waits for mmap_lock, as a share of one thread's time, for each thread of the
 * process
 */
#define EACH_THREAD 0.03

/* Waits of a process for its mmap_lock in the last window, as shares of one thread's time. */
struct lock_waits {
	double s, count;
	double all, in_faults, faults;
	double others; /* waits while another process held the lock; part of `all` */
	/* slowest wait during which another process held the lock; NULL: no wait was slow */
	const struct slow_row *other;
};

static bool waits_of(const struct occasion *o, struct lock_waits *ret)
{
	const struct counters *now = o->now, *was = o->was;
	const struct waits *w = &now->wait[WAIT_LOCK], *v = &was->wait[WAIT_LOCK];
	uint64_t slow_ns;
	double ns;

	if (!stall_window(o, &ret->s))
		return false;
	ns = ret->s * 1e9;
	ret->count = (w->count - v->count) / ret->s;
	ret->all = (w->ns - v->ns) / ns;
	ret->in_faults = (w->in_faults_ns - v->in_faults_ns) / ns;
	ret->faults = 0;
	for (int i = 0; i < NR_ENDS; i++)
		ret->faults += (now->stall_ns[i] - was->stall_ns[i]) / ns;
	/* recordings of earlier versions have slow waits only, not the sum of all waits */
	ret->other = slow_for_others(o->m, &o->s->id, &slow_ns);
	ret->others = fmax(now->lock_others_ns - was->lock_others_ns, slow_ns) / ns;
	return ret->all >= WAITS && ret->all >= EACH_THREAD * o->s->now.g.threads;
}

static void say_waits(const struct occasion *o, struct finding *f, const struct lock_waits *w)
{
	finding_real(f, "waits for mmap_lock", IN_PER_SECOND, w->count);
	finding_real(f, "share of a thread's time", IN_PERCENT, w->all * 100);
	if (w->faults > 0)
		finding_real(f, "share of the time in page faults", IN_PERCENT,
			     w->in_faults / w->faults * 100);
	if (model_hook_has(o->m, "mmap_lock", LACKS_SPINNING))
		finding_text(f, "not included", "system calls that spin for mmap_lock");
}

bool waits_for_itself(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct slow_row *hold;
	struct lock_waits w;

	if (!waits_of(o, &w) || o->s->now.g.threads < 2 ||
	    (w.all < CONVOY && w.in_faults < w.faults * CONVOY))
		return stall_held(o, open, f);
	hold = slow_own_hold(o->m, &o->s->id);
	/* not all holders are known; a process that held the lock may also have held it then */
	if (w.others * 2 >= w.all || (w.others > 0 && !hold))
		return stall_held(o, open, f);
	stall_begin(o, open, CONVOY_NS, f);
	finding_title(f,
		      "threads wait for mmap_lock of their own process: %.0f %% of a thread's time",
		      w.all * 100);
	say_waits(o, f, &w);
	if (hold) {
		evidence_about(finding_number(f, "held mmap_lock while others waited", IN_COUNT,
					      hold->now.count),
			       "%.15s[%u]", hold->now.comm, hold->now.tid);
		evidence_about(finding_real(f, "lock held in total for", IN_SECONDS,
					    hold->now.total_ns / 1e9),
			       "%.15s[%u]", hold->now.comm, hold->now.tid);
		stack_evidence(f, o->m, &o->s->id, hold->now.stack, "held by");
	}
	finding_advise(f);
	return true;
}

bool waits_for_another(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct slow_row *row;
	struct lock_waits w;

	if (!waits_of(o, &w) || !w.other || w.others < WAITS || w.others * 2 < w.all)
		return stall_held(o, open, f);
	row = w.other;
	stall_begin(o, open, w.others * w.s * 1e9 < AT_ONCE_NS ? AGENT_NS : 0, f);
	finding_title(f,
		      "waits for mmap_lock, held by %.15s[%u], which %s its memory map: %.0f %% of "
		      "a thread's time",
		      row->now.holder_comm, row->now.holder,
		      row->now.holder_writes ? "changes" : "reads", w.others * 100);
	say_waits(o, f, &w);
	finding_text(f, "held by", "%.15s[%u]", row->now.holder_comm, row->now.holder);
	remedy_command(finding_remedy(f, REMEDY_CHECK,
				      "show which of these files the process "
				      "that holds the lock has open"),
		       "ls -l /proc/%u/fd | grep -E '(smaps|maps|numa_maps|pagemap)'",
		       row->now.holder);
	finding_advise(f);
	return true;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/memory_readings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "model/model.h"
#include "probe/host_facts.h"
#include "render/completeness.h"
#include "resident/resident.h"
#include "session/live_view.h"

/* default for the number of processes to read if all processes of the machine are watched */
#define LARGEST 16

/* Finds the process from which `s` may have inherited pages. */
static void fill_parent(const struct session *s, const struct subject *one,
			struct resident_process *ret)
{
	uint64_t suspended_ns = host_boottime_ns() - host_monotonic_ns();

	if (one->now.g.execs || !(one->now.g.flags & PROC_BORN))
		return;
	for (struct subject *p = model_each(&s->in.m, NULL); p; p = model_each(&s->in.m, p))
		if (p->id.pid == one->now.g.ppid && p->id.start_ns < one->id.start_ns)
			ret->parent = p->id;
	ret->forked_ns = one->id.start_ns - suspended_ns;
}

/*
 * Returns whether it is known who touched each page of a process, if all processes are watched:
 * pages were chosen since the fork, and those of the parent are known, unless an exec released
 * them.
 */
static bool is_complete(const struct session *s, const struct resident_process *p)
{
	return resident_wanted_since_fork(s->in.resident, &p->id) &&
	       (p->execs || resident_knows(s->in.resident, &p->parent));
}

static struct resident_process process_of(const struct session *s, const struct subject *one)
{
	struct resident_process p = {.id = one->id, .pid = one->id.pid};

	p.execs = one->now.g.execs;
	if (!resident_knows(s->in.resident, &one->id))
		fill_parent(s, one, &p);
	p.born = one->now.g.flags & PROC_BORN && (s->plan.whom != WATCH_ALL || is_complete(s, &p));
	return p;
}

/* Reads a process. A process that ended meanwhile keeps its last values. */
static void read_one(struct session *s, const struct subject *one)
{
	struct resident_process p = process_of(s, one);
	struct sink sink = session_sink(s);
	int err = resident_read(s->in.resident, &p, &sink);
	char what[64];

	if (!err || err == -ESRCH)
		return;
	snprintf(what, sizeof(what), "the resident memory of process %u", one->id.pid);
	session_note_gap(s, "not read", what, err);
}

static uint64_t pages_of(const struct subject *s)
{
	return gauges_rss_pages(&s->now.g) + gauges_swap_pages(&s->now.g);
}

static bool is_larger(const void *a, const void *b)
{
	return pages_of(*(const struct subject *const *)a) >
	       pages_of(*(const struct subject *const *)b);
}

/*
 * Finds the processes with most memory, the largest first. Returns their number: that of the plan
 * at most.
 */
static size_t find_largest(const struct session *s, const struct subject *ret[RESIDENT_WANTED_MAX])
{
	size_t n = 0;

	for (struct subject *one = model_each(&s->in.m, NULL); one; one = model_each(&s->in.m, one))
		if (!one->final && !one->hidden && !(one->now.g.flags & PROC_SHARES_MM))
			array_insert(ret, &n, s->plan.resident_most, sizeof(*ret), is_larger, &one);
	return n;
}

static bool is_late(uint64_t until_ns)
{
	return until_ns && host_monotonic_ns() >= until_ns;
}

static void read_largest(struct session *s, uint64_t until_ns)
{
	const struct subject *largest[RESIDENT_WANTED_MAX], *viewed = viewing_chosen(s);
	size_t n = find_largest(s, largest);

	if (viewed && resident_want(s->in.resident, &viewed->id))
		read_one(s, viewed);
	for (size_t i = 0; i < n && !is_late(until_ns); i++)
		if (largest[i] != viewed && resident_want(s->in.resident, &largest[i]->id))
			read_one(s, largest[i]);
}

static void read_targets(struct session *s, uint64_t until_ns)
{
	for (struct subject *one = model_each(&s->in.m, NULL); one; one = model_each(&s->in.m, one))
		if (!one->final && one->now.g.flags & PROC_WATCHED && !is_late(until_ns))
			read_one(s, one);
}

static bool has_ended(void *ctx, const struct process_key *of)
{
	const struct subject *one = model_find(ctx, of);

	return !one || one->final;
}

void memory_readings_take_until(struct session *s, uint64_t until_ns)
{
	int err;

	if (!s->in.resident)
		return;
	err = resident_prepare(s->in.resident);
	if (!err && s->plan.whom == WATCH_ALL)
		read_largest(s, until_ns);
	else if (!err)
		read_targets(s, until_ns);
	err = err ?: resident_finish(s->in.resident, has_ended, &s->in.m);
	if (err)
		session_note_gap(s, "not read", "resident memory", err);
}

void memory_readings_take(struct session *s)
{
	memory_readings_take_until(s, 0);
}

void memory_readings_expect(struct session *s, const struct process_key *of)
{
	if (s->in.resident && s->plan.whom == WATCH_ALL)
		resident_want(s->in.resident, of);
}

void memory_readings_forget(struct session *s, const struct process_key *of)
{
	if (s->in.resident)
		resident_unwant(s->in.resident, of);
}

static void open_targets(struct session *s)
{
	for (struct subject *one = model_each(&s->in.m, NULL); one;
	     one = model_each(&s->in.m, one)) {
		struct resident_process p = process_of(s, one);

		if (!one->final && one->now.g.flags & PROC_WATCHED)
			resident_open(s->in.resident, &p);
	}
}

static void open_largest(struct session *s)
{
	const struct subject *largest[RESIDENT_WANTED_MAX];
	size_t n = find_largest(s, largest);

	for (size_t i = 0; i < n; i++) {
		struct resident_process p = process_of(s, largest[i]);

		if (resident_want(s->in.resident, &largest[i]->id))
			resident_open(s->in.resident, &p);
	}
}

void memory_readings_open(struct session *s)
{
	if (!s->in.resident) {
		gap_add(&s->out.gaps, "not read: resident memory: the probe resident is off or "
				      "unavailable (see faultscope doctor)");
		return;
	}
	if (s->plan.whom == WATCH_ALL)
		open_largest(s);
	else
		open_targets(s);
}

void memory_readings_open_command(struct session *s)
{
	if (s->in.resident)
		resident_expect(s->in.resident, s->child.pid);
}

void memory_readings_plan(struct run_plan *p)
{
	p->tiers |= MEMORY_TIERS;
	p->attributes = true;
	p->resident_each = MEMORY_EACH;
	p->resident_most = LARGEST;
	if (p->replay)
		return;
	p->before_drop = memory_readings_open;
	p->after_first_scan = p->after_first_scan ?: memory_readings_take;
	p->before_output = memory_readings_take;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/phases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/fields.h"
#include "model/totals.h"

static uint64_t higher(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns how much higher a value is at the end of the phase than at its start; 0: not higher. */
static uint64_t rise(uint64_t began, uint64_t ended)
{
	return ended > began ? ended - began : 0;
}

uint64_t phase_duration_ns(const struct phase *p)
{
	return rise(p->began_ns, p->ended_ns);
}

static uint64_t change(uint64_t began, uint64_t ended)
{
	return began == FIGURE_UNKNOWN || ended == FIGURE_UNKNOWN ? FIGURE_UNKNOWN
								  : rise(began, ended);
}

#define CHANGED(name, member)                                                                      \
	static uint64_t get_##name(const struct phase *p)                                          \
	{                                                                                          \
		return change(p->began.member, p->ended.member);                                   \
	}
#define PEAK(name, member)                                                                         \
	static uint64_t get_##name(const struct phase *p)                                          \
	{                                                                                          \
		return p->member;                                                                  \
	}
CHANGED(minor, minor)
CHANGED(major, major)
CHANGED(stall, stall_ns)
CHANGED(failed, failed_calls)
PEAK(rss_peak, rss_peak_bytes)
CHANGED(rss_kept, rss_bytes)
CHANGED(swap_kept, swap_bytes)
PEAK(maps_peak, maps_peak)
CHANGED(maps_kept, maps)
PEAK(fds_peak, fds_peak)
CHANGED(fds_kept, fds)

const struct phase_value phase_values[NR_PHASE_VALUES] = {
	{"phase.rss.peak", "rss_peak_bytes", "RSS PEAK",
	 "highest resident memory of all processes together at any scan of the phase", UNIT_BYTES,
	 1, get_rss_peak},
	{"phase.rss.kept", "rss_kept_bytes", "KEPT",
	 "resident memory at the end of a phase, beyond that at its start", UNIT_BYTES, 1,
	 get_rss_kept},
	{"phase.swap.kept", "swap_kept_bytes", "SWAPPED",
	 "swapped-out memory at the end of a phase, beyond that at its start", UNIT_BYTES, 1,
	 get_swap_kept},
	{"phase.minor_faults", "minor_faults", "MINFLT", "minor faults of a phase", UNIT_COUNT, 1,
	 get_minor},
	{"phase.major_faults", "major_faults", "MAJFLT", "major faults of a phase", UNIT_COUNT, 1,
	 get_major},
	{"phase.stall_ms", "stall_ns", "STALL", "time that threads spent in page faults of a phase",
	 UNIT_NS, 1e6, get_stall},
	{"phase.maps.peak", "maps_peak", "MAPS", "peak number of mappings of a process in a phase",
	 UNIT_COUNT, 1, get_maps_peak},
	{"phase.maps.kept", "maps_kept", "KEPT",
	 "mappings at the end of a phase, beyond those at its start", UNIT_COUNT, 1, get_maps_kept},
	{"phase.fds.peak", "fds_peak", "FDS", "peak number of open fds of a process in a phase",
	 UNIT_COUNT, 1, get_fds_peak},
	{"phase.fds.kept", "fds_kept", "KEPT",
	 "open fds at the end of a phase, beyond those at its start", UNIT_COUNT, 1, get_fds_kept},
	{"phase.failed_calls", "failed_calls", "FAILED",
	 "mapping and fd calls of a phase that failed because a limit was reached", UNIT_COUNT, 1,
	 get_failed},
};

const char *phase_value_key(size_t i)
{
	return phase_values[i].key;
}

/* Returns whether a process has memory of its own; a child of vfork() uses that of its parent. */
static bool has_memory(const struct subject *s)
{
	return !s->final && !(s->now.g.flags & (PROC_SHARES_MM | PROC_NO_MM));
}

static void sum_up(const struct model *m, struct phase_sums *ret)
{
	uint64_t page = m->tick.limits.page_bytes;
	struct totals t;

	model_totals(m, &t);
	*ret = (struct phase_sums){.minor = t.min_flt, .major = t.maj_flt};
	ret->failed_calls = is_available(m, "calls", 0) ? counters_refused(&t.c, WHAT_MAPS) +
								  counters_refused(&t.c, WHAT_FDS)
							: FIGURE_UNKNOWN;
	ret->stall_ns = is_available(m, "fault_end", LACKS_MINOR)
				? t.c.stall_ns[0] + t.c.stall_ns[1]
				: FIGURE_UNKNOWN;
	for (struct subject *s = model_each(m, NULL); s; s = model_each(m, s)) {
		if (s->hidden || s->final)
			continue;
		ret->fds += s->now.g.fds;
		if (!has_memory(s))
			continue;
		ret->rss_bytes += gauges_rss_pages(&s->now.g) * page;
		ret->swap_bytes += gauges_swap_pages(&s->now.g) * page;
		ret->maps += s->now.g.map_count;
	}
}

/*
 * Takes the peaks of a process. A peak that rose since the process's previous record was reached in
 * this window; otherwise it may be of an earlier phase, and only the current value counts.
 */
static void take_peaks(struct phase *p, const struct model *m, const struct subject *s)
{
	bool changed = subject_changed(m, s);
	const struct gauges *g = &s->now.g, *before = &subject_prev(s)->g;

	p->maps_peak =
		higher(p->maps_peak,
		       changed && g->map_high > before->map_high ? g->map_high : g->map_count);
	p->fds_peak =
		higher(p->fds_peak, changed && g->fd_high > before->fd_high ? g->fd_high : g->fds);
}

void phases_scan(struct model *m)
{
	struct phases *all = m->phases;
	struct phase *p;

	if (!all || !all->runs)
		return;
	p = &all->phase[all->n - 1];
	sum_up(m, &p->ended);
	p->ended_ns = m->last_ns;
	p->rss_peak_bytes = higher(p->rss_peak_bytes, p->ended.rss_bytes);
	for (struct subject *s = model_each(m, NULL); s; s = model_each(m, s))
		if (!s->hidden)
			take_peaks(p, m, s);
}

static void begin_phase(struct model *m, const char *name)
{
	struct phases *all = m->phases;
	struct phase *p;

	if (all->n == PHASES_MAX) {
		all->missed++;
		return;
	}
	p = &all->phase[all->n++];
	all->runs = true;
	memcpy(p->name, name, sizeof(p->name));
	p->name[sizeof(p->name) - 1] = 0;
	p->began_ns = p->ended_ns = m->last_ns;
	sum_up(m, &p->began);
	p->ended = p->began;
	p->rss_peak_bytes = p->began.rss_bytes;
	for (struct subject *s = model_each(m, NULL); s; s = model_each(m, s)) {
		if (s->hidden || s->final)
			continue;
		p->maps_peak = higher(p->maps_peak, s->now.g.map_count);
		p->fds_peak = higher(p->fds_peak, s->now.g.fds);
	}
}

int phases_take(struct model *m, const struct phase_record *r)
{
	if (!m->phases)
		m->phases = calloc(1, sizeof(*m->phases));
	if (!m->phases)
		return -ENOMEM;
	m->phases->runs = false;
	if (r->name[0])
		begin_phase(m, r->name);
	return 0;
}

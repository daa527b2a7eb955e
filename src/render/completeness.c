// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/completeness.h"

#include <inttypes.h>
#include <string.h>

#include "render/losses.h"
#include "render/style.h"
#include "rules/shortage.h"

static void add_unmatched(struct buf *gaps, const struct view *v)
{
	struct totals totals;

	model_totals(v->m, &totals);
	if (!totals.processes)
		gap_add(gaps, "no process matched");
}

static void add_losses(struct buf *gaps, const struct view *v)
{
	struct loss lost[LOSSES_MAX];
	size_t n = losses_of(v, lost);

	for (size_t i = 0; i < n; i++)
		gap_lost(gaps, lost[i].n, "%s", lost[i].about);
}

/*
 * Returns whether a rule that contributes to the verdict needs a probe. In `host`, only rules about
 * memory contribute.
 */
static bool judges_by(const struct view *v, const struct hook_view *h)
{
	for (size_t i = 0; i < nr_rules; i++)
		if (rules[i].needs && !strcmp(rules[i].needs, h->name) &&
		    (!v->host || shortage_is_about(&rules[i])))
			return true;
	return false;
}

/*
 * Returns whether a probe that is not on makes the result incomplete. There are three kinds of
 * commands:
 *
 * `host`: the probe is unavailable, and a rule about memory needs it.
 *
 * Other commands with a verdict: the probe is unavailable, or it is disabled and a rule needs it.
 *
 * Commands without a verdict: the probe is unavailable, and the user did not disable it.
 */
static bool is_gap(const struct view *v, const struct hook_view *h)
{
	if (h->state == HOOK_ON)
		return false;
	if (v->host)
		return h->state == HOOK_BLIND && judges_by(v, h);
	if (v->verdict)
		return h->state == HOOK_BLIND || judges_by(v, h);
	return h->state == HOOK_BLIND && !h->unwanted;
}

static void add_unmeasured(struct buf *gaps, const struct view *v)
{
	const struct pressure *p = v->m->pressure;
	struct buf why = {};

	if (!v->m->hooks)
		gap_add(gaps, "not measured: everything that needs BPF (only /proc was read)");
	for (size_t i = 0; i < v->m->hooks; i++) {
		const struct hook_view *h = &v->m->hook[i];

		if (!is_gap(v, h))
			continue;
		buf_next_part(gaps, &why);
		buf_safe(&why, h->why, v->unicode);
		gap_add(gaps, "not measured: %s (%s)", h->name,
			why.len ? why.s : "its overhead level is off");
	}
	buf_end_part(gaps, &why);
	if ((v->verdict || v->host) && p && p->known && !p->now.some.known)
		gap_add(gaps, "not measured: memory pressure (no PSI: boot with psi=1)");
}

/*
 * Adds the limits of the machine that the last scan did not read. Their values are 0, which the
 * kernel never has. `host` needs the first row only.
 */
static void add_unread_limits(struct buf *gaps, const struct view *v)
{
	const struct host_limits *l = &v->m->tick.limits;
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{"/proc/meminfo", l->mem_total_bytes},	{"vm.max_map_count", l->max_map_count},
		{"fs.file-max", l->file_max},		{"fs.nr_open", l->nr_open},
		{"kernel.threads-max", l->threads_max}, {"kernel.pid_max", l->pid_max},
	};
	size_t n = v->host ? 1 : sizeof(rows) / sizeof(rows[0]);
	struct buf names = {};

	if (!v->m->tick.h.t_ns)
		return;
	for (size_t i = 0; i < n; i++)
		if (!rows[i].value)
			buf_printf(&names, "%s%s", names.len ? ", " : "", rows[i].name);
	if (names.len)
		gap_add(gaps, "not read: limits of the machine: %s", names.s);
	buf_end_part(gaps, &names);
}

void gaps_of_probes(struct buf *gaps, const struct view *v)
{
	add_losses(gaps, v);
	add_unmeasured(gaps, v);
	add_unread_limits(gaps, v);
}

void gaps_of(struct buf *gaps, const struct view *v)
{
	add_unmatched(gaps, v);
	gaps_of_probes(gaps, v);
	if (v->gaps)
		gaps_add(gaps, v->gaps);
}

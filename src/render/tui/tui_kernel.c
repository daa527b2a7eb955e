// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes the tab Kernel: limits, memory pressure, memory, cgroups and mounts of the machine, kernel
 * events, and the probes with their cost. Values have the names that the kernel's files give them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "model/pressure.h"
#include "render/text/text.h"
#include "render/tui/tui_parts.h"

static const struct {
	enum figure_source source;
	const char *name;
} figures[] = {
#define X(id, key, from, name) {from, name},
	HOST_FIGURES(X)
#undef X
};

/* Appends a value of the machine; a rate of /proc/vmstat only if it is not 0. */
static void put_figure(struct line *l, struct buf *b, size_t i)
{
	uint64_t n = host_figure(l->v->m, i);
	struct number_text value = as_count(n);
	double rate = host_rate(l->v->m, i);
	char text[48];

	if (n == FIGURE_UNKNOWN || (figures[i].source == FROM_VMSTAT && rate <= 0))
		return;
	if (figures[i].source == FROM_MEMINFO)
		value = as_bytes(n);
	snprintf(text, sizeof(text), "%s/s", as_rate(rate).s);
	tui_put_pair(l, b, figures[i].name, figures[i].source == FROM_VMSTAT ? text : value.s, 1);
}

/* Writes the known values from one file of the kernel, or `none` if there is no value. */
static void write_figures(const struct view *v, struct buf *b, enum figure_source source,
			  const char *title, const char *none)
{
	struct line l = {.v = v};

	tui_heading(b, v, title);
	line_printf(&l, " ");
	for (size_t i = 0; i < NR_HOST_FIGURES; i++)
		if (figures[i].source == source)
			put_figure(&l, b, i);
	if (line_columns(&l) < 2)
		line_printf(&l, "%s", none);
	line_end(&l, b, STYLE_PLAIN);
}

/* Writes a limit's use: "NAME  used of limit [####    ] 61.0%  full in 8m 10s". */
static void write_share(const struct view *v, struct buf *b, const char *name, uint64_t used,
			uint64_t limit, const struct forecast *f)
{
	double share = limit ? (double)used / limit : 0;
	struct line l = {.v = v};
	struct buf safe = {};

	buf_safe(&safe, name, v->unicode);
	line_printf(&l, " ");
	line_cell(&l, safe.s ? safe.s : "", v->width / 3, false);
	buf_end_part(b, &safe);
	line_printf(&l, " %s of %s [", as_bytes(used).s, as_bytes(limit).s);
	line_style(&l, share_style(share));
	line_bar(&l, share, v->width >= 100 ? 20 : 10);
	line_style(&l, STYLE_PLAIN);
	line_printf(&l, "] %.1f%%", 100 * share);
	if (f->known)
		line_printf(&l, "  full in %s", as_span(f->seconds).s);
	line_end(&l, b, STYLE_PLAIN);
}

static void write_psi(const struct view *v, struct buf *b)
{
	double some = host_stall(v->m, false), full = host_stall(v->m, true);
	struct line l = {.v = v};

	if (some < 0)
		return;
	tui_heading(b, v, "Pressure (/proc/pressure/memory), share of the last interval");
	line_printf(&l, " memory  some ");
	line_style(&l, some >= 0.1 ? STYLE_WARNING : STYLE_PLAIN);
	line_printf(&l, "%.1f%%", 100 * some);
	line_style(&l, STYLE_PLAIN);
	if (full >= 0) {
		line_printf(&l, "  full ");
		line_style(&l, full >= 0.1 ? STYLE_CRITICAL : STYLE_PLAIN);
		line_printf(&l, "%.1f%%", 100 * full);
		line_style(&l, STYLE_PLAIN);
	}
	line_end(&l, b, STYLE_PLAIN);
}

/* Writes how full cgroups with a memory limit and tmpfs mounts are. */
static void write_places(const struct view *v, struct buf *b)
{
	const struct pressure *p = v->m->pressure;
	size_t shown = 0;

	for (size_t i = 0; i < p->levels; i++) {
		const struct level *one = &p->level[i];
		struct forecast f = level_forecast(v->m, one);

		if (!level_is_there(v->m, one) || !level_has_limit(one) ||
		    level_kept_bytes(one) == FIGURE_UNKNOWN)
			continue;
		if (!shown++)
			tui_heading(b, v,
				    "Cgroups with memory.max: memory that is not reclaimable");
		write_share(v, b, one->now.path, level_kept_bytes(one), one->now.n[CGROUP_LIMIT],
			    &f);
	}
	shown = 0;
	for (size_t i = 0; i < p->mounts; i++) {
		const struct mount_use *one = &p->mount[i];
		struct forecast f = mount_forecast(v->m, one);

		if (!mount_is_there(v->m, one) || !(one->now.flags & MOUNT_IN_MEMORY) ||
		    !one->now.size_bytes)
			continue;
		if (!shown++)
			tui_heading(b, v, "tmpfs");
		write_share(v, b, one->now.path, one->now.used_bytes, one->now.size_bytes, &f);
	}
}

static void write_memory(const struct view *v, struct buf *b)
{
	if (!v->m->pressure || !v->m->pressure->known)
		return;
	write_psi(v, b);
	write_figures(v, b, FROM_MEMINFO, "Memory (/proc/meminfo)", "not known");
	write_figures(v, b, FROM_VMSTAT, "Paging (/proc/vmstat), events in the last interval",
		      "none");
	write_figures(v, b, FROM_SETTINGS, "Settings (/proc/sys/vm)", "not known");
	write_places(v, b);
}

/* Writes what faultscope costs now. The BPF programs run in the time of other processes. */
static void write_cost(const struct tui *t, const struct view *v, struct buf *b)
{
	const struct tick_record *k = &v->m->tick;
	double seconds = model_window_seconds(v->m);
	struct line l = {.v = v};

	tui_heading(b, v, "faultscope itself");
	line_printf(&l, " CPU %s (", as_duration(k->own_cpu_ns).s);
	if (seconds > 0 && v->m->prev_own_cpu_ns)
		line_printf(&l, "%.1f%% of a CPU now)",
			    (k->own_cpu_ns - v->m->prev_own_cpu_ns) / (seconds * 1e7));
	else
		line_printf(&l, "now: not known)");
	line_printf(&l, "  RSS %s  last scan %s", as_bytes(k->own_rss_bytes).s,
		    as_duration(k->look_ns).s);
	line_end(&l, b, STYLE_PLAIN);
	l = (struct line){.v = v};
	line_printf(&l, " ");
	text_losses(&l);
	if (t->trends.lost)
		line_printf(&l, ", %" PRIu64 " %s", t->trends.lost,
			    as_words(t->trends.lost, "trend{|s}").s);
	line_end(&l, b, STYLE_PLAIN);
}

/* A probe, and what it costs. */
struct probe_row {
	const struct hook_view *h;
	struct probe_rate now;
	bool known;
};

static int by_share(const void *a, const void *b)
{
	const struct probe_row *x = a, *y = b;

	if (x->known != y->known)
		return y->known - x->known;
	if (x->known && x->now.share != y->now.share)
		return x->now.share < y->now.share ? 1 : -1;
	return x->h < y->h ? -1 : 1;
}

static void put_cost(struct line *l, const struct probe_row *r)
{
	char share[24];

	snprintf(share, sizeof(share), "%.3f%%", 100 * r->now.share);
	line_cell(l, r->known ? as_rate(r->now.events).s : "-", 10, true);
	line_cell(l, r->known && r->now.ns > 0 ? as_count(r->now.ns).s : "-", 10, true);
	line_cell(l, r->known ? share : "-", 10, true);
	line_printf(l, "  ");
}

static void write_probe(const struct view *v, struct buf *b, const struct probe_row *r,
			bool measured)
{
	const struct hook_view *h = r->h;
	struct line l = {.v = v};

	line_printf(&l, " ");
	line_cell(&l, h->name, 14, false);
	if (measured)
		put_cost(&l, r);
	line_cell(&l,
		  h->state == HOOK_ON	   ? h->mechanism
		  : h->state == HOOK_BLIND ? "unavailable"
					   : "off",
		  18, false);
	line_printf(&l, "%s", h->why);
	line_end(&l, b, h->state == HOOK_BLIND ? STYLE_WARNING : STYLE_PLAIN);
}

/* Writes the probes, those first that cost most. */
static void write_each_probe(const struct view *v, struct buf *b)
{
	struct probe_row row[MODEL_HOOKS_MAX] = {};
	bool measured = false;
	size_t n = v->m->hooks;

	for (size_t i = 0; i < n; i++) {
		row[i].h = &v->m->hook[i];
		row[i].known = probe_rate(v->m, row[i].h->name, &row[i].now);
		measured |= row[i].known;
	}
	qsort(row, n, sizeof(*row), by_share);
	if (measured)
		styled_line(b, v, STYLE_DIM, " %-14s%10s%10s%10s  %s", "PROBE", "EVENTS/S",
			    "NS/EVENT", "OF A CPU", "ATTACHED BY");
	for (size_t i = 0; i < n; i++)
		write_probe(v, b, &row[i], measured);
}

static void write_probes(const struct view *v, struct buf *b)
{
	double seconds = model_window_seconds(v->m);
	uint64_t now = v->m->tick.own_bpf_ns, before = v->m->prev_own_bpf_ns;

	tui_heading(b, v, "Probes");
	if (now && before && now >= before && seconds > 0)
		styled_line(b, v, STYLE_PLAIN,
			    " all BPF programs: %.2f%% of a CPU now, in the processes that they "
			    "measure",
			    (now - before) / (seconds * 1e7));
	else
		text_wrapped(b, v, " ",
			     "cost now: not measured by the kernel (sysctl -w "
			     "kernel.bpf_stats_enabled=1 measures it; faultscope doctor measures "
			     "each probe)");
	write_each_probe(v, b);
}

void tui_write_kernel(const struct tui *t, const struct view *v, struct buf *b)
{
	tui_heading(b, v, "Limits of this machine");
	for (int i = 0; i < NR_RESOURCES; i++)
		if (resources[i].scope == OF_HOST)
			text_limit(b, v, resources[i].limit, NULL, i);
	write_memory(v, b);
	tui_write_events(t, v, b, NULL, "Kernel-mode faults and OOM kills");
	write_cost(t, v, b);
	write_probes(v, b);
}

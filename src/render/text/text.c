// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/overhead.h"
#include "base/units.h"
#include "render/completeness.h"
#include "render/gate_results.h"
#include "render/losses.h"
#include "render/render.h"
#include "render/style.h"
#include "render/text/text.h"

/* Writes the first line of a frame: what is watched, since when, and faultscope's own cost. */
static void write_header(struct buf *b, const struct view *v)
{
	const struct host_record *h = &v->m->host;
	double window = model_window_seconds(v->m);
	size_t n = view_processes(v);
	struct line l = {.v = v};

	line_printf(&l, "faultscope %s  %s  %s  ", h->version, h->target[0] ? h->target : h->host,
		    as_clock(view_seconds(v, v->m->last_ns)).s);
	line_printf(&l, "%zu %s", n, as_words(n, "process{|es}").s);
	if (window > 0)
		line_printf(&l, "  last %.*f s  cost %.1f%% of a CPU", window < 9.95 ? 1 : 0,
			    window,
			    (v->m->tick.own_cpu_ns - v->m->prev_own_cpu_ns) / (window * 1e7));
	line_printf(&l, "  overhead");
	for (int level = 0; level < NR_OVERHEAD_LEVELS; level++)
		if (h->tiers >> level & 1)
			line_printf(&l, "%s%d", level ? "," : " ", level);
	line_end(&l, b, STYLE_BOLD);
}

void text_losses(struct line *l)
{
	struct loss lost[LOSSES_MAX];
	size_t n = losses_of(l->v, lost);

	for (size_t i = 0; i < n; i++)
		if (i < LOSSES_ALWAYS || lost[i].n)
			line_printf(l, "%s%" PRIu64 " %s", i ? ", " : "lost: ", lost[i].n,
				    as_words(lost[i].n, lost[i].what).s);
}

/* Writes the limits set by --assume, from which percentages and forecasts are calculated. */
static void write_assumed(struct buf *b, const struct view *v)
{
	struct line l = {.v = v};
	bool any = false;

	for (int i = 0; i < NR_RESOURCES; i++) {
		uint64_t limit = v->m->assumed[i];

		if (!limit)
			continue;
		line_printf(&l, any ? ", %s=" : "assumed: %s=", resources[i].limit);
		if (resources[i].bytes)
			line_printf(&l, "%s", as_bytes(limit).s);
		else
			line_printf(&l, "%s", as_count(limit).s);
		any = true;
	}
	if (any)
		line_end(&l, b, STYLE_BOLD);
	buf_end_part(b, &l.b);
}

/* Writes lost events and unavailable probes, if there are any. */
static void write_gaps(struct buf *b, const struct view *v)
{
	struct line l = {.v = v};

	if (losses_all(v)) {
		text_losses(&l);
		line_end(&l, b, STYLE_WARNING);
	}
	for (size_t i = 0; i < v->m->hooks; i++) {
		const struct hook_view *h = &v->m->hook[i];

		if (h->state != HOOK_BLIND)
			continue;
		l = (struct line){.v = v};
		line_printf(&l, "unavailable: %s (%s)", h->name, h->why);
		if (v->height) /* on a screen, write one line per probe */
			line_end(&l, b, STYLE_WARNING);
		else
			line_wrap(&l, b, STYLE_WARNING);
	}
}

/* Says which values the enabled overhead levels cannot show, and which option adds them. */
static void write_unmeasured(struct buf *b, const struct view *v)
{
	struct line l = {.v = v};
	char what[128];

	overhead_unmeasured_text(v->m->host.tiers, what, sizeof(what));
	if (!v->m->hooks || !*what)
		return;
	line_printf(&l, "not measured: %s (--overhead all measures them)", what);
	line_wrap(&l, b, STYLE_DIM);
}

/* Keeps the first `height` lines, because more lines would scroll the first ones off the screen. */
static void cut_to_height(struct buf *b, size_t from, int height)
{
	int lines = 0;

	if (!height || b->failed)
		return;
	for (size_t i = from; i < b->len; i++)
		if (b->s[i] == '\n' && ++lines == height - 1) {
			b->len = i + 1;
			b->s[b->len] = 0;
			return;
		}
}

/* Writes all values of a window, and all open findings. */
static void write_whole(struct buf *b, const struct view *v)
{
	size_t from = b->len;

	write_header(b, v);
	write_assumed(b, v);
	write_gaps(b, v);
	if (v->height)
		write_unmeasured(b, v);
	if (v->layout == LAYOUT_TABLE) {
		/*
		 * on a screen, write the findings first, or a long table would push them off the
		 * screen
		 */
		if (v->height)
			text_findings(b, v);
		text_table(b, v);
		if (!v->height)
			text_findings(b, v);
	} else {
		text_blocks(b, v);
		text_findings(b, v);
	}
	cut_to_height(b, from, v->height);
	if (!v->height)
		buf_putc(b, '\n');
}

/*
 * On a pipe, only the first window has all values. Later windows have one line, and the findings
 * that are new, or a log of a day would repeat the same blocks.
 */
static void text_frame(struct buf *b, const struct view *v)
{
	if (v->height || v->tables || !v->frames) {
		write_whole(b, v);
		return;
	}
	text_interval(b, v);
	text_new_findings(b, v);
}

static void write_peak(struct buf *b, const struct view *v, enum resource_id id,
		       const struct peak *p)
{
	struct line l = {.v = v};

	if (!p->limit)
		return;
	line_printf(&l, "  %s peak %s", id == RESOURCE_MAPS ? "maps" : "fds", as_count(p->value).s);
	if (p->limit != UINT64_MAX)
		line_printf(&l, "%s%s (%.1f%%)", v->m->assumed[id] ? " of an assumed " : " of ",
			    as_count(p->limit).s, 100.0 * p->value / p->limit);
	line_printf(&l, " in %s[%u]", p->comm, p->pid);
	line_end(&l, b, STYLE_PLAIN);
}

/* Writes the values and findings at the end, if the last windows had one line only. */
static void write_last(struct buf *b, const struct view *v)
{
	if (v->height || v->tables || v->summary || v->frames < 2)
		return;
	if (v->layout == LAYOUT_BLOCKS)
		text_living_blocks(b, v);
	text_titles(b, v);
}

/* Writes the totals of all watched processes at the end. */
static void text_close(struct buf *b, const struct view *v)
{
	const struct tick_record *t = &v->m->tick;
	double seconds = view_seconds(v, v->m->last_ns);
	struct totals totals;
	struct line l = {.v = v};

	model_totals(v->m, &totals);
	line_printf(&l, "faultscope: %s%s", v->command ? "ran " : "watched ",
		    v->m->host.target[0] ? v->m->host.target : "all processes");
	if (v->ending)
		line_printf(&l, " (%s)", v->ending);
	line_printf(&l, " for %.1f s, %s %s", seconds, as_count(totals.processes).s,
		    as_words(totals.processes, "process{|es}").s);
	line_wrap(&l, b, STYLE_BOLD);

	l = (struct line){.v = v};
	line_printf(&l, "  faults: minor %s, major %s", as_count(totals.min_flt).s,
		    as_count(totals.maj_flt).s);
	if (model_hook_on(v->m, "signal"))
		line_printf(&l, ", failed %s", as_count(totals.c.fault_failed).s);
	if (is_available(v->m, "fault_end", LACKS_MINOR))
		line_printf(&l, ", stalled %s",
			    as_duration(totals.c.stall_ns[0] + totals.c.stall_ns[1]).s);
	line_end(&l, b, STYLE_PLAIN);
	write_peak(b, v, RESOURCE_MAPS, &totals.maps);
	write_peak(b, v, RESOURCE_FDS, &totals.fds);
	write_last(b, v);
	if (v->page)
		text_summary(b, v, &totals);
	if (v->summary) {
		text_findings(b, v);
		text_histograms(b, v, &totals.c);
	}

	text_phases(b, v);
	l = (struct line){.v = v};
	line_printf(&l, "  ");
	text_losses(&l);
	line_printf(&l, "; own cost: %s CPU, %s", as_duration(t->own_cpu_ns).s,
		    as_bytes(t->own_rss_bytes).s);
	line_end(&l, b, STYLE_PLAIN);
	write_gaps(b, v);
	if (v->gaps)
		gaps_text(b, v, v->gaps);
	gates_text(b, v, false);
}

/*
 * If the output is a pipe, writes a line at once, because the first block of values appears only
 * after one interval.
 */
static void text_open(struct buf *b, const struct view *v)
{
	if (v->height || v->command)
		return;
	styled_line(b, v, STYLE_PLAIN, "faultscope %s: %s, %zu now; %s", v->m->host.version,
		    v->m->host.target[0]       ? v->m->host.target
		    : model_watches_all(v->m) ? "all processes"
					      : "chosen processes",
		    view_processes(v),
		    "rates are of each interval, totals since the start");
	write_unmeasured(b, v);
	buf_putc(b, '\n');
}

const struct renderer text_renderer = {
	.name = "text",
	.help = "for people: redrawn in place on a terminal, plain lines on a pipe",
	.open = text_open,
	.event = render_no_event,
	.finding = render_no_finding, /* frame() writes the findings */
	.frame = text_frame,
	.close = text_close,
};

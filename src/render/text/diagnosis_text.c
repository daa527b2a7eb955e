// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes the text of `diagnose`: findings, the mappings and fds of each process, and the code that
 * created them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/frames.h"
#include "model/growers.h"
#include "model/holdings.h"
#include "model/process_tree.h"
#include "model/resident.h"
#include "render/crash/kernel_records.h"
#include "render/completeness.h"
#include "render/style.h"
#include "render/text/text.h"

#define SORTS_SHOWN	6
#define PROCESSES_SHOWN 8
/* minimum number of mappings or fds of a process for which they are listed by kind */
#define HOLDINGS_LEAST 64

#define CHECKED                                                                                    \
	"limits of mappings, file descriptors, locked memory, threads and cgroups; failed calls; " \
	"crashes and OOM kills; memory, swap, commit limit, open files and tmpfs of the host; "    \
	"forecasts of growth"
#define CHECKED_RECORDS "signs of a kernel crash in the flight recorder's records of this boot"

static const char *const what_name[] = {"mapping{|s}", "file descriptor{|s}"}; /* for as_words() */

static uint64_t count_of(const struct subject *s, enum what what)
{
	return what == WHAT_MAPS ? s->now.g.map_count : s->now.g.fds;
}

static void write_holding(struct buf *b, const struct view *v, const struct holding *h)
{
	styled_line(b, v, STYLE_PLAIN, "   | %8" PRIu64 "  %s  (%s)", (uint64_t)h->count, h->name,
		    holding_kind_name(h->kind));
}

static void write_holdings(struct buf *b, const struct view *v, const struct subject *s,
			   enum what what)
{
	const struct holdings *h = &s->held[what];
	uint64_t shown = 0, all = 0;

	for (size_t i = 0; i < h->n; i++)
		all += h->sort[i].count;
	if (all < HOLDINGS_LEAST)
		return;
	styled_line(b, v, STYLE_PLAIN, "  held at the start: %s%s %s", as_count(all).s,
		    h->sort[0].cut ? " and more" : "", as_words(all, what_name[what]).s);
	for (size_t i = 0; i < h->n && i < SORTS_SHOWN; i++) {
		write_holding(b, v, &h->sort[i]);
		shown += h->sort[i].count;
	}
	if (shown < all || h->sort[0].cut) {
		styled_line(b, v, STYLE_DIM, "   | %8" PRIu64 "%s  others", all - shown,
			    h->sort[0].cut ? "+" : "");
	}
}

static void write_grower(struct buf *b, const struct view *v, const struct subject *s,
			 enum what what, const struct grower *g)
{
	const struct frames *f = model_frames(v->m, &s->id, g->stack);
	struct line l = {.v = v};
	struct buf from = {};

	line_printf(&l, "   | %+8" PRId64 "  %s", (int64_t)(g->added - g->removed), g->name);
	if (g->removed)
		line_printf(&l, "  (%s made, %s%s gone)", as_count(g->added).s,
			    what == WHAT_MAPS ? "at most " : "", as_count(g->removed).s);
	line_end(&l, b, STYLE_PLAIN);
	if (!f)
		return;
	text_frames(&from, f);
	if (from.s)
		text_wrapped(b, v, "   |           from ", from.s);
	buf_end_part(b, &from);
}

static void write_growers(struct buf *b, const struct view *v, const struct subject *s,
			  enum what what)
{
	struct grower g[SORTS_SHOWN];
	bool sampled = false;
	uint64_t added;
	size_t n = buf_rows(b, growers_of(v->m, &s->id, what, g, SORTS_SHOWN, &added));

	/*
	 * Skip fds that were all closed. Mappings are not skipped, because `removed` may be too
	 * high.
	 */
	if (!n || (what == WHAT_FDS && g[0].added <= g[0].removed))
		return;
	for (size_t i = 0; i < n; i++)
		sampled |= g[i].sampled;
	styled_line(b, v, STYLE_PLAIN, "  created while watched (%.1f s): %s%s %s%s",
		    view_seconds(v, v->m->last_ns), sampled ? "about " : "", as_count(added).s,
		    as_words(added, what_name[what]).s, sampled ? " (estimated from samples)" : "");
	for (size_t i = 0; i < n; i++)
		if (!i || g[i].added > g[i].removed)
			write_grower(b, v, s, what, &g[i]);
}

void text_holders(struct buf *b, const struct view *v, const struct subject *s)
{
	for (int what = WHAT_MAPS; what <= WHAT_FDS; what++) {
		write_holdings(b, v, s, what);
		write_growers(b, v, s, what);
	}
}

static void write_process(struct buf *b, const struct view *v, const struct process_tree *k,
			  const struct subject *s)
{
	const struct subject *parent = process_tree_parent(k, s);
	struct line l = {.v = v};

	line_printf(&l, "%s[%u]", s->now.g.comm, s->id.pid);
	if (parent)
		line_printf(&l, ", child of %s[%u]", parent->now.g.comm, parent->id.pid);
	if (s->final)
		line_printf(&l, ", ended");
	if (s->exe)
		line_printf(&l, "  %s", s->exe);
	line_printf(&l, "  maps %s  fds %s  threads %s", as_count(s->now.g.map_count).s,
		    as_count(s->now.g.fds).s, as_count(s->now.g.threads).s);
	line_wrap(&l, b, STYLE_BOLD);
	text_holders(b, v, s);
}

static int by_size(const void *a, const void *b)
{
	const struct subject *x = *(const struct subject *const *)a;
	const struct subject *y = *(const struct subject *const *)b;
	uint64_t m = count_of(x, WHAT_MAPS) + count_of(x, WHAT_FDS);
	uint64_t n = count_of(y, WHAT_MAPS) + count_of(y, WHAT_FDS);

	return m < n ? 1 : m > n ? -1 : x->id.pid < y->id.pid ? -1 : 1;
}

/* Writes the processes, the largest first, each with its parent. */
static void write_processes(struct buf *b, const struct view *v)
{
	const struct subject **all = buf_needs(b, calloc(v->m->subjects + 1, sizeof(*all)));
	struct process_tree k;
	size_t n = 0;

	if (process_tree_of(v->m, &k)) {
		b->failed = true;
		goto out;
	}
	if (!all)
		goto out;
	for (size_t i = 0; i < k.n; i++)
		if (!k.by_pid[i]->hidden && view_shows(v, &k.by_pid[i]->id))
			all[n++] = k.by_pid[i];
	qsort(all, n, sizeof(*all), by_size);
	for (size_t i = 0; i < n && i < PROCESSES_SHOWN; i++)
		write_process(b, v, &k, all[i]);
	if (n > PROCESSES_SHOWN) {
		styled_line(b, v, STYLE_DIM, "and %zu %s more; --json has all", n - PROCESSES_SHOWN,
			    as_words(n - PROCESSES_SHOWN, "process{|es}").s);
	}
out:
	process_tree_free(&k);
	free(all);
}

/*
 * Writes the number of processes whose mappings and fds were not read, because they are new or
 * unreadable.
 */
static void write_unread(struct buf *b, const struct view *v)
{
	size_t unread = 0, all = 0;

	for (const struct subject *s = model_each(v->m, NULL); s; s = model_each(v->m, s)) {
		if (s->hidden || !view_shows(v, &s->id))
			continue;
		all++;
		unread += !(s->held[WHAT_MAPS].n && s->held[WHAT_FDS].n);
	}
	if (!unread && all)
		return;
	buf_puts(b, "what ");
	if (unread == all)
		buf_puts(b, "processes");
	else
		buf_printf(b, "%zu of %zu processes", unread, all);
	buf_puts(b, " held (mappings and file descriptors were not read)");
}

/*
 * Writes what was checked, and what was not. The result is complete even if the mappings and fds of
 * some processes were not read, because no finding depends on them.
 */
static void write_checked(struct buf *b, const struct view *v, const struct buf *gaps)
{
	struct buf unread = {};

	write_unread(&unread, v);
	buf_putc(b, '\n');
	text_wrapped(b, v, "checked: ", v->recorded ? CHECKED "; " CHECKED_RECORDS : CHECKED);
	if (unread.s)
		text_wrapped(b, v, "not checked: ", unread.s);
	gaps_text(b, v, gaps);
	buf_end_part(b, &unread);
}

struct sum {
	size_t n[NR_SEVERITIES], all;
	size_t left_out; /* findings with a severity below --min-severity */
	enum severity worst;
	const char *id; /* id of the first finding with the worst severity */
};

static void sum_add(struct sum *sum, enum severity severity, const char *id)
{
	if (!sum->all || severity > sum->worst) {
		sum->id = id;
		sum->worst = severity;
	}
	sum->n[severity]++;
	sum->all++;
}

static bool tells(const struct view *v, const struct crash_sign *one)
{
	return blackbox_severity(one) >= v->min_severity;
}

/* Writes the flight recorder's findings, which are about the kernel, not a single process. */
static void write_recorded(struct buf *b, const struct view *v)
{
	for (size_t i = 0; v->recorded && i < v->recorded->n; i++)
		if (tells(v, &v->recorded->one[i]))
			blackbox_text_crash_sign(b, v, &v->recorded->one[i]);
}

static void sum_all(struct sum *sum, const struct view *v)
{
	for (size_t i = 0; i < v->findings->n; i++) {
		const struct finding *f = &v->findings->f[i];

		if (!view_shows(v, &f->subject))
			continue;
		if (f->severity >= v->min_severity)
			sum_add(sum, f->severity, f->rule->id);
		else
			sum->left_out++;
	}
	for (size_t i = 0; v->recorded && i < v->recorded->n; i++)
		if (tells(v, &v->recorded->one[i]))
			sum_add(sum, blackbox_severity(&v->recorded->one[i]),
				v->recorded->one[i].id);
		else
			sum->left_out++;
}

static void write_sum(struct buf *b, const struct view *v, const struct buf *gaps)
{
	struct sum sum = {};
	struct line l = {.v = v};

	sum_all(&sum, v);
	if (!sum.all && sum.left_out)
		line_printf(&l, "no finding of %s or above; --min-severity leaves out %zu lesser",
			    severity_name(v->min_severity), sum.left_out);
	else if (!sum.all && has_gaps(gaps))
		line_printf(&l, "no finding in what was checked, but the result is incomplete");
	else if (!sum.all)
		line_printf(&l, "no finding: all is well as far as it was checked");
	else
		line_printf(&l,
			    "%zu %s (%zu critical, %zu warning, %zu info).  More: faultscope "
			    "explain %s",
			    sum.all, as_words(sum.all, "finding{|s}").s, sum.n[SEVERITY_CRITICAL],
			    sum.n[SEVERITY_WARNING], sum.n[SEVERITY_INFO], sum.id);
	line_wrap(&l, b, sum.all ? STYLE_BOLD : STYLE_PLAIN);
}

static void diagnosis_close(struct buf *b, const struct view *v)
{
	struct buf gaps = {};

	gaps_of(&gaps, v);
	text_findings(b, v);
	write_recorded(b, v);
	if (b->len)
		buf_putc(b, '\n');
	write_processes(b, v);
	if (model_resident_each(v->m, NULL)) {
		styled_line(b, v, STYLE_PLAIN, "%s", "");
		text_memory(b, v);
	}
	write_checked(b, v, &gaps);
	write_sum(b, v, &gaps);
	buf_free(&gaps);
}

const struct renderer diagnosis_renderer = {
	.name = "diagnosis",
	.help = "the verdict of faultscope diagnose",
	.open = render_nothing,
	.event = render_no_event,
	.finding = render_no_finding,
	.frame = render_nothing,
	.close = diagnosis_close,
};

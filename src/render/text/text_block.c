// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/frames.h"
#include "model/slow.h"
#include "render/style.h"
#include "render/text/text.h"

#define LABEL_COLUMNS 11
#define FRAMES_SHOWN  5
#define FRAMES_UNLIKE 3

static double rate(const struct view *v, const struct subject *s, const struct field *f)
{
	double seconds = model_window_seconds(v->m);

	return seconds > 0 ? field_delta(v->m, s, f) / seconds : 0;
}

/* Appends a counter's rate and total, "minor 12,480/s (1,204,113)", or nothing if not known. */
static void write_counter(struct line *l, const struct subject *s, const char *name,
			  const struct field *f)
{
	uint64_t n;

	if (!field_get(l->v->m, s, f, &n))
		return;
	line_printf(l, "%s %s/s (%s)  ", name, as_rate(rate(l->v, s, f)).s, as_count(n).s);
}

static void label(struct line *l, const char *name)
{
	line_printf(l, " %s", name);
	line_pad(l, LABEL_COLUMNS);
}

static void write_title(struct buf *b, const struct view *v, const struct subject *s)
{
	struct workload_of_process of = workload_of_subject(s);
	struct line l = {.v = v};
	char workload[256];

	line_printf(&l, "%s[%u]  ", s->now.g.comm, s->id.pid);
	if (s->exe)
		line_printf(&l, "%s  ", s->exe);
	of.comm = ""; /* the line begins with it */
	workload_name(&of, workload, sizeof(workload));
	if (workload[0])
		line_printf(&l, "%s  ", workload);
	line_printf(&l, "%s %s", as_count(s->now.g.threads).s,
		    as_words(s->now.g.threads, "thread{|s}").s);
	if (s->final)
		line_printf(&l, "  (ended)");
	if (s->now.g.flags & PROC_SHARES_MM)
		line_printf(&l, "  (vfork: its parent's mappings)");
	line_end(&l, b, STYLE_BOLD);
}

static void write_faults(struct buf *b, const struct view *v, const struct subject *s)
{
	const struct counters *c = facts_counters(&s->now);
	struct line l = {.v = v};

	label(&l, "faults");
	write_counter(&l, s, "minor", FIELD(min_flt));
	write_counter(&l, s, "major", FIELD(maj_flt));
	write_counter(&l, s, "failed", FIELD(fault_failed));
	line_end(&l, b, counted_or_0(c->fault_failed) ? STYLE_WARNING : STYLE_PLAIN);

	if (is_available(v->m, "fault_begin", 0)) {
		l = (struct line){.v = v};
		label(&l, "");
		write_counter(&l, s, "user", FIELD(user));
		write_counter(&l, s, "kernel", FIELD(kernel));
		line_end(&l, b, STYLE_PLAIN);
	}
	if (is_available(v->m, "fault_begin", LACKS_ACCESS)) {
		l = (struct line){.v = v};
		label(&l, "");
		write_counter(&l, s, "read", FIELD(read));
		write_counter(&l, s, "write", FIELD(write));
		write_counter(&l, s, "exec", FIELD(exec));
		line_end(&l, b, STYLE_PLAIN);
	}
	if (is_available(v->m, "fault_begin", LACKS_PROTECTION)) {
		l = (struct line){.v = v};
		label(&l, "");
		write_counter(&l, s, "not present", FIELD(not_present));
		write_counter(&l, s, "protection", FIELD(protection));
		line_end(&l, b, STYLE_PLAIN);
	}
	if (counted_or_0(c->kernel_bad) || counted_or_0(c->kernel_probe)) {
		l = (struct line){.v = v};
		label(&l, "");
		write_counter(&l, s, "kernel, bad address", FIELD(kernel_bad));
		write_counter(&l, s, "kernel, probing", FIELD(kernel_probe));
		line_end(&l, b, counted_or_0(c->kernel_bad) ? STYLE_CRITICAL : STYLE_PLAIN);
	}
	if (is_available(v->m, "fault_end", LACKS_MINOR)) {
		l = (struct line){.v = v};
		label(&l, "stall");
		line_printf(&l, "%s per second (%s)",
			    as_duration(count_of_real(rate(v, s, FIELD(stall)))).s,
			    as_duration(c->stall_ns[0] + c->stall_ns[1]).s);
		line_end(&l, b, STYLE_PLAIN);
	}
}

static enum style pressure(double share)
{
	return share >= 0.95 ? STYLE_CRITICAL : share >= 0.8 ? STYLE_WARNING : STYLE_PLAIN;
}

static void line_amount(struct line *l, const struct resource *r, uint64_t n)
{
	if (r->bytes && n != UINT64_MAX)
		line_printf(l, "%s", as_bytes(n).s);
	else
		line_printf(l, "%s", as_limit(n).s);
}

static void write_growth(struct line *l, const struct resource *r, const struct forecast *f)
{
	struct buf span = {};

	if (!f->known)
		return;
	line_printf(l, "  ");
	if (r->bytes)
		line_printf(l, "%s", as_bytes(count_of_real(f->per_second)).s);
	else
		line_printf(l, "%s", as_rate(f->per_second).s);
	line_printf(l, "/s, full in ");
	buf_printf(&span, "%s (%s to %s)", as_span(f->seconds).s, as_span(f->low).s,
		   as_span(f->high).s);
	line_printf(l, "%s", span.s ? span.s : "?");
	buf_end_part(&l->b, &span);
}

void text_limit(struct buf *b, const struct view *v, const char *name, const struct subject *s,
		enum resource_id id)
{
	const struct resource *r = &resources[id];
	struct forecast f = resource_forecast(v->m, s, id);
	int cells = v->width >= 100 ? 28 : 14;
	struct line l = {.v = v};
	double share;
	struct use u;

	if (!resource_use(v->m, s, id, &u))
		return;
	share = use_is_bounded(&u) ? (double)u.value / u.limit : 0;
	label(&l, name);
	line_amount(&l, r, u.value);
	if (u.limit == UINT64_MAX) {
		line_printf(&l, ", unlimited  peak ");
		line_amount(&l, r, u.high);
		line_end(&l, b, STYLE_PLAIN);
		return;
	}
	line_printf(&l, u.assumed ? " of an assumed " : " of ");
	line_amount(&l, r, u.limit);
	line_printf(&l, " [");
	line_bar(&l, share, cells);
	line_printf(&l, "] %.1f%%  peak ", 100 * share);
	line_amount(&l, r, u.high);
	write_growth(&l, r, &f);
	line_end(&l, b, pressure(share));
}

/*
 * Writes limits that have no line of their own in the block, if their use is high enough to be
 * recorded (watch_percent).
 */
static void write_limits(struct buf *b, const struct view *v, const struct subject *s)
{
	static const char *const name[NR_RESOURCES] = {
		[RESOURCE_MEMLOCK] = "locked",
		[RESOURCE_THREADS] = "nproc",
		[RESOURCE_CGROUP_MEMORY] = "cgroup",
		[RESOURCE_CGROUP_PIDS] = "pids",
	};

	for (int i = 0; i < NR_RESOURCES; i++)
		if (name[i] && resource_series(v->m, s, i))
			text_limit(b, v, name[i], s, i);
}

static void write_unknown(struct buf *b, const struct view *v, const char *name, const char *why)
{
	struct line l = {.v = v};

	label(&l, name);
	line_printf(&l, "%s", why);
	line_end(&l, b, STYLE_PLAIN);
}

/* Writes the calls of a group that were made at least once, in the order of their table. */
static void write_calls(struct buf *b, const struct view *v, const struct subject *s,
			const char *group)
{
	const struct counters *c = facts_counters(&s->now);
	struct line l = {.v = v};

	for (size_t i = 0; i < nr_grids; i++) {
		const struct grid *g = &grids[i];

		if (strcmp(g->group, group) || strcmp(g->key, "by_call") ||
		    !is_available(v->m, g->hook, g->lacks))
			continue;
		label(&l, "");
		for (size_t row = 0; row < g->rows; row++) {
			uint64_t calls = g->cell(c, row, 0), refused = g->cell(c, row, 1);

			if (!calls && !refused)
				continue;
			if (line_columns(&l) > v->width - 24) {
				line_end(&l, b, STYLE_PLAIN);
				label(&l, "");
			}
			line_printf(&l, "%s %s", g->row(row), as_count(calls).s);
			if (refused)
				line_printf(&l, " (%s refused)", as_count(refused).s);
			line_printf(&l, "  ");
		}
		if (line_columns(&l) > LABEL_COLUMNS)
			line_end(&l, b, STYLE_PLAIN);
	}
	buf_end_part(b, &l.b);
}

/* Appends a counter as "discarded 1.2 MiB/s (30 MiB)", or nothing if the counter is 0. */
static void write_amount(struct line *l, const struct subject *s, const struct field *f)
{
	double seconds = model_window_seconds(l->v->m);
	uint64_t n;

	if (!field_get(l->v->m, s, f, &n) || (f->type == FIELD_COUNTER && !n))
		return;
	if (f->type == FIELD_COUNTER)
		line_printf(
			l, "%s %s/s (%s)  ", f->block,
			as_field_figure(f, seconds > 0 ? field_delta(l->v->m, s, f) / seconds : 0)
				.s,
			as_field_total(f, n).s);
	else
		line_printf(l, "%s %s  ", f->block, as_field_total(f, n).s);
}

/* Writes the values of a group of fields that have a name for this block (field.block). */
static void write_group(struct buf *b, const struct view *v, const struct subject *s,
			const char *name, const char *group)
{
	struct line l = {.v = v};

	label(&l, name);
	for (size_t i = 0; i < nr_fields; i++)
		if (fields[i].block && !strcmp(fields[i].group, group))
			write_amount(&l, s, &fields[i]);
	if (line_columns(&l) > LABEL_COLUMNS)
		line_end(&l, b, STYLE_PLAIN);
	buf_end_part(b, &l.b);
}

static void put_bound(struct line *l, const struct histogram *h, uint64_t bound)
{
	if (h->unit == UNIT_NS)
		line_printf(l, "%s", as_duration(bound).s);
	else
		line_printf(l, "%s", as_bytes(bound).s);
}

static void write_bucket(struct buf *b, const struct view *v, const struct histogram *h, size_t i,
			 uint64_t n, uint64_t most)
{
	int cells = v->width - 44 > 60 ? 60 : v->width - 44;
	struct line l = {.v = v};

	line_pad(&l, LABEL_COLUMNS);
	if (histogram_le(h, i) == UINT64_MAX) {
		line_printf(&l, "from ");
		put_bound(&l, h, histogram_le(h, i - 1));
	} else {
		line_printf(&l, "below ");
		put_bound(&l, h, histogram_le(h, i));
	}
	line_pad(&l, LABEL_COLUMNS + 16);
	line_printf(&l, "|");
	line_bar(&l, (double)n / most, cells > 8 ? cells : 8);
	line_printf(&l, "| %s", as_count(n).s);
	line_end(&l, b, STYLE_PLAIN);
}

static void write_histogram(struct buf *b, const struct view *v, const struct histogram *h,
			    const struct counters *c)
{
	const uint64_t *n = h->counts(c);
	size_t first = h->buckets, last = 0;
	struct line l = {.v = v};
	uint64_t most = 0;

	for (size_t i = 0; i < h->buckets; i++) {
		if (!n[i])
			continue;
		if (first == h->buckets)
			first = i;
		last = i;
		if (n[i] > most)
			most = n[i];
	}
	if (!most)
		return;
	label(&l, h->within ? "latency" : "sizes");
	line_printf(&l, "%s: %s", h->help, as_count(histogram_total(h, c)).s);
	if (h->max) {
		line_printf(&l, ", p50 below ");
		put_bound(&l, h, histogram_quantile(h, c, 0.5));
		line_printf(&l, ", p99 below ");
		put_bound(&l, h, histogram_quantile(h, c, 0.99));
		line_printf(&l, ", max ");
		put_bound(&l, h, h->max(c));
	}
	line_end(&l, b, STYLE_PLAIN);
	for (size_t i = first; i <= last; i++)
		write_bucket(b, v, h, i, n[i], most);
}

/* Writes a line per class of faults: number, stall, mean, p99 and maximum. */
static void write_classes(struct buf *b, const struct view *v, const struct counters *c)
{
	bool first = true;

	if (!is_available(v->m, "fault_class", 0))
		return;
	for (size_t i = 0, class = 0; i < nr_histograms; i++) {
		const struct histogram *h = &histograms[i];
		struct line l = {.v = v};
		uint64_t n, stall;

		if (!h->sparse)
			continue;
		stall = c->served[class ++].stall_ns;
		n = histogram_total(h, c);
		if (!n)
			continue;
		label(&l, first ? "handled" : "");
		first = false;
		line_printf(&l, "%s: %s, stalled %s, mean %s, p99 below %s, max %s", h->key,
			    as_count(n).s, as_duration(stall).s, as_duration(stall / n).s,
			    as_duration(histogram_quantile(h, c, 0.99)).s,
			    as_duration(h->max(c)).s);
		line_end(&l, b, STYLE_PLAIN);
	}
}

void text_histograms(struct buf *b, const struct view *v, const struct counters *c)
{
	write_classes(b, v, c);
	for (size_t i = 0; i < nr_histograms; i++)
		if (is_available(v->m, histograms[i].hook, histograms[i].lacks) &&
		    !histograms[i].sparse)
			write_histogram(b, v, &histograms[i], c);
}

void text_frames(struct buf *b, const struct frames *f)
{
	char end[FRAMES_END_BYTES], user[FRAMES_USER_BYTES];
	size_t frame[FRAMES_SHOWN];
	bool more;
	size_t n = frames_telling(f, frame, FRAMES_SHOWN, &more);

	buf_safe(b, frames_user_text(f, user, sizeof(user)), true);
	for (size_t i = 0; i < n; i++) {
		char one[400];

		frames_show(f, frame[i], one, sizeof(one));
		buf_puts(b, i ? " <- " : "");
		buf_safe(b, one, true);
	}
	if (more)
		buf_puts(b, " <- ...");
	else
		buf_puts(b, frames_end_text(f, end, sizeof(end)));
}

/* Returns the index of the first frame in which two stacks differ. */
static size_t first_difference(const struct frames *a, const struct frames *b)
{
	size_t n = frames_count(a), i = 0;
	char one[FRAME_TEXT_BYTES], other[FRAME_TEXT_BYTES];

	if (n > frames_count(b))
		n = frames_count(b);
	for (; i < n; i++) {
		frames_show(a, i, one, sizeof(one));
		frames_show(b, i, other, sizeof(other));
		if (strcmp(one, other))
			break;
	}
	return i;
}

void text_frames_unlike(struct buf *b, const struct frames *f, const struct frames *const *above,
			size_t n)
{
	size_t frame[FRAMES_SHOWN], shown, from = 0, at;
	char one[FRAME_TEXT_BYTES];
	bool more;

	text_frames(b, f);
	shown = frames_telling(f, frame, FRAMES_SHOWN, &more);
	for (size_t i = 0; i < n; i++) {
		at = above[i] ? first_difference(f, above[i]) : 0;
		if (more && at > frame[shown - 1] && at > from && at < frames_count(f))
			from = at;
	}
	for (at = from; from && at < frames_count(f) && at < from + FRAMES_UNLIKE; at++) {
		frames_show(f, at, one, sizeof(one));
		buf_puts(b, " <- ");
		buf_safe(b, one, true);
	}
	if (from && at < frames_count(f))
		buf_puts(b, " <- ...");
}

#define SLOW_SHOWN 5

/* Writes a row like "file_major libtorch.so: 12, in all 1.20 s, max 30.1 ms  load <- dlopen". */
static void write_slow_row(struct buf *b, const struct view *v, const struct slow_row *row,
			   bool first)
{
	const struct slow_faults_record *r = &row->now;
	const struct frames *f = model_frames(v->m, &r->subject, r->stack);
	struct line l = {.v = v};

	label(&l, first ? "slow" : "");
	line_printf(&l, "%s", slow_sort(r));
	if (r->file[0])
		line_printf(&l, " %s", r->file);
	if (r->holder)
		line_printf(&l, ", waiting for %s[%u]", r->holder_comm, r->holder);
	line_printf(&l, ": %s, in all %s, max %s", as_count(r->count).s, as_duration(r->total_ns).s,
		    as_duration(r->max_ns).s);
	if (f) {
		line_printf(&l, "  ");
		text_frames(&l.b, f);
	}
	line_end(&l, b, STYLE_PLAIN);
}

/* Writes the groups of slow faults and mmap_lock waits with the longest total time. */
static void write_slow(struct buf *b, const struct view *v, const struct subject *s)
{
	const struct slow_row *row[SLOW_SHOWN];
	size_t n = slow_worst(v->m, &s->id, row, SLOW_SHOWN);

	for (size_t i = 0; i < n; i++)
		write_slow_row(b, v, row[i], !i);
}

void text_block(struct buf *b, const struct view *v, const struct subject *s)
{
	const struct gauges *g = &s->now.g;

	write_title(b, v, s);
	write_faults(b, v, s);
	write_group(b, v, s, "", "faults");
	if (g->flags & PROC_NO_COUNT)
		write_unknown(b, v, "maps", "not known until it maps or unmaps");
	else
		text_limit(b, v, "maps", s, RESOURCE_MAPS);
	write_calls(b, v, s, "maps");
	write_group(b, v, s, "", "maps");
	text_limit(b, v, "fds", s, RESOURCE_FDS);
	write_calls(b, v, s, "fds");
	write_group(b, v, s, "", "fds");
	write_limits(b, v, s);
	write_group(b, v, s, "memory", "memory");
	write_slow(b, v, s);
	text_histograms(b, v, facts_counters(&s->now));
}

void text_living_blocks(struct buf *b, const struct view *v)
{
	const struct subject **s;
	size_t n;

	s = buf_needs(b, text_sorted(v, &n));
	for (size_t i = 0; s && i < n && i < TEXT_BLOCKS_MAX; i++)
		if (!s[i]->final)
			text_block(b, v, s[i]);
	free(s);
}

void text_blocks(struct buf *b, const struct view *v)
{
	const struct subject **s;
	size_t n;

	s = buf_needs(b, text_sorted(v, &n));
	for (size_t i = 0; s && i < n && i < TEXT_BLOCKS_MAX; i++)
		text_block(b, v, s[i]);
	if (n > TEXT_BLOCKS_MAX)
		buf_printf(b, "%zu more %s all with --json\n", n - TEXT_BLOCKS_MAX,
			   as_words(n - TEXT_BLOCKS_MAX, "process{|es}: see them").s);
	free(s);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the text of `host`: whether memory is short, the values, top processes, findings. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/memory_holders.h"
#include "render/completeness.h"
#include "render/memory_rows.h"
#include "render/style.h"
#include "render/text/text.h"
#include "rules/diagnoses.h"
#include "rules/shortage.h"

#define BAR_CELLS      20
#define BAR_WIDTH      76 /* minimum width for bars, in columns */
#define LEVELS_SHOWN   4
#define EATERS_SHOWN   5
#define FILLED	       50 /* minimum percentage of use of a cgroup or tmpfs to show it */
#define WORTH_BYTES_S  (1 << 20)
#define FINDINGS_SHOWN 12
#define LINES_SHOWN    3 /* of code, for each of the top processes */

static void begin(struct line *l, const struct view *v, const char *title)
{
	*l = (struct line){.v = v};
	line_printf(l, " %-11s", title);
}

static void put_use(struct line *l, uint64_t used, uint64_t all)
{
	double share = all ? (double)used / all : 0;

	line_printf(l, "%s of %s", as_bytes(used).s, as_bytes(all).s);
	if (l->v->width >= BAR_WIDTH) {
		line_pad(l, 34);
		line_printf(l, "[");
		line_bar(l, share, BAR_CELLS);
		line_printf(l, "]");
	}
	line_printf(l, " %.0f%%", share * 100);
}

static void put_figure(struct line *l, const struct model *m, enum host_figure i, const char *name)
{
	uint64_t bytes = host_figure(m, i);

	if (bytes == FIGURE_UNKNOWN)
		return;
	line_printf(l, "  %s %s", name, as_bytes(bytes).s);
}

static void put_forecast(struct line *l, const struct forecast *c)
{
	if (c->known)
		line_printf(l, "  full in about %s", as_span(c->seconds).s);
}

static void put_rate_of(struct line *l, const struct model *m, enum host_figure i, const char *name)
{
	double rate = host_rate(m, i);

	if (rate < 0)
		return;
	line_printf(l, "  %s %s/s", name,
		    as_bytes(count_of_real(rate * m->tick.limits.page_bytes)).s);
}

/* Completes a line if /proc/meminfo, which has its values, was not read. Returns whether it did. */
static bool is_unread(struct line *l, struct buf *b, const struct view *v)
{
	if (v->m->tick.limits.mem_total_bytes)
		return false;
	line_printf(l, "not known: /proc/meminfo was not read");
	line_wrap_at(l, b, STYLE_PLAIN, 12);
	return true;
}

static void write_memory(struct buf *b, const struct view *v)
{
	const struct host_limits *n = &v->m->tick.limits;
	struct forecast c = resource_forecast(v->m, NULL, RESOURCE_MEMORY);
	uint64_t used = n->mem_total_bytes > n->mem_available_bytes
				? n->mem_total_bytes - n->mem_available_bytes
				: 0;
	struct line l;

	begin(&l, v, "memory");
	if (is_unread(&l, b, v))
		return;
	put_use(&l, used, n->mem_total_bytes);
	line_printf(&l, "  available %s", as_bytes(n->mem_available_bytes).s);
	put_forecast(&l, &c);
	line_wrap_at(&l, b, STYLE_PLAIN, 12);
	if (host_figure(v->m, HOST_ANON) == FIGURE_UNKNOWN)
		return;
	begin(&l, v, "");
	line_printf(&l, "anonymous %s", as_bytes(host_figure(v->m, HOST_ANON)).s);
	put_figure(&l, v->m, HOST_SHMEM, "tmpfs and shared");
	put_figure(&l, v->m, HOST_CACHED, "cached");
	put_figure(&l, v->m, HOST_SLAB, "kernel");
	line_wrap_at(&l, b, STYLE_DIM, 12);
}

static void write_swap(struct buf *b, const struct view *v)
{
	const struct host_limits *n = &v->m->tick.limits;
	struct forecast c = resource_forecast(v->m, NULL, RESOURCE_SWAP);
	uint64_t zswap = host_figure(v->m, HOST_ZSWAP);
	struct line l;

	begin(&l, v, "swap");
	if (is_unread(&l, b, v))
		return;
	if (!n->swap_total_bytes) {
		line_printf(&l, "none");
	} else {
		put_use(&l, n->swap_total_bytes - n->swap_free_bytes, n->swap_total_bytes);
		put_rate_of(&l, v->m, HOST_SWAP_IN, "in");
		put_rate_of(&l, v->m, HOST_SWAP_OUT, "out");
		put_forecast(&l, &c);
	}
	if (zswap != FIGURE_UNKNOWN && zswap) {
		put_figure(&l, v->m, HOST_ZSWAPPED, "zswap");
		line_printf(&l, " in %s", as_bytes(zswap).s);
	}
	line_wrap_at(&l, b, STYLE_PLAIN, 12);
}

static void write_commit(struct buf *b, const struct view *v)
{
	static const char *const modes[] = {"heuristic: only a single huge request fails",
					    "always: allocations never fail", "strict"};
	const struct host_limits *n = &v->m->tick.limits;
	struct forecast c = resource_forecast(v->m, NULL, RESOURCE_COMMIT);
	struct line l;

	begin(&l, v, "committed");
	if (is_unread(&l, b, v))
		return;
	if (n->overcommit_memory == 2)
		put_use(&l, n->committed_bytes, n->commit_limit_bytes);
	else
		line_printf(&l, "%s", as_bytes(n->committed_bytes).s);
	line_printf(&l, "  (mode %" PRIu64 ", %s", (uint64_t)n->overcommit_memory,
		    n->overcommit_memory <= 2 ? modes[n->overcommit_memory] : "?");
	if (n->overcommit_memory == 2 && host_figure(v->m, HOST_OVERCOMMIT_RATIO) != FIGURE_UNKNOWN)
		line_printf(&l, ", ratio %" PRIu64, host_figure(v->m, HOST_OVERCOMMIT_RATIO));
	line_printf(&l, ")");
	if (n->overcommit_memory == 2)
		put_forecast(&l, &c);
	line_wrap_at(&l, b, STYLE_PLAIN, 12);
}

static void write_huge(struct buf *b, const struct view *v)
{
	const struct host_limits *n = &v->m->tick.limits;
	struct line l;

	if (!n->huge_pages)
		return;
	begin(&l, v, "huge pages");
	put_use(&l, (n->huge_pages - n->huge_pages_free) * n->huge_page_bytes,
		n->huge_pages * n->huge_page_bytes);
	line_printf(&l, "  reserved %s", as_bytes(n->huge_pages_reserved * n->huge_page_bytes).s);
	line_wrap_at(&l, b, STYLE_PLAIN, 12);
}

static void write_stalls(struct buf *b, const struct view *v)
{
	const struct pressure *p = v->m->pressure;
	struct line l;

	begin(&l, v, "pressure");
	if (!p || !p->known) {
		line_printf(&l, "not known: this recording does not tell");
		line_wrap_at(&l, b, STYLE_PLAIN, 12);
		return;
	}
	if (!p->now.some.known) {
		line_printf(&l, "not known: this kernel has no PSI (boot with psi=1)");
	} else {
		line_printf(&l,
			    "some/full in the last 10 s: %.1f/%.1f %%; minute: %.1f/%.1f %%; 5 "
			    "minutes: %.1f/%.1f %%",
			    p->now.some.avg10 / 100.0, p->now.full.avg10 / 100.0,
			    p->now.some.avg60 / 100.0, p->now.full.avg60 / 100.0,
			    p->now.some.avg300 / 100.0, p->now.full.avg300 / 100.0);
	}
	line_wrap_at(&l, b, STYLE_PLAIN, 12);
	begin(&l, v, "");
	line_printf(&l, "refaults:");
	put_rate_of(&l, v->m, HOST_REFAULT_ANON, "swapped");
	put_rate_of(&l, v->m, HOST_REFAULT_FILE, "files");
	if (host_rate(v->m, HOST_DIRECT_STALLS) >= 0)
		line_printf(&l, "  direct reclaims %.0f/s", host_rate(v->m, HOST_DIRECT_STALLS));
	if (host_figure(v->m, HOST_OOM_KILLS) != FIGURE_UNKNOWN)
		line_printf(&l, "  OOM kills since boot %" PRIu64,
			    host_figure(v->m, HOST_OOM_KILLS));
	line_wrap_at(&l, b, STYLE_DIM, 12);
}

static double level_share(const struct level *l)
{
	uint64_t kept = level_kept_bytes(l);

	return level_has_limit(l) && kept != FIGURE_UNKNOWN ? kept * 100.0 / l->now.n[CGROUP_LIMIT]
							    : -1;
}

static void write_level(struct buf *b, const struct view *v, const struct level *x)
{
	struct forecast c = level_forecast(v->m, x);
	struct line l;

	begin(&l, v, "cgroup");
	line_printf(&l, "%s  %s", x->now.path, as_bytes(x->now.n[CGROUP_USED]).s);
	if (level_has_limit(x))
		line_printf(&l, " of %s", as_bytes(x->now.n[CGROUP_LIMIT]).s);
	if (level_share(x) >= 0)
		line_printf(&l, ", %.0f%% not reclaimable", level_share(x));
	if (x->now.n[CGROUP_HIGH] != FIGURE_UNKNOWN)
		line_printf(&l, ", high %s", as_bytes(x->now.n[CGROUP_HIGH]).s);
	if (level_stall(x, false) > 0)
		line_printf(&l, ", waits %.0f%%", level_stall(x, false) * 100);
	if (x->now.n[CGROUP_OOM_KILLS] != FIGURE_UNKNOWN && x->now.n[CGROUP_OOM_KILLS])
		line_printf(&l, ", OOM kills %" PRIu64, x->now.n[CGROUP_OOM_KILLS]);
	put_forecast(&l, &c);
	line_wrap_at(&l, b, STYLE_PLAIN, 12);
}

/* Writes cgroups that are at least half full, the fullest first. */
static void write_levels(struct buf *b, const struct view *v)
{
	const struct pressure *p = v->m->pressure;
	size_t shown = 0, more = 0;
	struct line l;

	for (int percent = 90; percent >= FILLED; percent -= 20)
		for (size_t i = 0; p && i < p->levels; i++) {
			const struct level *x = &p->level[i];
			double share = level_share(x);

			if (!level_is_there(v->m, x) || share < percent ||
			    (percent < 90 && share >= percent + 20))
				continue;
			if (shown++ < LEVELS_SHOWN)
				write_level(b, v, x);
			else
				more++;
		}
	if (!more)
		return;
	begin(&l, v, "");
	line_printf(&l, "and %zu %s half full; --json has all", more,
		    as_words(more, "cgroup{|s} more that {is|are}").s);
	line_wrap_at(&l, b, STYLE_DIM, 12);
}

static void write_mounts(struct buf *b, const struct view *v)
{
	const struct pressure *p = v->m->pressure;
	struct line l;

	for (size_t i = 0; p && i < p->mounts; i++) {
		const struct mount_record *r = &p->mount[i].now;
		struct forecast c = mount_forecast(v->m, &p->mount[i]);
		bool shm = !strcmp(r->path, "/dev/shm");

		if (!mount_is_there(v->m, &p->mount[i]) || !(r->flags & MOUNT_IN_MEMORY) ||
		    (!shm && r->used_bytes < r->size_bytes / 100 * FILLED))
			continue;
		begin(&l, v, "tmpfs");
		put_use(&l, r->used_bytes, r->size_bytes);
		line_printf(&l, "  %s", r->path);
		put_forecast(&l, &c);
		line_wrap_at(&l, b, STYLE_PLAIN, 12);
	}
}

static void write_eater(struct buf *b, const struct view *v, const struct top_consumer *e,
			bool first)
{
	struct line l;

	begin(&l, v, first ? "top" : "");
	line_printf(&l, "%s", as_bytes(e->rss_bytes).s);
	line_pad(&l, 22);
	line_printf(&l, "%s[%u]", e->root->now.g.comm, e->root->id.pid);
	if (e->processes > 1)
		line_printf(&l, " and %zu like it below", e->processes - 1);
	if (e->swap_bytes)
		line_printf(&l, ", swapped %s", as_bytes(e->swap_bytes).s);
	if (e->shmem_bytes > e->rss_bytes / 8)
		line_printf(&l, ", shared %s", as_bytes(e->shmem_bytes).s);
	line_printf(&l, ", committed %s", as_bytes(e->commit_bytes).s);
	if (e->per_second > WORTH_BYTES_S || e->per_second < -WORTH_BYTES_S)
		line_printf(&l, "%s%s/s", e->per_second < 0 ? ", shrinks by " : ", grows by ",
			    as_bytes(count_of_real(fabs(e->per_second))).s);
	line_wrap_at(&l, b, STYLE_PLAIN, 22);
}

/* Writes which code holds most memory of a consumer, if its processes were read. */
static void write_lines(struct buf *b, const struct view *v, const struct process_tree *k,
			const struct top_consumer *e)
{
	uint64_t before = 0;
	struct memory_rows rows;
	size_t shown = 0;
	struct line l;

	memory_rows_of_consumer(&rows, v, k, e, MEMORY_ROWS_MAX);
	for (size_t i = 0; i < rows.n; i++) {
		const struct memory_row *row = &rows.row[i];
		/* what a parent held before the watch began has no stack either */
		bool is_old = row->sum.by == RESIDENT_BEFORE ||
			      (row->sum.by == RESIDENT_INHERITED && !row->f);

		if (is_old)
			before += resident_bytes(&row->sum);
		if (is_old || shown == LINES_SHOWN)
			continue;
		shown++;
		begin(&l, v, "");
		line_pad(&l, 22);
		line_printf(&l, "%s by %s (%s)", as_bytes(resident_bytes(&row->sum)).s,
			    memory_line(row).s, memory_kind(&row->sum).s);
		if (row->growth > 0)
			line_printf(&l, ", grew by %s", as_bytes(row->growth).s);
		line_wrap_at(&l, b, STYLE_PLAIN, 24);
	}
	if (!before)
		return;
	begin(&l, v, "");
	line_pad(&l, 22);
	line_printf(&l, "%s %s", as_bytes(before).s, resident_no_stack(RESIDENT_BEFORE));
	line_wrap_at(&l, b, STYLE_DIM, 24);
}

static void write_who(struct buf *b, const struct view *v)
{
	struct top_consumer e[EATERS_SHOWN];
	size_t n = buf_rows(b, top_consumers_of(v->m, e, EATERS_SHOWN));
	struct process_tree k;

	if (process_tree_of(v->m, &k))
		b->failed = true;
	for (size_t i = 0; i < n; i++) {
		write_eater(b, v, &e[i], !i);
		write_lines(b, v, &k, &e[i]);
	}
	process_tree_free(&k);
}

static void write_next(struct buf *b, const struct view *v)
{
	const struct pressure *p = v->m->pressure;
	struct line l;

	for (size_t i = 0; p && i < p->scores; i++) {
		const struct subject *s = model_find(v->m, &p->score[i].subject);

		if (!s || s->final)
			continue;
		begin(&l, v, "next victim");
		line_printf(
			&l,
			" %s[%u] of the OOM killer: oom_score %u (oom_score_adj %d), resident %s",
			s->now.g.comm, s->id.pid, p->score[i].score, p->score[i].adj,
			as_bytes(gauges_rss_pages(&s->now.g) * v->m->tick.limits.page_bytes).s);
		line_wrap_at(&l, b, STYLE_PLAIN, 12);
		return;
	}
}

static void write_answer(struct buf *b, const struct view *v, const struct shortage *a,
			 const struct buf *gaps)
{
	struct line l = {.v = v};

	if (a->is_short) {
		line_printf(&l, "short of memory: %s%s%s (%s %s)", a->main->place,
			    a->main->place[0] ? ": " : "", a->main->title, a->main->rule->id,
			    diagnosis_slug(a->main->rule->id));
	} else if (has_gaps(gaps)) {
		line_printf(&l, "no shortage of memory found, but the result is incomplete");
	} else {
		line_printf(&l, "not short of memory%s",
			    v->m->pressure && v->m->pressure->known
				    ? ""
				    : ", as far as this recording tells");
	}
	if (a->since_seconds >= 0)
		line_printf(&l, "; work waits for %s %s", a->since_longer ? "at least" : "about",
			    as_span(a->since_seconds).s);
	line_wrap(&l, b, a->is_short ? severity_style(a->main->severity) : STYLE_BOLD);
}

/* Writes the open findings about memory. */
static void write_findings(struct buf *b, const struct view *v)
{
	struct findings about = *v->findings;
	struct view of = *v;
	struct finding kept[FINDINGS_SHOWN];

	about.f = kept;
	about.n = 0;
	for (size_t i = 0; i < v->findings->n && about.n < FINDINGS_SHOWN; i++)
		if (shortage_is_about(v->findings->f[i].rule) && v->findings->f[i].open)
			kept[about.n++] = v->findings->f[i];
	of.findings = &about;
	if (about.n)
		buf_putc(b, '\n');
	text_findings(b, &of);
}

static void write_host(struct buf *b, const struct view *v)
{
	struct shortage a;
	struct buf gaps = {};

	shortage_of(v->m, v->findings, &a);
	gaps_of(&gaps, v);
	if (b->len)
		buf_putc(b, '\n');
	write_answer(b, v, &a, &gaps);
	gaps_text(b, v, &gaps);
	buf_free(&gaps);
	write_stalls(b, v);
	write_memory(b, v);
	write_swap(b, v);
	write_commit(b, v);
	write_huge(b, v);
	write_levels(b, v);
	write_mounts(b, v);
	write_who(b, v);
	write_next(b, v);
	write_findings(b, v);
}

static void host_frame(struct buf *b, const struct view *v)
{
	/* in continuous output, wait for the second scan, which rates need */
	if (!v->once && v->m->prev_ns)
		write_host(b, v);
}

static void host_close(struct buf *b, const struct view *v)
{
	if (v->once)
		write_host(b, v);
}

const struct renderer host_renderer = {
	.name = "host",
	.help = "the answer of faultscope host",
	.open = render_nothing,
	.event = render_no_event,
	.finding = render_no_finding,
	.frame = host_frame,
	.close = host_close,
};

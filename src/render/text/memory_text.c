// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the text of `memory`: the call stacks that hold the resident memory of each process. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/frames.h"
#include "model/holdings.h"
#include "model/resident.h"
#include "render/completeness.h"
#include "render/style.h"
#include "render/text/text.h"

#define ROWS_SHOWN   12
#define LEAST_SHOWN  100 /* rows below 1/100 of all memory are summed up */
#define SIZE_COLUMNS 11
#define GROUPS_MAX	128
#define PROCESSES_SHOWN 4

static uint64_t total_of(const struct resident_sum_record *sum)
{
	return sum->anon_bytes + sum->file_bytes + sum->shmem_bytes + sum->swap_bytes +
	       sum->hugetlb_bytes;
}

static void write_growth(struct line *l, int64_t growth)
{
	char text[48];

	snprintf(text, sizeof(text), "%s%s", growth < 0 ? "-" : "+",
		 as_bytes(growth < 0 ? -growth : growth).s);
	line_cell(l, growth ? text : "0", SIZE_COLUMNS, true);
}

static void write_kind(struct line *l, const struct resident_record *r)
{
	line_printf(l, "  %s", resident_what(r).s);
	if (r->huge_bytes)
		line_printf(l, ", %s in huge pages", as_bytes(r->huge_bytes).s);
	if (r->swapped_bytes)
		line_printf(l, ", %s in swap", as_bytes(r->swapped_bytes).s);
}

/* Rows of the same line of Python code, or of stacks with the same text. */
struct group {
	struct resident_record sum; /* the first row, with the values of all rows */
	const struct frames *f;	    /* stack of the first row; NULL: none */
	int64_t growth;
	size_t rows;
};

struct groups {
	struct group one[GROUPS_MAX];
	size_t n;
	uint64_t rest; /* bytes of the rows for which there was no room */
	size_t rest_rows;
};

static bool belongs(const struct group *g, const struct resident_record *r, const struct frames *f)
{
	const struct resident_record *a = &g->sum;

	if (a->by != r->by || a->kind != r->kind || strncmp(a->file, r->file, sizeof(a->file)))
		return false;
	if (!g->f || !f)
		return !g->f && !f;
	return f->user_line[0] ? !strcmp(f->user_line, g->f->user_line)
			       : !strcmp(f->text, g->f->text);
}

/* Adds a row to a group. The errors of the estimates are independent. */
static void add_row(struct group *g, const struct resident_record *r, int64_t growth)
{
	struct resident_record *sum = &g->sum;
	double below = hypot(sum->bytes - sum->low, r->bytes - r->low);
	double above = hypot(sum->high - sum->bytes, r->high - r->bytes);

	sum->bytes += r->bytes;
	sum->low = below < sum->bytes ? sum->bytes - below : 0;
	sum->high = sum->bytes + above;
	sum->swapped_bytes += r->swapped_bytes;
	sum->huge_bytes += r->huge_bytes;
	g->growth += growth;
	g->rows++;
}

static int by_size(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	uint64_t left = resident_bytes(&x->sum), right = resident_bytes(&y->sum);

	return left < right ? 1 : left > right ? -1 : (int)x->sum.nth - (int)y->sum.nth;
}

static void fill_groups(struct groups *all, const struct view *v, const struct resident_of *of,
			const struct resident_list *list)
{
	memset(all, 0, sizeof(*all));
	for (size_t i = 0; i < list->n; i++) {
		const struct resident_record *r = &list->row[i];
		const struct frames *f = model_frames(v->m, &r->toucher, r->stack);
		size_t at = 0;

		while (at < all->n && !belongs(&all->one[at], r, f))
			at++;
		if (at < all->n) {
			add_row(&all->one[at], r, resident_growth(of, r));
		} else if (at < GROUPS_MAX) {
			all->one[all->n++] = (struct group){*r, f, resident_growth(of, r), 1};
		} else {
			all->rest += resident_bytes(r);
			all->rest_rows++;
		}
	}
	qsort(all->one, all->n, sizeof(all->one[0]), by_size);
}

static void write_group(struct buf *b, const struct view *v, const struct group *g)
{
	const struct resident_record *r = &g->sum;
	struct line l = {.v = v};
	struct buf from = {};
	char interval[96];

	snprintf(interval, sizeof(interval), "%s to %s", as_bytes(r->low).s, as_bytes(r->high).s);
	line_cell(&l, as_bytes(resident_bytes(r)).s, SIZE_COLUMNS, true);
	write_growth(&l, g->growth);
	line_printf(&l, "  ");
	line_cell(&l, r->bytes ? interval : "", 24, false);
	write_kind(&l, r);
	line_end(&l, b, STYLE_PLAIN);
	if (g->f)
		text_frames(&from, g->f);
	text_wrapped(b, v, "             ", from.s ? from.s : resident_no_stack(r->by));
	buf_end_part(b, &from);
}

static void write_head(struct buf *b, const struct view *v, const struct resident_of *of,
		       const struct resident_list *list, bool ended)
{
	const struct resident_sum_record *sum = &list->sum;
	struct line l = {.v = v};

	line_printf(&l, "%s[%u]  %s resident: %s anonymous, %s of files, %s shared", of->comm,
		    of->id.pid, as_bytes(sum->anon_bytes + sum->file_bytes + sum->shmem_bytes).s,
		    as_bytes(sum->anon_bytes).s, as_bytes(sum->file_bytes).s,
		    as_bytes(sum->shmem_bytes).s);
	if (sum->swap_bytes)
		line_printf(&l, "; %s in swap", as_bytes(sum->swap_bytes).s);
	if (ended)
		line_printf(&l, "; it has ended: largest reading, after %s",
			    as_span(sum->watched_ns / 1e9).s);
	else
		line_printf(&l, "; watched for %s", as_span(sum->watched_ns / 1e9).s);
	line_wrap(&l, b, STYLE_BOLD);
	line_cell(&l, "held", SIZE_COLUMNS, true);
	line_cell(&l, "growth", SIZE_COLUMNS, true);
	line_printf(&l, "  ");
	line_cell(&l, "95 % interval", 24, false);
	line_printf(&l, "  kind, and the code that first touched it");
	line_end(&l, b, STYLE_DIM);
}

static void write_process(struct buf *b, const struct view *v, const struct resident_of *of,
			  bool ended)
{
	const struct resident_list *list = resident_shown(of, ended);
	uint64_t all = total_of(&list->sum);
	struct groups groups;
	size_t shown = 0;

	fill_groups(&groups, v, of, list);
	write_head(b, v, of, list, ended);
	for (size_t i = 0; i < groups.n; i++) {
		const struct group *g = &groups.one[i];

		if (shown < ROWS_SHOWN && resident_bytes(&g->sum) >= all / LEAST_SHOWN) {
			write_group(b, v, g);
			shown++;
		} else {
			groups.rest += resident_bytes(&g->sum);
			groups.rest_rows += g->rows;
		}
	}
	if (groups.rest_rows)
		styled_line(b, v, STYLE_DIM, "%*s  in %s other stacks; --json has all",
			    SIZE_COLUMNS, as_bytes(groups.rest).s, as_count(groups.rest_rows).s);
	if (resident_runtime(list))
		styled_line(b, v, STYLE_DIM,
			    "note: the garbage collector of %s moves objects, so the first code "
			    "that touches a page of its heap may be the collector; the runtime's "
			    "own heap profiler shows who allocated the objects",
			    resident_runtime(list));
	if (list->sum.lost)
		styled_line(b, v, STYLE_WARNING,
			    "%s faults of chosen pages were not noted: their memory is among the "
			    "memory without a stack",
			    as_count(list->sum.lost).s);
	buf_putc(b, '\n');
}

/* Returns the number of watched processes that were not read. */
static size_t count_missing(const struct view *v)
{
	size_t n = 0;

	for (const struct subject *s = model_each(v->m, NULL); s; s = model_each(v->m, s))
		n += !s->hidden && view_shows(v, &s->id) && !model_resident(v->m, &s->id);
	return n;
}

/* A process to show. */
struct holder {
	const struct resident_of *of;
	bool ended;
	uint64_t bytes;
};

static int by_bytes(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : x->of < y->of ? -1 : 1;
}

/* Fills in the processes to show, those with most memory first. Returns their number. */
static size_t find_holders(const struct view *v, struct holder ret[RESIDENT_PROCESSES_MAX])
{
	size_t n = 0;

	for (const struct resident_of *of = model_resident_each(v->m, NULL); of;
	     of = model_resident_each(v->m, of)) {
		const struct subject *s = model_find(v->m, &of->id);
		bool ended = !s || s->final;

		if ((s && s->hidden) || !view_shows(v, &of->id))
			continue;
		ret[n++] = (struct holder){of, ended, total_of(&resident_shown(of, ended)->sum)};
	}
	qsort(ret, n, sizeof(ret[0]), by_bytes);
	return n;
}

static void memory_close(struct buf *b, const struct view *v)
{
	struct holder holder[RESIDENT_PROCESSES_MAX];
	size_t n = find_holders(v, holder), missing = count_missing(v), i;
	uint64_t rest = 0;

	for (i = 0; i < n && i < PROCESSES_SHOWN; i++)
		write_process(b, v, holder[i].of, holder[i].ended);
	for (; i < n; i++)
		rest += holder[i].bytes;
	if (n > PROCESSES_SHOWN)
		styled_line(b, v, STYLE_DIM,
			    "%s other processes have at most %s each, and %s together; --json has "
			    "all",
			    as_count(n - PROCESSES_SHOWN).s,
			    as_bytes(holder[PROCESSES_SHOWN].bytes).s, as_bytes(rest).s);
	if (!n)
		styled_line(b, v, STYLE_WARNING, "no reading of resident memory");
	if (n && missing)
		styled_line(b, v, STYLE_WARNING,
			    "%s %s ended before the memory was read, or could not be read",
			    as_count(missing).s, missing == 1 ? "process" : "processes");
}

const struct renderer memory_renderer = {
	.name = "memory",
	.help = "the answer of faultscope memory",
	.open = render_nothing,
	.event = render_no_event,
	.finding = render_no_finding,
	.frame = render_nothing,
	.close = memory_close,
};

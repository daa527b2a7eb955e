// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the text of `memory`: the call stacks that hold the resident memory of each process. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/frames.h"
#include "model/holdings.h"
#include "model/resident.h"
#include "render/completeness.h"
#include "render/memory_rows.h"
#include "render/style.h"
#include "render/text/text.h"

#define ROWS_SHOWN   12
#define SIZE_COLUMNS 11
#define PROCESSES_SHOWN 4

static void write_growth(struct line *l, int64_t growth)
{
	char text[48];

	snprintf(text, sizeof(text), "%s%s", growth < 0 ? "-" : "+",
		 as_bytes(growth < 0 ? -growth : growth).s);
	line_cell(l, growth ? text : "0", SIZE_COLUMNS, true);
}

static void write_kind(struct line *l, const struct resident_record *r)
{
	line_printf(l, "  %s", memory_kind(r).s);
	if (r->huge_bytes)
		line_printf(l, ", %s in huge pages", as_bytes(r->huge_bytes).s);
	if (r->swapped_bytes)
		line_printf(l, ", %s in swap", as_bytes(r->swapped_bytes).s);
}

/* Writes a row; `above` has the stacks of the `n` rows above it. */
static void write_row(struct buf *b, const struct view *v, const struct memory_row *row,
		      const struct frames *const *above, size_t n)
{
	const struct resident_record *r = &row->sum;
	struct line l = {.v = v};
	struct buf from = {};
	char interval[96];

	snprintf(interval, sizeof(interval), "%s to %s", as_bytes(r->low).s, as_bytes(r->high).s);
	line_cell(&l, as_bytes(resident_bytes(r)).s, SIZE_COLUMNS, true);
	write_growth(&l, row->growth);
	line_printf(&l, "  ");
	line_cell(&l, r->bytes ? interval : "", 24, false);
	write_kind(&l, r);
	line_end(&l, b, STYLE_PLAIN);
	if (row->f)
		text_frames_unlike(&from, row->f, above, n);
	text_wrapped(b, v, "             ", from.s ? from.s : resident_no_stack(r->by));
	buf_end_part(b, &from);
}

static void write_head(struct buf *b, const struct view *v, const struct memory_process *p)
{
	const struct resident_list *base = resident_base(v->m, p->of, p->list);
	const struct resident_sum_record *sum = &p->list->sum;
	struct line l = {.v = v};

	line_printf(&l, "%s[%u]  %s resident: %s anonymous, %s of files, %s shared", p->of->comm,
		    p->of->id.pid, as_bytes(sum->anon_bytes + sum->file_bytes + sum->shmem_bytes).s,
		    as_bytes(sum->anon_bytes).s, as_bytes(sum->file_bytes).s,
		    as_bytes(sum->shmem_bytes).s);
	if (sum->swap_bytes)
		line_printf(&l, "; %s in swap", as_bytes(sum->swap_bytes).s);
	if (p->ended)
		line_printf(&l, "; it has ended: largest reading, after %s",
			    as_span(sum->watched_ns / 1e9).s);
	else
		line_printf(&l, "; watched for %s", as_span(sum->watched_ns / 1e9).s);
	if (base->sum.h.t_ns != p->of->first.sum.h.t_ns)
		line_printf(&l, "; growth in the last %s",
			    as_span((sum->h.t_ns - base->sum.h.t_ns) / 1e9).s);
	line_wrap(&l, b, STYLE_BOLD);
	line_cell(&l, "held", SIZE_COLUMNS, true);
	line_cell(&l, "growth", SIZE_COLUMNS, true);
	line_printf(&l, "  ");
	line_cell(&l, "95 % interval", 24, false);
	line_printf(&l, "  kind, and the code that first touched it");
	line_end(&l, b, STYLE_DIM);
}

/*
 * Says how much is in rows that are not shown, and how to see them if this is most of the memory.
 */
static void write_rest(struct buf *b, const struct view *v, const struct memory_rows *rows,
		       uint64_t bytes)
{
	if (!rows->rest_records)
		return;
	styled_line(b, v, STYLE_DIM, "%*s  in %s other %s; --json has all", SIZE_COLUMNS,
		    as_bytes(rows->rest).s, as_count(rows->rest_records).s,
		    as_words(rows->rest_records, "stack{|s}").s);
	if (rows->rest > bytes / 2)
		styled_line(b, v, STYLE_DIM,
			    "note: many stacks hold a little each. A flame graph shows which "
			    "functions they have in common: use --record FILE, and then faultscope "
			    "report FILE -o FILE.html");
}

static void write_process(struct buf *b, const struct view *v, const struct memory_process *p)
{
	const char *runtime = resident_runtime(p->list);
	const struct frames *stack[ROWS_SHOWN];
	struct memory_rows rows;

	memory_rows_fill(&rows, v, p, ROWS_SHOWN);
	write_head(b, v, p);
	for (size_t i = 0; i < rows.n; i++) {
		write_row(b, v, &rows.row[i], stack, i);
		stack[i] = rows.row[i].f;
	}
	write_rest(b, v, &rows, p->bytes);
	if (runtime)
		styled_line(b, v, STYLE_DIM, "note: " RESIDENT_MOVING, runtime, runtime);
	if (p->list->sum.lost)
		styled_line(b, v, STYLE_WARNING, "%s %s", as_count(p->list->sum.lost).s,
			    as_words(p->list->sum.lost, RESIDENT_LOST).s);
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

void text_memory(struct buf *b, const struct view *v)
{
	struct memory_process process[RESIDENT_PROCESSES_MAX];
	size_t n = memory_processes(v, process), missing = count_missing(v), i;
	uint64_t rest = 0;

	for (i = 0; i < n && i < PROCESSES_SHOWN; i++)
		write_process(b, v, &process[i]);
	for (; i < n; i++)
		rest += process[i].bytes;
	if (n > PROCESSES_SHOWN)
		styled_line(b, v, STYLE_DIM,
			    "%s other %s at most %s each, and %s together; --json has all",
			    as_count(n - PROCESSES_SHOWN).s,
			    as_words(n - PROCESSES_SHOWN, "process{ has|es have}").s,
			    as_bytes(process[PROCESSES_SHOWN].bytes).s, as_bytes(rest).s);
	if (n && missing)
		styled_line(b, v, STYLE_WARNING,
			    "%s %s ended before the memory was read, or could not be read",
			    as_count(missing).s, as_words(missing, "process{|es}").s);
}

static void memory_close(struct buf *b, const struct view *v)
{
	size_t before = b->len;

	text_memory(b, v);
	if (b->len == before)
		styled_line(b, v, STYLE_WARNING, "no reading of resident memory");
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

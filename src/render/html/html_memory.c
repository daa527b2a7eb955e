// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the tables of resident memory: which code holds how much of it. */
#include <inttypes.h>

#include "base/units.h"
#include "model/frames.h"
#include "render/html/html.h"
#include "render/memory_rows.h"

#define PROCESSES_SHOWN 12
#define ROWS_SHOWN	24
#define FRAMES_SHOWN	12

static void put_row(struct buf *b, const struct memory_row *row, uint64_t most)
{
	const struct resident_record *r = &row->sum;
	uint64_t growth = row->growth < 0 ? -row->growth : row->growth;

	html_printf(b, "<tr><th scope=\"row\" data-is=\"memory:kind\">%s</th>", memory_kind(r).s);
	html_cell(b, "memory:bytes", resident_bytes(r), as_bytes(resident_bytes(r)).s);
	html_bar(b, resident_bytes(r), most);
	buf_printf(b,
		   "<td class=\"n\" data-is=\"memory:growth\" data-v=\"%" PRIu64
		   "\">%s%s</td><td data-is=\"memory:interval\">",
		   growth,
		   row->growth < 0 ? "-"
		   : growth	   ? "+"
				   : "",
		   as_bytes(growth).s);
	if (r->bytes)
		buf_printf(b, "%s to %s", as_bytes(r->low).s, as_bytes(r->high).s);
	buf_puts(b, "</td><td data-is=\"stack\">");
	if (row->f && frames_count(row->f))
		html_stack(b, row->f, FRAMES_SHOWN);
	else
		html_printf(b, "<span class=\"dim\">%s</span>", resident_no_stack(r->by));
	buf_puts(b, "</td></tr>\n");
}

static void put_notes(struct buf *b, const struct memory_process *p, const struct memory_rows *rows)
{
	const char *runtime = resident_runtime(p->list);

	if (rows->rest_records)
		buf_printf(b, "<p class=\"note\" data-is=\"memory:rest\">%s in %s other %s.</p>\n",
			   as_bytes(rows->rest).s, as_count(rows->rest_records).s,
			   as_words(rows->rest_records, "stack{|s}").s);
	if (runtime)
		buf_printf(b, "<p class=\"note\">Note: " RESIDENT_MOVING ".</p>\n", runtime,
			   runtime);
	if (p->list->sum.lost)
		buf_printf(b,
			   "<p class=\"note\" data-is=\"memory:lost\">%s %s.</p>\n",
			   as_count(p->list->sum.lost).s,
			   as_words(p->list->sum.lost, RESIDENT_LOST).s);
}

static void put_process(struct buf *b, const struct view *v, const struct memory_process *p)
{
	const struct resident_sum_record *sum = &p->list->sum;
	struct memory_rows rows;

	memory_rows_fill(&rows, v, p, ROWS_SHOWN);
	html_printf(b, "<h3 data-is=\"memory:process\" data-pid=\"%u\">%s[%u]: %s resident",
		    p->of->id.pid, p->of->comm, p->of->id.pid,
		    as_bytes(sum->anon_bytes + sum->file_bytes + sum->shmem_bytes).s);
	if (sum->swap_bytes)
		buf_printf(b, ", %s in swap", as_bytes(sum->swap_bytes).s);
	buf_printf(b,
		   "%s</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\""
		   "Resident memory of %u\"><table data-is=\"words\"><thead><tr><th "
		   "scope=\"col\">kind</th><th "
		   "scope=\"col\" class=\"n\">held</th><td></td><th scope=\"col\" class=\"n\">"
		   "growth</th><th scope=\"col\">95 %% interval</th><th scope=\"col\">first "
		   "touched by</th></tr></thead><tbody>\n",
		   p->ended ? " at most; it has ended" : "", p->of->id.pid);
	for (size_t i = 0; i < rows.n; i++)
		put_row(b, &rows.row[i], resident_bytes(&rows.row[0].sum));
	buf_puts(b, "</tbody></table></div>\n");
	put_notes(b, p, &rows);
}

void html_memory(struct buf *b, const struct story_view *s)
{
	struct memory_process process[RESIDENT_PROCESSES_MAX];
	size_t n = memory_processes(s->v, process);

	html_section(b, "memory", "Resident memory",
		     "The code that first touched the memory that is resident or in swap. Values "
		     "are estimates from pages chosen at random, except for huge pages. Memory "
		     "that a program has released to the kernel is not shown.");
	for (size_t i = 0; i < n && i < PROCESSES_SHOWN; i++)
		put_process(b, s->v, &process[i]);
	if (n > PROCESSES_SHOWN)
		buf_printf(b,
			   "<p class=\"note\" data-is=\"memory:others\">%zu other %s "
			   "at most %s each.</p>\n",
			   n - PROCESSES_SHOWN,
			   as_words(n - PROCESSES_SHOWN, "process{ has|es have}").s,
			   as_bytes(process[PROCESSES_SHOWN].bytes).s);
	if (!n)
		buf_puts(b, "<p class=\"note\">Not in this recording. <code>faultscope memory "
			    "--record FILE</code> records it.</p>\n");
	html_section_end(b);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Draws a heat map of faults by address and time. A row is a run of pages of a mapping. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/html/html.h"

#define ROW  11.0
#define HEAD 20.0 /* height of the line with a mapping's name above its rows */

/* `element` is tspan in a drawing, and span elsewhere. */
static void put_area_name(struct buf *b, const struct story_view *s, const struct address_area *a,
			  const char *element)
{
	const struct history_row *r = history_find(s->h, &a->subject);

	html_printf(b, "<%s data-is=\"area\" data-pid=\"%u\">%s [%u] ", element, a->subject.pid,
		    r ? r->comm : "process", a->subject.pid);
	html_text_len(b, address_name(a), strnlen(address_name(a), FILE_NAME_LEN));
	html_printf(b, "</%s>", element);
}

/* Appends a row's offset in its mapping, because addresses differ from run to run. */
static void put_offset(struct buf *b, const struct address_map *m, const struct address_row *r)
{
	buf_printf(b, "+%s", as_bytes(r->from - m->area[r->area].from).s);
}

static void put_area_rows(struct buf *b, const struct story_view *s, const struct address_map *m,
			  const struct address_area *a, double y, uint64_t most)
{
	size_t columns = story_columns(s);
	uint64_t *cell = buf_needs(b, calloc(a->rows * columns, sizeof(*cell)));

	if (!cell)
		return;
	for (size_t i = 0; i < a->rows; i++)
		for (size_t k = 0; k < s->h->points; k++)
			cell[i * columns + k * columns / s->h->points] +=
				m->row[a->first + i].by_point[k];
	buf_printf(b, "<text class=\"label\" x=\"%.0f\" y=\"%.1f\">", HTML_LEFT, y + HEAD - 6);
	put_area_name(b, s, a, "tspan");
	buf_puts(b, "</text>\n");
	for (size_t i = 0; i<a->rows; i += a->rows> 1 ? a->rows - 1 : 1) {
		struct buf t = {};

		put_offset(&t, m, &m->row[a->first + i]);
		buf_printf(b,
			   "<text class=\"tick\" data-is=\"offset\" data-v=\"%" PRIu64
			   "\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
			   m->row[a->first + i].from - a->from, HTML_LEFT - 8,
			   y + HEAD + i * ROW + 9, t.s ? t.s : "");
		buf_end_part(b, &t);
	}
	buf_printf(
		b,
		"<g class=\"cells\" data-first=\"%zu\" data-rows=\"%zu\" transform=\"translate(0 "
		"%.1f)\">\n",
		a->first, a->rows, y + HEAD);
	html_cells(b, s, cell, a->rows, most, ROW);
	buf_puts(b, "</g>\n");
	free(cell);
}

static uint64_t highest(const struct story_view *s, const struct address_map *m)
{
	size_t columns = story_columns(s);
	uint64_t most = 0;

	for (size_t i = 0; i < m->rows; i++) {
		uint64_t n = 0;

		for (size_t k = 0; k < s->h->points; k++) {
			if (k && k * columns / s->h->points != (k - 1) * columns / s->h->points)
				n = 0;
			n += m->row[i].by_point[k];
			most = n > most ? n : most;
		}
	}
	return most;
}

static void put_table(struct buf *b, const struct story_view *s, const struct address_map *m)
{
	buf_puts(b,
		 "<details><summary>As a table</summary><div class=\"scroll\" tabindex=\"0\" "
		 "role=\"region\" aria-label=\"Faults by address as a table\"><table><thead><tr>"
		 "<th scope=\"col\">mapping</th><th scope=\"col\" class=\"n\">from</th><th "
		 "scope=\"col\" class=\"n\">bytes</th><th scope=\"col\" class=\"n\">faults, about"
		 "</th><th scope=\"col\" class=\"n\">of these major</th><th scope=\"col\" "
		 "class=\"n\">stall, about</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < m->rows; i++) {
		const struct address_row *r = &m->row[i];

		if (!r->faults)
			continue;
		buf_printf(b, "<tr data-row=\"%zu\"><th scope=\"row\">", i);
		put_area_name(b, s, &m->area[r->area], "span");
		buf_printf(b,
			   "</th><td class=\"n\" data-is=\"address:offset\" data-v=\"%" PRIu64
			   "\">",
			   r->from - m->area[r->area].from);
		put_offset(b, m, r);
		buf_puts(b, "</td>");
		html_cell(b, "address:bytes", r->to - r->from, as_bytes(r->to - r->from).s);
		html_cell(b, "address:faults", r->faults, as_count(r->faults).s);
		html_cell(b, "address:major", r->major, as_count(r->major).s);
		html_cell(b, "address:stall_ns", r->stall_ns, as_duration(r->stall_ns).s);
		buf_puts(b, "</tr>\n");
	}
	buf_puts(b, "</tbody></table></div></details>\n");
}

static void put_map(struct buf *b, const struct story_view *s, const struct address_map *m)
{
	double height = m->rows * ROW + m->areas * HEAD, y = 0;
	uint64_t most = highest(s, m);

	buf_printf(
		b,
		"<div class=\"chart wide\"><svg id=\"address-svg\" viewBox=\"0 0 1000 %.0f\" "
		"role=\"img\" aria-labelledby=\"address-desc\" data-left=\"%.0f\" "
		"data-right=\"%.0f\" data-row=\"%.0f\"><title id=\"address-desc\">Page faults by "
		"address and time; the table below has the sums</title>\n",
		height + 20, HTML_LEFT, HTML_RIGHT, ROW);
	for (size_t i = 0; i < m->areas; i++) {
		put_area_rows(b, s, m, &m->area[i], y, most);
		y += HEAD + m->area[i].rows * ROW;
	}
	html_axis(b, s, height + 16);
	buf_puts(b, "</svg></div>\n");
	html_legend(b, "faults (estimated)", most);
	if (m->elsewhere)
		buf_printf(b,
			   "<p class=\"note\" data-is=\"elsewhere\">About %s of %s %s went to "
			   "other mappings.</p>\n",
			   as_count(m->elsewhere).s, as_count(m->faults).s,
			   as_words(m->faults, "fault{|s}").s);
	put_table(b, s, m);
}

void html_addresses(struct buf *b, const struct story_view *s, const struct address_map *m)
{
	const struct samples *all = s->v->m->samples;

	html_section(b, "addresses", "Faults by address and time",
		     "The mappings with the most page faults, by address and time. Addresses start "
		     "at the first page that was touched. A slope is a sequential scan, a filled "
		     "block is memory that is used repeatedly, a column is a burst.");
	if (m->rows) {
		buf_printf(b, "<p class=\"note\" data-is=\"sampling\">Sampled: %s %s for %u",
			   as_count(all->taken).s,
			   as_words(all->taken, "fault{, which stands|s, each of which stands}").s,
			   all->least);
		if (all->most > all->least)
			buf_printf(b, " to %u", all->most);
		buf_puts(b, ".");
		if (all->thinned)
			buf_printf(b, " The table was full, so one in %u of them was kept.",
				   1u << (all->thinned & 15));
		buf_puts(b, "</p>\n");
		put_map(b, s, m);
	} else {
		buf_puts(b, "<p class=\"note\" data-is=\"words\">No fault was sampled. Sampling "
			    "needs selected "
			    "processes (<code>run</code>, <code>-p</code>), overhead level "
			    "latency, and Linux 5.17 or later.</p>"
			    "\n");
	}
	html_section_end(b);
}

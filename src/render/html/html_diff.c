// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the page of the command `diff`: what grew between two recordings. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/html/html.h"

#define ROWS_SHOWN   60
#define FRAMES_SHOWN 10

static void put_side(struct buf *b, const char *name, const struct diff_side *s)
{
	html_printf(b,
		    "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>%s</td><td "
		    "class=\"n\">%s</td><td class=\"n\">%" PRIu64 "</td></tr>\n",
		    name, s->file.name, s->host, s->time.s, as_span(s->seconds).s, s->processes);
}

static void put_row(struct buf *b, const struct diff_row *r)
{
	double growth = r->b - r->a;

	html_printf(b, "<tr><th scope=\"row\">%s", r->key);
	if (*r->frames)
		html_stack_text(b, r->frames, FRAMES_SHOWN);
	buf_printf(b, "</th><td>%s</td><td class=\"n\" data-v=\"%.6g\">", r->metric, r->a);
	diff_put(b, r->metric, r->a);
	buf_printf(b, "</td><td class=\"n\" data-v=\"%.6g\">", r->b);
	diff_put(b, r->metric, r->b);
	buf_printf(b, "</td><td class=\"n %s\" data-v=\"%.6g\">%s",
		   growth > 0	? "delta-up"
		   : growth < 0 ? "delta-down"
				: "",
		   growth,
		   growth > 0	? "+"
		   : growth < 0 ? "-"
				: "");
	diff_put(b, r->metric, growth);
	buf_puts(b, "</td></tr>\n");
}

static void put_part(struct buf *b, const struct diff *d, enum diff_part part)
{
	static const char *const ids[NR_DIFF_PARTS] = {"workloads", "stacks", "held", "memory"};
	char title[64];

	if (part == DIFF_MEMORY && !d->rows[part])
		return; /* few recordings have it */
	snprintf(title, sizeof(title), "What grew %s", diff_part_title(part));
	html_section(b, ids[part], title, NULL);
	if (!d->rows[part]) {
		buf_puts(b,
			 part == DIFF_HELD
				 ? "<p class=\"note\">Unknown: only <code>record</code> reads what "
				   "processes hold.</p>\n"
				 : "<p class=\"note\">There are none in either recording.</p>\n");
		html_section_end(b);
		return;
	}
	buf_printf(
		b,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table "
		"class=\"sortable\"><thead><tr><th scope=\"col\">what</th><th scope=\"col\">of</th>"
		"<th scope=\"col\" class=\"n\">before</th><th scope=\"col\" class=\"n\">after</th>"
		"<th scope=\"col\" class=\"n\">growth</th></tr></thead><tbody>\n",
		title);
	for (size_t i = 0; i < d->rows[part] && i < ROWS_SHOWN; i++)
		put_row(b, &d->row[part][i]);
	buf_puts(b, "</tbody></table></div>\n");
	html_section_end(b);
}

/* Writes the flame graph of the second recording, which the script compares with the first one. */
static void put_flame(struct buf *b, const struct story_view *before,
		      const struct story_view *after)
{
	struct profile then, now;

	if (profile_make(&then, before)) {
		b->failed = true;
		return;
	}
	if (profile_make(&now, after)) {
		profile_free(&then);
		b->failed = true;
		return;
	}
	html_flame(b, after, &now);
	html_diff_data(b, before, &then, after, &now);
	profile_free(&then);
	profile_free(&now);
}

void html_diff(struct buf *b, const struct diff *d, const struct story_view *before,
	       const struct story_view *after)
{
	char subtitle[512];

	snprintf(subtitle, sizeof(subtitle), "from %.200s to %.200s", d->side[0].file.name,
		 d->side[1].file.name);
	html_begin(b, "What grew", subtitle, false);
	buf_puts(b, "<div class=\"page\">\n<main id=\"main\" tabindex=\"-1\">\n");
	html_section(b, "facts", "The two recordings", NULL);
	buf_puts(b, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"The "
		    "recordings\"><table><thead><tr><td></td><th scope=\"col\">file</th><th "
		    "scope=\"col\">host</th><th scope=\"col\">begun</th><th scope=\"col\" "
		    "class=\"n\">for</th><th scope=\"col\" class=\"n\">processes</th></tr></thead>"
		    "<tbody>\n");
	put_side(b, "before", &d->side[0]);
	put_side(b, "after", &d->side[1]);
	buf_puts(b, "</tbody></table></div>\n");
	html_section_end(b);
	for (int part = 0; part < NR_DIFF_PARTS; part++)
		put_part(b, d, part);
	put_flame(b, before, after);
	html_gaps(b, &d->gaps);
	buf_puts(b, "</main>\n</div>\n");
	html_end(b);
}

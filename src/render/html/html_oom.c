// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the pages of the OOM kills in a recording. */
#include "model/oom_kills.h"
#include "render/html/html.h"
#include "render/oom_pages.h"

#define COLUMNS 110

static const char *about(const struct model *m, size_t kills)
{
	if (kills)
		return "One page for each kill: which limit was reached, what filled the memory, "
		       "who held it, and what would have helped.";
	return model_hook_on(m, "oom") ? "No process was killed because memory ran out."
				       : "OOM kills are not known: the probe oom was not on.";
}

void html_oom(struct buf *b, const struct story_view *s)
{
	const struct oom_kills *o = s->v->m->ooms;
	struct view v = *s->v;
	struct buf text = {};

	v.colour = false;
	v.width = COLUMNS;
	html_section(b, "oom", "OOM kills", about(v.m, o ? o->n : 0));
	for (size_t i = 0; o && i < o->n; i++) {
		struct oom_page page;

		oom_page_of(&o->kill[i], v.m->tick.limits.page_bytes, &page);
		oom_page_text(&text, &v, &page);
		buf_puts(b, "<pre class=\"scroll\" data-is=\"oom\" tabindex=\"0\" role=\"region\" "
			    "aria-label=\"OOM kill\">");
		html_lines(b, text.s);
		buf_puts(b, "</pre>\n");
		buf_next_part(b, &text);
	}
	html_section_end(b);
	buf_end_part(b, &text);
}

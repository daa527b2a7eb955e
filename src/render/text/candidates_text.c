// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/text/candidates_text.h"

#include <string.h>

#include "render/style.h"

#define INDENT 6

static void put_check(struct buf *b, const struct diagnosis *d)
{
	size_t len;
	const char *check = diagnosis_check(d, &len);

	if (!check)
		return;
	buf_puts(b, "      check: $ ");
	buf_add(b, check, len);
	buf_putc(b, '\n');
}

static void put_message(struct buf *b, const struct view *v, const struct message *m,
			const char *wording)
{
	styled_wrap(b, v, STYLE_BOLD, INDENT, "  %s: \"%.*s\"", m->program,
		    (int)strcspn(wording, "|"), wording);
	styled_wrap(b, v, STYLE_PLAIN, INDENT, "      %s", m->means);
}

void candidates_text(struct buf *b, const struct view *v, const struct candidates *c)
{
	struct line l = {.v = v};

	if (c->similar)
		line_printf(&l, "No known message is the same. Similar ones, with their meaning:");
	else
		line_printf(&l, "Known messages in this text, with their meaning:");
	line_wrap(&l, b, STYLE_PLAIN);
	for (size_t i = 0; i < c->nr_messages; i++)
		put_message(b, v, c->message[i], c->wording[i]);
	buf_putc(b, '\n');
	if (!c->n) {
		line_printf(&l, "No limit or fault that faultscope watches causes this message.");
		line_wrap(&l, b, STYLE_PLAIN);
		return;
	}
	line_printf(&l, "Candidates, not a verdict, the most likely first:");
	line_wrap(&l, b, STYLE_PLAIN);
	for (size_t i = 0; i < c->n; i++) {
		const struct diagnosis *d = c->diagnosis[i];

		line_printf(&l, "  %s  %s", d->id, d->title);
		line_wrap_at(&l, b, severity_style(d->severity), INDENT);
		put_check(b, d);
	}
	buf_putc(b, '\n');
	line_printf(&l, "What it means and what to do:  faultscope explain %s",
		    c->diagnosis[0]->id);
	line_wrap(&l, b, STYLE_PLAIN);
	styled_wrap(b, v, STYLE_PLAIN, 4,
		    "A verdict with evidence:       faultscope run -- COMMAND");
	styled_wrap(b, v, STYLE_PLAIN, 4,
		    "  of one that runs already:    faultscope diagnose -p PID");
}

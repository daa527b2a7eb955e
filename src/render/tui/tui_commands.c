// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the commands of findings, each one alone on its lines, so that it can be copied. */
#include <stdio.h>
#include <string.h>

#include "render/tui/tui_parts.h"
#include "rules/diagnoses.h"

/* Writes a command from the first column on, broken only where the screen ends. */
static void write_command(const struct view *v, struct buf *b, const char *command)
{
	struct buf safe = {};
	const char *at;

	buf_safe(&safe, command, v->unicode);
	at = safe.s ? safe.s : "";
	while (*at) {
		int columns = 0;
		size_t len = 0;

		while (at[len] && columns < v->width) {
			uint32_t code;
			int n = utf8_decode(at + len, &code);
			char one[8] = "";

			memcpy(one, at + len, n ? n : 1);
			columns += text_columns(one);
			if (columns <= v->width)
				len += n ? n : 1;
		}
		buf_add(b, at, len);
		buf_putc(b, '\n');
		at += len;
	}
	buf_end_part(b, &safe);
}

static size_t write_commands(const struct view *v, struct buf *b, const struct finding *f)
{
	size_t shown = 0;

	for (size_t i = 0; i < f->nr_remedies; i++) {
		const struct remedy *r = &f->remedy[i];

		if (!r->command[0])
			continue;
		if (!shown++) {
			char title[96];

			snprintf(title, sizeof(title), "%s %s", f->rule->id,
				 diagnosis_slug(f->rule->id));
			tui_heading(b, v, title);
		}
		styled_wrap(b, v, STYLE_DIM, 2, "%s: %s", remedy_kind_name(r->kind), r->text);
		write_command(v, b, r->command);
		buf_putc(b, '\n');
	}
	return shown;
}

void tui_write_commands(const struct tui *t, const struct view *v, struct buf *b)
{
	const struct finding *chosen = t->chosen_rule ? tui_chosen_finding(t, v) : NULL;
	size_t shown = 0;

	if (chosen)
		shown = write_commands(v, b, chosen);
	for (int severity = NR_SEVERITIES - 1; severity >= 0 && !t->chosen_rule; severity--)
		for (size_t i = 0; i < v->findings->n; i++) {
			const struct finding *f = &v->findings->f[i];

			if (f->open && (int)f->severity == severity &&
			    same_subject(&f->subject, &t->chosen))
				shown += write_commands(v, b, f);
		}
	if (!shown)
		text_wrapped(b, v, " ", "no open finding of this process has a command");
}

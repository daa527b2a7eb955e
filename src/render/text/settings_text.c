// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the settings of the live view, where each comes from, and what is allowed. */
#include <stdio.h>

#include "render/settings_page.h"
#include "render/style.h"
#include "render/tui/tui_parts.h"

#define KEY_COLUMNS 17

const char *setting_source_name(enum setting_source source)
{
	static const char *const names[] = {
		[SETTING_DEFAULT] = "default",
		[SETTING_FILE] = "file",
		[SETTING_ENVIRONMENT] = "environment",
		[SETTING_OPTION] = "option",
	};

	return names[source];
}

static void write_setting(struct buf *b, const struct view *v, const struct setting_row *r)
{
	struct buf text = {};
	struct line l = {.v = v};

	line_style(&l, STYLE_BOLD);
	line_cell(&l, r->s.key, KEY_COLUMNS, false);
	line_style(&l, STYLE_PLAIN);
	buf_safe(&text, r->value.s ? r->value.s : "", v->unicode);
	line_printf(&l, "= %s  (%s", text.s ? text.s : "", setting_source_name(r->source));
	if (r->by)
		line_printf(&l, " %s", r->by);
	else if (r->source == SETTING_FILE)
		line_printf(&l, ", line %u", r->line);
	line_printf(&l, ")");
	line_wrap_at(&l, b, STYLE_PLAIN, KEY_COLUMNS + 2);
	buf_end_part(b, &text);
	tui_setting_put_allowed(&text, &r->s);
	styled_wrap(b, v, STYLE_DIM, KEY_COLUMNS + 2, "%*s%s; allowed: %s", KEY_COLUMNS + 2, "",
		    r->s.what, text.s ? text.s : "");
	buf_end_part(b, &text);
}

static void write_columns(struct buf *b, const struct view *v)
{
	struct line l = {.v = v};
	struct tui_cell cell;

	line_printf(&l, "names of columns:");
	for (size_t i = 0; tui_cell_at(i, &cell); i++) {
		line_printf(&l, " ");
		tui_put_cell_name(&l.b, &cell);
	}
	line_wrap(&l, b, STYLE_PLAIN);
}

void settings_text(struct buf *b, const struct view *v, const struct settings_page *p)
{
	struct buf text = {};

	buf_safe(&text, p->file, v->unicode);
	styled_wrap(b, v, STYLE_PLAIN, 4, "file: %s",
		    p->file[0] ? text.s : "none: neither XDG_CONFIG_HOME nor HOME is set");
	buf_end_part(b, &text);
	buf_safe(&text, p->unusable, v->unicode);
	if (p->unusable[0])
		styled_wrap(b, v, STYLE_WARNING, 4, "not used: %s", text.s ? text.s : "");
	buf_end_part(b, &text);
	for (const char *at = p->wrong.s; at && *at; at += strcspn(at, "\n") + 1)
		styled_wrap(b, v, STYLE_WARNING, 4, "%.*s", (int)strcspn(at, "\n"), at);
	buf_putc(b, '\n');
	for (size_t i = 0; i < p->n; i++)
		write_setting(b, v, &p->row[i]);
	buf_putc(b, '\n');
	write_columns(b, v);
}

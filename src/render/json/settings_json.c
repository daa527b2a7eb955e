// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/json/line_rows.h"
#include "render/settings_page.h"
#include "render/tui/tui_parts.h"

static void put_allowed(struct json *j, const char *key, const struct setting_row *r)
{
	struct buf allowed = {};

	tui_setting_put_allowed(&allowed, &r->s);
	json_text(j, key, allowed.s ? allowed.s : "");
	buf_end_part(j->b, &allowed);
}

static void put_text_lines(struct json *j, const char *key, const char *text)
{
	struct buf line = {};

	json_array(j, key);
	for (; text && *text; text += text[strcspn(text, "\n")] ? strcspn(text, "\n") + 1 : 0) {
		buf_next_part(j->b, &line);
		buf_add(&line, text, strcspn(text, "\n"));
		json_text(j, NULL, line.s ? line.s : "");
	}
	json_end_array(j);
	buf_end_part(j->b, &line);
}

static void put_columns(struct json *j, const char *key, const void *unused)
{
	struct tui_cell cell;

	json_array(j, key);
	for (size_t i = 0; tui_cell_at(i, &cell); i++) {
		char name[TUI_CELL_NAME];
		struct buf b = BUF_IN(name);

		tui_put_cell_name(&b, &cell);
		json_text(j, NULL, name);
	}
	json_end_array(j);
}

#include "render/json/settings_lines.def"

void settings_json(struct buf *b, const struct settings_page *p)
{
	put_line_settings(b, p);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* settings: prints the settings of the live view, or changes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "live/terminal_view.h"
#include "session/commands.h"
#include "session/view_settings.h"

#define WIDTH 100 /* maximum default width in columns */

/* Sets KEY=VALUE. Returns 0 or an exit status. */
static int change(struct tui *t, const char *word)
{
	const char *equal = strchr(word, '=');
	struct tui_setting s;
	char text[256];
	struct buf allowed = BUF_IN(text);

	if (!equal || !tui_setting_find(word, equal - word, &s)) {
		complain("settings %.64s: expected KEY=VALUE, with a key that faultscope settings "
			 "lists",
			 word);
		return EXIT_USAGE;
	}
	if (tui_setting_set(t, &s, equal + 1, strlen(equal + 1)))
		return 0;
	tui_setting_put_allowed(&allowed, &s);
	complain("settings %.64s: allowed: %s%s", word, text,
		 s.words ? "" : " (faultscope settings lists them)");
	return EXIT_USAGE;
}

/* Changes settings in the file. Returns an exit status. */
static int change_all(const struct options *o, struct view_settings *s, struct tui *t)
{
	int status = 0;

	view_settings_keep(s, t, NULL);
	for (int i = 0; i < o->argc && !status; i++)
		status = change(t, o->argv[i]);
	if (!status && view_settings_save(s, t)) {
		complain("the settings are not changed: %s", s->error);
		status = EXIT_FAILED;
	}
	return status;
}

static void add_row(struct settings_page *p, const struct view_settings *s, size_t i,
		    const struct tui_setting *one, const struct tui *t)
{
	struct setting_row *r = &p->row[p->n++];

	*r = (struct setting_row){.s = *one, .line = s->line[i]};
	r->source = s->line[i] ? SETTING_FILE : SETTING_DEFAULT;
	tui_setting_get(t, one, &r->value);
}

/* Replaces the theme if an option or the environment decides about colours. */
static void override_theme(struct setting_row *r, const struct options *o)
{
	const char *no_colour = getenv("NO_COLOR"), *value = r->value.s ? r->value.s : "";
	bool forbids = o->colour == WHEN_AUTO && no_colour && *no_colour;

	if (o->colour == WHEN_ALWAYS ? strcmp(value, "none") : o->colour == WHEN_AUTO && !forbids)
		return;
	buf_clear(&r->value);
	buf_puts(&r->value, o->colour == WHEN_ALWAYS ? "dark" : "none");
	r->source = forbids ? SETTING_ENVIRONMENT : SETTING_OPTION;
	r->by = forbids ? "NO_COLOR" : "--color";
}

static void fill(struct settings_page *p, const struct options *o, const struct view_settings *s,
		 const struct tui *t)
{
	struct buf file = BUF_IN(p->file);
	struct tui_setting one;

	view_settings_path(s, &file);
	if (!s->missing)
		snprintf(p->unusable, sizeof(p->unusable), "%.*s", (int)sizeof(p->unusable) - 1,
			 s->error);
	buf_puts(&p->wrong, s->wrong.s ? s->wrong.s : "");
	for (size_t i = 0; tui_setting_at(i, &one) && p->n < TUI_SETTINGS_MAX; i++) {
		add_row(p, s, i, &one, t);
		if (!strcmp(one.key, "theme"))
			override_theme(&p->row[i], o);
	}
}

static void free_page(struct settings_page *p)
{
	buf_free(&p->wrong);
	for (size_t i = 0; i < p->n; i++)
		buf_free(&p->row[i].value);
}

static int print(const struct options *o, const struct settings_page *p)
{
	struct view v = {};
	struct buf b = {};
	int status;

	view_make(&v, o);
	if (!o->width && v.width > WIDTH)
		v.width = WIDTH;
	if (o->format == &json_renderer)
		settings_json(&b, p);
	else
		settings_text(&b, &v, p);
	status = say_all(o, &b);
	buf_free(&b);
	return status;
}

int command_settings(const struct options *o)
{
	struct settings_page page = {};
	struct view_settings s;
	struct tui *t = calloc(1, sizeof(*t));
	int status;

	if (!t) {
		complain("out of memory");
		return EXIT_FAILED;
	}
	view_settings_open(&s, o->argc > 0);
	view_settings_load(&s, t);
	if (o->argc) {
		status = change_all(o, &s, t);
	} else {
		fill(&page, o, &s, t);
		status = print(o, &page);
		if (!status && (page.unusable[0] || page.wrong.len))
			status = EXIT_FAILED;
	}
	free_page(&page);
	view_settings_close(&s);
	free(t);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/view_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/key_values.h"
#include "base/private_file.h"

#define FILE_NAME	"settings"
#define NEW_DIRECTORIES 2 /* faultscope, and the directory of all settings of the user */

/* Returns the length of the path, or -1 if there is no place for settings or its path is long. */
static int find_directory(char *ret, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int len = -1;

	if (config && *config == '/') /* the specification says to ignore relative paths */
		len = snprintf(ret, size, "%s/faultscope", config);
	else if (home && *home == '/')
		len = snprintf(ret, size, "%s/.config/faultscope", home);
	return len < (int)size ? len : -1;
}

void view_settings_path(const struct view_settings *s, struct buf *b)
{
	if (s->directory[0])
		buf_printf(b, "%s/" FILE_NAME, s->directory);
}

void view_settings_open(struct view_settings *s, bool creates)
{
	*s = VIEW_SETTINGS_NONE;
	if (find_directory(s->directory, sizeof(s->directory)) < 0) {
		s->directory[0] = 0;
		s->missing = true;
		snprintf(s->error, sizeof(s->error), "neither XDG_CONFIG_HOME nor HOME is set");
		return;
	}
	s->dir = private_directory(s->directory, 0, s->error, sizeof(s->error));
	s->missing = s->dir == -ENOENT;
	if (s->missing && creates) {
		s->dir = private_directory(s->directory, NEW_DIRECTORIES, s->error,
					   sizeof(s->error));
		/* a home that does not exist or cannot be written to is nothing to warn about */
		s->missing = s->dir == -ENOENT || s->dir == -EACCES || s->dir == -EROFS;
	}
	if (s->dir < 0)
		s->dir = -1;
}

void view_settings_close(struct view_settings *s)
{
	if (s->dir >= 0)
		close(s->dir);
	buf_free(&s->wrong);
	for (size_t i = 0; i < TUI_SETTINGS_MAX; i++)
		buf_free(&s->before[i]);
	*s = VIEW_SETTINGS_NONE;
}

static void on_used(void *ctx, const struct tui_setting *setting, unsigned int line)
{
	struct view_settings *s = ctx;
	struct tui_setting one;

	for (size_t i = 0; tui_setting_at(i, &one); i++)
		if (!strcmp(one.key, setting->key))
			s->line[i] = line;
}

static void on_wrong(void *ctx, const struct tui_wrong_line *line)
{
	struct view_settings *s = ctx;

	buf_printf(&s->wrong, "%s/" FILE_NAME ":%u: %s\n", s->directory, line->number, line->why);
}

/* Reads the whole file. Returns 0, -ENOENT, or another -errno and s->error. */
static int read_file(struct view_settings *s, struct buf *text)
{
	char why[256];
	int err = private_read(s->dir, FILE_NAME, TUI_SETTINGS_BYTES, text, why, sizeof(why));

	if (!err && text->s && !key_values_are_text(text->s, text->len)) {
		snprintf(why, sizeof(why), FILE_NAME ": is no text of lines \"key = value\"");
		err = -EBADMSG;
	}
	if (err && err != -ENOENT)
		snprintf(s->error, sizeof(s->error), "%s/%s", s->directory, why);
	return err;
}

void view_settings_load(struct view_settings *s, struct tui *t)
{
	struct tui_reader reader = {on_used, on_wrong, s};
	struct buf text = {};
	int err;

	if (s->dir < 0)
		return;
	err = read_file(s, &text);
	s->missing = err == -ENOENT;
	if (!err && text.s)
		tui_settings_read(t, text.s, &reader);
	buf_free(&text);
}

void view_settings_keep(struct view_settings *s, const struct tui *t, const char *key)
{
	struct tui_setting one;

	for (size_t i = 0; tui_setting_at(i, &one); i++) {
		if (key && strcmp(key, one.key))
			continue;
		buf_clear(&s->before[i]);
		tui_setting_get(t, &one, &s->before[i]);
	}
}

/* Appends the text of the file with the settings that have changed. Returns their number. */
static size_t change_text(const struct view_settings *s, const struct tui *t, struct buf *text)
{
	struct tui_setting one;
	size_t n = 0;

	for (size_t i = 0; tui_setting_at(i, &one); i++) {
		struct buf value = {}, changed = {};

		tui_setting_get(t, &one, &value);
		if (value.s && strcmp(value.s, s->before[i].s ? s->before[i].s : "")) {
			key_values_change(&changed, text->s ? text->s : "", one.key, value.s);
			buf_free(text);
			*text = changed;
			n++;
		}
		buf_end_part(text, &value);
	}
	return n;
}

/* Returns whether the user has changed a setting. */
static bool has_changes(const struct view_settings *s, const struct tui *t)
{
	struct buf none = {};
	size_t n = change_text(s, t, &none);

	buf_free(&none);
	return n;
}

int view_settings_save(struct view_settings *s, const struct tui *t)
{
	static const char head[] = "# Settings of faultscope's live view, which writes changes "
				   "here.\n# faultscope settings lists all of them.\n";
	struct buf text = {};
	char why[256];
	int err;

	if (!has_changes(s, t))
		return 0;
	if (s->dir < 0)
		return -ENOENT;
	/* another live view may have changed the file: keep what it wrote, and what people wrote */
	err = read_file(s, &text);
	if (err == -ENOENT) {
		buf_puts(&text, head);
		err = 0;
	}
	if (!err) {
		change_text(s, t, &text);
		err = private_write(s->dir, FILE_NAME, &text, why, sizeof(why));
		if (err)
			snprintf(s->error, sizeof(s->error), "%s/%s", s->directory, why);
	}
	buf_free(&text);
	return err;
}

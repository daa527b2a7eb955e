/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: the settings of the live view that a user keeps, by name, as texts. */
#ifndef FS_RENDER_TUI_TUI_SETTINGS_H
#define FS_RENDER_TUI_TUI_SETTINGS_H

#include "render/tui/tui.h"

#define TUI_SETTINGS_BYTES (64u << 10) /* maximum size of a file of settings */
#define TUI_SETTINGS_MAX   16

struct tui_setting {
	const char *key;
	const char *what;	  /* what it changes, and the key that changes it */
	const char *const *words; /* allowed values; NULL: names of columns */
	size_t nr_words;
	bool is_list; /* true: a list of columns */
	int id;	      /* which member of struct tui */
	size_t tab;   /* for columns and orders of rows: index in tui_tabs[] */
};

/* Returns the settings, one after the other; false: there are no more. */
bool tui_setting_at(size_t at, struct tui_setting *ret);

bool tui_setting_find(const char *key, size_t len, struct tui_setting *ret);

/* Appends the value that the view has now. */
void tui_setting_get(const struct tui *t, const struct tui_setting *s, struct buf *b);

/* Sets a value. Returns false, and changes nothing, if the value is not allowed. */
bool tui_setting_set(struct tui *t, const struct tui_setting *s, const char *value, size_t len);

/* Appends what is allowed: "dark, light or none". */
void tui_setting_put_allowed(struct buf *b, const struct tui_setting *s);

/* A line of a file of settings that was not used. */
struct tui_wrong_line {
	unsigned int number;
	const char *why; /* valid until the callback returns */
};

/*
 * Sets what the text of a file says. Calls wrong() for each line that is not used, and used() for
 * each setting that is.
 */
struct tui_reader {
	void (*used)(void *ctx, const struct tui_setting *s, unsigned int line);
	void (*wrong)(void *ctx, const struct tui_wrong_line *line);
	void *ctx;
};
void tui_settings_read(struct tui *t, const char *text, const struct tui_reader *r);

#endif

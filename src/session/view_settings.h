/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file with the settings of the live view: $XDG_CONFIG_HOME/faultscope/settings, or else
 * ~/.config/faultscope/settings. It is a file of the effective user: under sudo, root does not use
 * the directory of the user who called sudo.
 */
#ifndef FS_SESSION_VIEW_SETTINGS_H
#define FS_SESSION_VIEW_SETTINGS_H

#include <limits.h>

#include "cli/options.h"
#include "render/settings_page.h"

struct view_settings {
	int dir;		      /* descriptor of the directory; -1: it cannot be used */
	char directory[PATH_MAX];     /* empty: neither XDG_CONFIG_HOME nor HOME is set */
	char error[PATH_MAX + 256];   /* why the directory or the file is not used; empty: it is */
	bool missing;		      /* there is no such file or directory */
	struct buf wrong;	      /* a line of text for each line of the file not used */
	unsigned int line[TUI_SETTINGS_MAX]; /* line that sets a setting; 0: none */
	/* the values when the view began, to find those that the user has changed since */
	struct buf before[TUI_SETTINGS_MAX];
};

#define VIEW_SETTINGS_NONE ((struct view_settings){.dir = -1})

/*
 * Opens the directory, which is created if `creates` is set. Call it before privileges are dropped.
 */
void view_settings_open(struct view_settings *s, bool creates);
void view_settings_close(struct view_settings *s);

/* Reads the file into the view. What the file says wrong is in s->wrong and s->error. */
void view_settings_load(struct view_settings *s, struct tui *t);

/*
 * Keeps present values, to which view_settings_save() compares. `key`: only that of this setting,
 * whose change is then not saved; NULL: those of all settings.
 */
void view_settings_keep(struct view_settings *s, const struct tui *t, const char *key);

/*
 * Writes settings that have changed since view_settings_keep(). Returns 0, or -errno and sets
 * s->error.
 */
int view_settings_save(struct view_settings *s, const struct tui *t);

/* Appends the path of the file. */
void view_settings_path(const struct view_settings *s, struct buf *b);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: what the command `settings` prints. */
#ifndef FS_RENDER_SETTINGS_PAGE_H
#define FS_RENDER_SETTINGS_PAGE_H

#include "render/tui/tui_settings.h"

enum setting_source {
	SETTING_DEFAULT,
	SETTING_FILE,
	SETTING_ENVIRONMENT,
	SETTING_OPTION,
};

/* A setting, its value, and where the value comes from. */
struct setting_row {
	struct tui_setting s;
	struct buf value; /* owned */
	enum setting_source source;
	unsigned int line; /* line of the file; 0: the file does not set it */
	const char *by;	   /* the variable or option that sets it; NULL: none */
};

struct settings_page {
	char file[4096 + 64];	/* path of the file; empty: there is none */
	char unusable[512];	/* why the file is not used; empty: it is, or it does not exist */
	struct buf wrong;	/* a line of text for each line of the file that is not used */
	struct setting_row row[TUI_SETTINGS_MAX];
	size_t n;
};

const char *setting_source_name(enum setting_source source);

void settings_text(struct buf *b, const struct view *v, const struct settings_page *p);
void settings_json(struct buf *b, const struct settings_page *p);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: the table of what a recording can be turned into. A new format is one row here, and one
 * file that makes it.
 */
#ifndef FS_RENDER_FORMATS_FORMATS_H
#define FS_RENDER_FORMATS_FORMATS_H

#include "render/recording_story.h"

enum report_way {
	WAY_WHOLE,     /* made at the end, of all */
	WAY_LINES,     /* by a renderer, as it is read */
	WAY_RECORDING, /* another recording */
	WAY_TEXTFILE,  /* the exporter's page */
};

struct report_format {
	const char *name;
	const char *suffix; /* of file names that mean it; NULL: none */
	const char *help;
	const char *readers; /* what opens it */
	enum report_way way;
	bool gzipped;
	const struct renderer *lines;
	void (*make)(struct buf *b, const struct story_view *s);
};

extern const struct report_format report_formats[];
extern const size_t nr_report_formats;

/* NULL where there is none. */
const struct report_format *report_format_find(const char *name);

/* By the end of a file's name. */
const struct report_format *report_format_of(const char *path);

#endif

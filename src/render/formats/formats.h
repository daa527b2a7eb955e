/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: the output formats of the command `report`. A new format is one row of formats.def, and
 * one file with the function that writes the format.
 */
#ifndef FS_RENDER_FORMATS_FORMATS_H
#define FS_RENDER_FORMATS_FORMATS_H

#include "render/recording_story.h"

enum report_way {
	WAY_WHOLE,     /* `make` writes the whole output, at the end */
	WAY_LINES,     /* the renderer `lines` writes the output while it reads the recording */
	WAY_RECORDING, /* the output is another recording */
	WAY_TEXTFILE,  /* the output is the metrics page of `export` */
};

struct report_format {
	const char *name;
	const char *suffix; /* suffix of file names that selects this format; NULL: none */
	const char *help;
	const char *readers; /* programs that read this format */
	enum report_way way;
	bool gzipped;
	const struct renderer *lines;
	void (*make)(struct buf *b, const struct story_view *s);
	/*
	 * Writes the line of a process that has no row of its own in the history; NULL: the format
	 * has no line for each process.
	 */
	void (*row)(struct buf *b, const struct view *v, const struct history_row *r);
};

extern const struct report_format report_formats[];
extern const size_t nr_report_formats;

/* Returns the format with a given name, or NULL. */
const struct report_format *report_format_find(const char *name);

/* Returns the format that a file name's suffix selects, or NULL. */
const struct report_format *report_format_of(const char *path);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: a recording as a whole: what is told of it once it was read to its end. */
#ifndef FS_RENDER_RECORDING_STORY_H
#define FS_RENDER_RECORDING_STORY_H

#include "model/history.h"
#include "render/render.h"

/* How the recording ended. */
enum story_end {
	STORY_CUT_OFF, /* without a word, or it goes on */
	STORY_AS_ASKED,
	STORY_FULL, /* it would have become larger than was allowed */
};

struct story_file {
	const char *name;
	unsigned int format;
	uint64_t bytes, records, record_bytes;
	uint64_t damages, damage_offset, lost_bytes;
	const char *error; /* what is wrong with it; empty: nothing */
	enum story_end end;
};

/* A recording in columns of time, at most: of heat maps, and of what is told by time. */
#define STORY_COLUMNS 60

struct story_view {
	const struct view *v;
	const struct history *h;
	struct story_file file;
};

/* Between the first look and the last. */
double story_seconds(const struct story_view *s);

/* Of points of time, joined; and which one a time is in. */
size_t story_columns(const struct story_view *s);
size_t story_point(const struct story_view *s, uint64_t t_ns);

/* What a process is counted for. */
void story_workload(const struct history_row *r, char *ret, size_t size);

/* Rows by faults, the most first; the caller frees it. NULL: out of memory. */
const struct history_row **story_rows(const struct story_view *s);

void info_text(struct buf *b, const struct story_view *s);
void info_json(struct buf *b, const struct story_view *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: a whole recording, for outputs that are written after it has been read to its end. */
#ifndef FS_RENDER_RECORDING_STORY_H
#define FS_RENDER_RECORDING_STORY_H

#include "model/history.h"
#include "render/render.h"
#include "rules/finding_times.h"

/* How a recording ended. */
enum story_end {
	STORY_CUT_OFF, /* no end record: crash, full disk, or still recording */
	STORY_AS_ASKED,
	STORY_FULL, /* recording stopped at the size limit (--max-size) */
};

struct story_file {
	const char *name;
	unsigned int format;
	uint64_t bytes, records, record_bytes;
	uint64_t damages, damage_offset, lost_bytes;
	const char *error; /* description of damage in the file; empty: no damage */
	enum story_end end;
};

/* Maximum number of time columns in heat maps and profiles. */
#define STORY_COLUMNS 60

struct story_view {
	const struct view *v;
	const struct history *h;
	const struct finding_times *times;
	/*
	 * lines about the processes that have no row of their own in the history; NULL: nobody
	 * asked for them (story_read_rows())
	 */
	const struct buf *dropped;
	struct story_file file;
};

/* Returns the time from the first scan to the last one, in seconds. */
double story_seconds(const struct story_view *s);

/*
 * story_columns() returns the number of columns into which the history's points are merged.
 * story_point() returns the index of the point that contains a time.
 */
size_t story_columns(const struct story_view *s);
size_t story_point(const struct story_view *s, uint64_t t_ns);

/* Writes the name of a process's workload, as workload_name() in render.h does. */
void story_workload(const struct history_row *r, char *ret, size_t size);

/*
 * Returns the rows of the history, the one with most faults first. The caller frees the array.
 * Returns NULL if there is no memory.
 */
const struct history_row **story_rows(const struct story_view *s);

void info_text(struct buf *b, const struct story_view *s);
void info_json(struct buf *b, const struct story_view *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a recording completely, for the commands info, report and diff. */
#ifndef FS_SESSION_WHOLE_RECORDING_H
#define FS_SESSION_WHOLE_RECORDING_H

#include "model/samples.h"
#include "render/recording_story.h"
#include "session/session.h"

/* Writes a line about a process. */
typedef void story_put_row(struct buf *b, const struct view *v, const struct history_row *r);

struct story {
	struct session s;
	struct history h;
	struct samples samples;
	struct finding_times times;
	struct buf dropped;
	story_put_row *put_row;
	struct story_view view;
	bool failed; /* the recording could not be read at all, or memory was exhausted */
};

/*
 * Reads the recording `path`. If `lines` is not NULL, this renderer prints while the file is read.
 * A damaged recording is reported on standard error, and is no failure. Returns 0, or an exit
 * status if nothing could be read. In either case, call story_end(), which frees the story and
 * returns the final exit status.
 */
int story_read(struct story *st, const struct options *o, const char *path,
	       const struct renderer *lines);
/* Reads a recording like story_read(), and copies all records to `rec`. `redaction` may be NULL. */
int story_read_into(struct story *st, const struct options *o, const char *path,
		    struct recorder *rec, const struct redaction *redaction);
/*
 * Reads a recording like story_read() without `lines`. Calls `put` for each process that has no row
 * of its own in the history; the view has the lines that it writes.
 */
int story_read_rows(struct story *st, const struct options *o, const char *path,
		    story_put_row *put);
int story_end(struct story *st);

#endif

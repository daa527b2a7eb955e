/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording read to its end, for the commands that tell of it as a whole. */
#ifndef FS_SESSION_WHOLE_RECORDING_H
#define FS_SESSION_WHOLE_RECORDING_H

#include "model/samples.h"
#include "render/recording_story.h"
#include "session/session.h"

struct story {
	struct session s;
	struct history h;
	struct samples samples;
	struct story_view view;
	bool failed; /* it could not be read at all, or memory ran out */
};

/*
 * Reads `path`; `lines` is told all of it as it is read, NULL: nobody is. What is damaged has been
 * said then, and all else is there. 0 or an exit status where there is nothing to tell of;
 * story_end() frees in any case, and returns the exit status.
 */
int story_read(struct story *st, const struct options *o, const char *path,
	       const struct renderer *lines);
/* The same, and all records go on into another recording; `redaction` may be NULL. */
int story_read_into(struct story *st, const struct options *o, const char *path,
		    struct recorder *rec, const struct redaction *redaction);
int story_end(struct story *st);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The live view of a session: its frames, its keys, and what these ask for. */
#ifndef FS_SESSION_LIVE_VIEW_H
#define FS_SESSION_LIVE_VIEW_H

#include "session/session.h"

struct viewing;

/* Where the session redraws: takes the terminal. 0 or -ENOMEM. */
int viewing_begin(struct session *s);

/* A whole look was judged, and is to be shown. */
void viewing_look(struct session *s);

/* The same windows again: the terminal has another size, or was given back. */
void viewing_draw(struct session *s);

/* Keys can be read: a callback of the session's loop. */
int viewing_on_keys(void *ctx);

/* A recording, at its own pace until it is left: faster, slower, a look at a time, back. Returns as
 * source_ops.look. */
int viewing_replay(struct session *s);

/* A word at the foot, in place of standard error: false where there is no view. */
bool viewing_say(struct session *s, const char *text);

/* Gives the terminal back. */
void viewing_end(struct session *s);

#endif

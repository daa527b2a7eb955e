/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The live view of a session: draws frames and handles keys. */
#ifndef FS_SESSION_LIVE_VIEW_H
#define FS_SESSION_LIVE_VIEW_H

#include "render/tui/tui.h"
#include "session/session.h"

#define VIEWING_SPEED_MOST 1024.0

struct viewing {
	struct tui tui;
	size_t pace; /* index of the scan interval in paces[] */
	char path[128];
	/* Members that are used only while a recording is shown: `speed`, `go` and `window`. */
	double speed;
	long go;	 /* number of intervals to skip next; < 0: backwards */
	uint64_t window; /* number of intervals of the recording shown so far */
	bool ended;
};

/* Takes over the terminal for the live view. Returns 0 or -ENOMEM. */
int viewing_begin(struct session *s);

/* Takes a snapshot after a complete scan, and draws it. */
void viewing_update(struct session *s);
/* Stores the current interval in the history of the view without drawing it. */
void viewing_take_snapshot(struct session *s);

/* Returns the process whose page the live view shows, or NULL. */
const struct subject *viewing_chosen(const struct session *s);

/* Draws the last data again, because the terminal was resized or resumed. */
void viewing_draw(struct session *s);

/* Reads keys and performs their actions, as a callback of the event loop. */
int viewing_on_keys(void *ctx);

/* Shows the state of a replay in the view: its speed, or that the recording has ended. */
void viewing_show_state(struct viewing *w);

/* Restores the terminal and frees the live view. Does nothing if there is no live view. */
void viewing_end(struct session *s);

#endif

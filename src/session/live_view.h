/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The live view of a session: its frames, its keys, and what these ask for. */
#ifndef FS_SESSION_LIVE_VIEW_H
#define FS_SESSION_LIVE_VIEW_H

#include "render/tui/tui.h"
#include "session/session.h"

#define VIEWING_SPEED_MOST 1024.0

struct viewing {
	struct tui tui;
	size_t pace; /* row of paces[] */
	char path[128];
	/* of a recording */
	double speed;
	long go;	 /* looks to go at once; below 0: back */
	uint64_t window; /* that is shown */
	bool ended;
};

/* Where the session redraws: takes the terminal. 0 or -ENOMEM. */
int viewing_begin(struct session *s);

/* A whole look was judged, and is to be shown. */
void viewing_update(struct session *s);
/* It is only kept, to be shown or gone back to. */
void viewing_take_snapshot(struct session *s);

/* The same windows again: the terminal has another size, or was given back. */
void viewing_draw(struct session *s);

/* Keys can be read: a callback of the session's loop. */
int viewing_on_keys(void *ctx);

/* Of a recording: how fast it is told, or that it is over. */
void viewing_show_state(struct viewing *w);

/* Gives the terminal back. */
void viewing_end(struct session *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The live view of a session: draws frames and handles keys. */
#ifndef FS_SESSION_LIVE_VIEW_H
#define FS_SESSION_LIVE_VIEW_H

#include "render/tui/tui.h"
#include "session/session.h"

#define VIEWING_SPEED_MOST 1024.0
#define VIEWING_ENDED	   4096 /* number of ended processes that the view keeps */

#define REPLAY_GOALS 8

struct outline;

/* Where a replay goes next. */
struct replay_goal {
	enum replay_goal_kind {
		GOAL_NONE,
		GOAL_TIME, /* to the first scan at `t_ns` or later, or else to the last one */
		/* the others are relative to where the replay is; `by` < 0: backwards */
		GOAL_SCANS,
		GOAL_MINUTES,
		GOAL_FINDINGS, /* to marks of the outline */
	} kind;
	long by;
	uint64_t t_ns; /* CLOCK_MONOTONIC of the recording */
};

struct viewing {
	struct tui tui;
	size_t pace; /* index of the scan interval in paces[] */
	char path[128];
	/* The other members are used only while a recording is shown. */
	double speed;
	struct outline *outline; /* length of the recording, and its findings; owned */
	/* goals by keys that came faster than the recording is read: the first one comes first */
	struct replay_goal goal[REPLAY_GOALS];
	size_t nr_goals;
	uint64_t window; /* number of intervals of the recording that were read so far */
	bool shown;	 /* the view has a snapshot of the last of them */
	bool ended;
	int damage; /* -EBADMSG: the recording cannot be read beyond this end; 0: it can */
};

/* Opens the settings of the live view, before privileges are dropped. */
void viewing_open_settings(struct session *s);

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

/* Sets the goal of a replay by a key. Does nothing if the source is live, or for other keys. */
void viewing_replay_key(struct session *s, uint32_t key);

/* Sets the goal to a time that the user typed. Shows a message if it is no time. */
void viewing_replay_jump(struct session *s, const char *text);

/* Restores the terminal and frees the live view. Does nothing if there is no live view. */
void viewing_end(struct session *s);

#endif

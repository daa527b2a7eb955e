/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: the live view, a renderer with a memory of its own: where one is, what is chosen, and
 * what the last windows were. It is fed windows and keys, and gives frames; whoever feeds it, a
 * session or a replay, holds the terminal and does what a key asks for that is not looking.
 *
 *	tui_open(&t, &view);
 *	for each window of the model, judged:
 *		tui_update(&t, &view);            before model_next_window()
 *		tui_frame(&t, &view, &frame);
 *	for each read from the terminal:
 *		while ((n = tui_decode(&t.keys, bytes, len, &key)))
 *			act on tui_press(&t, &view, key)
 *		tui_frame(&t, &view, &frame);
 *	tui_free(&t);
 *
 * A frame is drawn from a copy that tui_update() takes, so that it does not change between windows,
 * nor while it is paused. To go back in a recording: tui_forget(), build the model anew, and look.
 */
#ifndef FS_RENDER_TUI_TUI_H
#define FS_RENDER_TUI_TUI_H

#include "model/snapshot.h"
#include "model/trend.h"
#include "render/render.h"

#define TUI_EVENTS     256 /* the latest that are kept */
#define TUI_FILTER     128 /* bytes */
#define TUI_FOLDED_MAX 256 /* cgroups that are folded */

/* Keys: a character is itself. */
enum tui_key {
	KEY_NONE,
	KEY_TAB = '\t',
	KEY_ENTER = '\r',
	KEY_ESCAPE = 27,
	KEY_BACKSPACE = 127,
	KEY_FIRST_NAMED = 0x110000, /* behind Unicode */
	KEY_UP,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_BACK_TAB,
	KEY_UNKNOWN,
};

/* Bytes that may be the beginning of a key. */
struct tui_keys {
	char s[16];
	size_t n;
};

/*
 * Takes bytes of the terminal: returns how many, and a key, or KEY_NONE where more have to come. 0
 * at their end. With no bytes at all (len 0) what is pending is a key by itself: Esc, once nothing
 * followed for a while.
 */
size_t tui_decode(struct tui_keys *k, const char *s, size_t len, uint32_t *ret_key);

/* What a key asks of the one who feeds the view. */
enum tui_action {
	TUI_DRAW, /* what it shows changed, or nothing did */
	TUI_QUIT,
	TUI_READ, /* read the holdings of t->chosen into the model, then tui_update() */
	TUI_RECORD, /* begin to write a recording, or end it */
	TUI_FASTER,
	TUI_SLOWER,
	TUI_OTHER, /* no key of the view: the feeder's own */
};

enum tui_where { TUI_TABLE, TUI_PROCESS, TUI_DIAGNOSIS, TUI_FINDING, TUI_HELP };

struct tui {
	struct snapshot shot;
	struct findings findings; /* of then */
	struct trends trends;
	union event event[TUI_EVENTS]; /* the latest, by events % TUI_EVENTS */
	uint64_t events, events_shown;
	struct tui_keys keys;

	enum tui_where where, back; /* back: of help */
	unsigned int tab;
	int sort[16]; /* column of each tab; -1: the tab's own */
	bool inverted, tree, paused, asking;
	char filter[TUI_FILTER], typed[TUI_FILTER];
	struct process_key chosen;	/* of the cursor, or of the page */
	const struct rule *chosen_rule; /* of findings: with `chosen` */
	uint64_t chosen_group; /* of the cursor, in the tree: a hash of its path; 0: none */
	bool follows;	       /* the cursor stays with `chosen`, else at its row */
	size_t at, top;	       /* row of the cursor, and the first one that is shown */
	size_t scroll, lines;  /* of a page, and how long it was */
	unsigned int aside;    /* columns that were scrolled away */
	uint64_t folded[TUI_FOLDED_MAX];
	size_t nr_folded;

	char say[160];	 /* a word of the feeder's, until the next key; may be empty */
	char status[80]; /* the feeder's state at the right of the first line: "REC", "replay x4" */
	bool recording;	 /* the feeder's: shown */
	bool looks;	 /* the feeder can do TUI_READ */
	bool writes;	 /* the feeder can do TUI_RECORD */
	bool has_scanned;
};

/* `v` says how it may draw, and by what to sort. */
void tui_open(struct tui *t, const struct view *v);
void tui_free(struct tui *t);

/* The end of a window, judged. Paused, the view stays as it is. -ENOMEM: it stays empty. */
int tui_update(struct tui *t, const struct view *v);

/* Forgets all windows: time is about to jump. */
void tui_forget(struct tui *t);

/* A whole screen of v->width columns and v->height lines. */
void tui_frame(struct tui *t, const struct view *v, struct buf *b);

enum tui_action tui_press(struct tui *t, const struct view *v, uint32_t key);

/* Shows one process at once, as of `faultscope -p`. */
void tui_show(struct tui *t, const struct process_key *id);

/* The keys, for help and the man page. */
struct tui_help {
	const char *keys, *what;
};
extern const struct tui_help tui_help[];
extern const size_t nr_tui_help;

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: the live view, a renderer that keeps the page, the cursor and the last intervals. Its
 * caller (a live session or a replay) passes intervals of the model and bytes from the terminal,
 * prints the frames, and does what the view cannot do by itself (enum tui_action).
 *
 *	tui_open(&t, &view);
 *	for each interval of the model, after the rules ran:
 *		tui_update(&t, &view);            before model_next_window()
 *		tui_frame(&t, &view, &frame);
 *	for each read from the terminal:
 *		until all bytes are taken by tui_decode(&t.keys, bytes, len, &key):
 *			act on tui_press(&t, &view, key)
 *		tui_frame(&t, &view, &frame);
 *	tui_free(&t);
 *
 * tui_update() copies the model. Frames are drawn from the copy, which does not change between
 * intervals or while the view is paused. To go back in a recording, call tui_forget(), build the
 * model again from the start, and call tui_update().
 */
#ifndef FS_RENDER_TUI_TUI_H
#define FS_RENDER_TUI_TUI_H

#include "model/snapshot.h"
#include "model/trend.h"
#include "render/render.h"

#define TUI_EVENTS     256 /* maximum number of latest events that are kept */
#define TUI_FILTER     128 /* size of the filter in bytes */
#define TUI_FOLDED_MAX 256 /* maximum number of cgroups that are folded */
#define TUI_TABS_MAX   8
#define COLUMNS_MAX    112 /* maximum number of columns of a tab */
#define TUI_CLEARED    128 /* maximum number of cleared findings that are kept */

/* Keys. The value of a key that types a character is the character's code point. */
enum tui_key {
	KEY_NONE,
	KEY_TAB = '\t',
	KEY_ENTER = '\r',
	KEY_ESCAPE = 27,
	KEY_BACKSPACE = 127,
	/* keys without a character follow this value, which is above all Unicode code points */
	KEY_FIRST_NAMED = 0x110000,
	KEY_UP,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_BACK_TAB,
	KEY_MOUSE, /* a mouse event: struct tui_mouse */
	KEY_UNKNOWN,
};

#define MOUSE_LEFT	 0
#define MOUSE_WHEEL_UP	 64
#define MOUSE_WHEEL_DOWN 65

/* A mouse event: a button was pressed, or the wheel was turned, at a place of the screen. */
struct tui_mouse {
	unsigned int button; /* MOUSE_* */
	unsigned int x, y;   /* column and line; the first ones are 1 */
};

/* Bytes from the terminal that are not decoded yet, because they may be the beginning of a key. */
struct tui_keys {
	char s[32];
	size_t n;
	struct tui_mouse mouse; /* the last mouse event */
};

/*
 * Decodes bytes from the terminal. Returns the number of decoded bytes, and stores a key, or
 * KEY_NONE if other bytes of the key have not arrived. Call tui_decode() until no bytes are left,
 * and with len 0 if no byte follows for a while, so that pending bytes become a key, as Esc.
 */
size_t tui_decode(struct tui_keys *k, const char *s, size_t len, uint32_t *ret_key);

/* What the caller of tui_press() must do. */
enum tui_action {
	TUI_DRAW, /* draw a frame, because the view may have changed */
	TUI_QUIT,
	/* read the mappings and fds of process t->chosen into the model, then call tui_update() */
	TUI_READ,
	TUI_RECORD, /* start a recording, or stop it */
	TUI_FASTER,
	TUI_SLOWER,
	TUI_JUMP,  /* go to the time that the user typed: t->typed */
	TUI_OTHER, /* the view does not use the key; the caller may use it */
};

/* A time of a recording that the user can go to. */
struct tui_mark {
	uint64_t t_ns; /* time of the scan that shows it: CLOCK_MONOTONIC of the recording */
	enum tui_mark_kind { MARK_OPENED, MARK_CRITICAL, MARK_TRIGGER } kind;
};

/* Where a replay is in its recording. All zeros: the source is live. */
struct tui_timeline {
	uint64_t begin_ns, end_ns;   /* first and last scan, CLOCK_MONOTONIC of the recording */
	uint64_t read_ns;	     /* the marks are known up to this time */
	const struct tui_mark *mark; /* marks in the order of time; not owned */
	size_t nr_marks;
	char from[24], to[24], now[24]; /* clock times of begin, end and now; may be empty */
};

/* What the view asks for at the bottom of the screen. */
enum tui_question { ASKS_NOTHING, ASKS_FILTER, ASKS_SEARCH, ASKS_TIME };

/* A kind of column: a value of processes, or another way to show it. */
struct tui_cell {
	unsigned int cell;     /* enum cell: kind of the column */
	const struct field *f; /* field of the column; NULL: it has none */
	bool hidden;
};

/* The columns that the user chose for a tab, in their order. PID and PROCESS are always shown. */
struct tui_choice {
	bool made; /* false: the tab has its own columns */
	size_t n;
	struct tui_cell cell[COLUMNS_MAX];
};

/* The column by which the user sorted a tab. */
struct tui_sort {
	bool chosen;	       /* false: the tab has its own order */
	unsigned int cell;     /* enum cell: kind of the column */
	const struct field *f; /* field of the column; NULL: it has none */
};

enum tui_where {
	TUI_TABLE,
	TUI_PROCESS,
	TUI_MEMORY,
	TUI_DIAGNOSIS,
	TUI_FINDING,
	TUI_COMMANDS,
	TUI_COLUMNS, /* the user chooses the columns of the tab */
	TUI_HELP,
};

enum tui_theme { THEME_DARK, THEME_LIGHT, THEME_NONE, NR_THEMES };

struct tui {
	struct snapshot shot;
	struct findings findings; /* findings at the time of the snapshot `shot` */
	/* findings that cleared, the latest last; each rule and process has at most one */
	struct findings cleared;
	struct trends trends;
	/* ring buffer of the latest events; the next index is events % TUI_EVENTS */
	union event event[TUI_EVENTS];
	uint64_t events, events_shown;
	struct tui_keys keys;

	enum tui_where where, back; /* current page; page to return to from diagnosis and so on */
	enum tui_where back_from_help, back_from_commands;
	unsigned int tab;
	struct tui_sort sort[TUI_TABS_MAX]; /* how the user sorted each tab */
	bool inverted, paused;
	enum tui_theme theme; /* colours for a dark or a light background, or none */
	struct tui_choice choice[TUI_TABS_MAX];
	size_t column_at; /* row of the cursor on the page TUI_COLUMNS */
	bool commands; /* show the full command line in place of the name */
	enum tui_tree { TREE_NONE, TREE_OF_CGROUPS, TREE_OF_PROCESSES, NR_TREES } tree;
	/*
	 * true: show only processes that have ended, and findings that have cleared. false: show
	 * live processes, and dimly those that ended in the last two windows
	 */
	bool ended;
	enum tui_question asks;
	char filter[TUI_FILTER], typed[TUI_FILTER];
	/* words that the user searched; the filter before the user typed; the row of the cursor */
	char search[TUI_FILTER], filter_before[TUI_FILTER];
	size_t searched_from;
	struct process_key chosen;	/* process at the cursor, or whose page is shown */
	const struct rule *chosen_rule; /* rule of the chosen finding, whose process is `chosen` */
	uint64_t chosen_group;		/* cgroup at the cursor, as a hash of its path; 0: none */
	/* true: the cursor moves with the chosen process; false: the cursor stays in its row */
	bool follows;
	size_t at, top; /* row with the cursor; first visible row */
	/* first visible line of a page, and the number of lines of the page */
	size_t scroll, lines;
	unsigned int aside; /* number of columns that are scrolled out of view */
	uint64_t folded[TUI_FOLDED_MAX];
	size_t nr_folded;

	char say[160];	 /* message from the caller, shown until the next key; may be empty */
	char status[80]; /* state at the right of the first line, as "replay x4" */
	bool recording;	 /* set by the caller: a recording is being written */
	bool looks;	 /* true: the caller performs TUI_READ */
	bool writes;	 /* true: the caller performs TUI_RECORD */
	bool has_scanned;
	struct tui_timeline timeline; /* set by the caller */
};

/* Begins a view. `v` determines the style, and the field to sort by. */
void tui_open(struct tui *t, const struct view *v);
void tui_free(struct tui *t);

/*
 * Opens the first tab that has the column of option --sort, sorted by it. tui_open() does this; it
 * is done again if the settings of the user have changed the view.
 */
void tui_obey_sort(struct tui *t, const struct view *v);

/*
 * Adds the values of an interval; call it after the rules ran. A paused view does not change.
 * Returns 0 or a negative errno. After an error, the view is empty.
 */
int tui_update(struct tui *t, const struct view *v);

/*
 * Does the same in two steps, also if the view is paused. tui_pass() adds an interval to the trends
 * and events. tui_show_now() copies the model for frames, and can be left out for intervals that no
 * frame shows.
 */
int tui_pass(struct tui *t, const struct view *v);
int tui_show_now(struct tui *t, const struct view *v);

/* Discards the values of all intervals, before a jump in time. */
void tui_forget(struct tui *t);

/* Draws a whole screen of v->width columns and v->height lines. */
void tui_frame(struct tui *t, const struct view *v, struct buf *b);

enum tui_action tui_press(struct tui *t, const struct view *v, uint32_t key);

/* Opens the page of a process, as option -p does. */
void tui_show(struct tui *t, const struct process_key *id);

/* The keys and their functions, for help and the man page. */
struct tui_help {
	const char *keys, *what;
};
extern const struct tui_help tui_help[];
extern const size_t nr_tui_help;

#endif

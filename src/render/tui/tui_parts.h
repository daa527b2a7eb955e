/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: functions and types that the files of the live view share. */
#ifndef FS_RENDER_TUI_TUI_PARTS_H
#define FS_RENDER_TUI_TUI_PARTS_H

#include "render/style.h"
#include "render/tui/tui.h"

enum tab_kind { TAB_TABLE, TAB_TEXT, TAB_FINDINGS };

enum cell { CELL_FIELD, CELL_SPARK, CELL_BAR, CELL_FULL, CELL_PID, CELL_USER, CELL_NAME };

struct tab {
	const char *name;
	enum tab_kind kind;
	const char *groups; /* groups of fields, separated by blanks; NULL: all others */
	/* sort by the used share of the limit of this resource; -1: by activity */
	int near;
	const char *by; /* sort by this field; NULL: sort as `near` says */
};

extern const struct tab tui_tabs[];
extern const size_t nr_tui_tabs;

#define NAME_COLUMNS 24 /* minimum width of the column PROCESS */
#define TUI_WIDE     96 /* minimum width of a screen with bars and workloads, in columns */
#define SCROLLED_MAX 64 /* maximum number of key presses that scroll a command line */

struct column {
	enum cell cell;
	const struct field *f; /* field of the column; NULL: column PID or PROCESS */
	enum resource_id of;
	char title[32];
	int width;
	double high; /* trend: value at the top of the scale */
	int cells;   /* number of cells of a bar; 0: percentages only */
};

struct columns {
	struct column c[COLUMNS_MAX];
	size_t n;
};

/* Finds the columns of the current tab that this machine can measure: PID first, PROCESS last. */
void tui_columns(const struct tui *t, const struct view *v, struct columns *ret);

/* Finds the columns of a tab in the same way. */
void tui_columns_at(const struct tui *t, size_t tab, const struct view *v, struct columns *ret);

/* Finds the columns that a tab has if the user chose none. */
void tui_columns_of(const struct tab *tab, const struct view *v, struct columns *ret);

/* Returns whether this machine can measure what a column shows. */
bool tui_is_measured(const struct view *v, const struct tui_cell *cell);

/* Adds a column of a tab: a value, or USER. */
void tui_add_cell(struct columns *c, const struct view *v, size_t tab, const struct tui_cell *cell);

#define TUI_CELL_NAME 96 /* maximum length of the name of a column, and its end */

/* Appends the name of a column in settings: "faults.minor", "maps.count.share". */
void tui_put_cell_name(struct buf *b, const struct tui_cell *cell);

/* Returns whether one of the columns of a choice is this one. */
bool tui_choice_has(const struct tui_choice *c, const struct tui_cell *cell);

/* Finds a column by this name. */
bool tui_cell_find(const char *name, size_t len, struct tui_cell *ret);

/* Returns the columns that a tab can have, one after the other; false: there are no more. */
bool tui_cell_at(size_t at, struct tui_cell *ret);

/* Finds which columns fit on the screen. The column by which rows are sorted comes first. */
void tui_visible(const struct tui *t, const struct view *v, const struct columns *c,
		 bool *ret_shown);

/* Returns the number of key presses by which command lines are scrolled. */
size_t tui_scrolled(const struct tui *t, const struct columns *c);

/* Returns the number of lines above the rows of a table or the text of a page. */
size_t tui_head_lines(const struct view *v);

#define TUI_TAB_NAME 40 /* size of the buffer for tui_tab_name() */

/* Writes the name of a tab as the screen shows it. Returns `ret`. */
const char *tui_tab_name(const struct view *v, size_t tab, char *ret, size_t size);

#define TUI_MOUSE_MAX 10000 /* largest column and line of a mouse event */

/* Decodes the bytes of a mouse event after Esc. Returns false if it is none, or a release. */
bool mouse_decode(const char *s, struct tui_mouse *ret);

/* Finds the tab or the column at column `x` of the screen. */
bool tui_tab_at(const struct tui *t, const struct view *v, unsigned int x, size_t *ret);
int tui_column_at(const struct tui *t, const struct view *v, const struct columns *c,
		  unsigned int x);

/* Returns whether a process or a finding has each of the words. */
bool tui_matches(const struct view *v, const struct subject *s, const char *words);
bool tui_finding_matches(const struct finding *f, const char *words);

/* Returns a process's value in a column, by which rows are sorted. */
double tui_value(const struct view *v, const struct subject *s, const struct column *c);

/*
 * Place of a process in a table. In the order of the tab, members are compared one after the other;
 * if the user sorted the table, only `value` counts.
 */
struct rank {
	/*
	 * 1 + severity of the most severe open finding; 0: no finding. A finding of severity info
	 * counts only if it forecasts that a limit will be reached.
	 */
	int severity;
	double left; /* seconds until a limit is reached; INFINITY: not known */
	bool ended;
	double value; /* value of the sort column; the highest comes first */
};

/* A row of a table: a process, or, in a tree, a cgroup that precedes its members. */
struct row {
	const struct subject *s; /* process of the row; NULL: the row is a cgroup */
	const char *path;	 /* path of the cgroup, in its first `len` bytes */
	size_t len, name;	 /* length of `path`; offset of the last component in `path` */
	uint64_t hash;
	int depth;
	size_t below; /* number of following rows that are in this cgroup */
	struct rank rank;
	bool inverted; /* the order of rows is reversed */
	bool folded;
};

/*
 * All rows, and the visible ones. They point into the model of the view from which they were made.
 */
struct rows {
	struct row *all; /* all rows, also in folded cgroups; owned */
	size_t *shown;	 /* indexes of the visible rows in `all`; owned */
	size_t n, nr_all;
};

/* Returns the used share of a process's limit, 1 for all of it; -1: not known. */
double tui_share(const struct view *v, const struct subject *s, enum resource_id of);

/* Findings of processes, to rank their rows. */
struct ranking {
	struct ranked_finding {
		struct process_key of;
		int severity;
		double left;
	} * f; /* sorted by process; owned */
	size_t n;
};

/* Returns 0 or -ENOMEM. Call ranking_free() even after an error. */
int ranking_make(struct ranking *r, const struct tui *t, const struct view *v);
void ranking_free(struct ranking *r);

/* Returns the place of a process in the current tab. */
struct rank tui_rank(const struct ranking *r, const struct tui *t, const struct view *v,
		     const struct columns *c, const struct subject *s);

/* Compares places: below 0 if `a` comes first, and 0 if they are equal. */
int rank_compare(const struct rank *a, const struct rank *b, bool inverted);

/* Returns the index of the column by which the user sorted the tab; -1: the tab's own order. */
int tui_sorted_by(const struct tui *t, const struct columns *c);

/* Returns whether rows are sorted by a column: the title of this column has a mark. */
bool tui_is_sort_column(const struct tui *t, const struct columns *c, size_t i);

/* Appends the order of the rows in words, as "findings, then activity". */
void tui_put_order(struct buf *b, const struct tui *t, const struct view *v);

/* Makes the rows of the current tab. Returns 0 or -ENOMEM. Call rows_free() even after an error. */
int tui_rows(const struct tui *t, const struct view *v, struct rows *ret);
void rows_free(struct rows *r);

/* Arranges sorted rows as a tree of processes. Returns 0 or -ENOMEM. */
int tui_parents(struct rows *r);

/*
 * Writes the last column of a row: name, findings and arguments of the process, or its command
 * line. `scrolled` is the number of key presses by which a command line is scrolled.
 */
void tui_put_who(const struct tui *t, struct line *l, const struct row *r, size_t scrolled);

/* Appends the name of the process's user, or else the uid; not escaped. */
void tui_put_user(struct buf *b, const struct subject *s);

/* Writes user, parent, cgroup and command line of a process. */
void tui_write_identity(struct buf *b, const struct view *v, const struct subject *s);

/* Finds the cursor's row after rows have moved: sets t->at, and t->top for `height` rows. */
void tui_place(struct tui *t, const struct rows *r, size_t height);

/* Moves the cursor to row `at`, and chooses that row's process or cgroup. */
void tui_choose(struct tui *t, const struct rows *r, size_t at);

/* Stores up to `room` open findings, the most severe first. Returns the number of open findings. */
size_t tui_findings(const struct view *v, const struct finding **ret, size_t room);

#define TUI_LISTED (FINDINGS_MAX + TUI_CLEARED)

/*
 * Stores all open findings, and with t->ended also those that cleared, in `ret`, which has room for
 * TUI_LISTED, and finds the cursor's row. Returns their number.
 */
size_t tui_place_finding(struct tui *t, const struct view *v, const struct finding **ret);
void tui_choose_finding(struct tui *t, const struct finding *const *f, size_t n, size_t at);

/* Returns `v` with the snapshots of model and findings from which frames are drawn. */
struct view tui_view(const struct tui *t, const struct view *v);

/* Returns the number of lines between the head and the foot of the screen. */
size_t tui_room(const struct tui *t, const struct view *v);

/* Returns the process or ended process of a key, or NULL. */
const struct subject *tui_find(const struct view *v, const struct process_key *id);

/* Returns the finding of a rule about a process, or NULL. */
const struct finding *tui_find_in(const struct findings *fs, const struct rule *rule,
				  const struct process_key *id);

/* Returns whether a finding that cleared is open again. */
bool tui_is_open(const struct view *v, const struct finding *f);

/* Keeps the findings that cleared in this interval. Returns 0 or -ENOMEM. */
int tui_keep_cleared(struct tui *t, const struct findings *now);

/* Draws one line: where the replay is. */
void tui_draw_timeline(const struct tui *t, const struct view *v, struct buf *b);

/* Draw exactly `height` lines. The last lines may be empty. */
void tui_draw_table(struct tui *t, const struct view *v, struct buf *b, size_t height);
void tui_draw_findings(struct tui *t, const struct view *v, struct buf *b, size_t height);
void tui_draw_page(struct tui *t, const struct view *v, struct buf *b, size_t height);

/*
 * The page on which the user chooses columns: opens it, moves its cursor, and handles a click on
 * one of its lines, and a key. Returns false if the page does not use the key.
 */
void tui_open_columns(struct tui *t, const struct view *v);
void tui_move_in_columns(struct tui *t, long by);
void tui_click_column(struct tui *t, const struct view *v, size_t line);
bool tui_press_columns(struct tui *t, const struct view *v, uint32_t key);
void tui_draw_columns(struct tui *t, const struct view *v, struct buf *b, size_t height);

/* Appends what a column shows. */
void tui_put_meaning(struct line *l, const struct column *c);

/* Writes a heading line of a page. */
void tui_heading(struct buf *b, const struct view *v, const char *text);

/* Appends "KEY VALUE  ", on a new line with `indent` blanks if the present one is full. */
void tui_put_pair(struct line *l, struct buf *b, const char *key, const char *value, int indent);

/* Writes the events of process `of`, or of the kernel if `of` is NULL, the latest first. */
void tui_write_events(const struct tui *t, const struct view *v, struct buf *b,
		      const struct subject *of, const char *title);

/* Writes the tab Kernel. */
void tui_write_kernel(const struct tui *t, const struct view *v, struct buf *b);

/* Write pages: help, and the commands of the chosen finding or process. */
void tui_write_help(const struct tui *t, const struct view *v, struct buf *b);
void tui_write_commands(const struct tui *t, const struct view *v, struct buf *b);

/* Returns the chosen finding, open or cleared; NULL if it no longer exists. */
const struct finding *tui_chosen_finding(const struct tui *t, const struct view *v);

void fill_lines(struct buf *b, size_t from, size_t height);

/*
 * Appends a sparkline of a field's last `cells` values, over all processes if `of` is NULL. The
 * scale is from 0 to `high`; 0: to the highest of these values.
 */
void tui_spark(const struct tui *t, struct line *l, const struct process_key *of,
	       const struct field *f, int cells, double high);

enum style share_style(double share);

#endif

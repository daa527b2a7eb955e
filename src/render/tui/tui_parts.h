/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: what the parts of the live view know of each other. */
#ifndef FS_RENDER_TUI_TUI_PARTS_H
#define FS_RENDER_TUI_TUI_PARTS_H

#include "render/style.h"
#include "render/tui/tui.h"

enum tab_kind { TAB_TABLE, TAB_TEXT, TAB_FINDINGS };

enum cell { CELL_FIELD, CELL_SPARK, CELL_BAR, CELL_FULL, CELL_PID, CELL_NAME };

struct tab {
	const char *name;
	enum tab_kind kind;
	const char *groups; /* of the field table, by blanks; NULL: those that no other tab has */
	int near; /* its processes come by how near they are to this resource; -1: by activity */
	const char *by; /* or by this field; NULL: not */
};

extern const struct tab tui_tabs[];
extern const size_t nr_tui_tabs;

#define COLUMNS_MAX 48

struct column {
	enum cell cell;
	const struct field *f; /* NULL: of PID and NAME */
	enum resource_id of;
	char title[20];
	int width;
};

struct columns {
	struct column c[COLUMNS_MAX];
	size_t n;
};

/* All of a tab that this machine can tell, pid first and name last. */
void tui_columns(const struct tui *t, const struct view *v, struct columns *ret);

/* What a process is sorted by in a column. */
double tui_value(const struct view *v, const struct subject *s, const struct column *c);

/* A row: a process, or in the tree a cgroup with what follows it. */
struct row {
	const struct subject *s; /* NULL: a cgroup */
	const char *path;	 /* of the cgroup: the first `len` bytes */
	size_t len, name;	 /* name: where its last part begins */
	uint64_t hash;
	int depth;
	size_t below; /* rows behind it that are part of it */
	double rank;
	bool folded;
};

/* As they are shown, and all; of the copy that `v` has. */
struct rows {
	struct row *all; /* owned */
	size_t *shown;	 /* of them; owned */
	size_t n, nr_all;
};

/* -ENOMEM. rows_free() in any case. */
int tui_rows(const struct tui *t, const struct view *v, struct rows *ret);
void rows_free(struct rows *r);

/* Where the cursor is, after rows have moved: t->at, t->top for `height` rows. */
void tui_place(struct tui *t, const struct rows *r, size_t height);

/* The cursor goes there: what it is on is chosen. */
void tui_choose(struct tui *t, const struct rows *r, size_t at);

/* Open findings of the copy, the gravest first; up to `room`. Returns how many there are. */
size_t tui_findings(const struct view *v, const struct finding **ret, size_t room);

/* All of them in `ret`, which has room for FINDINGS_MAX, and where the cursor is among them. */
size_t tui_place_finding(struct tui *t, const struct view *v, const struct finding **ret);
void tui_choose_finding(struct tui *t, const struct finding *const *f, size_t n, size_t at);

/* The view of the copy that frames are drawn from. */
struct view tui_view(const struct tui *t, const struct view *v);

/* Lines between the head and the foot. */
size_t tui_room(const struct view *v);

/* Draw so many lines; what is shorter is filled up. */
void tui_draw_table(struct tui *t, const struct view *v, struct buf *b, size_t height);
void tui_draw_findings(struct tui *t, const struct view *v, struct buf *b, size_t height);
void tui_draw_page(struct tui *t, const struct view *v, struct buf *b, size_t height);

void fill_lines(struct buf *b, size_t from, size_t height);

/* The last samples of a field, `cells` of them. */
void tui_spark(const struct tui *t, struct line *l, const struct process_key *of,
	       const struct field *f, int cells);

enum style share_style(double share);

#endif

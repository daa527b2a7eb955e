/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: what grew between two recordings: by workload, by user stack and name, by kind of the
 * mappings and fds that processes held, and by the code that held resident memory.
 */
#ifndef FS_RENDER_DIFF_H
#define FS_RENDER_DIFF_H

#include "render/utc.h"
#include "render/recording_story.h"

enum diff_part { DIFF_WORKLOAD, DIFF_STACK, DIFF_HELD, DIFF_MEMORY, NR_DIFF_PARTS };

/*
 * A row of the comparison: a metric of a workload, stack or name, in both recordings. A missing
 * value is 0.
 */
struct diff_row {
	char *key;	    /* the row's name, a NUL, and the frames; owned */
	const char *frames; /* the frames in `key`, one per line, innermost first; "": none */
	const char *metric;
	double a, b;
	double weight; /* sort key: growth divided by the smallest growth that is shown */
};

struct diff_side {
	struct story_file file;
	struct number_text time;
	char host[64];
	double seconds;
	uint64_t processes;
};

struct diff {
	struct diff_side side[2];
	struct diff_row *row[NR_DIFF_PARTS]; /* rows sorted by growth, the largest first */
	size_t rows[NR_DIFF_PARTS], room[NR_DIFF_PARTS];
	/* number of values without a row, because there was no room or no memory */
	uint64_t left_out;
	struct buf gaps; /* why a recording or the comparison is incomplete */
};

/* Compares two recordings, which must stay valid until diff_free(). Returns 0 or -ENOMEM. */
int diff_make(struct diff **ret, const struct story_view *a, const struct story_view *b);
void diff_free(struct diff *d);

/*
 * Returns whether the code of a row created nearly the same amount (within 10 %) in both
 * recordings. A leak that is in both recordings looks like this.
 */
bool diff_is_alike(const struct diff_row *r);

const char *diff_part_title(enum diff_part part);

/* Appends the absolute value of a metric in its unit. */
void diff_put(struct buf *b, const char *metric, double v);

/* Writes up to `rows` rows of each part of the comparison; 0: up to 12. */
void diff_text(struct buf *b, const struct diff *d, const struct view *v, size_t rows);
void diff_json(struct buf *b, const struct diff *d, const struct view *v);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: what grew between two recordings: by workload, by user stack and sort, by what is held.
 */
#ifndef FS_RENDER_DIFF_H
#define FS_RENDER_DIFF_H

#include "render/utc.h"
#include "render/recording_story.h"

enum diff_part { DIFF_WORKLOAD, DIFF_STACK, DIFF_HELD, NR_DIFF_PARTS };

/* One thing that both may have; what one of them does not have is 0 in it. */
struct diff_row {
	char *key;	    /* owned: the name */
	const char *frames; /* behind it: lines of a stack, innermost first; empty: none */
	const char *metric;
	double a, b;
	double weight; /* what it is ordered by: growth, of what matters */
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
	struct diff_row *row[NR_DIFF_PARTS]; /* the largest growth first */
	size_t rows[NR_DIFF_PARTS], room[NR_DIFF_PARTS];
	uint64_t left_out; /* values of rows that there was no room or memory for */
	struct buf gaps;   /* of both recordings, and of what is not compared: completeness.h */
};

/* -ENOMEM. The recordings have to stay until diff_free(). */
int diff_make(struct diff **ret, const struct story_view *a, const struct story_view *b);
void diff_free(struct diff *d);

/* Of a stack: it made about as much in both recordings, so that both have it grow. */
bool diff_is_alike(const struct diff_row *r);

const char *diff_part_title(enum diff_part part);

/* A value of a metric, without its sign. */
void diff_put(struct buf *b, const char *metric, double v);

/* At most so many rows of a part; 0: as many as fit a screen. */
void diff_text(struct buf *b, const struct diff *d, const struct view *v, size_t rows);
void diff_json(struct buf *b, const struct diff *d, const struct view *v);

#endif

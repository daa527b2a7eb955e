// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the comparison of two recordings, as text and as JSON Lines. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/completeness.h"
#include "render/diff.h"
#include "render/json_out.h"
#include "render/style.h"

#define ROWS_SHOWN   12 /* default number of rows of each part of the comparison */
#define FRAMES_SHOWN 5

void diff_put(struct buf *b, const char *metric, double v)
{
	if (strstr(metric, "bytes"))
		put_bytes(b, count_of_real(fabs(v)));
	else if (strstr(metric, "a second"))
		put_rate(b, fabs(v));
	else
		put_count(b, count_of_real(fabs(v)));
}

static void write_side(struct buf *b, const struct view *v, const char *name,
		       const struct diff_side *s)
{
	styled_line(b, v, STYLE_DIM, "%s  %s  %s  %s  %s, %" PRIu64 " %s", name, s->file.name,
		    s->time.s, s->host, as_span(s->seconds).s, s->processes,
		    as_words(s->processes, "process{|es}").s);
}

static void write_frames(struct buf *b, const struct view *v, const char *at)
{
	struct line l = {.v = v};
	char frame[400];

	if (!*at)
		return;
	line_printf(&l, "             from ");
	for (int i = 0; i < FRAMES_SHOWN && *at; i++) {
		size_t n = strcspn(at, "\n");

		snprintf(frame, sizeof(frame), "%.*s", (int)(n < 399 ? n : 399), at);
		line_printf(&l, "%s", i ? " <- " : "");
		line_printf(&l, "%s", frame);
		at += n + (at[n] == '\n');
	}
	line_wrap_at(&l, b, STYLE_DIM, 18);
}

/*
 * Writes a row. `sign` is written before the growth. With the sign '=', writes the amount in the
 * second recording instead of the growth.
 */
static void write_row(struct buf *b, const struct view *v, const struct diff_row *r, char sign)
{
	struct buf growth = {}, from = {};
	struct line l = {.v = v};

	diff_put(&growth, r->metric, sign == '=' ? r->b : r->b - r->a);
	diff_put(&from, r->metric, r->a);
	buf_puts(&from, " to ");
	diff_put(&from, r->metric, r->b);
	line_printf(&l, " %c%-11s %-24s ", sign, growth.s ? growth.s : "", r->metric);
	line_printf(&l, "%s  (%s)", r->key, from.s ? from.s : "");
	line_end(&l, b, STYLE_PLAIN);
	write_frames(b, v, r->frames);
	buf_end_part(b, &growth);
	buf_end_part(b, &from);
}

/*
 * Writes the code that creates the same amount in both recordings. This is no growth between the
 * recordings, but the created objects are not freed.
 */
static void write_alike(struct buf *b, const struct diff *d, const struct view *v, size_t most)
{
	size_t shown = 0;

	for (size_t i = 0; i < d->rows[DIFF_STACK] && shown < most; i++) {
		const struct diff_row *r = &d->row[DIFF_STACK][i];

		if (!diff_is_alike(r))
			continue;
		if (!shown++) {
			styled_line(b, v, STYLE_BOLD,
				    "what each of the two made, and left, by stack");
		}
		write_row(b, v, r, '=');
	}
}

static void write_part(struct buf *b, const struct diff *d, enum diff_part part,
		       const struct view *v, size_t most)
{
	size_t shown = 0;

	if (part == DIFF_MEMORY && !d->rows[part])
		return; /* few recordings have it */
	styled_line(b, v, STYLE_BOLD, "what grew %s", diff_part_title(part));
	for (size_t i = 0; i < d->rows[part] && shown < most; i++) {
		/* weight below 1: the growth is too small to matter */
		if (d->row[part][i].weight < 1)
			break;
		write_row(b, v, &d->row[part][i], '+');
		shown++;
	}
	if (!shown) {
		styled_line(b, v, STYLE_DIM,
			    part == DIFF_HELD && !d->rows[part]
				    ? " nothing is known: record reads what processes hold, run "
				      "does not"
				    : " nothing");
	}
	if (part == DIFF_STACK)
		write_alike(b, d, v, most - shown);
}

void diff_text(struct buf *b, const struct diff *d, const struct view *v, size_t rows)
{
	write_side(b, v, "from", &d->side[0]);
	write_side(b, v, "to  ", &d->side[1]);
	for (int part = 0; part < NR_DIFF_PARTS; part++)
		write_part(b, d, part, v, rows ? rows : ROWS_SHOWN);
	gaps_text(b, v, &d->gaps);
}

static void json_frames(struct json *j, const char *at)
{
	char frame[512];

	json_array(j, "stack");
	while (*at) {
		size_t n = strcspn(at, "\n");

		snprintf(frame, sizeof(frame), "%.*s", (int)(n < 511 ? n : 511), at);
		json_text(j, NULL, frame);
		at += n + (at[n] == '\n');
	}
	json_end_array(j);
}

void diff_json(struct buf *b, const struct diff *d, const struct view *v)
{
	static const char *const by[NR_DIFF_PARTS] = {"workload", "stack", "held",
							"memory"};
	struct json j;

	for (int part = 0; part < NR_DIFF_PARTS; part++)
		for (size_t i = 0; i < d->rows[part]; i++) {
			const struct diff_row *r = &d->row[part][i];

			json_begin(&j, b);
			json_text(&j, "type", "difference");
			json_text(&j, "by", by[part]);
			json_text(&j, "name", r->key);
			json_text(&j, "metric", r->metric);
			json_real(&j, "from", r->a);
			json_real(&j, "to", r->b);
			json_real(&j, "growth", r->b - r->a);
			if (part == DIFF_STACK || part == DIFF_MEMORY)
				json_frames(&j, r->frames);
			json_finish(&j);
		}
	json_begin(&j, b);
	json_text(&j, "type", "difference_end");
	json_count(&j, "left_out", d->left_out);
	gaps_json(&j, "incomplete", &d->gaps);
	json_finish(&j);
}

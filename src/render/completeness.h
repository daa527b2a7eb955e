/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: why a result is incomplete. A gap is a reason why something may have been missed: no data
 * was read, no process matched, data was lost, or something was not measured. While there is a gap,
 * no output says that all is well, and no command exits with 0.
 */
#ifndef FS_RENDER_COMPLETENESS_H
#define FS_RENDER_COMPLETENESS_H

#include "render/render.h"

struct json;

/* Appends a gap, which is a short sentence without a full stop, to the list `gaps`. */
void gap_add(struct buf *gaps, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Appends the gap "lost: N WHAT" if `n` is not 0. WHAT comes from `format`, and may have words for
 * one and for many, as for as_words() of base/units.h.
 */
void gap_lost(struct buf *gaps, uint64_t n, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Appends all gaps in the list `more` to the list `gaps`. */
void gaps_add(struct buf *gaps, const struct buf *more);

/* Returns whether a list has a gap. A list that ran out of memory counts as a gap. */
bool has_gaps(const struct buf *gaps);

/*
 * Appends the gaps of the measurement or replay so far, and v->gaps. If the view gives a verdict, a
 * disabled probe that the rules of the verdict need is also a gap.
 */
void gaps_of(struct buf *gaps, const struct view *v);

/* Appends only the gaps from lost events and unavailable probes, for outputs without processes. */
void gaps_of_probes(struct buf *gaps, const struct view *v);

/* Appends all gaps to `b` as one line, separated by "; ". */
void gaps_join(struct buf *b, const struct buf *gaps);

/* Appends the paragraph "incomplete: …", or nothing if there is no gap. */
void gaps_text(struct buf *b, const struct view *v, const struct buf *gaps);

/* Adds a JSON array with one string per gap. The array is empty if there is no gap. */
void gaps_json(struct json *j, const char *key, const struct buf *gaps);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: why a result is incomplete. A gap is a reason for which something may have been missed:
 * nothing was read, nothing matched, something was lost, or something was not measured. No output
 * says that all is well while there is a gap, and no command exits with 0.
 */
#ifndef FS_RENDER_COMPLETENESS_H
#define FS_RENDER_COMPLETENESS_H

#include "render/render.h"

struct json;

/* Appends one gap, a short sentence without a full stop, to the list `gaps`. */
void gap_add(struct buf *gaps, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends all gaps of the list `more`. */
void gaps_add(struct buf *gaps, const struct buf *more);

/* Returns whether the list has a gap; a list that ran out of memory counts as one. */
bool has_gaps(const struct buf *gaps);

/*
 * Appends the gaps of everything measured or replayed so far, and v->gaps. If `v` gives a verdict,
 * a disabled probe that its rules need is a gap, too.
 */
void gaps_of(struct buf *gaps, const struct view *v);

/* Appends the gaps of lost events and unavailable probes only, for outputs without processes. */
void gaps_of_probes(struct buf *gaps, const struct view *v);

/* Appends all gaps as one line, separated by "; ". */
void gaps_join(struct buf *b, const struct buf *gaps);

/* Appends the paragraph "incomplete: …"; appends nothing if there is no gap. */
void gaps_text(struct buf *b, const struct view *v, const struct buf *gaps);

/* Adds a key with an array of one string per gap; the array is empty if there is no gap. */
void gaps_json(struct json *j, const char *key, const struct buf *gaps);

#endif

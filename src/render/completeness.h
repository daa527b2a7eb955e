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

/* Appends one gap to a list of them: a short sentence without a full stop. */
void gap_add(struct buf *gaps, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends all gaps of another list. */
void gaps_add(struct buf *gaps, const struct buf *more);

/* Whether there is one; a list that ran out of memory counts as a gap. */
bool has_gaps(const struct buf *gaps);

/* Appends the gaps of what was measured or replayed, up to now, and v->gaps. Where `v` gives a
 * verdict, what its rules could not judge is a gap, whoever switched the probe off. */
void gaps_of(struct buf *gaps, const struct view *v);

/* The same without processes: losses, and probes that are unavailable. */
void gaps_of_probes(struct buf *gaps, const struct view *v);

/* Appends all gaps as one line, separated by "; ". */
void gaps_join(struct buf *b, const struct buf *gaps);

/* Appends the paragraph "incomplete: …"; nothing where there is no gap. */
void gaps_text(struct buf *b, const struct view *v, const struct buf *gaps);

/* Adds a key: an array with a text for each gap, which is empty where there is none. */
void gaps_json(struct json *j, const char *key, const struct buf *gaps);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: why a result is incomplete. A gap is a reason for which something may have been missed:
 * nothing was read, nothing matched, something was lost, or something was not measured. No output
 * says that all is well while there is a gap, and no command exits with 0.
 */
#ifndef FS_RENDER_COMPLETENESS_H
#define FS_RENDER_COMPLETENESS_H

#include "render/render.h"

/* Appends one gap, as a short sentence without a full stop. `gaps` has them separated by "; ". */
void gap_add(struct buf *gaps, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether there is one; a list that ran out of memory counts as a gap. */
bool has_gaps(const struct buf *gaps);

/* Appends the gaps of what was measured or replayed, up to now, and v->gaps. Where `v` gives a
 * verdict, what its rules could not judge is a gap, whoever switched the probe off. */
void gaps_of(struct buf *gaps, const struct view *v);

/* The same without processes: losses, and probes that are unavailable. */
void gaps_of_probes(struct buf *gaps, const struct view *v);

/* Appends the paragraph "incomplete: …"; nothing where there is no gap. */
void gaps_text(struct buf *b, const struct view *v, const struct buf *gaps);

#endif

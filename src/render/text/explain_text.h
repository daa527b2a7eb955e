/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: what is known of a diagnosis, for `explain`. */
#ifndef FS_RENDER_TEXT_EXPLAIN_TEXT_H
#define FS_RENDER_TEXT_EXPLAIN_TEXT_H

#include "render/render.h"
#include "rules/diagnoses.h"

/* One line each: id, severity, whether this version flags it, title. */
void explain_list(struct buf *b, const struct view *v);

/* Its long text, in the width of the view; commands are kept whole. */
void explain_text(struct buf *b, const struct view *v, const struct diagnosis *d);

/* Whether this version flags it: by a rule, or by the flight recorder. */
bool diagnosis_is_flagged(const struct diagnosis *d);

/* One object, on a line. */
void explain_json(struct buf *b, const struct diagnosis *d);

#endif

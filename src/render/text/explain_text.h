/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: writes the explanation of a diagnosis, for the command `explain`. */
#ifndef FS_RENDER_TEXT_EXPLAIN_TEXT_H
#define FS_RENDER_TEXT_EXPLAIN_TEXT_H

#include "render/render.h"
#include "rules/diagnoses.h"

/* Writes a line per diagnosis: id, slug, severity, whether this version reports it, title. */
void explain_list(struct buf *b, const struct view *v);

/* Writes a whole explanation, wrapped to the view's width except for commands. */
void explain_text(struct buf *b, const struct view *v, const struct diagnosis *d);

/* Returns whether this version reports a diagnosis, by a rule or by the flight recorder. */
bool diagnosis_is_flagged(const struct diagnosis *d);

/* Writes an explanation as one JSON object on one line. */
void explain_json(struct buf *b, const struct diagnosis *d);

#endif

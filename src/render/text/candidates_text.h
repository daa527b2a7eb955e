/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: known error messages and their possible causes, for `explain TEXT`. */
#ifndef FS_RENDER_TEXT_CANDIDATES_TEXT_H
#define FS_RENDER_TEXT_CANDIDATES_TEXT_H

#include "render/render.h"
#include "rules/messages.h"

/* Writes messages, then their possible causes, likeliest first, each with a command to check it. */
void candidates_text(struct buf *b, const struct view *v, const struct candidates *c);

/* Writes the candidates as one JSON object on one line. */
void candidates_json(struct buf *b, const struct candidates *c);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: known error messages and their possible causes, for `explain TEXT`. */
#ifndef FS_RENDER_TEXT_CANDIDATES_TEXT_H
#define FS_RENDER_TEXT_CANDIDATES_TEXT_H

#include "render/render.h"
#include "rules/messages.h"

/* Writes the messages, then the possible causes, likeliest first, each with a command to check. */
void candidates_text(struct buf *b, const struct view *v, const struct candidates *c);

/* Writes one JSON object on one line. */
void candidates_json(struct buf *b, const struct candidates *c);

#endif

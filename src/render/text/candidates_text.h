/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: what an error message may mean, for `explain TEXT`. */
#ifndef FS_RENDER_TEXT_CANDIDATES_TEXT_H
#define FS_RENDER_TEXT_CANDIDATES_TEXT_H

#include "render/render.h"
#include "rules/messages.h"

/* Candidates, the likeliest first, each with the command that decides; then the messages. */
void candidates_text(struct buf *b, const struct view *v, const struct candidates *c);

/* One object, on a line. */
void candidates_json(struct buf *b, const struct candidates *c);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: how short of memory all is, as JSON Lines. */
#ifndef FS_RENDER_JSON_JSON_PRESSURE_H
#define FS_RENDER_JSON_JSON_PRESSURE_H

#include "render/render.h"

/* At each tick: the host's figures, cgroups with a limit, and of `host` file systems. */
void json_pressure(struct buf *b, const struct view *v);

/* The last but one line of `host`: the answer. */
void json_answer(struct buf *b, const struct view *v);

#endif

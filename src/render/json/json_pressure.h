/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: memory pressure of the machine, its cgroups and file systems as JSON Lines. */
#ifndef FS_RENDER_JSON_JSON_PRESSURE_H
#define FS_RENDER_JSON_JSON_PRESSURE_H

#include "render/render.h"

/*
 * Writes memory pressure of the machine and of cgroups that have a memory limit; `host` also writes
 * file systems.
 */
void json_pressure(struct buf *b, const struct view *v);

/*
 * Writes the verdict of `host` (is the machine short of memory?). It is the last line but one of
 * the output.
 */
void json_answer(struct buf *b, const struct view *v);

#endif

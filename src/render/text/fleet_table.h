/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: the table of `top`: workloads of many hosts, under most pressure first. */
#ifndef FS_RENDER_TEXT_FLEET_TABLE_H
#define FS_RENDER_TEXT_FLEET_TABLE_H

#include "model/fleet.h"
#include "render/render.h"

/* Of the view width, height, top, unicode and colour hold. */
void fleet_text(struct buf *b, const struct view *v, const struct fleet *f, double interval_s);

#endif

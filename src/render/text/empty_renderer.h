/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A renderer that writes nothing, for commands without output while they read or record. */
#ifndef FS_RENDER_EMPTY_RENDERER_H
#define FS_RENDER_EMPTY_RENDERER_H

#include "render/render.h"

extern const struct renderer silent_renderer;

#endif

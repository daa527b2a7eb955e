/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: writes a user stack as an array of texts. */
#ifndef FS_RENDER_JSON_JSON_STACK_H
#define FS_RENDER_JSON_JSON_STACK_H

#include "model/model.h"
#include "render/json_out.h"

/* Writes the frames of a stack, innermost first; an empty array if `f` is NULL. */
void json_stack(struct json *j, const char *key, const struct frames *f);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "render/render.h"

static const struct renderer *const renderers[] = {&text_renderer, &json_renderer,
						   &folded_renderer};

const struct renderer *renderer_find(const char *name)
{
	for (size_t i = 0; i < sizeof(renderers) / sizeof(renderers[0]); i++)
		if (!strcmp(renderers[i]->name, name))
			return renderers[i];
	return NULL;
}

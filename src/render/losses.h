/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: all that fell out, as rows: every output says those that are not 0. */
#ifndef FS_RENDER_LOSSES_H
#define FS_RENDER_LOSSES_H

#include "render/render.h"

struct loss {
	const char *key;   /* in JSON */
	const char *what;  /* "0 records" */
	const char *about; /* at length */
	uint64_t n;
};

#define LOSSES_MAX    10
#define LOSSES_ALWAYS 4 /* the first ones, which are said where they are 0 too */

/* Fills `ret`, of LOSSES_MAX; returns how many there are. */
size_t losses_of(const struct view *v, struct loss *ret);

/* Their sum. */
uint64_t losses_all(const struct view *v);

#endif

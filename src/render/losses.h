/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: counters of lost events and records. Every output shows counters above 0. */
#ifndef FS_RENDER_LOSSES_H
#define FS_RENDER_LOSSES_H

#include "render/render.h"

struct loss {
	const char *key; /* key of the loss in JSON */
	/* words after the number, for as_words(): in short, as in "0 records", and at length */
	const char *what;
	const char *about;
	uint64_t n;
};

#define LOSSES_MAX 10
/* number of counters, the first ones, that the text shows even if they are 0 */
#define LOSSES_ALWAYS 4

/* Fills `ret`, which has room for LOSSES_MAX counters. Returns the number of counters. */
size_t losses_of(const struct view *v, struct loss *ret);

/* Returns the sum of all loss counters. */
uint64_t losses_all(const struct view *v);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "resident/unit_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "wire.h"

#define UNITS_MAX (1u << 26) /* 512 MiB; far above the chosen pages of any machine */

int unit_set_add(struct unit_set *s, uint64_t unit)
{
	uint64_t *more;

	if (s->n && s->unit[s->n - 1] == unit)
		return 0;
	more = array_grow(s->unit, s->n, &s->room, UNITS_MAX, sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->unit = more;
	more[s->n++] = unit;
	return 0;
}

bool unit_set_has(const struct unit_set *s, uint64_t unit)
{
	size_t n = array_count_up_to(s->unit, s->n, sizeof(*s->unit), 0, unit);

	return n && s->unit[n - 1] == unit;
}

void unit_set_replace(struct unit_set *s, struct unit_set *from)
{
	free(s->unit);
	*s = *from;
	memset(from, 0, sizeof(*from));
}

void unit_set_free(struct unit_set *s)
{
	free(s->unit);
	memset(s, 0, sizeof(*s));
}

int unit_sets_add(struct unit_sets *s, const struct unit *u)
{
	return unit_set_add(u->huge ? &s->huge : &s->pages, u->number);
}

bool unit_sets_have(const struct unit_sets *s, const struct unit *u)
{
	if (u->huge)
		return unit_set_has(&s->huge, u->number);
	return unit_set_has(&s->pages, u->number) ||
	       unit_set_has(&s->huge, u->number >> FS_RESIDENT_HUGE_SHIFT);
}

void unit_sets_replace(struct unit_sets *s, struct unit_sets *from)
{
	unit_set_replace(&s->pages, &from->pages);
	unit_set_replace(&s->huge, &from->huge);
}

void unit_sets_free(struct unit_sets *s)
{
	unit_set_free(&s->pages);
	unit_set_free(&s->huge);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/curve.h"

#include <string.h>

#define LONGEST_NS (3600 * 1000000000ULL)

static void drop_old(struct curve *c, uint64_t now_ns)
{
	uint32_t old = 0;

	while (old < c->n && now_ns - c->point[old].t_ns > LONGEST_NS)
		old++;
	c->n -= old;
	memmove(c->point, c->point + old, c->n * sizeof(c->point[0]));
}

/* Drops every second point of the older half, but never the first point. */
static void thin(struct curve *c)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (i >= c->n / 2 || !(i % 2))
			c->point[kept++] = c->point[i];
	c->n = kept;
}

void curve_add(struct curve *c, uint64_t t_ns, uint64_t value)
{
	if (c->n && t_ns <= c->point[c->n - 1].t_ns)
		return;
	drop_old(c, t_ns);
	if (c->n == CURVE_POINTS)
		thin(c);
	c->point[c->n].t_ns = t_ns;
	c->point[c->n++].value = value;
}

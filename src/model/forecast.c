// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

#define MIN_POINTS    4
#define FIRST_STEP_NS 100000000ULL

/* Drops every second point and doubles the distance kept between two. */
static void thin_out(struct series *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->n; i += 2)
		s->point[kept++] = s->point[i];
	s->n = kept;
	s->step_ns *= 2;
}

void series_add(struct series *s, uint64_t t_ns, uint32_t value)
{
	if (!s->step_ns)
		s->step_ns = FIRST_STEP_NS;
	if (s->n && t_ns < s->point[s->n - 1].t_ns + s->step_ns) {
		if (value > s->point[s->n - 1].value)
			s->point[s->n - 1].value = value;
		return;
	}
	if (s->n == SERIES_POINTS)
		thin_out(s);
	s->point[s->n].t_ns = t_ns;
	s->point[s->n].value = value;
	s->n++;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct forecast series_forecast(const struct series *s, uint64_t limit)
{
	double slope[SERIES_POINTS * (SERIES_POINTS - 1) / 2], left;
	struct forecast f = {};
	size_t n = 0;

	if (!s || s->n < MIN_POINTS || s->point[s->n - 1].value >= limit)
		return f;
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t j = i + 1; j < s->n; j++)
			slope[n++] = ((double)s->point[j].value - s->point[i].value) /
				     ((s->point[j].t_ns - s->point[i].t_ns) / 1e9);
	qsort(slope, n, sizeof(slope[0]), by_value);
	left = limit - s->point[s->n - 1].value;
	f.per_second = slope[n / 2];
	/* A tenth of the pairs going the other way is no trend to extend. */
	if (slope[n / 10] <= 0 || f.per_second <= 0)
		return f;
	f.known = true;
	f.seconds = left / f.per_second;
	f.low = left / slope[n - 1 - n / 10];
	f.high = left / slope[n / 10];
	return f;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/recording_story.h"

#include <stdlib.h>
#include <string.h>

#include "model/identity.h"

double story_seconds(const struct story_view *s)
{
	const struct model *m = s->v->m;

	return m->last_ns > m->first_ns ? (m->last_ns - m->first_ns) / 1e9 : 0;
}

void story_workload(const struct history_row *r, char *ret, size_t size)
{
	struct workload_of_process of = {r->cgroup, r->comm, is_of_kthreadd(r->id.pid, r->ppid)};

	workload_name(&of, ret, size);
}

static int by_faults(const void *a, const void *b)
{
	const struct history_row *x = *(const struct history_row *const *)a;
	const struct history_row *y = *(const struct history_row *const *)b;
	uint64_t n = history_faults(x), k = history_faults(y);

	return n < k ? 1 : n > k ? -1 : x->id.pid < y->id.pid ? -1 : x->id.pid > y->id.pid;
}

const struct history_row **story_rows(const struct story_view *s)
{
	const struct history_row **rows = calloc(s->h->rows + 1, sizeof(*rows));

	for (size_t i = 0; rows && i < s->h->rows; i++)
		rows[i] = &s->h->row[i];
	if (rows)
		qsort(rows, s->h->rows, sizeof(*rows), by_faults);
	return rows;
}

size_t story_columns(const struct story_view *s)
{
	return s->h->points < STORY_COLUMNS ? s->h->points : STORY_COLUMNS;
}

size_t story_point(const struct story_view *s, uint64_t t_ns)
{
	size_t from = 0, to = s->h->points;

	while (from + 1 < to) {
		size_t mid = (from + to) / 2;

		if (s->h->point[mid].from_ns < t_ns)
			from = mid;
		else
			to = mid;
	}
	return from;
}

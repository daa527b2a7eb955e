// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/json/json_pressure.h"

#include "model/holdings.h"
#include "model/memory_holders.h"
#include "render/json/line_rows.h"
#include "render/memory_rows.h"
#include "rules/shortage.h"

#define EATERS_TOLD 16
#define LINES_TOLD  10

static void put_victims(struct json *j, const struct view *v);
static void put_lines(struct json *j, const struct view *v, const struct process_tree *k,
		      const struct top_consumer *e);

#include "render/json/pressure_lines.def"

static void put_lines(struct json *j, const struct view *v, const struct process_tree *k,
		      const struct top_consumer *e)
{
	struct memory_rows rows;

	memory_rows_of_consumer(&rows, v, k, e, LINES_TOLD);
	for (size_t i = 0; i < rows.n; i++) {
		json_object(j, NULL);
		put_consumer_line(j, &rows.row[i]);
		json_end(j);
	}
}

static void put_victims(struct json *j, const struct view *v)
{
	const struct pressure *p = v->m->pressure;

	for (size_t i = 0; p && i < p->scores; i++) {
		const struct subject *s = model_find(v->m, &p->score[i].subject);

		if (!s || s->final)
			continue;
		json_object(j, NULL);
		put_victim(j, v, s, &p->score[i]);
		json_end(j);
	}
}

void json_pressure(struct buf *b, const struct view *v)
{
	const struct pressure *p = v->m->pressure;

	if (!p || !p->known)
		return;
	put_line_pressure(b, v, &p->now, &v->m->tick.limits);
	for (size_t i = 0; i < p->levels; i++)
		if (level_is_there(v->m, &p->level[i]))
			put_line_cgroup(b, v, &p->level[i]);
	for (size_t i = 0; v->host && i < p->mounts; i++)
		if (mount_is_there(v->m, &p->mount[i]))
			put_line_file_system(b, v, &p->mount[i].now);
}

void json_answer(struct buf *b, const struct view *v)
{
	struct top_consumer e[EATERS_TOLD];
	size_t n = buf_rows(b, top_consumers_of(v->m, e, EATERS_TOLD));
	struct process_tree k;
	struct shortage a;

	shortage_of(v->m, v->findings, &a);
	if (process_tree_of(v->m, &k))
		b->failed = true;
	put_line_host(b, v, &a, &k, e, n);
	process_tree_free(&k);
}

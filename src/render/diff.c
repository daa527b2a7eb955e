// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/diff.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/fields.h"
#include "model/growers.h"
#include "model/frames.h"
#include "model/holdings.h"
#include "render/completeness.h"
#include "render/memory_rows.h"

#define DIFF_ROWS_MAX 8192 /* maximum number of rows in one part of the comparison */
#define KEY_BYTES     512
#define ALIKE_SHARE   0.1 /* two growths a and b are alike if |b - a| is at most 10 % of b */

#define MEMORY_FLOOR  (1 << 20) /* smallest growth of memory that is shown, in bytes */

static const char processes[] = "processes";
static const char resident_metric[] = "bytes";

/* names of metrics, indexed by enum what */
static const char *const what_metric[] = {"mappings", "descriptors"};

const char *diff_part_title(enum diff_part part)
{
	static const char *const titles[NR_DIFF_PARTS] = {"by workload", "by stack",
							  "by what is held",
							  "by code that holds memory"};

	return titles[part];
}

/*
 * Copies a name and frames, each with its NUL, into one allocation. Returns NULL if memory is
 * exhausted.
 */
static char *make_key(const char *key, const char *frames)
{
	size_t len = strlen(key) + 1, more = strlen(frames) + 1;
	char *both = malloc(len + more);

	if (both) {
		memcpy(both, key, len);
		memcpy(both + len, frames, more);
	}
	return both;
}

/*
 * Returns the row with a key, or adds one. If there is no room or no memory for a row, returns NULL
 * and counts the value in d->left_out.
 */
static struct diff_row *row_at(struct diff *d, enum diff_part part, const char *key,
			       const char *frames, const char *metric)
{
	struct diff_row *r = d->row[part];

	for (size_t i = 0; i < d->rows[part]; i++)
		if (r[i].metric == metric && !strcmp(r[i].key, key) && !strcmp(r[i].frames, frames))
			return &r[i];
	r = array_grow(r, d->rows[part], &d->room[part], DIFF_ROWS_MAX, sizeof(*r));
	if (r) {
		d->row[part] = r;
		r += d->rows[part];
		*r = (struct diff_row){.key = make_key(key, frames), .metric = metric};
	}
	if (!r || !r->key) {
		d->left_out++;
		return NULL;
	}
	r->frames = r->key + strlen(key) + 1;
	d->rows[part]++;
	return r;
}

static void add(struct diff *d, enum diff_part part, const char *key, const char *frames,
		const char *metric, int side, double value)
{
	struct diff_row *r = value ? row_at(d, part, key, frames, metric) : NULL;

	if (r)
		*(side ? &r->b : &r->a) += value;
}

static double value_of(const struct field *f, const struct history_row *r, double seconds)
{
	double n = r->known[f - fields] ? r->value[f - fields] : 0;

	if (f->diff.sum == DIFF_PER_SECOND)
		n = seconds > 0 ? n / seconds : 0;
	else if (f->diff.sum == DIFF_LIVING && r->final)
		n = 0;
	return f->diff.divide ? n / f->diff.divide : n;
}

static void add_workloads(struct diff *d, const struct story_view *s, int side)
{
	double seconds = story_seconds(s);
	char name[256];

	for (size_t i = 0; i < s->h->rows; i++) {
		const struct history_row *r = &s->h->row[i];

		story_workload(r, name, sizeof(name));
		add(d, DIFF_WORKLOAD, name, "", processes, side, r->final ? 0 : r->processes);
		for (size_t k = 0; k < nr_fields; k++)
			if (fields[k].diff.name)
				add(d, DIFF_WORKLOAD, name, "", fields[k].diff.name, side,
				    value_of(&fields[k], r, seconds));
	}
}

static void add_stacks(struct diff *d, const struct story_view *s, int side)
{
	const struct model *m = s->v->m;
	char key[KEY_BYTES], name[GROWER_NAME];

	for (size_t i = 0; i < m->growths; i++) {
		const struct growth *g = &m->growth[i];
		const struct frames *f = model_frames(m, &g->subject, g->stack);
		const struct history_row *r = history_find(s->h, &g->subject);

		if (g->added <= g->removed)
			continue;
		growth_name(g, name, sizeof(name));
		snprintf(key, sizeof(key), "%s: %s", r ? r->comm : "process", name);
		add(d, DIFF_STACK, key, f ? f->text : "", what_metric[g->what & 1], side,
		    g->added - g->removed);
	}
}

static void add_held(struct diff *d, const struct story_view *s, int side)
{
	char key[KEY_BYTES];

	for (size_t i = 0; i < s->h->rows; i++)
		for (int what = WHAT_MAPS; what <= WHAT_FDS; what++) {
			const struct history_row *r = &s->h->row[i];

			for (size_t k = 0; k < r->held[what].n; k++) {
				const struct holding *g = &r->held[what].sort[k];

				snprintf(key, sizeof(key), "%s: %s (%s)", r->comm, g->name,
					 holding_kind_name(g->kind));
				add(d, DIFF_HELD, key, "", what_metric[what], side, g->count);
			}
		}
}

static void add_memory_of(struct diff *d, const struct story_view *s, const struct resident_of *of,
			  int side)
{
	const struct subject *subject = model_find(s->v->m, &of->id);
	const struct resident_list *list = resident_shown(of, !subject || subject->final);
	char key[KEY_BYTES];

	for (size_t i = 0; i < list->n; i++) {
		const struct resident_record *r = &list->row[i];
		const struct frames *f = model_frames(s->v->m, &r->toucher, r->stack);

		snprintf(key, sizeof(key), "%.*s: %s%s%s", COMM_LEN, of->comm, memory_kind(r).s,
			 f ? "" : ", ", f ? "" : resident_no_stack(r->by));
		add(d, DIFF_MEMORY, key, f ? f->text : "", resident_metric, side,
		    resident_bytes(r));
	}
}

static void add_memory(struct diff *d, const struct story_view *s, int side)
{
	for (const struct resident_of *of = model_resident_each(s->v->m, NULL); of;
	     of = model_resident_each(s->v->m, of))
		add_memory_of(d, s, of, side);
}

bool diff_is_alike(const struct diff_row *r)
{
	return r->b > 0 && fabs(r->b - r->a) <= ALIKE_SHARE * r->b;
}

static void weigh(struct diff *d, enum diff_part part)
{
	for (size_t i = 0; i < d->rows[part]; i++) {
		struct diff_row *r = &d->row[part][i];
		double floor = part == DIFF_MEMORY ? MEMORY_FLOOR : 1;

		for (size_t k = 0; part == DIFF_WORKLOAD && k < nr_fields; k++)
			if (fields[k].diff.name == r->metric)
				floor = fields[k].diff.floor;
		r->weight = (r->b - r->a) / floor;
		if (part == DIFF_STACK && diff_is_alike(r))
			r->weight = 0;
	}
}

static int by_weight(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	int order = strcmp(x->key, y->key) ?: strcmp(x->frames, y->frames);

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	if (x->b != y->b)
		return x->b < y->b ? 1 : -1;
	return order ? order : strcmp(x->metric, y->metric);
}

static void describe(struct diff_side *d, const struct story_view *s)
{
	d->file = s->file;
	d->seconds = story_seconds(s);
	d->processes = history_processes(s->h);
	d->time = as_utc(s->v->m->host.wall_ns);
	array_copy(d->host, sizeof(d->host), s->v->m->host.host);
}

static void add_gaps(struct diff *d, const struct story_view *s)
{
	struct buf gaps = {}, said = {};

	gaps_of(&gaps, s->v);
	if (has_gaps(&gaps)) {
		buf_safe(&said, s->file.name, s->v->unicode);
		buf_puts(&said, ": ");
		gaps_join(&said, &gaps);
		gap_add(&d->gaps, "%s", said.s ? said.s : "out of memory");
	}
	buf_free(&said);
	buf_free(&gaps);
}

int diff_make(struct diff **ret, const struct story_view *a, const struct story_view *b)
{
	const struct story_view *side[] = {a, b};
	struct diff *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	for (int i = 0; i < 2; i++) {
		describe(&d->side[i], side[i]);
		add_workloads(d, side[i], i);
		add_stacks(d, side[i], i);
		add_held(d, side[i], i);
		add_memory(d, side[i], i);
		add_gaps(d, side[i]);
	}
	gap_lost(&d->gaps, d->left_out, "value{|s} beyond the most that is compared");
	for (int part = 0; part < NR_DIFF_PARTS; part++) {
		weigh(d, part);
		if (d->rows[part])
			qsort(d->row[part], d->rows[part], sizeof(*d->row[part]), by_weight);
	}
	*ret = d;
	return 0;
}

void diff_free(struct diff *d)
{
	for (int part = 0; d && part < NR_DIFF_PARTS; part++) {
		for (size_t i = 0; i < d->rows[part]; i++)
			free(d->row[part][i].key);
		free(d->row[part]);
	}
	if (d)
		buf_free(&d->gaps);
	free(d);
}

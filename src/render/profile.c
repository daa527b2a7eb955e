// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "model/fields.h"
#include "model/frames.h"
#include "model/growers.h"
#include "model/resident.h"
#include "model/samples.h"
#include "render/memory_rows.h"

#define PROFILE_NAMES_MAX   32768
#define PROFILE_SAMPLES_MAX 32768
#define PROFILE_BUCKETS	    (2 * PROFILE_NAMES_MAX)
#define NAME_BYTES	    512

const struct measure measures[NR_MEASURES] = {
	[MEASURE_FAULTS] = {"faults", "page faults", "count"},
	[MEASURE_STALL] = {"stall", "time stalled in page faults", "nanoseconds"},
	[MEASURE_BYTES] = {"bytes", "memory faulted in", "bytes"},
	[MEASURE_MAPS] = {"mappings", "mappings created and not unmapped", "count"},
	[MEASURE_FDS] = {"descriptors", "file descriptors opened and not closed", "count"},
	[MEASURE_MEMORY] = {"inuse_space", "resident and swapped memory", "bytes"},
	[MEASURE_MEMORY_GROWTH] = {"grown_space", "memory added after the first reading", "bytes"},
};

/* Writes the texts of a name one after another, each with its NUL. Returns their length. */
static size_t join_texts(const struct profile_name *n, char ret[4 * NAME_BYTES])
{
	const char *const text[] = {n->text, n->function, n->file, n->module};
	size_t len = 0;

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		size_t one = text[i] ? strnlen(text[i], NAME_BYTES - 1) : 0;

		memcpy(ret + len, text[i] ? text[i] : "", one);
		ret[len + one] = 0;
		len += one + 1;
	}
	return len;
}

static bool is_same(const struct profile_name *n, const struct profile_name *key, const char *texts,
		    size_t len)
{
	const char *end = n->module + strlen(n->module) + 1;

	return n->line == key->line && n->inlined_into == key->inlined_into &&
	       (size_t)(end - n->text) == len && !memcmp(n->text, texts, len);
}

const char *profile_function(const struct profile_name *n)
{
	return *n->file && *n->function ? n->function : n->text;
}

/* Finds the first name that has the same function as the last name. */
static uint32_t find_function(struct profile *p)
{
	const struct profile_name *last = &p->name[p->names - 1];
	const char *function = profile_function(last);
	uint32_t at = hash_text(HASH_BEGIN, function) & (PROFILE_BUCKETS - 1);

	for (; p->function_bucket[at]; at = (at + 1) & (PROFILE_BUCKETS - 1)) {
		const struct profile_name *n = &p->name[p->function_bucket[at] - 1];

		if (!strcmp(profile_function(n), function) && !strcmp(n->file, last->file))
			return p->function_bucket[at] - 1;
	}
	p->function_bucket[at] = p->names;
	return p->names - 1;
}

static int add_name(struct profile *p, const struct profile_name *key, const char *texts,
		    size_t len)
{
	struct profile_name *name =
		array_grow(p->name, p->names, &p->names_room, PROFILE_NAMES_MAX, sizeof(*name));
	char *copy;

	if (!name)
		return -ENOMEM;
	p->name = name;
	copy = malloc(len);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, texts, len);
	name = &p->name[p->names++];
	*name = (struct profile_name){
		.texts = copy, .text = copy, .line = key->line, .inlined_into = key->inlined_into};
	name->function = name->text + strlen(name->text) + 1;
	name->file = name->function + strlen(name->function) + 1;
	name->module = name->file + strlen(name->file) + 1;
	name->same_function = find_function(p);
	return 0;
}

/*
 * Finds or adds a name, and stores its number in *ret. Returns 0 or -ENOMEM, or -E2BIG if there are
 * PROFILE_NAMES_MAX names. The maximum keeps the table half empty, as open addressing requires.
 */
static int name_number(struct profile *p, const struct profile_name *key, uint32_t *ret)
{
	char texts[4 * NAME_BYTES];
	size_t len = join_texts(key, texts);
	uint32_t at = hash_text(HASH_BEGIN, texts) & (PROFILE_BUCKETS - 1);
	int err;

	for (; p->bucket[at]; at = (at + 1) & (PROFILE_BUCKETS - 1))
		if (is_same(&p->name[p->bucket[at] - 1], key, texts, len)) {
			*ret = p->bucket[at] - 1;
			return 0;
		}
	if (p->names == PROFILE_NAMES_MAX)
		return -E2BIG;
	err = add_name(p, key, texts, len);
	if (err)
		return err;
	*ret = p->names - 1;
	p->bucket[at] = p->names;
	return 0;
}

/* Adds a frame. If there is no room, it replaces the innermost frame so far. */
static int add_named(struct profile *p, struct profile_sample *s, const struct profile_name *name)
{
	if (s->frames < PROFILE_FRAMES)
		s->frames++;
	return name_number(p, name, &s->frame[s->frames - 1]);
}

static int add_frame(struct profile *p, struct profile_sample *s, const char *name)
{
	return add_named(p, s, &(struct profile_name){.text = name});
}

static void add_others(struct profile *p, const struct profile_sample *s)
{
	p->left_out++;
	for (int i = 0; i < NR_MEASURES; i++)
		p->others.value[i] += s->value[i];
}

static int add_sample(struct profile *p, const struct profile_sample *s)
{
	struct profile_sample *more;

	if (p->samples >= PROFILE_SAMPLES_MAX && s != &p->others) {
		add_others(p, s);
		return 0;
	}
	more = array_grow(p->sample, p->samples, &p->samples_room, PROFILE_SAMPLES_MAX + 1,
			  sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->sample = more;
	p->sample[p->samples++] = *s;
	for (int i = 0; i < NR_MEASURES; i++)
		p->total[i] += s->value[i];
	return 0;
}

/*
 * Adds a sample if `err`, the result of adding its frames, is 0. If `err` is -E2BIG, there was no
 * room for a name: adds the sample's values to p->others instead. Returns 0 or a negative errno.
 */
static int end_sample(struct profile *p, const struct profile_sample *s, int err)
{
	if (!err)
		return add_sample(p, s);
	if (err != -E2BIG)
		return err;
	add_others(p, s);
	return 0;
}

/* Begins a sample with its two outermost frames: the workload and the process. */
static int begin_sample(struct profile *p, const struct history_row *r, struct profile_sample *ret)
{
	char workload[256], name[64];
	int err;

	*ret = (struct profile_sample){.row = r};
	if (!r)
		return add_frame(p, ret, "process");
	story_workload(r, workload, sizeof(workload));
	snprintf(name, sizeof(name), "%s [%u]", r->comm, r->id.pid);
	err = add_frame(p, ret, workload);
	return err ? err : add_frame(p, ret, name);
}

/*
 * Splits the text "function (module)" of a frame in a recording of an older version, which has no
 * other facts about the frame. `parts` holds the texts of *ret.
 */
static void split_text(const char *text, char parts[FRAME_TEXT_BYTES], struct profile_name *ret)
{
	char *open, *end;

	array_copy(parts, FRAME_TEXT_BYTES, text);
	open = strstr(parts, " (");
	end = parts + strlen(parts);
	if (!open || end[-1] != ')')
		return;
	*open = 0;
	end[-1] = 0;
	ret->function = parts;
	ret->module = open + 2;
}

/* Adds the frames of a stack, the outermost first. */
static int add_stack(struct profile *p, struct profile_sample *s, const struct frames *f)
{
	size_t n = f ? frames_count(f) : 0;
	int err = 0;

	while (n-- && !err) {
		const struct user_frame *one = frame_list_count(f) ? frame_list_at(f, n) : NULL;
		char text[FRAME_TEXT_BYTES], parts[FRAME_TEXT_BYTES];
		struct profile_name name = {.text = text};

		frames_show(f, n, text, sizeof(text));
		if (one) {
			name.function = one->function;
			name.file = one->file;
			name.module = one->module;
			name.line = one->line;
		} else {
			split_text(text, parts, &name);
		}
		if (one && one->flags & FRAME_INLINED)
			name.inlined_into = s->frame[s->frames - 1] + 1;
		err = add_named(p, s, &name);
	}
	return err;
}

static const char *const end_name[NR_ENDS] = {"minor faults", "major faults"};
static const struct field *const end_field[NR_ENDS] = {FIELD(min_flt), FIELD(maj_flt)};

bool profile_is_kind(const struct profile_name *n)
{
	return n->text[0] == '[' || !strcmp(n->text, end_name[END_MINOR]) ||
	       !strcmp(n->text, end_name[END_MAJOR]);
}

/* Adds all minor or all major faults of a process as a sample without a stack. */
static int add_faults(struct profile *p, const struct story_view *s, const struct history_row *r,
		      enum fault_end end)
{
	uint64_t n = history_field(r, end_field[end]);
	struct profile_sample one;
	int err;

	if (!n && !r->stall_ns[end])
		return 0;
	err = begin_sample(p, r, &one);
	if (!err)
		err = add_frame(p, &one, end_name[end]);
	one.value[MEASURE_FAULTS] = n;
	one.value[MEASURE_STALL] = r->stall_ns[end];
	one.value[MEASURE_BYTES] = n * s->v->m->tick.limits.page_bytes;
	return end_sample(p, &one, err);
}

/*
 * Sums over the sampled minor or major faults of one process. `faults` and `stall_ns` are the
 * weights of the samples added so far. `faults_all` and `stall_all` are the weights of all samples.
 */
struct drawn {
	const struct history_row *row;
	uint64_t faults, faults_all, stall_ns, stall_all;
};

/*
 * Returns the part of `sum` that belongs to the range from `before` to `after` out of `all`. The
 * rounded parts of all ranges add up to `sum`.
 */
static uint64_t share(uint64_t sum, uint64_t before, uint64_t after, uint64_t all)
{
	if (!all)
		return 0;
	return (unsigned __int128)sum * after / all - (unsigned __int128)sum * before / all;
}

static int add_cell(struct profile *p, struct profile_sample *one, size_t column,
		    const struct sample_record *r)
{
	struct profile_cell *last = one->cells ? &p->cell[p->cells - 1] : NULL, *more;

	if (last && last->column == column) {
		last->faults += r->weight;
		last->stall_ns += (uint64_t)r->weight * r->took_ns;
		return 0;
	}
	more = array_grow(p->cell, p->cells, &p->cells_room, SAMPLES_MAX, sizeof(*more));
	if (!more)
		/*
		 * out of memory: the maximum cannot be the reason, as each sampled fault adds one
		 * cell at most
		 */
		return -ENOMEM;
	p->cell = more;
	p->cell[p->cells++] = (struct profile_cell){.column = column,
						    .faults = r->weight,
						    .stall_ns = (uint64_t)r->weight * r->took_ns};
	one->cells++;
	return 0;
}

/*
 * Adds one profile sample for the sampled faults `r`, which have one process, kind (minor or
 * major), stack and class.
 */
static int add_place(struct profile *p, const struct story_view *s,
		     const struct sample_record *const *r, size_t n, struct drawn *d)
{
	const struct frames *frames = model_frames(s->v->m, &r[0]->subject, r[0]->stack);
	uint64_t faults = d->faults, stall_ns = d->stall_ns;
	struct profile_sample one;
	char leaf[64];
	int err = begin_sample(p, d->row, &one);

	if (!err)
		err = frames && frames_count(frames) ? add_stack(p, &one, frames)
						     : add_frame(p, &one, "stack not known");
	snprintf(leaf, sizeof(leaf), "[%s: %s]", end_name[r[0]->major], class_name(r[0]->class));
	if (!err)
		err = add_frame(p, &one, leaf);
	one.cell = p->cells;
	for (size_t i = 0; i < n; i++) {
		size_t point = story_point(s, r[i]->h.t_ns);

		d->faults += r[i]->weight;
		d->stall_ns += (uint64_t)r[i]->weight * r[i]->took_ns;
		if (!err)
			err = add_cell(p, &one, point * story_columns(s) / s->h->points, r[i]);
	}
	one.value[MEASURE_FAULTS] = share(history_field(d->row, end_field[r[0]->major]), faults,
					  d->faults, d->faults_all);
	one.value[MEASURE_STALL] =
		share(d->row->stall_ns[r[0]->major], stall_ns, d->stall_ns, d->stall_all);
	one.value[MEASURE_BYTES] =
		one.value[MEASURE_FAULTS] * sample_bytes(r[0], &s->v->m->tick.limits);
	return end_sample(p, &one, err);
}

static int order_ends(const struct sample_record *x, const struct sample_record *y)
{
	int order = sample_order_process(x, y);

	if (order)
		return order;
	SAMPLES_ORDER(x->major, y->major);
	return 0;
}

static int order_places(const struct sample_record *x, const struct sample_record *y)
{
	int order = order_ends(x, y);

	if (order)
		return order;
	SAMPLES_ORDER(x->stack, y->stack);
	SAMPLES_ORDER(x->class, y->class);
	return 0;
}

static int order_samples(const void *a, const void *b)
{
	const struct sample_record *x = *(const struct sample_record *const *)a;
	const struct sample_record *y = *(const struct sample_record *const *)b;
	int order = order_places(x, y);

	if (order)
		return order;
	SAMPLES_ORDER(x->h.t_ns, y->h.t_ns);
	return 0;
}

/*
 * Adds all minor or all major faults of a process, divided between the stacks of its sampled
 * faults.
 */
static int add_end(struct profile *p, const struct story_view *s,
		   const struct sample_record *const *r, size_t n)
{
	struct drawn d = {.row = history_find(s->h, &r[0]->subject)};
	size_t from = 0, to;
	int err = 0;

	if (!d.row || r[0]->major >= NR_ENDS) {
		p->left_out += n;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		d.faults_all += r[i]->weight;
		d.stall_all += (uint64_t)r[i]->weight * r[i]->took_ns;
	}
	for (; from < n && !err; from = to) {
		for (to = from + 1; to < n && !order_places(r[from], r[to]);)
			to++;
		err = add_place(p, s, r + from, to - from, &d);
	}
	p->drawn[d.row - s->h->row] |= 1u << r[0]->major;
	return err;
}

static int add_drawn(struct profile *p, const struct story_view *s)
{
	const struct samples *all = s->v->m->samples;
	const struct sample_record **r;
	size_t from = 0, to;
	int err = 0;

	if (!all || !all->n || !s->h->points)
		return 0;
	r = samples_sort(all, order_samples);
	if (!r)
		return -ENOMEM;
	for (; from < all->n && !err; from = to) {
		for (to = from + 1; to < all->n && !order_ends(r[from], r[to]);)
			to++;
		err = add_end(p, s, r + from, to - from);
	}
	free(r);
	return err;
}

static int add_growth(struct profile *p, const struct story_view *s, const struct growth *g)
{
	char name[GROWER_NAME], leaf[GROWER_NAME + 16];
	struct profile_sample one;
	int err;

	if (g->added <= g->removed)
		return 0;
	err = begin_sample(p, history_find(s->h, &g->subject), &one);
	if (!err)
		err = add_stack(p, &one, model_frames(s->v->m, &g->subject, g->stack));
	growth_name(g, name, sizeof(name));
	snprintf(leaf, sizeof(leaf), "[%s]", name);
	if (!err)
		err = add_frame(p, &one, leaf);
	one.value[g->what == WHAT_MAPS ? MEASURE_MAPS : MEASURE_FDS] = g->added - g->removed;
	one.first_ns = g->first_ns;
	one.last_ns = g->last_ns;
	return end_sample(p, &one, err);
}

/* Adds the memory of a process that one stack holds. */
static int add_held(struct profile *p, const struct story_view *s, const struct resident_of *of,
		    const struct resident_list *list, const struct resident_record *r)
{
	const struct frames *frames = model_frames(s->v->m, &r->toucher, r->stack);
	int64_t growth = resident_growth(resident_base(s->v->m, of, list), list, r);
	struct profile_sample one;
	char leaf[MEMORY_KIND_BYTES + 2];
	int err = begin_sample(p, history_find(s->h, &of->id), &one);

	if (!err)
		err = frames && frames_count(frames) ? add_stack(p, &one, frames)
						     : add_frame(p, &one, resident_no_stack(r->by));
	snprintf(leaf, sizeof(leaf), "[%s]", memory_kind(r).s);
	if (!err)
		err = add_frame(p, &one, leaf);
	one.value[MEASURE_MEMORY] = resident_bytes(r);
	one.value[MEASURE_MEMORY_GROWTH] = growth > 0 ? growth : 0;
	one.first_ns = of->first.sum.h.t_ns;
	one.last_ns = list->sum.h.t_ns;
	return end_sample(p, &one, err);
}

static int add_memory(struct profile *p, const struct story_view *s)
{
	int err = 0;

	for (const struct resident_of *of = model_resident_each(s->v->m, NULL); of && !err;
	     of = model_resident_each(s->v->m, of)) {
		const struct subject *subject = model_find(s->v->m, &of->id);
		const struct resident_list *list = resident_shown(of, !subject || subject->final);

		for (size_t i = 0; i < list->n && !err; i++)
			err = add_held(p, s, of, list, &list->row[i]);
	}
	return err;
}

int profile_make(struct profile *p, const struct story_view *s)
{
	const struct history_row **rows = story_rows(s);
	int err = 0;

	memset(p, 0, sizeof(*p));
	p->bucket = calloc(PROFILE_BUCKETS, sizeof(*p->bucket));
	p->function_bucket = calloc(PROFILE_BUCKETS, sizeof(*p->function_bucket));
	p->drawn = calloc(s->h->rows + 1, sizeof(*p->drawn));
	if (!rows || !p->bucket || !p->function_bucket || !p->drawn)
		err = -ENOMEM;
	if (!err)
		/* add the name "~other" first, while the table of names has room */
		err = add_frame(p, &p->others, HISTORY_OTHERS);
	if (!err)
		err = add_drawn(p, s);
	for (size_t i = 0; i < s->h->rows && !err; i++)
		for (int end = 0; end < NR_ENDS && !err; end++)
			if (!(p->drawn[rows[i] - s->h->row] & 1u << end))
				err = add_faults(p, s, rows[i], end);
	for (size_t i = 0; i < s->v->m->growths && !err; i++)
		err = add_growth(p, s, &s->v->m->growth[i]);
	if (!err)
		err = add_memory(p, s);
	free(rows);
	if (!err && p->left_out)
		err = add_sample(p, &p->others);
	if (err)
		profile_free(p);
	return err;
}

void profile_free(struct profile *p)
{
	for (size_t i = 0; i < p->names; i++)
		free(p->name[i].texts);
	free(p->name);
	free(p->bucket);
	free(p->function_bucket);
	free(p->sample);
	free(p->cell);
	free(p->drawn);
	memset(p, 0, sizeof(*p));
}

bool profile_has(const struct profile *p, enum profile_measure measure)
{
	bool is_memory = measure == MEASURE_MEMORY || measure == MEASURE_MEMORY_GROWTH;

	return !is_memory || p->total[MEASURE_MEMORY];
}

enum profile_measure profile_first_measure(const struct profile *p)
{
	if (p->total[MEASURE_MEMORY])
		return MEASURE_MEMORY;
	for (int i = 0; i < NR_MEASURES; i++)
		if (p->total[i])
			return i;
	return 0;
}

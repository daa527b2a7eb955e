// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/record_layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char types[] = {[VALUE_UNSIGNED] = 'u', [VALUE_SIGNED] = 's', [VALUE_TEXT] = 't'};

static void free_images(struct kind_layout *k)
{
	free(k->first);
	free(k->last);
	k->first = k->last = NULL;
}

void record_layout_clear(struct record_layout *l)
{
	for (size_t i = 0; i < l->kinds; i++) {
		free_images(l->kind[i]);
		free(l->kind[i]->part);
		free(l->kind[i]);
	}
	l->kinds = 0;
}

struct kind_layout *record_layout_of(const struct record_layout *l, uint32_t kind)
{
	for (size_t i = 0; i < l->kinds; i++)
		if (l->kind[i]->kind == kind)
			return l->kind[i];
	return NULL;
}

static const struct record_fields *known_fields(uint32_t kind)
{
	for (size_t i = 0; i < record_fields_count; i++)
		if (record_fields[i].kind == kind)
			return &record_fields[i];
	return NULL;
}

static int add_kind(struct record_layout *l, uint32_t kind, const char *name,
		    struct kind_layout **ret)
{
	const struct record_fields *known = known_fields(kind);
	struct kind_layout *k;

	*ret = record_layout_of(l, kind);
	if (*ret)
		return 0;
	if (l->kinds == KINDS_MAX)
		return -EINVAL;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->kind = kind;
	k->len = k->bytes = known ? known->len : sizeof(struct record);
	k->short_len = known ? known->short_len : 0;
	snprintf(k->name, sizeof(k->name), "%s", name);
	l->kind[l->kinds++] = *ret = k;
	return 0;
}

static int add_part(struct kind_layout *k, const struct part *p)
{
	struct part *more;

	if (k->ids + p->count > ELEMENTS_MAX)
		return -EINVAL;
	more = realloc(k->part, (k->parts + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	k->part = more;
	more[k->parts] = *p;
	more[k->parts++].id = k->ids + 1;
	k->ids += p->count;
	return 0;
}

/* Adds an unknown field, which is stored after the struct. */
static int add_unknown(struct kind_layout *k, const struct part *of)
{
	struct part p = *of;
	uint64_t bytes;
	int err;

	p.stride = p.type == VALUE_TEXT ? (p.size + 7) / 8 * 8 : 8;
	p.offset = (k->bytes + 7) / 8 * 8;
	bytes = p.offset + (uint64_t)p.count * p.stride;
	if (bytes > RECORD_BYTES_MAX)
		return -EINVAL;
	p.is_known = false;
	err = add_part(k, &p);
	if (!err)
		k->bytes = bytes;
	return err;
}

static const struct record_field *find_known(uint32_t kind, const struct part *p)
{
	const struct record_fields *known = known_fields(kind);

	for (size_t i = 0; known && i < known->fields; i++) {
		const struct record_field *f = &known->field[i];

		if (!strcmp(f->name, p->name))
			return f->type == p->type && (p->type == VALUE_TEXT || p->size <= f->size)
				       ? f
				       : NULL;
	}
	return NULL;
}

/* Adds a field of a recording. Array elements unknown to this version become an unknown field. */
static int add_field(struct kind_layout *k, const struct part *given)
{
	const struct record_field *f = find_known(k->kind, given);
	struct part p = *given, rest = *given;
	uint32_t n;
	int err = 0;

	if (!f || p.from >= f->count)
		return add_unknown(k, &p);
	n = f->count - p.from < p.count ? f->count - p.from : p.count;
	p.count = n;
	p.offset = f->offset + p.from * f->stride;
	p.stride = f->stride;
	p.size = f->size;
	p.is_known = true;
	err = add_part(k, &p);
	rest.from += n;
	rest.count -= n;
	return err || !rest.count ? err : add_unknown(k, &rest);
}

int record_layout_add(struct record_layout *l, const struct field_record *f)
{
	struct part p = {.size = f->size, .count = f->count, .from = f->from, .type = f->type};
	struct kind_layout *k;
	int err = add_kind(l, f->of, f->record, &k);

	snprintf(p.name, sizeof(p.name), "%s", f->name);
	snprintf(p.unit, sizeof(p.unit), "%s", f->unit);
	return err ? err : add_unknown(k, &p);
}

/*
 * Creates the memory of `first` and `last` for each kind of record. If memory runs out, other kinds
 * have none, because theirs may be too small now.
 */
static int make_images(struct record_layout *l)
{
	for (size_t i = 0; i < l->kinds; i++)
		free_images(l->kind[i]);
	for (size_t i = 0; i < l->kinds; i++) {
		struct kind_layout *k = l->kind[i];
		const struct record_fields *known = known_fields(k->kind);

		k->bytes = (k->bytes + 7) / 8 * 8;
		k->first = calloc(1, k->bytes);
		k->last = calloc(1, k->bytes);
		if (!k->first || !k->last)
			return -ENOMEM;
		for (size_t j = 0; known && j < known->fields; j++) {
			const struct record_field *f = &known->field[j];

			for (uint32_t n = 0; f->unknown_is_max && n < f->count; n++)
				memset(k->first + f->offset + n * f->stride, 0xff, f->size);
		}
		/* a field of the recording is 0 until a record sets it */
		for (size_t j = 0; j < k->parts; j++)
			for (uint32_t n = 0; n < k->part[j].count; n++)
				memset(k->first + k->part[j].offset + n * k->part[j].stride, 0,
				       k->part[j].size);
		memcpy(k->last, k->first, k->bytes);
	}
	return 0;
}

int record_layout_own(struct record_layout *l)
{
	for (size_t i = 0; i < record_fields_count; i++) {
		const struct record_fields *known = &record_fields[i];
		struct kind_layout *k;
		int err = add_kind(l, known->kind, known->name, &k);

		for (size_t j = 0; !err && j < known->fields; j++) {
			const struct record_field *f = &known->field[j];
			struct part p = {.size = f->size, .count = f->count, .type = f->type};

			snprintf(p.name, sizeof(p.name), "%s", f->name);
			snprintf(p.unit, sizeof(p.unit), "%s", f->unit);
			err = add_field(k, &p);
		}
		if (err)
			return err;
	}
	return make_images(l);
}

int record_layout_finish(struct record_layout *l)
{
	return make_images(l);
}

static int read_line(struct record_layout *l, struct kind_layout **k, const char *line)
{
	struct part p = {};
	uint32_t kind;
	char name[32], type;
	const char *at;

	if (sscanf(line, "r %u %31s", &kind, name) == 2)
		return record_layout_of(l, kind) ? -EINVAL : add_kind(l, kind, name, k);
	if (!*k || sscanf(line, "f %c %u %u %u %63s %15s", &type, &p.size, &p.count, &p.from,
			  p.name, p.unit) != 6)
		return -EINVAL;
	at = memchr(types, type, sizeof(types));
	if (!at || !p.size || !p.count || p.count > ELEMENTS_MAX || p.from > ELEMENTS_MAX ||
	    p.size > (type == 't' ? RECORD_BYTES_MAX : 8) || (type == 't' && p.count != 1))
		return -EINVAL;
	if (type != 't' && p.size != 1 && p.size != 2 && p.size != 4 && p.size != 8)
		return -EINVAL;
	for (size_t i = 0; i < (*k)->parts; i++) /* no two fields may share memory */
		if (!strcmp((*k)->part[i].name, p.name) &&
		    p.from < (*k)->part[i].from + (*k)->part[i].count)
			return -EINVAL;
	if (!strcmp(p.unit, "-"))
		p.unit[0] = 0;
	p.type = at - types;
	return add_field(*k, &p);
}

int record_layout_read(struct record_layout *l, const char *text, size_t size)
{
	struct kind_layout *k = NULL;
	const char *end = text + size;
	char line[256];

	while (text < end) {
		const char *stop = memchr(text, '\n', end - text);
		int err;

		if (!stop || (size_t)(stop - text) >= sizeof(line))
			return -EINVAL;
		snprintf(line, sizeof(line), "%.*s", (int)(stop - text), text);
		err = read_line(l, &k, line);
		if (err)
			return err;
		text = stop + 1;
	}
	return make_images(l);
}

void record_layout_text(const struct record_layout *l, struct buf *to)
{
	for (size_t i = 0; i < l->kinds; i++) {
		const struct kind_layout *k = l->kind[i];

		buf_printf(to, "r %u %s\n", k->kind, k->name);
		for (size_t j = 0; j < k->parts; j++) {
			const struct part *p = &k->part[j];

			buf_printf(to, "f %c %u %u %u %s %s\n", types[p->type], p->size, p->count,
				   p->from, p->name, p->unit[0] ? p->unit : "-");
		}
	}
}

bool record_layout_unknown(const struct record_layout *l, size_t nth, struct field_record *ret)
{
	for (size_t i = 0; i < l->kinds; i++) {
		const struct kind_layout *k = l->kind[i];

		for (size_t j = 0; j < k->parts; j++) {
			const struct part *p = &k->part[j];

			if (p->is_known || nth--)
				continue;
			*ret = (struct field_record){
				.h = {RECORD_FIELD, sizeof(*ret)},
				.of = k->kind,
				.type = p->type,
				.size = p->size,
				.from = p->from,
				.count = p->count,
			};
			snprintf(ret->record, sizeof(ret->record), "%s", k->name);
			snprintf(ret->name, sizeof(ret->name), "%s", p->name);
			snprintf(ret->unit, sizeof(ret->unit), "%s", p->unit);
			return true;
		}
	}
	return false;
}

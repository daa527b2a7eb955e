// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes profile.proto of github.com/google/pprof, uncompressed: the caller compresses it. */
#include <string.h>

#include "render/formats/format_makers.h"
#include "render/formats/pprof.h"
#include "render/profile.h"

/* Field numbers of the messages in profile.proto. */
enum {
	SAMPLE_TYPE = 1,
	SAMPLE,
	LOCATION = 4,
	FUNCTION,
	STRINGS,
	TIME_NANOS = 9,
	DURATION_NANOS,
	DEFAULT_TYPE = 14
};
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_FILE = 4 };
/* Indexes of the first strings in the string table, before the names of frames. */
enum { S_EMPTY, S_PID, S_COMM, S_UNIT_FIRST };
#define S_NAMES (S_UNIT_FIRST + 2 * NR_MEASURES)

static void put_varint(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_putc(b, v | 0x80);
	buf_putc(b, v);
}

static void put_number(struct buf *b, unsigned int field, uint64_t v)
{
	put_varint(b, field << 3);
	put_varint(b, v);
}

static void put_bytes_of(struct buf *b, unsigned int field, const char *s, size_t len)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, len);
	buf_add(b, s, len);
}

/* Appends the message in `inner` as a field of `b`, and empties `inner`. */
static void put_message(struct buf *b, unsigned int field, struct buf *inner)
{
	put_bytes_of(b, field, inner->s ? inner->s : "", inner->len);
	buf_next_part(b, inner);
}

static void put_string(struct buf *b, const char *s)
{
	struct buf safe = {};

	/* protobuf strings are UTF-8: escape bytes that are not */
	buf_safe(&safe, s, true);
	put_message(b, STRINGS, &safe);
	buf_end_part(b, &safe);
}

/* Returns whether the profile has a measure of `chosen`, which has a bit for each of them. */
static bool shows(const struct profile *p, unsigned int chosen, int measure)
{
	return chosen >> measure & 1 && profile_has(p, measure);
}

static bool is_empty(const struct profile *p, const struct profile_sample *s, unsigned int chosen)
{
	for (int i = 0; i < NR_MEASURES; i++)
		if (shows(p, chosen, i) && s->value[i])
			return false;
	return true;
}

/* A location is a frame and the functions that the compiler inlined into it. */
static void put_sample(struct buf *b, const struct profile *p, const struct profile_sample *s,
		       unsigned int chosen, struct buf *one, struct buf *inner)
{
	for (uint32_t k = s->frames, within = 0; k-- > 0;) {
		if (s->frame[k] + 1 != within)
			put_varint(inner, s->frame[k] + 1);
		within = p->name[s->frame[k]].inlined_into;
	}
	put_message(one, SAMPLE_LOCATIONS, inner);
	for (int i = 0; i < NR_MEASURES; i++)
		if (shows(p, chosen, i))
			put_varint(inner, s->value[i]);
	put_message(one, SAMPLE_VALUES, inner);
	if (s->row) {
		put_number(inner, LABEL_KEY, S_PID);
		put_number(inner, LABEL_NUM, s->row->id.pid);
		put_message(one, SAMPLE_LABEL, inner);
	}
	put_message(b, SAMPLE, one);
}

/* Adds a location with one line for each inlined function, the innermost first, and its caller. */
static void put_location(struct buf *b, const struct profile *p, uint32_t number, struct buf *one,
			 struct buf *inner)
{
	const struct profile_name *n = &p->name[number];

	put_number(one, LOCATION_ID, number + 1);
	for (;; n = &p->name[n->inlined_into - 1]) {
		put_number(inner, LINE_FUNCTION, n->same_function + 1);
		if (n->line)
			put_number(inner, LINE_LINE, n->line);
		put_message(one, LOCATION_LINE, inner);
		if (!n->inlined_into)
			break;
	}
	put_message(b, LOCATION, one);
}

/* Adds all functions. The strings of name number N are the strings 2 N and 2 N + 1 of the names. */
static void put_functions(struct buf *b, const struct profile *p, struct buf *one)
{
	for (size_t i = 0; i < p->names; i++) {
		if (p->name[i].same_function != i)
			continue;
		put_number(one, FUNCTION_ID, i + 1);
		put_number(one, FUNCTION_NAME, S_NAMES + 2 * i);
		put_number(one, FUNCTION_FILE, S_NAMES + 2 * i + 1);
		put_message(b, FUNCTION, one);
	}
}

static void put_names(struct buf *b, const struct profile *p, struct buf *one, struct buf *inner)
{
	for (size_t i = 0; i < p->names; i++)
		put_location(b, p, i, one, inner);
	put_functions(b, p, one);
	put_string(b, "");
	put_string(b, "pid");
	put_string(b, "comm");
	for (int i = 0; i < NR_MEASURES; i++) {
		put_string(b, measures[i].key);
		put_string(b, measures[i].unit);
	}
	for (size_t i = 0; i < p->names; i++) {
		bool is_first = p->name[i].same_function == i;

		put_string(b, is_first ? profile_function(&p->name[i]) : "");
		put_string(b, is_first ? p->name[i].file : "");
	}
}

void format_pprof(struct buf *b, const struct story_view *s)
{
	struct profile p;

	if (profile_make(&p, s)) {
		b->failed = true;
		return;
	}
	pprof_write(b, s, &p, ~0u);
	profile_free(&p);
}

/* Returns the measure that readers show first. */
static int first_measure(const struct profile *p, unsigned int chosen)
{
	int first = profile_first_measure(p);

	while (!shows(p, chosen, first))
		first = (first + 1) % NR_MEASURES;
	return first;
}

void pprof_write(struct buf *b, const struct story_view *s, const struct profile *p,
		 unsigned int chosen)
{
	struct buf one = {}, inner = {};

	for (int i = 0; i < NR_MEASURES; i++) {
		if (!shows(p, chosen, i))
			continue;
		put_number(&one, TYPE_TYPE, S_UNIT_FIRST + 2 * i);
		put_number(&one, TYPE_UNIT, S_UNIT_FIRST + 2 * i + 1);
		put_message(b, SAMPLE_TYPE, &one);
	}
	for (size_t i = 0; i < p->samples; i++)
		if (chosen == ~0u || !is_empty(p, &p->sample[i], chosen))
			put_sample(b, p, &p->sample[i], chosen, &one, &inner);
	put_names(b, p, &one, &inner);
	put_number(b, TIME_NANOS, s->v->m->host.wall_ns);
	put_number(b, DURATION_NANOS, story_seconds(s) * 1e9);
	/* without a default type, readers show the last sample type, which may be empty */
	put_number(b, DEFAULT_TYPE, S_UNIT_FIRST + 2 * first_measure(p, chosen));
	buf_end_part(b, &one);
	buf_end_part(b, &inner);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the list of fields in a recording at its bounds. A hostile or a later program may have
 * written the list.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/record_layout.h"
#include "tap.h"

#define R	  "r 5000 later\n" /* a kind of record that this version does not know */
#define HEAD	  sizeof(struct record)
#define WORDS_MAX ((RECORD_BYTES_MAX - HEAD) / 8)

static struct record_layout l;

static int reads(const char *text)
{
	record_layout_clear(&l);
	return record_layout_read(&l, text, strlen(text));
}

static const struct {
	const char *text;
	bool good;
	const char *name;
} lists[] = {
	{"", true, "no field"},
	{R, true, "a kind without fields"},
	{"r 5000 later", false, "a line without an end"},
	{R R, false, "a kind that is there twice"},
	{"f u 8 1 0 a -\n", false, "a field of no kind"},
	{R "x\n", false, "a line of another sort"},
	{R "f u 8 1 0 a\n", false, "a field without a unit"},
	{R "f u 1 1 0 a -\nf u 2 1 0 b -\nf u 4 1 0 c -\nf u 8 1 0 d ns\n", true, "numbers"},
	{R "f s 1 1 0 a -\nf s 8 1 0 d -\n", true, "signed numbers"},
	{R "f x 8 1 0 a -\n", false, "a type that is not known"},
	{R "f u 0 1 0 a -\n", false, "a number of no bytes"},
	{R "f u 3 1 0 a -\n", false, "of 3 bytes"},
	{R "f u 5 1 0 a -\n", false, "of 5 bytes"},
	{R "f u 7 1 0 a -\n", false, "of 7 bytes"},
	{R "f u 9 1 0 a -\n", false, "of 9 bytes"},
	{R "f u 16 1 0 a -\n", false, "of 16 bytes"},
	{R "f u 8 0 0 a -\n", false, "an array of no elements"},
	{R "f u 8 1 8192 a -\n", true, "the highest index"},
	{R "f u 8 1 8193 a -\n", false, "an index that is too high"},
	{R "f u 8 8193 0 a -\n", false, "an array that is too long"},
	{R "f t 3 1 0 a -\n", true, "a text of any size"},
	{R "f t 3 2 0 a -\n", false, "two texts"},
	{R "f u 4 4 0 a -\nf u 4 4 4 a -\n", true, "parts of an array"},
	{R "f u 4 4 0 a -\nf u 4 4 3 a -\n", false, "parts that share an element"},
	{R "f u 4 4 0 a -\nf u 4 4 0 b -\n", true, "two arrays"},
	{R "f u 4 4 0 a -\nr 5001 other\nf u 4 4 0 a -\n", true, "two kinds"},
};

static void test_lists(void)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		is_u64(reads(lists[i].text), lists[i].good ? 0 : (uint64_t)-EINVAL, lists[i].name);
}

static void test_lengths(void)
{
	char text[600];
	size_t n;

	for (size_t len = 255; len < 257; len++) {
		n = snprintf(text, sizeof(text), "r 5000 later%*s\n", (int)(len - 12), "");
		is_u64(record_layout_read(&(struct record_layout){}, text, n - 1),
		       (uint64_t)-EINVAL, "a line without an end");
		is_u64(reads(text), len < 256 ? 0 : (uint64_t)-EINVAL,
		       len < 256 ? "the longest line" : "a line that is too long");
	}
	snprintf(text, sizeof(text), R "f u 1 %zu 0 a -\n", WORDS_MAX);
	is_u64(reads(text), 0, "the largest record");
	is_u64(record_layout_of(&l, 5000)->bytes, RECORD_BYTES_MAX, "its bytes");
	snprintf(text, sizeof(text), R "f u 1 %zu 0 a -\nf u 1 1 0 b -\n", WORDS_MAX);
	is_u64(reads(text), (uint64_t)-EINVAL, "and one more field");
	snprintf(text, sizeof(text), R "f u 1 %zu 0 a -\n", WORDS_MAX + 1);
	is_u64(reads(text), (uint64_t)-EINVAL, "or element");
	snprintf(text, sizeof(text), R "f t %zu 1 0 a -\n", 8 * WORDS_MAX);
	is_u64(reads(text), 0, "the longest text");
	snprintf(text, sizeof(text), R "f t %zu 1 0 a -\n", 8 * WORDS_MAX + 1);
	is_u64(reads(text), (uint64_t)-EINVAL, "and one that is longer");
}

static void test_kinds(void)
{
	static char text[64 * (KINDS_MAX + 1)];
	size_t n = 0;

	for (int i = 0; i <= KINDS_MAX; i++) {
		if (i == KINDS_MAX)
			is_u64(reads(text), 0, "so many kinds of records");
		n += snprintf(text + n, sizeof(text) - n, "r %d kind\n", 5000 + i);
	}
	is_u64(reads(text), (uint64_t)-EINVAL, "and one more");
	ok(record_layout_of(&l, 5000 + KINDS_MAX - 1) && !record_layout_of(&l, 5000 + KINDS_MAX),
	   "the last one");
}

static void test_places(void)
{
	const struct kind_layout *k;
	struct field_record f = {};

	is_u64(reads(R "f u 1 3 0 a -\nf t 9 1 0 b -\nf s 4 1 5 c ns\n"), 0, "fields");
	k = record_layout_of(&l, 5000);
	ok(k->len == HEAD && k->bytes == HEAD + 3 * 8 + 16 + 8 && k->ids == 5 && !k->short_len,
	   "the record behind its header");
	ok(k->part[0].offset == HEAD && k->part[0].stride == 8 && k->part[0].id == 1, "an array");
	ok(k->part[1].offset == HEAD + 24 && k->part[1].stride == 16 && k->part[1].id == 4,
	   "a text");
	ok(k->part[2].offset == HEAD + 40 && k->part[2].id == 5 && k->part[2].from == 5, "a part");
	ok(record_layout_unknown(&l, 0, &f) && f.of == 5000 && f.count == 3 && f.size == 1 &&
		   f.type == VALUE_UNSIGNED && !strcmp(f.name, "a") && !strcmp(f.unit, ""),
	   "the first field that is not known");
	ok(record_layout_unknown(&l, 2, &f) && f.count == 1 && f.from == 5 && f.size == 4 &&
		   f.type == VALUE_SIGNED && !strcmp(f.name, "c") && !strcmp(f.unit, "ns") &&
		   !strcmp(f.record, "later"),
	   "the last one");
	ok(!record_layout_unknown(&l, 3, &f), "no further one");
}

/* Returns the kind of a process whose counters of faults have `n` elements from `from` on. */
static const struct kind_layout *faults(uint32_t n, uint32_t from, uint32_t size)
{
	char text[200];

	snprintf(text, sizeof(text), "r %d process\nf u %u %u %u c.fault_kind -\n", RECORD_PROCESS,
		 size, n, from);
	return reads(text) ? NULL : record_layout_of(&l, RECORD_PROCESS);
}

/* An array may have other elements in a recording than in this version. */
static void test_known(void)
{
	const uint32_t at = offsetof(struct process_record, c.fault_kind), n = NR_FAULT_KINDS;
	const struct kind_layout *k = faults(n, 0, 8);

	ok(k && k->parts == 1 && k->part[0].is_known && k->part[0].offset == at &&
		   k->part[0].count == n && k->bytes == sizeof(struct process_record),
	   "the array of this version");
	k = faults(n - 1, 1, 8);
	ok(k && k->parts == 1 && k->part[0].is_known && k->part[0].offset == at + 8 &&
		   k->part[0].count == n - 1,
	   "all elements but the first");
	k = faults(n, 0, 4);
	ok(k && k->parts == 1 && k->part[0].is_known && k->part[0].size == 8, "smaller numbers");
	k = faults(n + 1, 0, 8);
	ok(k && k->parts == 2 && k->part[0].is_known && k->part[0].count == n &&
		   !k->part[1].is_known && k->part[1].from == n && k->part[1].count == 1 &&
		   k->part[1].id == n + 1 && k->bytes == sizeof(struct process_record) + 8,
	   "an array with one more element");
	k = faults(1, n - 1, 8);
	ok(k && k->parts == 1 && k->part[0].is_known && k->part[0].offset == at + 8 * (n - 1),
	   "only the last element");
	k = faults(1, n, 8);
	ok(k && k->parts == 1 && !k->part[0].is_known &&
		   k->part[0].offset == sizeof(struct process_record),
	   "only the element behind it");
}

/* Reads one field of a process. Returns whether it is the known field of this name. */
static bool is_known(const char *field)
{
	char text[200];

	snprintf(text, sizeof(text), "r %d process\nf %s -\n", RECORD_PROCESS, field);
	return !reads(text) && record_layout_of(&l, RECORD_PROCESS)->part[0].is_known;
}

static void test_types(void)
{
	ok(is_known("u 4 1 0 subject.pid"), "a number of this version");
	ok(is_known("u 2 1 0 subject.pid"), "one that was smaller");
	ok(!is_known("u 8 1 0 subject.pid"), "one that is larger does not fit");
	ok(!is_known("s 4 1 0 subject.pid"), "nor one with a sign");
	ok(is_known("t 16 1 0 g.comm"), "a text of this version");
	ok(is_known("t 64 1 0 g.comm"), "a longer one is cut");
	ok(!is_known("u 8 1 0 g.comm"), "a number is no text");
	ok(!is_known("u 4 1 0 subject.pi"), "another name");
}

/* A field that a recording lacks is 0, or ~0 if this says that the value is not known. */
static void test_lacking(void)
{
	size_t other = 0, unknown = 0;

	for (size_t i = 0; i < record_fields_count; i++) {
		const struct record_fields *of = &record_fields[i];
		unsigned char *want = calloc(1, of->len);
		const struct kind_layout *k;
		char text[64];

		for (size_t j = 0; j < of->fields; j++)
			for (uint32_t n = 0; of->field[j].unknown_is_max && n < of->field[j].count;
			     n++, unknown++)
				memset(want + of->field[j].offset + n * of->field[j].stride, 0xff,
				       of->field[j].size);
		snprintf(text, sizeof(text), "r %u x\n", of->kind);
		if (reads(text))
			abort();
		k = record_layout_of(&l, of->kind);
		other += k->len != of->len || memcmp(k->first, want, of->len) ||
			 memcmp(k->last, want, of->len);
		free(want);
	}
	ok(unknown > 0, "%zu values have a number for what is not known", unknown);
	is_u64(other, 0, "they have it without a field, and all others are 0");
}

static void test_added(void)
{
	struct field_record f = {.of = 5000, .type = VALUE_UNSIGNED, .size = 8, .count = WORDS_MAX};

	record_layout_clear(&l);
	strcpy(f.record, "later");
	strcpy(f.name, "a");
	is_u64(record_layout_add(&l, &f), 0, "a field of another version");
	strcpy(f.name, "b");
	f.count = 1;
	is_u64(record_layout_add(&l, &f), (uint64_t)-EINVAL, "a record without room");
	is_u64(record_layout_finish(&l), 0, "the layout is completed");
	is_u64(record_layout_of(&l, 5000)->bytes, RECORD_BYTES_MAX, "with the first field");
	record_layout_clear(&l);
	is_u64(l.kinds, 0, "and cleared");
}

static bool is_same(const struct part *a, const struct part *b)
{
	return a->id == b->id && a->count == b->count && a->offset == b->offset &&
	       a->stride == b->stride && a->size == b->size && a->type == b->type &&
	       a->is_known == b->is_known && a->from == b->from && !strcmp(a->name, b->name) &&
	       !strcmp(a->unit, b->unit);
}

/* What a version writes, it reads, and with the same places. */
static void test_own(void)
{
	struct record_layout own = {};
	size_t other = 0;
	struct field_record f;
	struct buf text = {};

	if (record_layout_own(&own))
		abort();
	record_layout_text(&own, &text);
	is_u64(reads(text.s), 0, "the fields of this version");
	is_u64(l.kinds, own.kinds, "all kinds");
	for (size_t i = 0; i < l.kinds; i++) {
		const struct kind_layout *a = l.kind[i], *b = own.kind[i];

		other += a->kind != b->kind || a->bytes != b->bytes || a->ids != b->ids ||
			 a->parts != b->parts || strcmp(a->name, b->name) != 0 ||
			 memcmp(a->first, b->first, a->bytes) != 0 ||
			 memcmp(a->last, b->last, a->bytes) != 0;
		for (size_t j = 0; j < a->parts && a->parts == b->parts; j++)
			other += !is_same(&a->part[j], &b->part[j]);
	}
	is_u64(other, 0, "in the same places");
	ok(!record_layout_unknown(&l, 0, &f), "all are known");
	record_layout_clear(&own);
	buf_free(&text);
}

int main(void)
{
	test_lists();
	test_lengths();
	test_kinds();
	test_places();
	test_known();
	test_types();
	test_lacking();
	test_added();
	test_own();
	record_layout_clear(&l);
	return tap_done();
}

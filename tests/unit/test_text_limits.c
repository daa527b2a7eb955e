// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how triage parses the text of lines at its limits: frames, numbers, JSON, format strings
 * that are no reports, and prefixes that it learns from the log.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"
#include "triage/container.h"
#include "triage/match.h"
#include "triage/shape.h"
#include "triage/signature.h"

static void test_numbers(void)
{
	static const struct {
		const char *text;
		size_t decimal, hex;
		uint64_t value, hex_value;
	} rows[] = {
		{"", 0, 0, 0, 0},
		{"x", 0, 0, 0, 0},
		{"12x", 2, 2, 12, 0x12},
		{"0x", 1, 0, 0, 0},
		{"0xfg", 1, 3, 0, 0xf},
		{"1234567890123456", 16, 16, 1234567890123456, 0x1234567890123456},
		{"12345678901234567", 17, 0, 12345678901234567, 0},
		{"9999999999999999999", 19, 0, 9999999999999999999u, 0},
		{"10000000000000000000", 0, 0, 0, 0},
		{"0xffffffffffffffff", 1, 18, 0, UINT64_MAX},
		{"0x10000000000000000", 1, 0, 0, 0},
		{"AfG", 0, 2, 0, 0xaf},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str s = str_of(rows[i].text);
		uint64_t value = 0, hex = 0;

		ok(str_decimal(s, &value) == rows[i].decimal && value == rows[i].value &&
			   str_hex(s, &hex) == rows[i].hex && hex == rows[i].hex_value,
		   "the number \"%s\"", rows[i].text);
	}
}

static void test_frames(void)
{
	static const struct {
		const char *text, *function, *module;
		size_t length;
	} rows[] = {
		{"[<12345678>] f+0x1/0x2", "f", "", 22},
		{"[<1234567>] f+0x1/0x2", "", "", 0},
		{"f+0x1/0x2 [m]", "f", "m", 13},
		{"f+0x1/0x2  [m]", "f", "m", 14},
		{"f+0x1/0x2   [m]", "f", "", 9},
		{"f+0x1/0x2 [9m]", "f", "", 9},
		{"f+0x1/0x2 [m9]", "f", "m9", 14},
		{"f+0x1/0x2 [m-n_o]", "f", "m-n_o", 17},
		{"f+0x1/0x2 []", "f", "", 9},
		{"f+0x1/0x2 [inline]", "f", "", 9},
		{"f+0x1/0x2 [abcdef12]", "f", "", 9},
		{"f+0x1/0x2 [abcdef1]", "f", "abcdef1", 19},
		{"f+0x1/0x2 [abcdefab]", "f", "abcdefab", 20},
		{"f+0x1/0x2 [abcdef1234567890]", "f", "", 9},
		{"f+0x1/0x2 [m 0123abcd]", "f", "m", 22},
		{"f+0x1", "f", "", 5},
		{"f+0x1/", "f", "", 5},
		{"f+0x", "f", "", 1},
		{"f+1/2", "f", "", 1},
		{"f (a.c:1) m", "f", "m", 11},
		{"f (.c:1) m", "f", "", 1},
		{"f (a.c:x) m", "f", "", 1},
		{"f (a.d:1) m", "f", "", 1},
		{"f (??:?) m", "f", "m", 10},
		{"f (a.c:1 (discriminator 3)) m", "f", "m", 29},
		{"f (a.c:1", "f", "", 1},
		{".f+0x1/0x2", "f", "", 10},
		{".", "", "", 0},
		{"<a::b>::f+0x1/0x2", "<a::b>::f", "", 17},
		{"<a::b::f+0x1/0x2", "", "", 0},
		{"a::f+0x1/0x2", "a::f", "", 12},
		{"a:f+0x1/0x2", "a", "", 1},
		{":m:f+0x1/0x2", "f", "m", 12},
		{":m f+0x1/0x2", "", "", 0},
		{"1f+0x1/0x2", "", "", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame f = {};
		size_t n = frame_parse(str_of(rows[i].text), &f);

		if (!ok(n == rows[i].length && str_is(f.function, rows[i].function) &&
				str_is(f.module, rows[i].module),
			"the frame \"%s\"", rows[i].text))
			printf("#   %zu bytes: \"%.*s\" [%.*s]\n", n, STR_ARG(f.function),
			       STR_ARG(f.module));
	}
}

static void test_long_names(void)
{
	for (size_t n = 511; n <= 513; n++) {
		struct buf b = {};
		struct frame f = {};

		for (size_t i = 0; i < n; i++)
			buf_putc(&b, 'f');
		buf_printf(&b, "+0x1/0x2");
		ok(frame_parse((struct str){b.s, b.len}, &f) == (n <= 512 ? n + 8 : 512) &&
			   f.function.n == (n < 512 ? n : 512) && f.size == (n <= 512 ? 2 : 0),
		   "a function with a name of %zu bytes", n);
		buf_free(&b);
	}
}

/* ---- first lines of reports ---- */

static const struct signature *signature_of(struct str text)
{
	static struct signature_index ix;
	struct captures c = {};

	if (!ix.from[256])
		signature_index_make(&ix);
	return signature_find(&ix, text, &c);
}

static void test_first_lines(void)
{
	static const struct {
		const char *text;
		bool report;
	} rows[] = {
		{"x BUG: KASAN: wild-memory-access in f", true},
		{"x \"BUG: KASAN: wild-memory-access in f", false},
		{"x 'BUG: KASAN: wild-memory-access in f", false},
		{"x `BUG: KASAN: wild-memory-access in f", false},
		{"BUG: KASAN: %s in f+0x1/0x2", false},
		{"BUG: KASAN: %016lx in f+0x1/0x2", false},
		{"BUG: KASAN: %px in f+0x1/0x2", false},
		{"BUG: KASAN: %pS in f+0x1/0x2", false},
		{"BUG: KASAN: %pSx in f+0x1/0x2", true},
		{"BUG: KASAN: %sx in f+0x1/0x2", true},
		{"BUG: KASAN: 9% in f+0x1/0x2", true},
		{"BUG: KASAN: %#x in f+0x1/0x2", false},
		{"  BUG: KASAN: wild-memory-access in f", true},
		{"UG: KASAN: wild-memory-access in f", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(!!signature_of(str_of(rows[i].text)) == rows[i].report, "%s: %s", rows[i].text,
		   rows[i].report ? "a report" : "no report");
}

/* The first 1024 bytes of a line are searched. */
static void test_far(void)
{
	static const char panic[] = "BUG: memory leak";
	const size_t length = sizeof(panic) - 1;

	for (size_t end = 1023; end <= 1025; end++) {
		struct buf b = {};

		for (size_t i = 0; i < end - length; i++)
			buf_putc(&b, ' ' + (i % 2 ? 0 : 'x' - ' '));
		buf_printf(&b, "%s and more", panic);
		ok(!!signature_of((struct str){b.s, b.len}) == (end <= 1024),
		   "a report that ends %zu bytes behind the begin of the line", end);
		buf_free(&b);
	}
}

/* ---- prefixes that are learned ---- */

static void is_learned(const char *log, const char *line, const char *rest, const char *name)
{
	struct str s = str_of(line);
	struct shapes shapes;

	shapes_learn(&shapes, str_of(log));
	s = str_from(s, shape_length(&shapes, s));
	if (!ok(str_is(s, rest), "%s", name))
		printf("#   \"%.*s\"\n", STR_ARG(s));
}

static void test_shapes(void)
{
	is_learned("a|1| CPU: 1\na|2| Oops: 0\na|3| RIP: 0010:f\n", "b|7| x", "x",
		   "three kinds of lines make a prefix");
	is_learned("a|1| CPU: 1\na|2| Oops: 0\na|3| Oops: 1\n", "b|7| x", "b|7| x",
		   "two kinds of lines do not");
	/* the last byte of U+00C0 is 0x80, the first that belongs to a letter */
	is_learned("\u00c01| CPU: 1\n\u00c02| Oops: 0\n\u00c03| RIP: 0010:f\n", "\u00e94| x", "x",
		   "letters of UTF-8 belong to a word");
	is_learned("a_1| CPU: 1\na_2| Oops: 0\na_3| RIP: 0010:f\n", "b7| x", "x",
		   "so does an underscore");
	is_learned("a-1| CPU: 1\na-2| Oops: 0\na-3| RIP: 0010:f\n", "b7| x", "b7| x",
		   "a hyphen does not");
	is_learned("a|1| CPU: 1\na|2| Oops: 0\na|3| RIP: 0010:f\n", "b|7|   x", "  x",
		   "blanks that indent the text are kept");
}

/* Each of the beginnings of lines is looked for 256 times. */
static void test_seen(void)
{
	for (int bare = 254; bare <= 257; bare++) {
		struct buf b = {};
		char name[64];

		for (int i = 0; i < bare; i++)
			buf_printf(&b, "CPU: %d\n", i);
		buf_printf(&b, "a|1| CPU: 1\na|2| Oops: 0\na|3| RIP: 0010:f\n");
		snprintf(name, sizeof(name), "a prefix after %d lines without one", bare);
		is_learned(b.s, "b|7| x", bare < 256 ? "x" : "b|7| x", name);
		buf_free(&b);
	}
}

/* Of prefixes in different shapes, 4 are kept, the first of 16 that are counted. */
static void test_many_shapes(void)
{
	for (int shapes = 3; shapes <= 5; shapes++) {
		struct buf b = {};
		char name[64], line[16] = "", want[32] = "";

		for (int i = 1; i <= shapes; i++) {
			memset(line, '|', i);
			for (int m = 0; m < 3; m++)
				buf_printf(&b, "a%s %s\n", line,
					   m == 0   ? "CPU: 1"
					   : m == 1 ? "Oops: 0"
						    : "RIP: 0010:f");
		}
		snprintf(name, sizeof(name), "the last of %d prefixes", shapes);
		snprintf(want, sizeof(want), "b%s x", line);
		is_learned(b.s, want, shapes <= 4 ? "x" : want, name);
		buf_free(&b);
	}
}

static void test_candidates(void)
{
	for (int others = 14; others <= 16; others++) {
		struct buf b = {};
		char name[64];

		/* the marker that is looked for first is "RIP: 0010:" */
		for (int i = 1; i <= others; i++)
			buf_printf(&b, "a%.*s RIP: 0010:f\n", i, "||||||||||||||||||||");
		buf_printf(&b, "a# CPU: 1\na# Oops: 0\na# RIP: 0010:f\n");
		snprintf(name, sizeof(name), "a prefix beside %d others", others);
		is_learned(b.s, "b# x", others < 16 ? "x" : "b# x", name);
		buf_free(&b);
	}
}

static void test_long_prefixes(void)
{
	for (int n = 117; n <= 120; n++) {
		struct buf b = {};
		char word[128], name[64];

		memset(word, 'w', sizeof(word));
		for (int m = 0; m < 3; m++)
			buf_printf(&b, "other text\n%.*s| %s\n", n, word,
				   m == 0   ? "CPU: 1"
				   : m == 1 ? "Oops: 0"
					    : "RIP: 0010:f");
		snprintf(name, sizeof(name), "a prefix of %d bytes", n + 2);
		is_learned(b.s, "b| x", n + 2 < 120 ? "x" : "b| x", name);
		buf_free(&b);
	}
}

/* ---- records of journal export ---- */

static void test_binary(void)
{
	static const struct {
		const char *name;
		struct str data;
		size_t want;
	} rows[] = {
		{"a field and its line feed", STR("MESSAGE\n\3\0\0\0\0\0\0\0x\ny\nA=1\n"), 20},
		{"a field without a line feed", STR("MESSAGE\n\3\0\0\0\0\0\0\0x\ny"), 19},
		{"a field of which a byte is missing", STR("MESSAGE\n\3\0\0\0\0\0\0\0x\n"), 0},
		{"an empty field", STR("MESSAGE\n\0\0\0\0\0\0\0\0\nA=1\n"), 17},
		{"an empty field at the end", STR("MESSAGE\n\0\0\0\0\0\0\0\0"), 16},
		{"a size of which a byte is missing", STR("MESSAGE\n\0\0\0\0\0\0\0"), 0},
		{"a field of text", STR("MESSAGE=x\n"), 0},
		{"an empty line", STR("\n\0\0\0\0\0\0\0\0"), 0},
		{"a size of more than there is",
		 STR("MESSAGE\n\377\377\377\377\377\377\377\377x\n"), 0},
		{"a name of 63 bytes",
		 STR("NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN\n"
		     "\1\0\0\0\0\0\0\0x\n"),
		 74},
		{"a name of 65 bytes",
		 STR("NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN\n"
		     "\1\0\0\0\0\0\0\0x\n"),
		 0},
	};
	struct container c = {.form = FORM_EXPORT};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_u64(container_binary(&c, rows[i].data), rows[i].want, rows[i].name);
	c.form = FORM_PLAIN;
	is_u64(container_binary(&c, rows[0].data), 0, "another format has no binary fields");
}

/* The form of a log is found in its first 4096 bytes; that of dmesg --json in the first 64. */
static void test_forms(void)
{
	static const struct {
		const char *name, *begin;
		int blanks; /* between the two texts */
		const char *end;
		enum container_form want;
	} rows[] = {
		{"journal export", "__CURSOR=s", 0, "", FORM_EXPORT},
		{"journal export without a cursor", "__REALTIME_TIMESTAMP=1", 0, "", FORM_EXPORT},
		{"empty lines before it", "\n\r\n __CURSOR=s", 0, "", FORM_EXPORT},
		{"another field", "__CURSO=s", 0, "", FORM_PLAIN},
		{"dmesg, whose key ends at byte 64", "{", 56, "\"dmesg\": [", FORM_DMESG_JSON},
		{"dmesg, whose key ends at byte 65", "{", 57, "\"dmesg\": [", FORM_PLAIN},
		{"pretty JSON with a message at the end", "{\n", 4085, "\"MESSAGE\" : 1",
		 FORM_PRETTY},
		{"pretty JSON with a message behind that", "{\n", 4086, "\"MESSAGE\" : 1",
		 FORM_PLAIN},
		{"pretty JSON with a cursor", "{\n", 1, "\"__CURSOR\" : 1", FORM_PRETTY},
		{"JSON on one line", "{", 1, "\"MESSAGE\" : 1", FORM_PLAIN},
		{"verbose", "Fri 2026-11-20 [s=1;i=2]\n", 4, "PRIORITY=4", FORM_VERBOSE},
		{"verbose, with another indent", "Fri 2026-11-20 [s=1;i=2]\n", 3, "PRIORITY=4",
		 FORM_PLAIN},
		{"an indented field alone", "Fri 2026-11-20\n", 4, "PRIORITY=4", FORM_PLAIN},
		{"nothing", "", 0, "", FORM_PLAIN},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct container c;
		struct buf b = {};

		buf_printf(&b, "%s%*s%s", rows[i].begin, rows[i].blanks, "", rows[i].end);
		container_begin(&c, (struct str){b.s, b.len});
		if (!ok(c.form == rows[i].want && !c.held && c.about.level == -1, "%s",
			rows[i].name))
			printf("#   got form %d, want %d\n", c.form, rows[i].want);
		buf_free(&b);
	}
}

int main(void)
{
	test_numbers();
	test_frames();
	test_long_names();
	test_first_lines();
	test_far();
	test_shapes();
	test_seen();
	test_many_shapes();
	test_candidates();
	test_long_prefixes();
	test_binary();
	test_forms();
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how triage reads lines at its limits: the longest numbers and names of a prefix, the
 * longest line, the widths of terminals, and the numbers of pstore parts.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"
#include "triage/lines.h"
#include "triage/prefix.h"
#include "triage/unwrap.h"

/* A line, and its text without prefixes. `level` and `caller` are -1 if the line has none. */
static const struct row {
	const char *raw, *want;
	int level, caller;
} rows[] = {
	{"<999>x", "x", 7, -1},
	{"<1000>x", "<1000>x", -1, -1},
	{"<>x", "<>x", -1, -1},
	{"<48> 89 71", "<48> 89 71", -1, -1},
	{"<48> 89", "89", 0, -1},
	{"<48> 8g 71", "8g 71", 0, -1},
	{"[12.123] x", "x", -1, -1},
	{"[12.12] x", "[12.12] x", -1, -1},
	{"[12.123456789] x", "x", -1, -1},
	{"[12.1234567890] x", "[12.1234567890] x", -1, -1},
	{"[1234567890123456789.123] x", "x", -1, -1},
	{"[12345678901234567890.123] x", "[12345678901234567890.123] x", -1, -1},
	{"[T12345678] x", "x", -1, 12345678},
	{"[T123456789] x", "[T123456789] x", -1, -1},
	{"[C0] x", "x", -1, -2},
	{"4,1,2,-;x", "x", 4, -1},
	{"4,1,2;x", "4,1,2;x", -1, -1},
	{"9:41:02 x", "9:41:02 x", -1, -1},
	{"Nov 2 9:41:02 host kernel: x", "x", -1, -1},
	{"Nov 2 109:41:02 host kernel: x", "Nov 2 109:41:02 host kernel: x", -1, -1},
	{"Nov 2 09:4:02 host kernel: x", "Nov 2 09:4:02 host kernel: x", -1, -1},
	{"Nov 2 09:41:2 host kernel: x", "Nov 2 09:41:2 host kernel: x", -1, -1},
	{"Nov 2 09:41:02,123 host kernel: x", "x", -1, -1},
	{"Fri 2026-11-20 09:41:02 AZT host kernel: x", "x", -1, -1},
	{"Fri 2026-11-20 09:41:02 UT host kernel: x", "x", -1, -1},
	{"Fri 2026-11-20 09:41:02 -12 host kernel: x", "x", -1, -1},
	{"Fri 2026-11-20 09:41:02 Z host kernel: x", "Z host kernel: x", -1, -1},
	{"12345678.5 host kernel: x", "12345678.5 host kernel: x", -1, -1},
	{"123456789.5 host kernel: x", "x", -1, -1},
	{"1234567890.5 host kernel: x", "x", -1, -1},
	{"12345678901.5 host kernel: x", "12345678901.5 host kernel: x", -1, -1},
	{"(123)[1:a] x", "x", -1, -1},
	{"(1234)[1:a] x", "(1234)[1:a] x", -1, -1},
	{"**  ** x", "**  ** x", -1, -1},
	{"** 1 printk messages dropped ** x", "x", -1, -1},
	{"> x", "x", -1, -1},
	{">", "", -1, -1},
	{"<1><1><1><1><1><1><1><1><1><1><1><1>x", "x", 1, -1},
	{"<1><1><1><1><1><1><1><1><1><1><1><1><1>x", "<1>x", 1, -1},
};

static void test_prefixes(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct log_line l = {.caller = -1, .level = -1};
		struct str s = str_of(rows[i].raw);

		prefix_strip(&s, &l);
		if (!ok(str_is(s, rows[i].want) && l.level == rows[i].level &&
				l.caller == rows[i].caller,
			"%s", rows[i].raw))
			printf("#   \"%.*s\", level %d, caller %d\n", STR_ARG(s), l.level,
			       l.caller);
	}
}

/* Checks whether the prefix "BEGIN<n letters>END" is one. */
static void is_prefix_of(const char *begin, size_t letters, const char *end, bool want)
{
	struct log_line l = {.caller = -1, .level = -1};
	char raw[256] = "";
	struct str s;

	snprintf(raw, sizeof(raw), "%s%.*s%s", begin, (int)letters,
		 "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh"
		 "hhhhhhhh",
		 end);
	s = str_of(raw);
	ok((prefix_strip(&s, &l) > 0) == want && str_is(s, want ? "x" : raw),
	   "%zu letters between \"%s\" and \"%s\"", letters, begin, end);
}

static void test_lengths(void)
{
	is_prefix_of("", 72, " login: x", true);
	is_prefix_of("", 73, " login: x", false);
	is_prefix_of("", 87, " kernel: x", true);
	is_prefix_of("", 88, " kernel: x", false);
	is_prefix_of("4,1,2,-,caller=T1,", 78, ";x", true);
	is_prefix_of("4,1,2,-,caller=T1,", 79, ";x", false);
	is_prefix_of("(1)[", 60, "] x", true);
	is_prefix_of("(1)[", 61, "] x", false);
}

static void test_records(void)
{
	static const struct {
		const char *raw;
		bool continues, fragment;
	} records[] = {
		{"4,1,2,-;x", false, false},
		{"4,1,2,+;x", true, false},
		{"4,1,2,-,ncfrag=0/20;x", false, true},
		{"4,1,2,-,ncfrag=1/20;x", true, true},
	};

	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		struct log_line l = {};
		struct str s = str_of(records[i].raw);

		prefix_strip(&s, &l);
		ok(l.continues == records[i].continues && l.fragment == records[i].fragment &&
			   l.timed && l.seconds > 1.9e-6 && l.seconds < 2.1e-6,
		   "the record %s", records[i].raw);
	}
}

static void test_inside(void)
{
	is_u64(prefix_inside(STR("x[1.123] y")), 1, "a second prefix in the line");
	is_u64(prefix_inside(STR("x[ 1.123] ")), 1, "with nothing but a blank after it");
	ok(prefix_inside(STR("x[1.123]y")) < 0, "too near to the end of the line");
	ok(prefix_inside(STR("[1.123] text")) < 0, "a prefix at the begin is not inside");
	ok(prefix_inside(STR("x[T.123] y")) < 0, "no time");
}

static void test_escapes(void)
{
	is_u64(escape_end(STR("\033[1mx"), 0), 4, "the colour of a terminal");
	is_u64(escape_end(STR("\033[1@x"), 0), 4, "the first byte that may end a sequence");
	is_u64(escape_end(STR("\033[1~x"), 0), 4, "the last byte that may end a sequence");
	is_u64(escape_end(STR("\033[?1hx"), 0), 5, "'?' does not end a sequence");
	is_u64(escape_end(STR("\033[1\177hx"), 0), 5, "DEL does not end a sequence");
	is_u64(escape_end(STR("ab\033]0;t\ax"), 2), 8, "a window's title");
	is_u64(escape_end(STR("\033cx"), 0), 2, "a sequence of two bytes");
}

/* ---- widths ---- */

/* Writes a line of words that has `width` columns. */
static void add_line(struct buf *b, size_t width)
{
	for (size_t i = 0; i < width; i++)
		buf_putc(b, i % 6 == 5 && i + 1 < width ? ' ' : 'w');
	buf_putc(b, '\n');
}

static void test_terminals(void)
{
	static const struct {
		size_t width, times, want;
	} terminals[] = {
		{80, 1, 0},  {80, 2, 80},   {79, 2, 0},	 {79, 3, 79},	{59, 3, 0},    {60, 3, 60},
		{256, 2, 0}, {256, 3, 256}, {257, 3, 0}, {120, 3, 120}, {121, 3, 121},
	};

	for (size_t i = 0; i < sizeof(terminals) / sizeof(terminals[0]); i++) {
		struct shapes none = {};
		struct buf b = {};
		struct wrap w;

		for (size_t k = 0; k < terminals[i].times; k++) {
			add_line(&b, terminals[i].width);
			buf_printf(&b, "rest\n");
		}
		wrap_find(&w, &none, (struct str){b.s, b.len});
		if (!ok(w.terminal == terminals[i].want, "%zu lines of %zu columns",
			terminals[i].times, terminals[i].width))
			printf("#   got %zu, want %zu\n", w.terminal, terminals[i].want);
		buf_free(&b);
	}
}

/* In a log of which two of five lines have a prefix, a line without one is a rest. */
static void test_share(void)
{
	struct shapes none = {};
	struct wrap w;

	wrap_find(&w, &none, STR("[    1.000000] a\nb\n[    1.000000] c\nd\ne\n"));
	ok(w.prefixed, "two of five lines have a prefix");
	wrap_find(&w, &none, STR("[    1.000000] a\nb\nc\n"));
	ok(!w.prefixed, "one of three lines has a prefix");
	wrap_find(&w, &none, STR("[    1.000000] a\n\n\n\n\n"));
	ok(w.prefixed, "empty lines do not count");
	wrap_find(&w, &none, (struct str){});
	ok(!w.prefixed && !w.mail && !w.terminal, "no line has no prefix");
}

/* ---- lines and parts ---- */

static void read_text(struct lines *ls, const struct buf *b)
{
	struct triage_input in = {.name = "log", .data = b->s, .size = b->len};

	if (b->failed || lines_read(ls, &in, 1))
		abort();
}

static void test_long_lines(void)
{
	for (size_t n = 8191; n <= 8193; n++) {
		struct buf whole = {}, parts = {};
		struct lines ls;

		for (size_t i = 0; i < n; i++)
			buf_putc(&whole, 'x');
		read_text(&ls, &whole);
		ok(ls.n == 1 && ls.line[0].text.n == (n < 8192 ? n : 8192) &&
			   ls.lost_bytes == (n > 8192),
		   "a line of %zu bytes", n);
		lines_free(&ls);

		buf_printf(&parts, "4,1,5,-;");
		for (size_t i = 0; i < n; i++)
			buf_printf(&parts, "%s%c", i == 8000 ? "\n4,2,6,+;" : "",
				   i < 8000 ? 'x' : 'y');
		read_text(&ls, &parts);
		ok(ls.n == (n > 8192 ? 2 : 1) && ls.line[0].text.n == (n > 8192 ? 8000 : n) &&
			   !ls.lost_bytes,
		   "two records that continue a line of %zu bytes", n);
		lines_free(&ls);
		buf_free(&whole);
		buf_free(&parts);
	}
}

/* Of a message in JSON, 64 KiB are decoded, of which the line keeps 8 KiB. */
static void test_long_json(void)
{
	for (size_t n = 65535; n <= 65537; n++) {
		struct buf b = {};
		struct lines ls;

		buf_printf(&b, "{\"MESSAGE\":\"");
		for (size_t i = 0; i < n; i++)
			buf_putc(&b, 'x');
		buf_printf(&b, "\",\"PRIORITY\":\"3\"}\n");
		read_text(&ls, &b);
		ok(ls.n == 1 && ls.line[0].text.n == 8192 && ls.line[0].level == 3 &&
			   ls.lost_bytes == (n < 65536 ? n : 65536) - 8192,
		   "a message of %zu bytes in JSON", n);
		lines_free(&ls);
		buf_free(&b);
	}
}

static void test_parts(void)
{
	static const struct {
		const char *log;
		uint32_t parts;
		const char *first;
	} logs[] = {
		{"Oops#1 Part2\na\nOops#1 Part1\nb\n", 2, "a"},
		{"Oops#1 Part1\nb\nOops#1 Part2\na\n", 2, "a"},
		{"Oops#1 Part1\nb\nOops#2 Part2\na\n", 2, "b"},
		{"Oops#1 Part1\nb\nPanic#1 Part2\na\n", 2, "b"},
		{"Oops#1 Part4294967295\na\n", 1, "a"},
		{"Oops#1 Part4294967296\na\n", 0, "Oops#1 Part4294967296"},
		{"Oops#1 Part1 \na\n", 0, "Oops#1 Part1"},
		{"Oops#1 Part\na\n", 0, "Oops#1 Part"},
		{"Oops# Part1\na\n", 0, "Oops# Part1"},
		{"Unknown#1 Part1\na\n", 1, "a"},
	};

	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		struct buf b = {};
		struct lines ls;

		buf_printf(&b, "%s", logs[i].log);
		read_text(&ls, &b);
		ok(ls.parts == logs[i].parts && ls.n && str_is(ls.line[0].text, logs[i].first),
		   "parts of pstore, %.*s", (int)strcspn(logs[i].log, "\n"), logs[i].log);
		lines_free(&ls);
		buf_free(&b);
	}
}

/* Triage keeps 1024 parts apart. The lines of further parts stay in the last one. */
static void test_many_parts(void)
{
	for (uint32_t n = 1023; n <= 1026; n++) {
		struct buf b = {};
		struct lines ls;

		for (uint32_t i = 1; i <= n; i++)
			buf_printf(&b, "Oops#%u Part1\ntext of %u\n", i, i);
		read_text(&ls, &b);
		ok(ls.parts == (n < 1024 ? n : 1024) && ls.n == n + (n > 1024 ? n - 1024 : 0),
		   "%u parts of pstore: %u parts, %zu lines", n, ls.parts, ls.n);
		ok(ls.line[ls.n - 1].number == 2 * n, "the number of the last line");
		lines_free(&ls);
		buf_free(&b);
	}
}

static void test_many_inputs(void)
{
	struct triage_input in[258];
	struct lines ls;

	for (size_t i = 0; i < 258; i++)
		in[i] = (struct triage_input){.name = "log", .data = "text\n", .size = 5};
	for (size_t n = 255; n <= 258; n++) {
		if (lines_read(&ls, in, n))
			abort();
		ok(ls.n == (n < 256 ? n : 256) && ls.line[ls.n - 1].input == ls.n - 1,
		   "%zu logs: the lines of %zu are read", n, ls.n);
		lines_free(&ls);
	}
}

/* Characters that end lines of other systems are no part of a line, at its begin and its end. */
static void test_ends_of_lines(void)
{
	static const struct {
		const char *text;
		size_t n;
		const char *want, *rest;
	} cases[] = {
		{"a\nb", 3, "a", "b"},
		{"a\r\nb", 4, "a", "b"},
		{"\ra\nb", 4, "a", "b"},
		{"\r\r\0\ra\0\r\n\rb", 10, "a", "\rb"},
		{"a\rb\r\r", 5, "a\rb", ""},
		{"\0\0a", 3, "a", ""},
		{"b\r\ra", 4, "b\r\ra", ""},
		{"\r\n", 2, "", ""},
		{"\r", 1, "", ""},
		{"\nx", 2, "", "x"},
		{"", 0, "", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str s = {cases[i].text, cases[i].n};
		struct str line = next_raw(&s);

		ok(str_is(line, cases[i].want) && str_is(s, cases[i].rest), "ends of line %zu", i);
	}
}

int main(void)
{
	test_ends_of_lines();
	test_prefixes();
	test_lengths();
	test_records();
	test_inside();
	test_escapes();
	test_terminals();
	test_share();
	test_long_lines();
	test_long_json();
	test_parts();
	test_many_parts();
	test_many_inputs();
	return tap_done();
}

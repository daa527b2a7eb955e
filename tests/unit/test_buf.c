// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <locale.h>
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"

static void is_json(const char *in, const char *want, const char *name)
{
	struct buf b = {};

	buf_json(&b, in);
	is_str(b.s, want, name);
	buf_free(&b);
}

static void is_safe(const char *in, bool unicode, const char *want, const char *name)
{
	struct buf b = {};

	buf_safe(&b, in, unicode);
	is_str(b.s ? b.s : "", want, name);
	buf_free(&b);
}

static void test_growth(void)
{
	struct buf b = {};
	char chunk[257];
	bool same = true;

	buf_puts(&b, "");
	ok(b.s && !b.s[0] && !b.len, "an empty string makes an empty buffer");
	for (int i = 0; i < 5000; i++)
		buf_printf(&b, "%04d", i);
	is_u64(b.len, 20000, "length after many small adds");
	for (int i = 0; i < 5000; i++) {
		snprintf(chunk, sizeof(chunk), "%04d", i);
		same &= !memcmp(b.s + 4 * i, chunk, 4);
	}
	ok(same && !b.s[b.len], "all of it is there, with its NUL");
	ok(b.size > b.len && !b.failed, "room is kept for the NUL");
	buf_clear(&b);
	ok(!b.len && b.s && !b.s[0], "clear keeps the room");
	buf_repeat(&b, "ab", 3);
	buf_repeat(&b, "x", 0);
	buf_repeat(&b, "x", -2);
	buf_putc(&b, '.');
	is_str(b.s, "ababab.", "repeat, also by zero and less");
	buf_free(&b);
	ok(!b.s && !b.len && !b.size, "free forgets all");
	/* These lengths are near the initial size of a buffer, so that it must grow. */
	for (size_t n = 254; n < 258; n++) {
		memset(chunk, 'x', sizeof(chunk));
		buf_add(&b, chunk, n < sizeof(chunk) ? n : sizeof(chunk));
		same &= b.s[b.len] == 0 && b.size > b.len;
		buf_free(&b);
	}
	ok(same, "lengths about the first size");
}

static void test_cap(void)
{
	char *big = malloc(BUF_CAP_BYTES);
	struct buf b = {};

	memset(big, 'x', BUF_CAP_BYTES);
	buf_add(&b, big, BUF_CAP_BYTES);
	ok(b.failed && !b.len, "more than the cap fails, and adds nothing");
	buf_clear(&b);
	buf_add(&b, big, BUF_CAP_BYTES - 1);
	ok(!b.failed && b.len == BUF_CAP_BYTES - 1, "the cap holds the text and its NUL");
	buf_putc(&b, 'y');
	ok(b.failed && b.len == BUF_CAP_BYTES - 1 && b.s[b.len - 1] == 'x',
	   "one byte more is dropped");
	buf_printf(&b, "%d", 5);
	ok(b.failed && b.len == BUF_CAP_BYTES - 1, "printf beyond the cap too");
	buf_clear(&b);
	buf_puts(&b, "ok");
	ok(!b.failed && b.len == 2, "clear forgives");
	buf_free(&b);
	b = (struct buf){};
	buf_add(&b, big, (size_t)-10);
	ok(b.failed && !b.len, "a length that wraps fails");
	buf_free(&b);
	free(big);
}

static void test_fixed(void)
{
	char room[8];
	struct buf fixed = BUF_IN(room), whole = {};

	buf_puts(&fixed, "1234567");
	ok(!fixed.failed && !strcmp(room, "1234567"), "a text that just fits into an array");
	buf_putc(&fixed, '8');
	ok(fixed.failed && !strcmp(room, "1234567"), "a byte too much is dropped");
	buf_next_part(&whole, &fixed);
	ok(whole.failed && !fixed.failed && !fixed.len && !room[0],
	   "the next part begins empty, and the whole is incomplete");
	is_u64(buf_rows(&whole, 3), 3, "rows");
	buf_clear(&whole);
	ok(!buf_rows(&whole, -12) && whole.failed, "rows that memory was missing for");
	buf_free(&fixed);
	buf_free(&whole);
}

static void test_json(void)
{
	char all[256];
	struct buf b = {};
	bool clean = true;

	is_json("", "\"\"", "json: empty");
	is_json("a/b c", "\"a/b c\"", "json: plain");
	is_json("\"\\", "\"\\\"\\\\\"", "json: quote and backslash");
	is_json("\n\t\r\b\f", "\"\\n\\t\\u000d\\u0008\\u000c\"", "json: controls");
	is_json("\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"", "json: C0 and DEL");
	is_json("a\xe2\x80\xae"
		"b",
		"\"a\\u202eb\"", "json: a right-to-left override");
	is_json("\xc2\xad\xe2\x80\x8b\xef\xbb\xbf", "\"\\u00ad\\u200b\\ufeff\"",
		"json: what has no width");
	is_json("\xf3\xa0\x81\x81", "\"\\udb40\\udc41\"", "json: a tag, as two surrogates");
	is_json("\xc2\x9b", "\"\\u009b\"", "json: C1");
	is_json("\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80", "\"\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80\"",
		"json: letters stay as they are");
	is_json("\xff\xfe", "\"\\u00ff\\u00fe\"", "json: bytes that are no UTF-8");
	is_json("\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\"", "json: a surrogate");
	is_json("\xc0\x80", "\"\\u00c0\\u0080\"", "json: overlong NUL");
	is_json("\xe0\x80\xaf", "\"\\u00e0\\u0080\\u00af\"", "json: overlong of three");
	is_json("\xf0\x80\x80\xaf", "\"\\u00f0\\u0080\\u0080\\u00af\"", "json: overlong of four");
	is_json("\xf4\x90\x80\x80", "\"\\u00f4\\u0090\\u0080\\u0080\"", "json: above U+10FFFF");
	is_json("\xe2\x82", "\"\\u00e2\\u0082\"", "json: cut short");
	is_json("\xe2\x82\"", "\"\\u00e2\\u0082\\\"\"", "json: cut short before a quote");
	is_json("\x80", "\"\\u0080\"", "json: a lone continuation");
	is_json("\xe2\x80\xa8", "\"\\u2028\"", "json: U+2028, which ends a line unseen");
	is_json("\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80", "\"\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80\"",
		"json: UTF-8 of two, three and four bytes");
	for (int i = 0; i < 255; i++)
		all[i] = i + 1;
	all[255] = 0;
	buf_json(&b, all);
	for (size_t i = 0; i < b.len; i++)
		clean &= (unsigned char)b.s[i] >= 0x20 && (unsigned char)b.s[i] < 0x7f;
	ok(clean, "json: all bytes at once leave printable ASCII");
	buf_free(&b);
}

static void test_safe(void)
{
	is_safe("plain ~", true, "plain ~", "safe: plain");
	is_safe("\033[31m", true, "\\x1b[31m", "safe: ESC");
	is_safe("a\nb\r\t\x7f", true, "a\\x0ab\\x0d\\x09\\x7f", "safe: C0 and DEL");
	is_safe("\xc2\x9b"
		"31m",
		true, "\\xc2\\x9b31m", "safe: C1");
	is_safe("\x9b", true, "\\x9b", "safe: a raw C1 byte is no UTF-8");
	is_safe("a\xe2\x80\xae"
		"b",
		true, "a\\xe2\\x80\\xaeb", "safe: right-to-left override");
	is_safe("\xe2\x81\xa6\xe2\x81\xa9", true, "\\xe2\\x81\\xa6\\xe2\\x81\\xa9",
		"safe: isolates");
	is_safe("\xe2\x80\x8f", true, "\\xe2\\x80\\x8f", "safe: right-to-left mark");
	is_safe("\xd8\x9c", true, "\\xd8\\x9c",
		"safe: Arabic letter mark is a bidirectional control");
	is_safe("\xe2\x80\x8b\xef\xbb\xbf", true, "\\xe2\\x80\\x8b\\xef\\xbb\\xbf",
		"safe: zero width");
	is_safe("\xe2\x80\xa8\xe2\x80\xa9", true, "\\xe2\\x80\\xa8\\xe2\\x80\\xa9",
		"safe: line and paragraph separators");
	is_safe("\xc3\xa9", true, "\xc3\xa9", "safe: a letter stays");
	is_safe("\xc3\xa9", false, "\\xc3\\xa9", "safe: not where unicode is off");
	is_safe("~\x7f", false, "~\\x7f", "safe: the end of ASCII");
	is_safe("\xed\xa0\x80", true, "\\xed\\xa0\\x80", "safe: a surrogate");
	is_safe("\xe2\x82", true, "\\xe2\\x82", "safe: cut short");
}

/* Returns whether a shell expands the quoted word to the original word. */
static bool survives(const char *word)
{
	struct buf b = {};
	char got[256] = "";
	size_t n = 0;
	FILE *f;

	buf_puts(&b, "printf %s ");
	buf_shell(&b, word);
	f = popen(b.s, "r");
	if (f) {
		n = fread(got, 1, sizeof(got) - 1, f);
		pclose(f);
	}
	buf_free(&b);
	return n == strlen(word) && !strcmp(got, word);
}

static void test_shell(void)
{
	static const char *const words[] = {"plain-1.x@y", "",		"two words",  "it's",
					    "'",	   "$(id)",	"`id`",	      "a\nb",
					    "\\",	   "\"$HOME\"", "-n",	      "*",
					    "~",	   "a;b|c&",	"\x1b[2J\xff"};
	struct buf b = {};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ok(survives(words[i]), "word %zu comes through a shell", i);
	buf_shell(&b, "/etc/sysctl.d/99-x.conf");
	is_str(b.s, "/etc/sysctl.d/99-x.conf", "what needs no quotes has none");
	buf_free(&b);
}

static void test_decode(void)
{
	uint32_t code = 1;

	ok(utf8_decode("", &code) == 0 && code == 0, "decode: the end");
	ok(utf8_decode("\xf4\x8f\xbf\xbf", &code) == 4 && code == 0x10ffff, "decode: U+10FFFF");
	ok(utf8_decode("\xed\x9f\xbf", &code) == 3 && code == 0xd7ff, "decode: before surrogates");
	ok(utf8_decode("\xee\x80\x80", &code) == 3 && code == 0xe000, "decode: behind surrogates");
	ok(utf8_decode("\xed\xbf\xbf", &code) == 0, "decode: the last surrogate");
	ok(utf8_decode("\xc2\x80", &code) == 2 && code == 0x80, "decode: U+0080");
	ok(utf8_decode("\xe0\xa0\x80", &code) == 3 && code == 0x800, "decode: U+0800");
	ok(utf8_decode("\xf0\x90\x80\x80", &code) == 4 && code == 0x10000, "decode: U+10000");
	ok(utf8_decode("\xf5\x80\x80\x80", &code) == 0, "decode: F5 begins nothing");
}

static void test_encode(void)
{
	static const struct {
		uint32_t code;
		const char *text;
	} codes[] = {
		{0x7f, "\x7f"},
		{0x80, "\xc2\x80"},
		{0x7ff, "\xdf\xbf"},
		{0x800, "\xe0\xa0\x80"},
		{0xffff, "\xef\xbf\xbf"},
		{0x10000, "\xf0\x90\x80\x80"},
		{0x10ffff, "\xf4\x8f\xbf\xbf"},
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		char text[5] = "";

		is_u64(utf8_encode(text, codes[i].code), strlen(codes[i].text), "encode: length");
		is_str(text, codes[i].text, "encode: bytes");
	}
}

/*
 * Ranges of Unicode 15 with the categories Cc, Cf, Zl and Zp, and fillers: their first and last
 * code points are escaped, and their neighbours are not.
 */
static void test_unsafe(void)
{
	static const struct {
		uint32_t from, to;
	} ranges[] = {
		{0x7f, 0x9f},	    {0xad, 0xad},	{0x600, 0x605},	    {0x61c, 0x61c},
		{0x6dd, 0x6dd},	    {0x70f, 0x70f},	{0x890, 0x891},	    {0x8e2, 0x8e2},
		{0x115f, 0x1160},   {0x180b, 0x180f},	{0x200b, 0x200f},   {0x2028, 0x202e},
		{0x2060, 0x206f},   {0x3164, 0x3164},	{0xfeff, 0xfeff},   {0xffa0, 0xffa0},
		{0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
		{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	};

	ok(utf8_is_unsafe(0) && utf8_is_unsafe(0x1f) && !utf8_is_unsafe(0x20), "C0");
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		ok(!utf8_is_unsafe(ranges[i].from - 1) && utf8_is_unsafe(ranges[i].from) &&
			   utf8_is_unsafe(ranges[i].to) && !utf8_is_unsafe(ranges[i].to + 1),
		   "unsafe: U+%04X to U+%04X", ranges[i].from, ranges[i].to);
	is_json("\xef\xbf\xbb", "\"\\ufffb\"", "the last one of one escape");
	is_json("\xf0\x91\x82\xbd", "\"\\ud804\\udcbd\"", "the first one of two");
}

/* Without a locale of UTF-8, characters of lines and blocks have a width nevertheless. */
static void test_columns_of_lines(void)
{
	is_u64(text_columns("\xe2\x94\x80"), 1, "columns: the first character of lines");
	is_u64(text_columns("\xe2\x97\xbf"), 1, "columns: the last one of blocks and shapes");
	is_u64(text_columns("\xc2\xb5"), 1, "columns: the micro sign");
	is_u64(text_columns("\033[1~a"), 1, "columns: the last letter that ends a sequence");
	is_u64(text_columns("\033[1@a"), 1, "columns: and the first one");
	is_u64(text_columns("\033[1?a"), 0, "columns: one that is part of it");
}

static void test_columns(void)
{
	is_u64(text_columns(""), 0, "columns: empty");
	is_u64(text_columns("abc"), 3, "columns: ASCII");
	is_u64(text_columns("\xe2\x96\x88\xe2\x96\x8f"), 2, "columns: blocks");
	is_u64(text_columns("\033[1;31mab\033[0m"), 2, "columns: SGR counts 0");
	is_u64(text_columns("\033[31"), 0, "columns: an unfinished sequence");
	is_u64(text_columns("\xff"), 1, "columns: a bad byte is one");
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		ok(true, "columns: wide # SKIP no C.UTF-8");
		return;
	}
	is_u64(text_columns("\xe6\x97\xa5\xe6\x9c\xac"), 4, "columns: wide");
	is_u64(text_columns("e\xcc\x81"), 1, "columns: a combining accent is none");
	is_u64(text_columns("\xf0\x9f\x98\x80"), 2, "columns: emoji");
	is_u64(text_columns("\xc3\xa9\xc2\xb5"), 2, "columns: Latin");
	is_u64(text_columns("\033[1m\xe6\x97\xa5\033[0m x"), 4, "columns: wide inside SGR");
}

int main(void)
{
	test_growth();
	test_cap();
	test_fixed();
	test_json();
	test_safe();
	test_shell();
	test_decode();
	test_encode();
	test_unsafe();
	test_columns_of_lines();
	test_columns();
	return tap_done();
}

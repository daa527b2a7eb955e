// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests texts of lines `key = value`: reading them, and changing one key. */
#include "base/key_values.h"
#include "tap.h"

static void test_lines(void)
{
	const char *at = "# a comment\n\n  theme =  light \t\r\nno equal\n= value\nempty=\n"
			 "last = a = b";
	struct key_value line = {};

	is_u64(key_value_next(&at, &line), LINE_COMMENT, "a comment");
	is_u64(key_value_next(&at, &line), LINE_COMMENT, "a blank line");
	is_u64(key_value_next(&at, &line), LINE_PAIR, "a key and a value");
	is_u64(line.number, 3, "the number of the line");
	ok(line.key_len == 5 && !memcmp(line.key, "theme", 5), "the key without blanks");
	ok(line.value_len == 5 && !memcmp(line.value, "light", 5), "the value without blanks");
	is_u64(key_value_next(&at, &line), LINE_WRONG, "no =");
	is_u64(key_value_next(&at, &line), LINE_WRONG, "no key");
	is_u64(key_value_next(&at, &line), LINE_PAIR, "an empty value");
	is_u64(line.value_len, 0, "which is empty");
	is_u64(key_value_next(&at, &line), LINE_PAIR, "a line without an end");
	ok(line.value_len == 5 && !memcmp(line.value, "a = b", 5), "the first = separates");
	is_u64(line.number, 7, "its number");
	is_u64(key_value_next(&at, &line), LINE_NONE, "the end");
}

static void changes(const char *text, const char *key, const char *value, const char *want,
		    const char *what)
{
	struct buf b = {};

	key_values_change(&b, text, key, value);
	is_str(b.s ? b.s : "", want, what);
	buf_free(&b);
}

static void test_changes(void)
{
	changes("", "a", "1", "a = 1\n", "an empty text");
	changes("b = 2", "a", "1", "b = 2\na = 1\n", "a last line without an end");
	changes("# x\n a=0\nb = 2\n", "a", "1", "# x\na = 1\nb = 2\n", "others stay");
	changes("a = 0", "a", "1", "a = 1", "the last line");
	changes("a = 0\nodd line\na = 3\naa = 4\n", "a", "1", "a = 1\nodd line\naa = 4\n",
		"a key with two lines");
	changes("a = 0\nb = 2\na = 3\n", "a", NULL, "b = 2\n", "a key that is removed");
	changes("b = 2\n", "a", NULL, "b = 2\n", "a key that is not there");
}

static bool is_text(const char *s)
{
	return key_values_are_text(s, strlen(s));
}

static void test_text(void)
{
	ok(is_text("") && is_text("a = \u00e4\t\r\n"), "texts");
	ok(!is_text("\033[2J") && !is_text("\x80") && !is_text("\u202e"), "bytes that are none");
	ok(!key_values_are_text("a\0b", 3), "a byte 0");
}

int main(void)
{
	test_lines();
	test_changes();
	test_text();
	return tap_done();
}

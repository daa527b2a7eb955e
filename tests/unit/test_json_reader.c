// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests that each version of libjson-c reads all texts that are valid JSON in UTF-8, and refuses
 * others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "mcp/json_library.h"
#include "mcp/json_reader.h"
#include "tap.h"

/* Reads {"NAME":"NAME"}. Returns whether the name of the member and its value are NAME. */
static bool reads(const char *name, size_t len)
{
	struct json_object *o;
	struct buf b = {};
	const char *text;
	bool same;

	buf_add(&b, "{\"", 2);
	buf_add(&b, name, len);
	buf_add(&b, "\":\"", 3);
	buf_add(&b, name, len);
	buf_add(&b, "\"}", 2);
	same = json_read(b.s, b.len, &o);
	text = same ? json_text_of(json_member(o, json_name_of(o, 0))) : NULL;
	same = text && strlen(text) == len && !memcmp(text, name, len) &&
	       !strcmp(json_name_of(o, 0), text);
	json_free(o);
	buf_free(&b);
	return same;
}

static void test_characters(void)
{
	unsigned wrong = 0;
	uint32_t first = 0;

	for (uint32_t code = 0x20; code <= 0x10ffff; code += code < 0x3000 ? 1 : 61) {
		char name[4];
		size_t len = utf8_encode(name, code);
		bool valid = code < 0xd800 || code >= 0xe000;

		if (code == '"' || code == '\\' || reads(name, len) == valid)
			continue;
		if (!wrong++)
			first = code;
	}
	ok(!wrong, "each character is read, and a surrogate is refused: %u wrong, first U+%04x",
	   wrong, first);
}

static void test_texts(void)
{
	static const struct {
		const char *text;
		bool valid;
	} texts[] = {
		{"[\"\xc3\xa4\"]", true},
		{"[\"\\\\\xc3\xa4\"]", true},	       /* an escaped backslash before it */
		{"[\"\\\xc3\xa4\"]", false},	       /* no such escape sequence */
		{"[\"\\u00e4\\ud83d\\ude00\"]", true}, /* escape sequences */
		{"[\"\xc3\"]", false},		       /* a cut sequence */
		{"[\"\xf0\x9f\x98\"]", false},
		{"[\"\xff\"]", false},
		{"[\"\xc0\xaf\"]", false},	   /* too long for the character */
		{"[\"\xf4\x90\x80\x80\"]", false}, /* beyond U+10FFFF */
		{"[\xc3\xa4]", false},		   /* no text */
		{"\xef\xbb\xbf[]", false},	   /* a byte order mark */
		{"['a']", false},
		{"[1,]", false},
		{"[1] 2", false},
		{"[] ", true},
		{"", false},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct json_object *o = NULL;

		ok(json_read(texts[i].text, strlen(texts[i].text), &o) == texts[i].valid,
		   "text %zu is %s", i, texts[i].valid ? "read" : "refused");
		json_free(o);
	}
}

/* The text ends where its length says, also within a character. */
static void test_length(void)
{
	static const char text[] = "[\"\xc3\xa4\"]";
	struct json_object *o;

	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		char *exact =
			malloc(len + 1); /* AddressSanitizer sees a byte that is read beyond */

		memcpy(exact + 1, text, len);
		ok(!json_read(exact + 1, len, &o), "the first %zu bytes are refused", len);
		free(exact);
	}
}

int main(void)
{
	if (json_library_load())
		return 1;
	test_characters();
	test_texts();
	test_length();
	return tap_done();
}

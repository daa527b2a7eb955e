// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how strings are found in JSON texts: nested, hostile and cut texts. */
#include <stdlib.h>
#include <string.h>

#include "collect/files/json_text.h"
#include "tap.h"

#define A                                                                                          \
	{                                                                                          \
		"a", NULL                                                                          \
	}
#define AB                                                                                         \
	{                                                                                          \
		"a", "b", NULL                                                                     \
	}
#define ABC                                                                                        \
	{                                                                                          \
		"a", "b", "c", NULL                                                                \
	}

static const struct {
	const char *text, *path[4], *want; /* want NULL: not found */
} rows[] = {
	{"{\"a\":\"x\"}", A, "x"},
	{" {\n \"a\" : \"x\" }\n", A, "x"},
	{"{\"a\":\"\"}", A, ""},
	{"{\"b\":{\"a\":\"no\"},\"a\":\"x\"}", A, "x"},
	{"{\"b\":[{\"a\":\"no\"},\"a\",[\"}\"]],\"a\":\"x\"}", A, "x"},
	{"{\"b\":\"\\\"a\\\":\\\"no\\\"\",\"a\":\"x\"}", A, "x"},
	{"{\"b\":\"{\\\\\",\"a\":\"x\"}", A, "x"},
	{"{\"b\":-1.5e3,\"c\":null,\"d\":true,\"a\":\"x\"}", A, "x"},
	{"{\"a\":{\"b\":\"x\"}}", AB, "x"},
	{"{\"a\":{\"z\":{\"b\":\"no\"},\"b\":\"x\"},\"b\":\"no\"}", AB, "x"},
	{"{\"a\":{\"b\":{\"c\":\"x\"}}}", ABC, "x"},
	{"{\"a\":{\"x\":\"1\"},\"b\":\"no\"}", AB, NULL},
	{"{\"a\":{\"b\":\"no\"}}", A, NULL},
	{"{\"a\":\"no\"}", AB, NULL},
	{"{\"a\":7}", A, NULL},
	{"{\"a\":\"x\\ny\"}", A, NULL},
	{"{\"a\":\"12345678\"}", A, NULL},
	{"{\"a\":\"1234567\"}", A, "1234567"},
	{"[\"a\",\"x\"]", A, NULL},
	{"{}", A, NULL},
	{"", A, NULL},
	{"{\"b\" \"a\":\"x\"}", A, NULL},
	{"{\"b\":,\"a\":\"x\"}", A, "x"},
};

static void test_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct span text = {rows[i].text, strlen(rows[i].text)};
		char found[8] = "before";
		bool is = json_string_find(text, rows[i].path, found, sizeof(found));

		ok(is == (rows[i].want != NULL) && !strcmp(found, rows[i].want ? rows[i].want : ""),
		   "%s: %s", rows[i].text, found);
	}
}

/* Tests texts that end anywhere, each in a block of its own, so that a sanitizer sees overreads. */
static void test_cut(void)
{
	static const char whole[] =
		"{\"x\":[1,{\"a\":\"\\\\\"}],\"a\":{\"y\":\"z\\\"\",\"b\":\"found\"},\"c\":\"d\"}";
	static const char *const path[] = AB;
	size_t full = strstr(whole, "found") + strlen("found") - whole;
	int wrong = 0;

	for (size_t len = 0; len <= strlen(whole); len++) {
		char *cut = malloc(len + 1), found[8];
		bool is;

		memcpy(cut, whole, len);
		cut = realloc(cut, len ? len : 1);
		is = json_string_find((struct span){cut, len}, path, found, sizeof(found));
		wrong += len >= full && (!is || strcmp(found, "found"));
		free(cut);
	}
	ok(!wrong, "a text that is cut after the value");
}

static void test_deep(void)
{
	static char deep[100000];
	static const char *const path[] = A;
	char found[8];

	memset(deep, '[', sizeof(deep));
	memcpy(deep, "{\"b\":", 5);
	ok(!json_string_find((struct span){deep, sizeof(deep)}, path, found, sizeof(found)),
	   "a text with many levels");
}

int main(void)
{
	test_rows();
	test_cut();
	test_deep();
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the edit distance between words, and the "did you mean" suggestions based on it. */
#include <stdlib.h>

#include "base/nearest.h"
#include "cli/options.h"
#include "tap.h"

static void test_distance(void)
{
	static const struct {
		const char *a, *b;
		size_t distance;
	} rows[] = {
		{"", "", 0},
		{"", "abc", 3},
		{"report", "report", 0},
		{"Report", "rePORT", 0},
		{"reprot", "report", 1},
		{"repot", "report", 1},
		{"reports", "report", 1},
		{"diagnose", "diagnsoe", 1},
		{"kitten", "sitting", 3},
		{"ca", "abc", 3},
	};
	char word[NEAREST_BYTES + 1] = "";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_u64(edit_distance(rows[i].a, rows[i].b), rows[i].distance, rows[i].a);
		is_u64(edit_distance(rows[i].b, rows[i].a), rows[i].distance, rows[i].b);
	}
	memset(word, 'x', NEAREST_BYTES - 1);
	is_u64(edit_distance(word, ""), NEAREST_BYTES - 1, "the longest word");
	memset(word, 'x', NEAREST_BYTES);
	ok(edit_distance(word, "x") == SIZE_MAX, "a word that is too long is like nothing");
}

static uint64_t seed = 1122;

static size_t random_below(size_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

/*
 * Tests the edit distance. It must be symmetric, 0 for equal words, and at most the number of
 * edits.
 */
static void test_random_words(void)
{
	size_t wrong = 0;

	for (int i = 0; i < 400; i++) {
		char a[12] = "", b[12] = "";
		size_t edits = random_below(4);

		for (size_t k = 0; k < 11; k++)
			a[k] = b[k] = 'a' + random_below(5);
		for (size_t k = 0; k < edits; k++)
			b[random_below(11)] = 'a' + random_below(5);
		wrong += edit_distance(a, a) != 0 || edit_distance(a, b) != edit_distance(b, a) ||
			 edit_distance(a, b) > edits;
	}
	is_u64(wrong, 0, "random words");
}

static void suggests(const char *wanted, int argc, ...)
{
	const char *argv[8] = {"faultscope"};
	char error[512] = "";
	struct options o;
	va_list ap;
	int err;

	va_start(ap, argc);
	for (int i = 1; i <= argc; i++)
		argv[i] = va_arg(ap, const char *);
	va_end(ap);
	err = options_parse(argc + 1, (char **)argv, &o, error, sizeof(error));
	if (!ok(err && strstr(error, wanted), "%s %s", argv[1], argv[2] ? argv[2] : ""))
		printf("#   no \"%s\" in: %s\n", wanted, error);
}

static void test_messages(void)
{
	suggests("did you mean: faultscope report", 1, "reprot");
	suggests("did you mean: faultscope diagnose", 1, "diagnoze");
	suggests("did you mean: faultscope doctor", 2, "docter", "--json");
	suggests("did you mean: faultscope host", 2, "help", "hots");
	suggests("did you mean: --interval", 2, "record", "--intervall");
	suggests("did you mean: --duration", 2, "run", "--druation=3");
	suggests("it belongs to: triage", 2, "diagnose", "--live");
	suggests("did you mean: maps.count", 2, "--sort", "maps.cuont");
	suggests("did you mean: vm.max_map_count", 2, "--assume", "vm.max_map_cont=3");
	suggests("did you mean: fault_begin", 2, "--probe", "fault_begn=none");
	suggests("did you mean: fault_begin=fentry", 2, "--probe", "fault_begin=fenty");
	suggests("did you mean: folded", 2, "--format", "foldet");
	suggests("did you mean: pprof", 3, "report", "--format", "prof");
	suggests("did you mean: warning", 2, "--min-severity", "warn");
	suggests("did you mean: always", 2, "--color", "allways");
	suggests("did you mean: major_faults", 3, "run", "--fail-on", "mayor_faults>3");
	suggests("did you mean: maps.created", 3, "run", "--fail-on", "maps.craeted>3");
	suggests("did you mean: file", 4, "blackbox", "run", "--keep", "fill");
	suggests("run --record FILE.fsr -- CMD", 5, "record", "-o", "x", "--", "python3");
	suggests("not a list of pids", 5, "record", "-o", "x", "12", "13");
	suggests("faultscope run -- CMD", 2, "python3", "train.py");
	suggests("did you mean: workload", 3, "export", "--export.detail", "workloads");
}

/* How similar a word must be, by the number of letters that were typed. */
static void test_similar(void)
{
	static const struct {
		const char *typed, *word;
		bool similar;
	} rows[] = {
		{"a", "a", true},
		{"a", "b", false},
		{"ab", "ac", true},
		{"ab", "cd", false},
		{"abcd", "abcx", true},
		{"abcd", "abxy", false},
		{"abcde", "abcxy", true},
		{"abcde", "abxyz", false},
		{"abcdefgh", "abcdexyz", true},
		{"abcdefgh", "abcdwxyz", false},
		{"abc", "abcdefgh", true},
		{"ab", "abcdefgh", false},
		{"ABC", "abcdefgh", true},
		{"abc", "xabcdefg", false},
	};
	char longest[NEAREST_BYTES + 1] = "";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct nearest n = {.typed = rows[i].typed};

		nearest_add(&n, rows[i].word);
		ok((n.word != NULL) == rows[i].similar, "%s and %s: %s", rows[i].typed,
		   rows[i].word, rows[i].similar ? "similar" : "not similar");
	}
	memset(longest, 'x', NEAREST_BYTES - 1);
	is_u64(edit_distance("", longest), NEAREST_BYTES - 1, "the longest word of a list");
	longest[NEAREST_BYTES - 1] = 'x';
	ok(edit_distance("", longest) == SIZE_MAX, "one that is longer");
}

/* Of words that are equally near, the first one is suggested. A text is whole or not there. */
static void test_room(void)
{
	static const char whole[] = "x\n  did you mean: --top";
	struct nearest n = {.typed = "tob"};
	char error[sizeof(whole)] = "x";

	nearest_add(&n, "top");
	nearest_add(&n, "tot");
	is_str(n.word, "top", "the first of two");
	nearest_add(&n, "tob");
	is_str(n.word, "tob", "until a nearer one comes");
	n.word = "top";
	nearest_print(&n, "--", error, sizeof(whole) - 1);
	is_str(error, "x", "a byte too little");
	nearest_print(&n, "--", error, sizeof(whole));
	is_str(error, whole, "room for just as much");
}

static void test_strangers(void)
{
	struct nearest n = {.typed = "xyzzy"};
	char error[40] = "x: unknown";

	nearest_add(&n, "report");
	ok(!n.word, "what is like nothing gets no suggestion");
	nearest_print(&n, "", error, sizeof(error));
	is_str(error, "x: unknown", "and the message stays as it was");
	n.typed = "repor";
	nearest_add(&n, "replay");
	nearest_add(&n, "report");
	is_str(n.word, "report", "the nearest wins");
	nearest_print(&n, "faultscope ", error, 20);
	is_str(error, "x: unknown", "a suggestion that does not fit is left out whole");
}

int main(void)
{
	test_distance();
	test_random_words();
	test_messages();
	test_similar();
	test_room();
	test_strangers();
	return tap_done();
}

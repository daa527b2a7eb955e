// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the table of error messages: the form of each row, and that each program's message matches
 * one row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/messages.h"
#include "sums.h"
#include "tap.h"

#define LEAST_MESSAGES 150
#define BYTES	       1024
#define EACH	       3 /* test_similar() takes one of so many wordings */

/* Makes a message from a pattern: '#' becomes a number, and '*' becomes a text. */
static void fill(const char *w, size_t len, unsigned int seed, char ret[BYTES])
{
	static const char *const texts[] = {"/srv/data/a", "0x7f3a", "worker-3", "x", "C2 (main)"};
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (w[i] == '#')
			n += (size_t)snprintf(ret + n, BYTES - n, "%u", seed % 3 ? seed : 4096);
		else if (w[i] == '*')
			n += (size_t)snprintf(ret + n, BYTES - n, "%s", texts[seed % 5]);
		else
			n += (size_t)snprintf(ret + n, BYTES - n, "%c", w[i]);
	}
}

static bool names(const char *ids, const char *id)
{
	const char *at = strstr(ids, id);

	return at && (at[strlen(id)] == ' ' || !at[strlen(id)]);
}

static void test_rows(void)
{
	const struct message *m;
	size_t n = 0;

	for (; (m = message_at(n)); n++) {
		char id[4] = "";

		ok(*m->program && *m->pattern && *m->means && *m->source, "row %zu is whole: %s", n,
		   m->pattern);
		ok(m->means[strlen(m->means) - 1] == '.', "a sentence: %s", m->means);
		for (const char *s = m->ids; *s; s += 3 + (s[3] == ' ')) {
			memcpy(id, s, 3);
			ok(diagnosis_find(id) != NULL, "%s of \"%s\" is a diagnosis", id,
			   m->pattern);
		}
	}
	ok(n >= LEAST_MESSAGES, "%zu messages", n);
}

/* Tests that each pattern is found in a log line, after a timestamp and before other lines. */
static void test_each_is_found(void)
{
	const struct message *m;
	size_t wordings = 0, first = 0;

	for (size_t i = 0; (m = message_at(i)); i++) {
		for (const char *w = m->pattern; *w;) {
			size_t len = strcspn(w, "|");
			char said[BYTES], line[BYTES + 64];
			struct candidates c;
			bool told = !*m->ids;

			fill(w, len, (unsigned int)(i * 7 + len), said);
			snprintf(line, sizeof(line), "starting up\n12:00:01 app: %s\nbye\n", said);
			messages_match(line, strlen(line), &c);
			for (size_t k = 0; k < c.n && k < 3; k++)
				told |= names(m->ids, c.diagnosis[k]->id);
			ok(told, "\"%s\" leads to one of %s", said, m->ids);
			ok(!c.similar, "\"%s\" is known as a whole", said);
			wordings++;
			first += !*m->ids || (c.n && !strncmp(m->ids, c.diagnosis[0]->id, 3));
			w += len + (w[len] == '|');
		}
	}
	ok(first * 100 >= wordings * 90, "%zu of %zu lead to their first id first", first,
	   wordings);
}

static void test_examples(void)
{
	static const char *const want[][2] = {
		{"unable to mmap 320 bytes from file: Cannot allocate memory (12)", "M01"},
		{"EMFILE", "F01"},
		{"Too many open files", "F01"},
		{"dataloader", "P01"},
		{"Bus error", "P01"},
		{"exit code 137", "P17"},
		{"too  many OPEN files in\tsystem", "F02"},
		{"could not open file \"base/1/2\": Too many open files in system", "F02"},
		{"failed to create memory pool mapping: mmap failed to reserve 0x60000000000 "
		 "bytes: "
		 "Cannot allocate memory (os error 12)",
		 "M13"},
		{"-bash: fork: Cannot allocate memory", "M17"},
		{"\033[31mSegmentation fault\033[0m (core dumped)", "M24"},
		{"[WinError 1455] The paging file is too small for this operation to complete",
		 "M15"},
		{"PAGE_FAULT_IN_NONPAGED_AREA", "K02"},
		{"inotify", "F03"},
		{"hugepages", "M19"},
	};
	struct candidates c;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		messages_match(want[i][0], strlen(want[i][0]), &c);
		ok(c.n && !strcmp(c.diagnosis[0]->id, want[i][1]), "%s: %s, want %s", want[i][0],
		   c.n ? c.diagnosis[0]->id : "nothing", want[i][1]);
	}
}

/* Removes word number `nth` (from 0) of a text. Returns whether words remain. */
static bool remove_word(char *s, size_t nth)
{
	size_t words = 1;
	char *at = s;

	for (const char *c = s; *c; c++)
		words += *c == ' ';
	for (nth %= words; nth; nth--)
		at = strchr(at, ' ') + 1;
	memmove(at, at + strcspn(at, " "), strlen(at + strcspn(at, " ")) + 1);
	return words > 1;
}

/*
 * Tests messages from which one word is missing, as if a program's version worded them in another
 * way. Three of four must lead to a diagnosis of the whole message. The checksum covers which
 * diagnoses and messages are found, and their order.
 */
static void test_similar(void)
{
	struct sum sum = {"messages without one of their words", SUM_BEGINS, 0x7aae07a35257e9cd};
	const struct message *m;
	size_t tried = 0, right = 0, nth = 0;

	for (size_t i = 0; (m = message_at(i)); i++) {
		for (const char *w = m->pattern; *w; nth++) {
			size_t len = strcspn(w, "|");
			struct candidates c;
			char said[BYTES];
			bool told = false;

			fill(w, len, (unsigned int)i, said);
			w += len + (w[len] == '|');
			if (nth % EACH || !*m->ids || !remove_word(said, nth / EACH))
				continue;
			messages_match(said, strlen(said), &c);
			mix(&sum.got, c.similar);
			for (size_t k = 0; k < c.n; k++) {
				mix_text(&sum.got, c.diagnosis[k]->id);
				told |= names(m->ids, c.diagnosis[k]->id);
			}
			for (size_t k = 0; k < c.nr_messages; k++)
				mix_text(&sum.got, c.message[k]->pattern);
			tried++;
			right += told;
		}
	}
	ok(right * 100 >= tried * 75, "%zu of %zu messages without a word are recognised", right,
	   tried);
	are_rounded_sums(&sum, 1);
}

#define SEARCHES 300

/* Appends a random word of a text, and `after`. */
static void add_word(char said[BYTES], const char *text, uint64_t *dice, const char *after)
{
	size_t len = strlen(text), at = roll(dice) % (len + 1), used = strlen(said);

	while (at && text[at - 1] != ' ')
		at--;
	snprintf(said + used, BYTES - used, "%.*s%s", (int)strcspn(text + at, " "), text + at,
		 after);
}

/*
 * Tests searches of one to twelve words: those of messages, programs, explanations and titles, of
 * the same row or of others, in several lines. The checksum covers all that is found.
 */
static void test_searches(void)
{
	static const char *const after[] = {" ",  " ",	   " ",		"\n",
					    ": ", " 137 ", "  \033[1m", " the "};
	struct sum sum = {"random searches", SUM_BEGINS, 0x6b02827c33f24c47};
	uint64_t dice = 4711;
	size_t rows = 0;

	while (message_at(rows))
		rows++;
	for (int i = 0; i < SEARCHES; i++) {
		size_t words = 1 + roll(&dice) % (i % 2 ? 5 : 12);
		const struct message *m = message_at(roll(&dice) % rows);
		char said[BYTES] = "";
		struct candidates c;

		for (size_t k = 0; k < words; k++) {
			const char *next = after[roll(&dice) % 8];
			const struct diagnosis *d = diagnosis_at(roll(&dice) % 60);

			if (!(roll(&dice) % 5))
				m = message_at(roll(&dice) % rows);
			switch (roll(&dice) % 6) {
			case 0:
				add_word(said, m->program, &dice, next);
				break;
			case 1:
				add_word(said, m->means, &dice, next);
				break;
			case 2:
				add_word(said, d ? d->title : "mmap", &dice, next);
				break;
			default:
				add_word(said, m->pattern, &dice, next);
			}
		}
		messages_match(said, strlen(said), &c);
		mix(&sum.got, c.similar);
		for (size_t k = 0; k < c.n; k++)
			mix_text(&sum.got, c.diagnosis[k]->id);
		for (size_t k = 0; k < c.nr_messages; k++) {
			mix_text(&sum.got, c.message[k]->pattern);
			mix(&sum.got, c.wording[k] - c.message[k]->pattern);
		}
	}
	are_rounded_sums(&sum, 1);
}

static void test_nothing(void)
{
	static const char *const texts[] = {"",	 "\n", "hello world", "***",	   "###",
					    "a", "(",  "\033[",	      "the of to", "42"};
	static char large[600 << 10];
	struct candidates c;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		messages_match(texts[i], strlen(texts[i]), &c);
		ok(!c.n && !c.nr_messages, "\"%s\" is like no message", texts[i]);
	}
	memset(large, 'x', sizeof(large));
	messages_match(large, sizeof(large), &c);
	ok(!c.n && !c.nr_messages, "a large text");
	for (size_t i = 0; i < 256; i++) {
		for (size_t k = 0; k < 64; k++)
			large[k] = (char)rand();
		messages_match(large, 64, &c);
		if (c.n > CANDIDATES_MAX || c.nr_messages > MESSAGES_MAX)
			ok(false, "bounds");
	}
	messages_match("java.lang.OutOfMemoryError: Java heap space", 43, &c);
	ok(!c.n && c.nr_messages == 1, "a limit of the program's own has no candidate");
}

/* Tests messages about errors that no limit causes, and other texts. They must match no row. */
static void test_no_candidate(void)
{
	static const char *const texts[] = {
		"curl: (7) Failed to connect to localhost port 80: Connection refused",
		"cat: /etc/shadow: Permission denied",
		"bash: ./run.sh: No such file or directory",
		"bind() to 0.0.0.0:80 failed (98: Address already in use)",
		"connect(): Cannot assign requested address",
		"mremap_chunk(): invalid pointer",
	};
	struct candidates c;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		messages_match(texts[i], strlen(texts[i]), &c);
		ok(!c.n, "%s: %s", texts[i], c.n ? c.diagnosis[0]->id : "no candidate");
	}
}

/* Tests that escape sequences of a terminal, anywhere in a text, do not matter. */
static void test_escapes(void)
{
	static const char text[] = "fork: Cannot allocate memory";
	static const char *const escapes[] = {"\033[1;31m", "\033[K"};
	struct candidates want, got;
	size_t wrong = 0;

	messages_match(text, strlen(text), &want);
	ok(want.n && !want.similar, "a message without escape sequences");
	for (size_t at = 0; at < sizeof(text); at += 3)
		for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
			char copy[2 * sizeof(text)];

			snprintf(copy, sizeof(copy), "%.*s%s%s", (int)at, text, escapes[i],
				 text + at);
			messages_match(copy, strlen(copy), &got);
			wrong += got.n != want.n || got.similar ||
				 got.diagnosis[0] != want.diagnosis[0];
		}
	is_u64(wrong, 0, "escape sequences do not matter");
}

int main(void)
{
	test_rows();
	test_escapes();
	test_no_candidate();
	test_each_is_found();
	test_examples();
	test_similar();
	test_searches();
	test_nothing();
	return tap_done();
}

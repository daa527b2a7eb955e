// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <string.h>

#include "rules/diagnoses.h"
#include "tap.h"

/* Ids of findings that the documentation mentions. Each needs a text, even without a rule. */
static const struct {
	char letter;
	int from, to;
} promised[] = {{'M', 1, 33}, {'F', 1, 15}, {'P', 1, 24}, {'K', 1, 12}};

static void test_all_are_there(void)
{
	char id[8];

	for (size_t i = 0; i < sizeof(promised) / sizeof(promised[0]); i++)
		for (int n = promised[i].from; n <= promised[i].to; n++) {
			const struct diagnosis *d;

			snprintf(id, sizeof(id), "%c%02d", promised[i].letter, n);
			d = diagnosis_find(id);
			ok(d && !strcmp(d->id, id), "%s has its text", id);
		}
}

/*
 * Returns whether a text is printable ASCII. Each paragraph must be a command, or end with a full
 * stop, a colon or a quotation mark.
 */
static bool is_well_formed(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		for (size_t i = 0; i < len; i++)
			if (text[i] < ' ' || text[i] > '~')
				return false;
		if (len < 3 || text[len - 1] == ' ' || strstr(text, "  "))
			return false;
		text += len + (text[len] == '\n');
	}
	return true;
}

/* Returns whether `s` is a list of sources "owner/name#number", separated by single blanks. */
static bool are_sources(const char *s)
{
	while (*s) {
		size_t len = strcspn(s, " "), slash = strcspn(s, "/"), hash = strcspn(s, "#");

		if (!slash || slash + 1 >= hash || hash + 1 >= len)
			return false;
		for (size_t i = hash + 1; i < len; i++)
			if (!isdigit((unsigned char)s[i]))
				return false;
		s += len;
		if (*s == ' ' && !*++s)
			return false;
	}
	return true;
}

static void test_texts(void)
{
	const struct diagnosis *d, *before = NULL;

	for (size_t i = 0; (d = diagnosis_at(i)); before = d, i++) {
		bool all = true;

		for (size_t a = 0; a < NR_ABOUTS; a++)
			all &= d->about[a] && *d->about[a] && is_well_formed(d->about[a]);
		ok(all, "%s: every section is there, in paragraphs of plain text", d->id);
		ok(d->title && *d->title && strlen(d->title) <= 72, "%s: a title that fits a list",
		   d->id);
		ok(are_sources(d->sources), "%s: sources are owner/name#number", d->id);
		if (before && before->id[0] == d->id[0])
			ok(strcmp(before->id, d->id) < 0, "%s comes after %s", d->id, before->id);
	}
}

static void test_find(void)
{
	const struct diagnosis *m01 = diagnosis_find("M01");

	ok(m01 && diagnosis_find("m01") == m01, "in any case");
	ok(diagnosis_find("M1") == m01 && diagnosis_find("m001") == m01, "leading zeros or not");
	ok(!diagnosis_find("") && !diagnosis_find("M") && !diagnosis_find("M0") &&
		   !diagnosis_find("M01x") && !diagnosis_find("M 1") && !diagnosis_find("M99"),
	   "nothing else");
	ok(m01 && diagnosis_rule(m01) && !strcmp(diagnosis_rule(m01)->id, "M01"), "and its rule");
}

/* Tests that slugs never change. tests/e2e/compatible/findings.txt contains a copy of all slugs. */
static void test_slugs(void)
{
	const struct diagnosis *d, *m01 = diagnosis_find("M01");

	for (size_t i = 0; (d = diagnosis_at(i)); i++) {
		size_t len = strlen(d->slug);

		ok(len && len <= 40 &&
			   strspn(d->slug, "abcdefghijklmnopqrstuvwxyz0123456789-") == len &&
			   d->slug[0] != '-' && d->slug[len - 1] != '-',
		   "%s: %s is a slug", d->id, d->slug);
		ok(diagnosis_find(d->slug) == d, "%s: no other has its slug", d->id);
	}
	ok(diagnosis_find("MAX-map-count-reached") == m01, "in any case");
	ok(diagnosis_find("max-map-count-r") == m01, "by the beginning of one slug");
	ok(!diagnosis_find("max-map-count-"), "not by that of several");
	ok(!diagnosis_find("crash") && !diagnosis_find("thread"), "a word is no slug");
	is_str(diagnosis_slug("M01"), "max-map-count-reached", "of an id");
}

static void test_near(void)
{
	const struct diagnosis *near[64];
	size_t n = diagnoses_near("M99", near, 64);

	ok(n == 4 && !strcmp(near[0]->id, "M09") && !strcmp(near[1]->id, "M19") &&
		   !strcmp(near[2]->id, "M29") && !strcmp(near[3]->id, "M39"),
	   "near M99 are M09, M19, M29 and M39");
	n = diagnoses_near("n25", near, 64);
	ok(n == 3 && !strcmp(near[0]->id, "M25") && !strcmp(near[1]->id, "P25") &&
		   !strcmp(near[2]->id, "K25"),
	   "near n25 are M25, P25 and K25");
	ok(!diagnoses_near("nothing like it", near, 64), "near a sentence is none");
	is_u64(diagnoses_near("Mxx", near, 4), 4, "no more than asked for");
}

int main(void)
{
	test_all_are_there();
	test_texts();
	test_find();
	test_slugs();
	test_near();
	return tap_done();
}

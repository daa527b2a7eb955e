// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the model, the rules and the renderers with random records. Values are round numbers, and
 * limits are often 100, so that values often are exactly at a threshold of a rule. The test
 * compares checksums over the numbers and the marks of all outputs, but over no words. In texts, no
 * plural follows the number 1.
 *
 * If the environment variable FS_SHOW_EXPECTED=FILE is set, the outputs are appended to FILE. They
 * can then be compared with those of another build.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <locale.h>

#include "plurals.h"
#include "random_scene.h"

#define SEEDS	200
#define STORIES 4 /* one of so many seeds also makes reports, screens and pages of metrics */
#define SCANS	6

/* Checksums after those of the writers. */
enum { SUM_PAGES = WRITERS, SUM_NAMES, SUM_METRICS, SUM_SHAPES, SUMS };

/* Adds the numbers of a text to a checksum. */
static void mix_numbers(uint64_t *sum, const struct buf *b)
{
	for (size_t i = 0; i < b->len; i++)
		if (strchr("0123456789.%-", b->s[i]))
			mix(sum, b->s[i]);
}

/* Adds the letters of a text to a checksum. */
static void mix_letters(uint64_t *sum, const struct buf *b)
{
	for (size_t i = 0; i < b->len; i++)
		if (isalpha((unsigned char)b->s[i]))
			mix(sum, b->s[i]);
}

static void show(const struct scene *s, uint64_t seed)
{
	const char *path = getenv("FS_SHOW_EXPECTED");
	FILE *file = path ? fopen(path, "a") : NULL;

	for (size_t w = 0; file && w < WRITERS; w++)
		fprintf(file, "== %s, seed %" PRIu64 "\n%s\n", writers[w]->name, seed,
			s->out[w].s ? s->out[w].s : "");
	if (file) {
		fprintf(file, "%s\n", s->pages.s ? s->pages.s : "");
		fclose(file);
	}
}

/* Plays a scene, and adds its outputs to the checksums. Returns the number of wrong plurals. */
static unsigned int play(uint64_t seed, struct sum *sums)
{
	static struct scene s;
	unsigned int plurals;

	play_scene(&s, seed, SCANS, seed % STORIES == 0);
	if (s.err)
		abort();
	show(&s, seed);
	for (size_t w = 0; w < WRITERS; w++) {
		mix_numbers(&sums[w].got, &s.out[w]);
		if (writers[w] == &json_renderer)
			mix_letters(&sums[SUM_NAMES].got, &s.out[w]);
	}
	plurals = plurals_after_one(&s.pages);
	for (size_t w = 0; w < WRITERS; w++)
		plurals += plurals_after_one(&s.out[w]);
	mix_numbers(&sums[SUM_PAGES].got, &s.pages);
	mix_numbers(&sums[SUM_METRICS].got, &s.metrics);
	mix_shape(&sums[SUM_SHAPES].got, s.pages.s ? s.pages.s : "", s.pages.len);
	for (size_t w = 0; w < WRITERS; w++)
		mix_shape(&sums[SUM_SHAPES].got, s.out[w].s ? s.out[w].s : "", s.out[w].len);
	end_scene(&s);
	return plurals;
}

int main(void)
{
	struct sum sums[SUMS] = {
		{"numbers of JSON lines", SUM_BEGINS, 0xf31c0dc5535aa212},
		{"numbers of text", SUM_BEGINS, 0x9d8e37696e322ebc},
		{"numbers of diagnoses", SUM_BEGINS, 0x1cab6764d265b9ca},
		{"numbers of host reports", SUM_BEGINS, 0xca88dfcdb1e16692},
		{"numbers of reports, screens and metrics", SUM_BEGINS, 0xb6bcc5467ec52131},
		{"names in JSON lines", SUM_BEGINS, 0x910c8107935a6099},
		{"numbers of metrics", SUM_BEGINS, 0xe4872eb6e7fad64c},
		{"marks of all outputs", SUM_BEGINS, 0xcd3d4d1681df5301},
	};
	unsigned int plurals = 0;

	setlocale(LC_ALL, "C.UTF-8");
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		plurals += play(seed, sums);
	are_rounded_sums(sums, SUMS);
	is_u64(plurals, 0, "no plural follows the number 1");
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests comparisons of recordings: of two random ones, and of a random one with itself. The test
 * compares checksums over the rows, and over the outputs without their words.
 */
#include <locale.h>
#include <math.h>

#include "random_scene.h"
#include "render/diff.h"

#define SEEDS 60
#define SCANS 4

static void play(struct scene *s, uint64_t seed)
{
	play_recording(s, seed, SCANS);
	if (s->err)
		abort();
}

static void mix_rows(uint64_t *sum, const struct diff *d)
{
	for (int part = 0; part < NR_DIFF_PARTS; part++)
		for (size_t i = 0; i < d->rows[part]; i++) {
			const struct diff_row *r = &d->row[part][i];

			mix_text(sum, r->key);
			mix_text(sum, r->frames);
			mix_text(sum, r->metric);
			mix(sum, llround(r->a * 16));
			mix(sum, llround(r->b * 16));
			mix(sum, llround(r->weight * 16));
			mix(sum, diff_is_alike(r));
		}
	mix(sum, d->left_out);
	mix(sum, llround(d->side[0].seconds * 16) ^ d->side[0].processes << 32);
}

static void compare(struct sum *sums, struct scene *a, struct scene *b, uint64_t seed)
{
	struct story_view story[] = {
		{.v = &a->view, .h = &a->h, .file = {.name = "before", .error = ""}},
		{.v = &b->view, .h = &b->h, .file = {.name = "after", .error = ""}}};
	struct view v = b->view;
	struct buf text = {};
	struct diff *d;

	if (diff_make(&d, &story[0], &story[1]))
		abort();
	mix_rows(&sums[0].got, d);
	v.width = 70 + seed % 60;
	v.unicode = seed % 2;
	diff_text(&text, d, &v, seed % 16);
	diff_json(&text, d, &v);
	if (text.failed)
		abort();
	mix_shape(&sums[1].got, text.s, text.len);
	buf_free(&text);
	diff_free(d);
}

int main(void)
{
	static struct scene a, b;
	struct sum sums[] = {{"rows", SUM_BEGINS, 0x9e6f617f8df85695},
			     {"outputs", SUM_BEGINS, 0x9c9de360bdb5210a}};

	setlocale(LC_ALL, "C.UTF-8");
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		play(&a, seed);
		play(&b, seed + SEEDS);
		compare(sums, &a, &b, seed);
		compare(sums, &b, &b, seed);
		end_scene(&a);
		end_scene(&b);
	}
	are_rounded_sums(sums, 2);
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counters of processes that take little memory, and frames of many processes. */
#include "fixture.h"
#include "render/render.h"
#include "tap.h"

#define COUNTERS  (sizeof(struct counters) / sizeof(uint64_t))
#define PROCESSES 2000
#define FEW	  12 /* counters of a process that only forks and exits, at most */

static uint64_t seed = 1;

static uint64_t random_number(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 20;
}

/* Fills about one of `each` counters. */
static void fill(struct counters *c, uint64_t each)
{
	uint64_t *counter = (uint64_t *)c;

	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < COUNTERS; i++)
		if (random_number() % each == 0)
			counter[i] = random_number() + 1;
}

static bool is_equal(const struct sparse_counters *s, const struct counters *c)
{
	const uint64_t *counter = (const uint64_t *)c;
	struct counters read = {};
	bool equal = !memcmp(sparse_read(s, &read), c, sizeof(*c));

	for (size_t i = 0; i < COUNTERS; i++)
		equal = equal && sparse_counter(s, i * sizeof(*counter)) == counter[i];
	return equal;
}

static void test_round_trip(void)
{
	struct sparse_counters *s = NULL, *copy = NULL;
	bool equal = true;
	struct counters c;

	for (int i = 0; i < 400; i++) {
		fill(&c, 1 + i);
		equal = equal && !sparse_store(&s, &c) && is_equal(s, &c);
		equal = equal && !sparse_copy(&copy, s) && is_equal(copy, &c);
	}
	ok(equal, "counters are read as they were stored, over earlier ones and copied");
	memset(&c, 0, sizeof(c));
	((uint64_t *)&c)[COUNTERS - 1] = UINT64_MAX;
	ok(!sparse_store(&s, &c) && is_equal(s, &c), "also the last one alone");
	memset(&c, 0, sizeof(c));
	ok(!sparse_store(&s, &c) && is_equal(s, &c), "and none");
	ok(sparse_bytes(s) <= 16, "counters that are all 0 take no memory");
	free(s);
	free(copy);
}

static void test_small(void)
{
	struct sparse_counters *s = NULL;
	struct counters c = {};
	uint64_t *counter = (uint64_t *)&c;

	for (size_t i = 0; i < FEW; i++)
		counter[i * (COUNTERS / FEW)] = 1;
	sparse_store(&s, &c);
	ok(sparse_bytes(s) <= sizeof(c) / 4, "%zu bytes for %d counters, not %zu", sparse_bytes(s),
	   FEW, sizeof(c));
	free(s);
}

/* What a test reads of the parts of a frame. */
struct parts {
	size_t parts, longest, lines;
};

static void count_part(void *ctx, struct buf *b)
{
	struct parts *p = ctx;

	p->parts++;
	if (b->len > p->longest)
		p->longest = b->len;
	for (size_t i = 0; i < b->len; i++)
		p->lines += b->s[i] == '\n';
	buf_clear(b);
}

static void test_frame_in_parts(void)
{
	struct model m;
	struct parts p = {};
	struct view v = {.m = &m, .write_part = count_part, .write_ctx = &p};
	struct tick_record t = tick_record(SECOND);
	struct buf b = {};

	model_init(&m);
	for (uint32_t pid = 1; pid <= PROCESSES; pid++) {
		struct process_record r = process_record(pid, 1, SECOND);

		r.g.flags = PROC_BORN | PROC_FINAL;
		model_take(&m, &r.h);
	}
	model_take(&m, &t.h);
	json_renderer.frame(&b, &v);
	count_part(&p, &b);
	ok(p.parts > 2, "the frame of %d processes is written in %zu parts", PROCESSES, p.parts);
	ok(p.longest < 2 * VIEW_PART_BYTES, "none is longer than %zu bytes", p.longest);
	ok(p.lines >= PROCESSES, "no process is missing");
	buf_free(&b);
	model_free(&m);
}

int main(void)
{
	test_round_trip();
	test_small();
	test_frame_in_parts();
	return tap_done();
}

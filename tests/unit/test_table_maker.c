// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests that the unwind table of a large file is made in short pieces, and that the size of the
 * pieces does not change the table.
 */
#include <errno.h>
#include <libelf.h>
#include <time.h>

#include "large_elf.h"
#include "tap.h"
#include "unwind/code_files.h"
#include "unwind/table_maker.h"

#define FUNCTIONS 131072
#define BARE	  (6 << 20) /* bytes of code without FDEs */
#define PIECE_MS  10

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

struct pieces {
	size_t n;
	double longest_ms, all_ms;
};

/* Makes a table with pieces of this size. */
static int make(const struct byte_source *s, struct rule_set *rules, __u64 work,
		struct unwind_table *ret, struct pieces *p)
{
	struct table_maker *m;
	double began = cpu_ms(), all = began;
	int err = table_maker_new(s, rules, &m);

	*p = (struct pieces){};
	if (err)
		return err;
	do {
		__u64 left = work;
		double took;

		err = table_maker_work(m, &left);
		took = cpu_ms() - began;
		p->longest_ms = took > p->longest_ms ? took : p->longest_ms;
		p->n++;
		began = cpu_ms();
	} while (err == -EAGAIN);
	p->all_ms = cpu_ms() - all;
	if (!err)
		table_maker_take(m, ret);
	table_maker_free(m);
	return err;
}

static bool are_equal(const struct unwind_table *a, const struct unwind_table *b)
{
	return a->rows.base == b->rows.base && a->rows.pages == b->rows.pages &&
	       a->rows.rows == b->rows.rows && a->gap_rule == b->gap_rule &&
	       a->covered_bytes == b->covered_bytes && a->framed_bytes == b->framed_bytes &&
	       a->opaque_bytes == b->opaque_bytes && a->fdes == b->fdes &&
	       a->dropped == b->dropped && a->cut == b->cut &&
	       !memcmp(a->rows.page, b->rows.page, a->rows.pages * sizeof(*a->rows.page)) &&
	       !memcmp(a->rows.row, b->rows.row, a->rows.rows * sizeof(*a->rows.row));
}

/* Makes the table of a file in one piece, and in pieces of several sizes, and compares them. */
static void compare(const struct large_elf *e, const __u64 *work, size_t n, const char *name)
{
	struct byte_source s = {.fd = -1, .mem = (const char *)e->bytes, .bytes = e->size};
	struct rule_set rules;
	struct unwind_table whole, t;
	struct pieces p;

	rule_set_init(&rules);
	if (!ok(!unwind_table_read(&s, &rules, &whole), "%s: made in one piece", name))
		return;
	for (size_t i = 0; i < n; i++) {
		struct rule_set own;
		int err;

		rule_set_init(&own);
		err = make(&s, &own, work[i], &t, &p);
		if (ok(!err, "%s: made in %zu pieces", name, p.n)) {
			ok(are_equal(&t, &whole), "%s: the table is equal", name);
			ok(own.n == rules.n &&
				   !memcmp(own.rule, rules.rule, own.n * sizeof(*own.rule)),
			   "%s: the rules are equal", name);
			unwind_table_free(&t);
		}
		rule_set_free(&own);
	}
	unwind_table_free(&whole);
	rule_set_free(&rules);
}

static void test_equal(void)
{
	static const __u64 work[] = {1, 2, 7, 1000, CODE_WORK};
	struct large_elf small = large_elf_make(320, 100000), none = large_elf_make(0, 3 << 20);

	/* functions that overlap, end outside of the code, or have broken instructions */
	small.bytes[small.frames + 24 + 5 * LARGE_FDE + 12] = 0xff;
	memset(small.bytes + small.frames + 24 + 9 * LARGE_FDE + 12, 0x7f, 3);
	small.bytes[small.frames + 24 + 20 * LARGE_FDE + 17] = 0x3f;
	compare(&small, work, 5, "some functions");
	compare(&none, work, 5, "code without functions");
	free(small.bytes);
	free(none.bytes);
}

static void test_large(void)
{
	static const __u64 work[] = {CODE_WORK};
	struct large_elf e = large_elf_make(FUNCTIONS, BARE);
	struct byte_source s = {.fd = -1, .mem = (const char *)e.bytes, .bytes = e.size};
	struct rule_set rules;
	struct unwind_table t = {};
	struct pieces p;

	rule_set_init(&rules);
	is_u64(make(&s, &rules, CODE_WORK, &t, &p), 0, "a large library is read");
	is_u64(t.fdes, FUNCTIONS, "all functions");
	is_u64(t.dropped, 0, "none is dropped");
	ok(p.n > 10, "in pieces");
	ok(p.longest_ms < PIECE_MS, "a piece takes less than %d ms of CPU", PIECE_MS);
	printf("# %zu pieces, the longest %.2f ms, all %.1f ms\n", p.n, p.longest_ms, p.all_ms);
	for (uint32_t i = 0; i < FUNCTIONS; i += 4099)
		is_u64(rules.rule[row_table_find(&t.rows, e.text + i * LARGE_SPACING + 12)].cfa_off,
		       24 + i % 12 * 8, "a function has its rule");
	unwind_table_free(&t);
	rule_set_free(&rules);
	compare(&e, work, 1, "large");
	free(e.bytes);
}

/* Tests one function with so many instructions that they take several pieces. */
static void test_long_function(void)
{
	static const __u64 work[] = {3, 100, CODE_WORK};
	struct large_elf e = large_elf_make(65536, 0);
	uint8_t *at = e.bytes + e.frames + 24;
	uint32_t length = 65536 * LARGE_FDE - 4;

	/* the first FDE gets the bytes of all others as its instructions */
	memcpy(at, &length, sizeof(length));
	memset(at + 17, 0, length - 13);
	for (uint32_t i = 0; i + 2 < length - 13; i += 3)
		memcpy(at + 17 + i, (uint8_t[]){0x41, 0x0e, 16 + i % 7 * 8}, 3);
	memcpy(at + 12, (uint32_t[]){65536 * LARGE_SPACING - 4096}, 4);
	compare(&e, work, 3, "one long function");
	free(e.bytes);
}

int main(void)
{
	elf_version(EV_CURRENT);
	test_equal();
	test_large();
	test_long_function();
	return tap_done();
}

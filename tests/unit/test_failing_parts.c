// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests parts that the model and the renderers do not use, each of whose allocations fails once:
 * they return an error, or their result is complete. The test must run at the top of the source
 * tree.
 */
#define _GNU_SOURCE
#include <libelf.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"

#include "base/buf.h"
#include "blackbox/scan.h"
#include "large_elf.h"
#include "render/crash/crash_view.h"
#include "sums.h"
#include "triage/condense.h"
#include "triage/triage.h"
#include "unwind/table_maker.h"

/*
 * Does something and writes the result to `b`. Returns 0, or an error. After an error, and after
 * anything that `b` is incomplete without, no memory may be in use.
 */
typedef int part_fn(const char *data, size_t size, struct buf *b);

/* Returns whether a result of triage says that something is missing. */
static bool has_lost(const struct triage *t)
{
	bool lost = t->lost_verdicts || t->seen.lost || t->lines.lost_lines || t->lines.lost_bytes;

	for (size_t i = 0; i < t->seen.n; i++)
		lost |= t->seen.event[i].lost_frames || t->seen.event[i].lost_modules;
	return lost;
}

static int run_triage(const char *data, size_t size, struct buf *b)
{
	struct view v = {.width = 80};
	const char *name = "log";
	struct buf gaps = {};
	struct triage_view tv = {
		.v = &v, .name = &name, .names = 1, .explain = true, .gaps = &gaps};
	struct triage_input input = {.name = name, .data = data, .size = size};
	struct triage t;
	int err = triage_run(&t, &input, 1);

	if (err)
		return err;
	b->failed |= has_lost(&t);
	triage_json(b, &tv, &t);
	triage_text(b, &tv, &t);
	triage_markdown(b, &tv, &t);
	triage_free(&t);
	return 0;
}

static int run_condense(const char *data, size_t size, struct buf *b)
{
	struct condenser c;
	int err = 0;

	condenser_make(&c);
	for (size_t at = 0; at < size && !err; at += 700)
		err = condense(&c, data + at, size - at < 700 ? size - at : 700);
	err = err ? err : condense_end(&c);
	b->failed |= c.lost_bytes != 0;
	if (!err)
		buf_add(b, c.kept, c.kept_bytes);
	free(c.kept);
	free(c.skip);
	c.kept = NULL;
	c.skip = NULL;
	condenser_free(&c);
	return err;
}

static int run_scan(const char *data, size_t size, struct buf *b)
{
	struct bb_found f = {};
	int err = 0;

	for (int i = 0; i < 300 && !err; i++) {
		struct bb_record r = {.sequence = i, .boot_ns = i * 1000, .class = BB_FAULT};
		char line[BB_LINE_MAX];
		size_t n;

		r.boot_id[0] = i / 100;
		snprintf(r.text, sizeof(r.text), "n=%d", i);
		n = bb_encode_line(&r, line);
		err = bb_scan(&f, line, n);
	}
	bb_found_settle(&f);
	b->failed |= f.lost != 0;
	for (size_t i = 0; i < f.n; i++)
		buf_puts(b, f.record[i].text);
	bb_found_free(&f);
	return err;
}

static int run_table(const char *data, size_t size, struct buf *b)
{
	struct byte_source s = {.fd = -1, .mem = data, .bytes = size};
	struct rule_set rules = {};
	struct rule_list used = {};
	struct unwind_table t;
	int err = rule_set_init(&rules);

	if (err)
		return err;
	err = unwind_table_read(&s, &rules, &t);
	if (!err) {
		err = rule_set_use(&rules, t.rows.row, t.rows.rows, &used);
		b->failed |= rules.refused != 0 || t.cut;
		if (!err)
			buf_add(b, (const char *)t.rows.row, t.rows.rows * sizeof(*t.rows.row));
		rule_set_release(&rules, &used);
		unwind_table_free(&t);
	}
	rule_set_free(&rules);
	return err;
}

static bool is_equal(const struct buf *x, const struct buf *y)
{
	return x->len == y->len && (!x->len || !memcmp(x->s, y->s, x->len));
}

static void test_part(const char *name, part_fn *run, const char *data, size_t size)
{
	struct buf want = {}, got = {};
	uint64_t errors = 0, incomplete = 0, silent = 0;
	int err;

	run(data, size, &want);
	buf_free(&want);
	memory_watch();
	err = run(data, size, &want);
	memory_watched();
	for (size_t i = 0; i < memory_firsts; i++) {
		int failed;

		memory_fail_after(memory_first[i]);
		failed = run(data, size, &got);
		if (!memory_recovers())
			abort();
		errors += failed != 0;
		incomplete += !failed && got.failed;
		if (!failed && !got.failed && !is_equal(&got, &want)) {
			silent++;
			memory_show_failed();
		}
		buf_free(&got);
	}
	ok(!err && !want.failed && want.len, "%s: with enough memory", name);
	ok(errors + incomplete && !silent,
	   "%s: %zu places, %" PRIu64 " errors, %" PRIu64 " incomplete results, %" PRIu64
	   " that do not tell",
	   name, memory_firsts, errors, incomplete, silent);
	buf_free(&want);
}

static char *content(const char *path, size_t *ret_size)
{
	static char text[1 << 18];
	FILE *f = fopen(path, "r");

	if (!f)
		abort();
	*ret_size = fread(text, 1, sizeof(text), f);
	fclose(f);
	return text;
}

int main(void)
{
	static const char *const logs[] = {"6.12_arm64_list_twice.log", "6.1_list_poison.log"};
	struct large_elf elf = large_elf_make(320, 20000);
	size_t size;

	setlocale(LC_ALL, "C.UTF-8");
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		char path[96];
		char *text;

		snprintf(path, sizeof(path), "tests/triage/logs/%s", logs[i]);
		text = content(path, &size);
		test_part("triage", run_triage, text, size);
		test_part("condenser", run_condense, text, size);
	}
	test_part("records of the flight recorder", run_scan, NULL, 0);
	test_part("unwind table", run_table, (const char *)elf.bytes, elf.size);
	free(elf.bytes);
	return tap_done();
}

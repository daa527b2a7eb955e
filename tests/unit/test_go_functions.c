// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests unwind tables that are made from handwritten Go function tables, valid and damaged. */
#include <errno.h>
#include <libelf.h>
#include <stdlib.h>

#include "cfi_maker.h"
#include "tap.h"
#include "unwind/table_maker.h"

#define HEAD	  0x50 /* size of the section's head */
#define NAMES	  HEAD
#define STEPS	  0xb0
#define INDEX	  0xd0
#define FUNCTIONS 7 /* number of functions */
#define FIRST	  0x200 /* offset of the first function's description from the index */

static uint8_t file[MADE_FILE];
static struct rule_set rules;

/* names, and where they begin */
static const char names[] = "\0main.main\0runtime.goexit\0runtime.mstart\0runtime.sigreturn__x\0"
			    "runtime.systemstack\0runtime.mcall";
enum { MAIN = 1, GOEXIT = 11, MSTART = 26, SIGRETURN = 41, SYSTEMSTACK = 62, MCALL = 82 };

/*
 * Stack pointer changes. At 1: 0 bytes for 4 bytes of code, then 24 for 16, then 0. At 10: cut off.
 */
static const uint8_t steps[] = {0, 2, 4, 48, 16, 47, 8, 0, 0, 0, 2, 4, 48, 0xff};

static void put_number(struct made *m, size_t at, uint64_t n, size_t bytes)
{
	memcpy(m->b + at, &n, bytes);
}

static void put_function(struct made *m, int i, bool relative, uint32_t name, uint32_t at_steps,
			 uint8_t flag)
{
	size_t word = relative ? 4 : 8, at = FIRST + i * 0x40;
	uint64_t entry = 0x1000 + i * 0x20 + (relative ? 0 : TEXT);

	put_number(m, INDEX + i * 2 * word, entry, word);
	put_number(m, INDEX + (i * 2 + 1) * word, at, word);
	put_number(m, INDEX + at, entry, word);
	put_number(m, INDEX + at + word, name, 4);
	put_number(m, INDEX + at + word + 12, at_steps, 4);
	m->b[INDEX + at + word + (relative ? 9 : 8) * 4 + 1] = flag;
}

/* Makes a table in the layout of Go 1.20 (`relative`) or Go 1.16. */
static void make_section(struct made *m, bool relative)
{
	size_t at = 8;

	put_number(m, 0, relative ? 0xfffffff1 : 0xfffffffa, 4);
	m->b[6] = 1;
	m->b[7] = 8;
	put_number(m, at, FUNCTIONS, 8);
	put_number(m, at += 8, 1, 8);
	if (relative)
		put_number(m, at += 8, TEXT, 8);
	put_number(m, at += 8, NAMES, 8);
	put_number(m, at += 8, STEPS, 8);
	put_number(m, at += 8, STEPS, 8);
	put_number(m, at += 8, STEPS, 8);
	put_number(m, at += 8, INDEX, 8);
	memcpy(m->b + NAMES, names, sizeof(names));
	memcpy(m->b + STEPS, steps, sizeof(steps));
	put_function(m, 0, relative, MAIN, 1, 0);
	put_function(m, 1, relative, GOEXIT, 1, 1);
	put_function(m, 2, relative, MSTART, 1, 1);
	put_function(m, 3, relative, SIGRETURN, 1, 0);
	put_function(m, 4, relative, SYSTEMSTACK, 1, 2);
	put_function(m, 5, relative, MAIN, 10, 0);
	put_function(m, 6, relative, MCALL, 1, 2);
	/* the end of the last function */
	put_function(m, FUNCTIONS, relative, 0, 0, 0);
	m->n = INDEX + FIRST + FUNCTIONS * 0x40;
}

static int read_made(const struct made *m, struct unwind_table *t)
{
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = sizeof(file)};

	make_go_file(m, EM_X86_64, file);
	return unwind_table_read(&s, &rules, t);
}

/* Makes the table in pieces of one unit of work, and compares it with `whole`. */
static void compare_pieces(const struct unwind_table *whole)
{
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = sizeof(file)};
	struct unwind_table t = {};
	struct table_maker *m;
	int pieces = 0, err;

	if (!ok(!table_maker_new(&s, &rules, &m), "a table is begun"))
		return;
	do {
		__u64 left = 1;

		err = table_maker_work(m, &left);
		pieces++;
	} while (err == -EAGAIN);
	is_u64(err, 0, "a table is made in pieces");
	ok(pieces > FUNCTIONS, "each function is a piece");
	table_maker_take(m, &t);
	table_maker_free(m);
	ok(t.rows.rows == whole->rows.rows &&
		   !memcmp(t.rows.row, whole->rows.row, t.rows.rows * sizeof(*t.rows.row)),
	   "the rows are the same");
	unwind_table_free(&t);
}

static void is_rule(const struct unwind_table *t, __u64 at, struct fs_unwind_rule want,
		    const char *name)
{
	struct fs_unwind_rule got = rules.rule[row_table_find(&t->rows, TEXT + 0x1000 + at)];

	if (!ok(!memcmp(&got, &want, sizeof(got)), "%s", name))
		printf("#   got cfa %d %d, fp %d %d\n", got.cfa, got.cfa_off, got.fp, got.fp_off);
}

#define RULE(...) ((struct fs_unwind_rule){__VA_ARGS__})

static void test_layout(bool relative)
{
	struct made m = {};
	struct unwind_table t;

	make_section(&m, relative);
	is_u64(read_made(&m, &t), 0, "a Go program is read");
	compare_pieces(&t);
	is_rule(&t, 0, RULE(FS_UNWIND_CFA_SP, .cfa_off = 8), "first byte of a function");
	is_rule(&t, 4, RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA, -16, 32),
		"in a frame of 24 bytes");
	is_rule(&t, 19, RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA, -16, 32), "up to its end");
	is_rule(&t, 20, RULE(FS_UNWIND_CFA_SP, .cfa_off = 8), "after the frame");
	is_rule(&t, 0x20, RULE(FS_UNWIND_CFA_END), "runtime.goexit is an outermost function");
	is_rule(&t, 0x44, RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA, -16, 32),
		"runtime.mstart is not");
	is_rule(&t, 0x5f, RULE(FS_UNWIND_CFA_SIGNAL), "the byte before runtime.sigreturn");
	is_rule(&t, 0x60, RULE(FS_UNWIND_CFA_SIGNAL), "runtime.sigreturn");
	is_rule(&t, 0x80, RULE(FS_UNWIND_CFA_CHAIN, .cfa_off = FS_UNWIND_OTHER_STACK),
		"runtime.systemstack changes to another stack");
	is_rule(&t, 0xa4, RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA, -16, 32),
		"a function with a broken list of changes");
	is_rule(&t, 0xc0, RULE(FS_UNWIND_CFA_END), "runtime.mcall leaves its caller");
	is_rule(&t, 0xe0, RULE(FS_UNWIND_CFA_GAP), "after the last function is a gap");
	is_rule(&t, -0x20, RULE(FS_UNWIND_CFA_GAP), "before the first function is a gap");
	unwind_table_free(&t);
}

static void test_refused(void)
{
	static const struct {
		size_t at;
		uint64_t value;
		size_t bytes;
		const char *name;
	} wrong[] = {
		{0, 0xfffffffb, 4, "an old layout"},
		{7, 4, 1, "words of 4 bytes"},
		{8, 1ULL << 40, 8, "too many functions"},
		{24, 0, 8, "no address of the code"},
		{64, 1ULL << 60, 8, "an index outside of the section"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct made m = {};
		struct unwind_table t;

		make_section(&m, true);
		put_number(&m, wrong[i].at, wrong[i].value, wrong[i].bytes);
		is_u64(read_made(&m, &t), 0, wrong[i].name);
		is_rule(&t, 4, RULE(FS_UNWIND_CFA_GAP), "and no rule");
		unwind_table_free(&t);
	}
}

/* Tests that changed bytes in the section give a table, and only rules of the set. */
static void test_broken(void)
{
	uint64_t random = 0x9e3779b97f4a7c15;
	int read = 0, unsound = 0;

	for (int round = 0; round < 2000; round++) {
		struct made m = {};
		struct unwind_table t;

		make_section(&m, round & 1);
		for (int i = 0; i < 1 + round % 8; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			m.b[random % m.n] = random >> 32;
		}
		if (read_made(&m, &t))
			continue;
		read++;
		for (__u64 at = TEXT; at < TEXT + 0x2000; at += 7)
			unsound += row_table_find(&t.rows, at) >= rules.n;
		unwind_table_free(&t);
	}
	is_u64(unsound, 0, "each address has a rule of the set");
	is_u64(read, 2000, "a broken table of functions does not make a file unreadable");
}

int main(void)
{
	elf_version(EV_CURRENT);
	if (rule_set_init(&rules))
		return 1;
	test_layout(true);
	test_layout(false);
	test_refused();
	test_broken();
	rule_set_free(&rules);
	return tap_done();
}

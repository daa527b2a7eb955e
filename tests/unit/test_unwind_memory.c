// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what the parts of unwind tables say when memory is short. */
#include <libelf.h>
#include <string.h>

#include "cfi_maker.h"
#include "failing_memory.h"
#include "tap.h"
#include "unwind/code_files.h"
#include "unwind/frame_entries.h"
#include "unwind/table_maker.h"

#define USUAL 0x0c, 7, 8, 0x90, 1
#define MOST  100 /* more allocations than any call makes */

static uint8_t file[MADE_FILE];

static struct fs_unwind_rule rule_of(int n)
{
	return (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_SP, .cfa_off = n};
}

static void test_rows(void)
{
	struct row_table t;

	memory_fail_after(0);
	is_u64(-row_table_init(&t, 0, 100), ENOMEM, "no memory for pages");
	memory_recovers();
	ok(!t.page && !t.pages, "there are none");
	row_table_init(&t, 0, 100);
	memory_fail_after(0);
	is_u64(-row_table_add(&t, 8, 5), E2BIG, "no memory for rows");
	memory_recovers();
	row_table_free(&t);
	row_table_init(&t, 0, 100);
	row_table_add(&t, 8, 5);
	memory_fail_after(0);
	is_u64(row_table_finish(&t), 0, "no memory to make rows smaller");
	ok(memory_recovers(), "an allocation failed");
	is_u64(row_table_find(&t, 9), 5, "the rows stay");
	row_table_free(&t);
}

static void test_rules(void)
{
	struct fs_unwind_row row = {0, FS_UNWIND_FIXED_RULES};
	struct rule_list list;
	struct rule_set s;
	int fails = 0, n = 0;
	__u16 got = 0;

	for (;; fails++) {
		int err;

		memory_fail_after(fails);
		err = rule_set_init(&s);
		if (!memory_recovers())
			break;
		is_u64(-err, ENOMEM, "no memory for a set of rules");
		ok(!s.rule && !s.slot && !s.n, "nothing is left of it");
	}
	ok(fails >= 5, "each of its parts can fail");
	rule_set_add(&s, rule_of(0));
	memory_fail_after(0);
	is_u64(-rule_set_use(&s, &row, 1, &list), ENOMEM, "no memory for a list of rules");
	memory_recovers();
	ok(!list.n && !s.users[FS_UNWIND_FIXED_RULES], "no rule has a user");
	memory_fail_after(0);
	while (!memory_failed)
		got = rule_set_add(&s, rule_of(++n));
	memory_recovers();
	is_u64(got, FS_UNWIND_RULE_OPAQUE, "no memory for a rule: it is opaque");
	is_u64(s.refused, 1, "and counted");
	ok(rule_set_add(&s, rule_of(n)) > FS_UNWIND_RULE_OPAQUE, "later there is memory");
	rule_set_free(&s);
}

static void test_extents(void)
{
	struct extents x;
	__u32 at;

	memory_fail_after(0);
	is_u64(-extents_init(&x, 10, 0), ENOMEM, "no memory for free parts");
	memory_recovers();
	extents_free(&x);
	extents_init(&x, 1000, 0);
	for (int i = 0; i < 1000; i++)
		extents_take(&x, 1, 1, &at);
	memory_fail_after(0);
	for (__u32 i = 0; i < 1000 && !memory_failed; i += 2)
		extents_give(&x, i, 1, 1);
	ok(memory_recovers(), "no memory for a part that is given back");
	is_u64(x.lost, 1, "it is lost");
	is_u64(x.taken + x.n + x.lost, 1000, "each element is free, taken or lost");
	extents_free(&x);
}

static bool is_code(void *ctx, __u64 address)
{
	(void)ctx, (void)address;
	return true;
}

/* Functions in falling order, which must be sorted. */
static void make_functions(struct made *m)
{
	size_t cie = put_cie(m, "zR", 16, WITH(USUAL));

	for (int i = 20; i--;)
		put_fde(m, cie, TEXT + i * 0x100, 0x40, WITH(0x41, 0x0e, 16 + i * 8));
}

static void test_entries(void)
{
	static struct frame_entries f;
	struct made m = {};
	struct cfi_section s;
	bool sorted = false;

	make_functions(&m);
	s = (struct cfi_section){m.b, m.n, FRAMES, 8};
	for (int fails = 0; fails < MOST && !sorted; fails++) {
		__u64 left = ~0ULL;
		int err;

		memset(&f, 0, sizeof(f));
		frame_entries_begin(&f, &s, CFI_X86_64);
		memory_fail_after(fails);
		err = frame_entries_read(&f, is_code, NULL, &left);
		sorted = !memory_recovers();
		if (sorted)
			ok(!err && !f.cut && f.n == 20, "all functions are listed");
		else
			ok(err == -ENOMEM || (!err && f.cut && f.n < 20),
			   "no memory to list or to sort functions");
		frame_entries_free(&f);
	}
	ok(sorted, "with enough memory they are sorted");
}

/* Each allocation of a table fails once. */
static void test_table(void)
{
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = sizeof(file)};
	struct made m = {};
	bool whole = false;
	int without = 0;

	make_functions(&m);
	make_file(&m, EM_X86_64, true, file);
	for (int fails = 0; fails < MOST && !whole; fails++) {
		struct unwind_table t;
		struct rule_set rules;
		int err;

		rule_set_init(&rules);
		memory_fail_after(fails);
		err = unwind_table_read(&s, &rules, &t);
		whole = !memory_recovers();
		without += err == -ENOMEM;
		/* libelf does not say that it has no memory, but that the file is no ELF file */
		ok(!err || err == -ENOMEM || err == -E2BIG || err == -ENOEXEC,
		   "a table, or an error");
		if (!err) {
			ok(t.fdes == 20 || t.cut, "all functions, or it says that they are cut");
			unwind_table_free(&t);
		}
		rule_set_free(&rules);
	}
	ok(whole, "with enough memory a table is made");
	ok(without >= 4, "without memory for its parts it is not made");
}

static void test_files(void)
{
	struct code_files files;
	struct stat st = {.st_ino = 1};
	struct byte_source s = {.fd = -1, .mem = "#!", .bytes = 2};

	memory_fail_after(0);
	is_u64(-code_files_open(&files), ENOMEM, "no memory for files");
	memory_recovers();
	if (code_files_open(&files))
		return;
	for (int fails = 0; fails < 2; fails++) {
		memory_fail_after(fails);
		ok(!code_files_get(&files, &s, NULL, &st, 1), "no memory for a file");
		memory_recovers();
		is_u64(files.n, 0, "it is not known");
	}
	memory_fail_after(2);
	ok(code_files_get(&files, &s, "/x", &st, 1), "no memory for its path");
	memory_recovers();
	ok(files.n == 1 && files.file[0]->state != CODE_MAKING, "it has no table");
	code_files_close(&files);
}

int main(void)
{
	elf_version(EV_CURRENT);
	test_rows();
	test_rules();
	test_extents();
	test_entries();
	test_table();
	test_files();
	return tap_done();
}

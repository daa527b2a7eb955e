// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how an address of a process leads to a file: by the mappings, by the segments of the file,
 * and by what tells one file from another.
 */
#include <libelf.h>
#include <string.h>

#include "tap.h"
#include "unwind/mapped_code.h"

#define PAGE 4096
#define NOW  1000

/* Tests offsets of a mapping at the borders of the pages of a file's segments. */
static void test_bias(void)
{
	/* one segment begins with a page, the other one in the middle of a page */
	static const struct unwind_table t = {
		.code = {{PAGE, 0x10000, 2 * PAGE}, {8 * PAGE + 0x100, 0x28100, 0x500}},
		.codes = 2,
	};
	static const struct {
		__u64 offset;
		bool good;
		__u64 address; /* the file's own address of this offset */
		const char *name;
	} rows[] = {
		{PAGE - 1, false, 0, "before the first segment"},
		{PAGE, true, 0x10000, "its begin"},
		{2 * PAGE, true, 0x11000, "its second page"},
		{3 * PAGE - 1, true, 0x11fff, "its last byte"},
		{3 * PAGE, false, 0, "behind it"},
		{8 * PAGE - 1, false, 0, "before the page in which the second one begins"},
		{8 * PAGE, true, 0x28000, "this page, which the kernel maps"},
		{8 * PAGE + 0x100, true, 0x28100, "the begin of the second one"},
		{8 * PAGE + 0x5ff, true, 0x285ff, "its last byte"},
		{8 * PAGE + 0x600, false, 0, "behind it"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct code_file f = {.state = CODE_TABLE, .table = t};
		__u64 bias = 7, same = 7;

		ok(unwind_table_bias(&t, 0x400000, rows[i].offset, &bias) == rows[i].good, "%s",
		   rows[i].name);
		is_u64(bias, rows[i].good ? 0x400000 - rows[i].address : 7, "the difference");
		ok(code_file_bias(&f, 0x400000, rows[i].offset, &same) == rows[i].good &&
			   same == bias,
		   "a file with this table has it, too");
		f.state = CODE_MAKING;
		ok(!code_file_bias(&f, 0x400000, rows[i].offset, &bias), "not before it is made");
	}
}

static void test_area(void)
{
	static const struct {
		enum code_state state;
		__u32 pages;
	} t[] = {
		{CODE_NO_ELF, FS_UNWIND_BY_CHAIN},
		{CODE_NO_ROOM, FS_UNWIND_FILE_NO_ROOM},
		{CODE_MAKING, FS_UNWIND_NO_TABLE},
		{CODE_UNREADABLE, FS_UNWIND_FILE_UNREADABLE},
		{CODE_TABLE, 9},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct fs_unwind_area area = {.start = 0x400000, .end = 0x500000};
		struct code_file f = {
			.state = t[i].state, .pages = 9, .place.first = 5, .table.codes = 1};

		f.table.code[0].offset = PAGE;
		f.table.code[0].address = 0x13000;
		f.table.code[0].bytes = 0x100;
		f.table.rows.base = 0x10000;
		code_file_area(&f, PAGE, &area);
		is_u64(area.pages, t[i].pages, "the entry of a file");
		ok(area.start == 0x400000 && area.end == 0x500000, "its addresses stay");
		if (t[i].state != CODE_TABLE)
			continue;
		is_u64(area.origin, 0x400000 - 0x3000, "where its first page would be");
		is_u64(area.first, 5, "its first page");
		code_file_area(&f, PAGE + 0x100, &area);
		is_u64(area.pages, FS_UNWIND_FILE_UNREADABLE, "a part of it without code");
	}
}

static struct code_mapping mapping[] = {
	{.start = 0x1000, .end = 0x2000, .offset = 0x500},
	{.start = 0x2000, .end = 0x3000, .offset = 0x700},
	{.start = 0x5000, .end = 0x6000},
	{.start = 0x6000, .end = 0x7000, .offset = 0x900},
};

static void test_find(void)
{
	static const struct {
		__u64 ip;
		__u64 offset; /* 0: not found */
		const char *name;
	} t[] = {
		{0xfff, 0, "before all mappings"},
		{0x1000, 0x500, "the first address of a mapping"},
		{0x1fff, 0x14ff, "its last address"},
		{0x2000, 0, "a file without a build ID"},
		{0x3000, 0, "between two mappings"},
		{0x5000, 0, "a mapping without a file"},
		{0x6000, 0x900, "the last mapping that is read"},
		{0x6fff, 0x18ff, "its last address"},
		{0x7000, 0, "behind it"},
	};
	struct code_file with = {.has_build_id = true, .build_id = {1, 2, 3}}, bare = {};
	struct code_file *file[] = {&with, &bare, NULL, &with};
	struct mapped_code c = {.m = mapping, .file = file, .n = 4, .at = 4};
	__u8 id[BUILD_ID_BYTES];
	__u64 offset;

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		offset = 0;
		memset(id, 0, sizeof(id));
		ok(mapped_code_find(&c, t[i].ip, id, &offset) == (t[i].offset != 0), "%s",
		   t[i].name);
		is_u64(offset, t[i].offset, "its offset in the file");
		ok(!memcmp(id, with.build_id, sizeof(id)) == (t[i].offset != 0), "its build ID");
	}
	c.at = 3;
	ok(!mapped_code_find(&c, 0x6000, id, &offset), "a mapping that is not read yet");
}

/* Tests in which mappings a CPython is found. */
static void test_python(void)
{
	struct code_file interpreter = {
		.state = CODE_TABLE,
		.table.codes = 1,
		.python = {.is_interpreter = true,
			   .offsets = {.key_at = 0x10, .interpreters_at = 0x20}}};
	struct code_file libc = {.python = {.specific = 11, .value = 12, .pthread_bytes = 13}};
	struct code_file other = {};
	struct code_file *file[] = {&other, &interpreter, NULL, &libc};
	struct mapped_code c = {.m = mapping, .file = file, .n = 4, .at = 4};
	struct fs_python p = {};

	interpreter.table.code[0].offset = 0;
	interpreter.table.code[0].address = 0x300;
	interpreter.table.code[0].bytes = 0x1000;
	if (ok(mapped_code_python(&c, &p), "a process with CPython")) {
		/* the mapping is at 0x2000, and begins at the file's own address 0x300 + 0x700 */
		is_u64(p.key_at, 0x10 + 0x2000 - 0xa00, "the address of its key");
		is_u64(p.interpreters_at, 0x20 + 0x2000 - 0xa00, "and of its interpreters");
		ok(p.specific == 11 && p.value == 12 && p.pthread_bytes == 13,
		   "with the C library's offsets");
	}
	c.at = 3;
	ok(mapped_code_python(&c, &p) && !p.specific, "its C library is not read yet");
	c.at = 1;
	ok(!mapped_code_python(&c, &p), "its interpreter is not read yet");
	c.at = 4;
	interpreter.state = CODE_MAKING;
	ok(!mapped_code_python(&c, &p), "its table is not made yet");
	interpreter.state = CODE_TABLE;
	interpreter.table.code[0].bytes = 0x700;
	ok(!mapped_code_python(&c, &p), "the mapping has none of its code");
	interpreter.table.code[0].bytes = 0x701;
	ok(mapped_code_python(&c, &p), "or one byte");
	interpreter.python.is_interpreter = false;
	ok(!mapped_code_python(&c, &p), "a process without CPython");
}

/* Asks for a file of these bytes. */
static struct code_file *get(struct code_files *files, const char *bytes, size_t n,
			     const struct stat *st)
{
	struct byte_source s = {.fd = -1, .mem = bytes, .bytes = n};

	return code_files_get(files, &s, NULL, st, NOW);
}

/* Tests what tells one file from another. */
static void test_same(void)
{
	static const struct stat first = {
		.st_dev = 1, .st_ino = 2, .st_size = 3, .st_ctim = {.tv_sec = 4, .tv_nsec = 5}};
	struct stat others[5] = {first, first, first, first, first};
	struct code_files files;
	struct code_file *f;

	others[0].st_dev++;
	others[1].st_ino++;
	others[2].st_size++;
	others[3].st_ctim.tv_sec++;
	others[4].st_ctim.tv_nsec++;
	if (code_files_open(&files))
		return;
	f = get(&files, "#!", 2, &first);
	ok(f && f->users == 1 && f->left_ns == NOW, "a new file");
	ok(get(&files, "#!", 2, &first) == f && f->users == 2, "the same file again");
	for (size_t i = 0; i < 5; i++) {
		struct code_file *other = get(&files, "#!", 2, &others[i]);

		ok(other && other != f && other->users == 1, "another file");
	}
	is_u64(files.n, 6, "all are known");
	code_file_release(f, NOW + 7);
	ok(f->users == 1 && f->left_ns == NOW + 7, "a use ends");
	code_files_close(&files);
}

/* Tests files that have no table. */
static void test_kinds(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		enum code_state state;
		const char *name;
	} t[] = {
		{"", 0, CODE_NO_ELF, "an empty file"},
		{"\x7f"
		 "EL",
		 3, CODE_NO_ELF, "a byte less than the mark of ELF files"},
		{"\x7f"
		 "ELF",
		 4, CODE_UNREADABLE, "an ELF file that is cut"},
		{"\x7f"
		 "ELG",
		 4, CODE_NO_ELF, "another mark"},
	};
	struct code_files files;
	int unreadable = 0;

	if (code_files_open(&files))
		return;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct stat st = {.st_ino = i + 1};
		struct code_file *f = get(&files, t[i].bytes, t[i].n, &st);

		ok(f && f->state == t[i].state, "%s", t[i].name);
		unreadable += t[i].state == CODE_UNREADABLE;
		is_u64(files.unreadable, unreadable, "damaged files are counted");
		ok(!code_files_work(&files, NULL, NOW), "there is no work for it");
	}
	code_files_close(&files);
}

/* Tests when a file that no process maps is forgotten. */
static void test_expire(void)
{
	struct code_files files;
	struct stat st = {.st_ino = 1};
	struct code_file *f;

	if (code_files_open(&files))
		return;
	f = get(&files, "#!", 2, &st);
	code_files_expire(&files, NULL, NOW + 2 * CODE_IDLE_NS);
	is_u64(files.n, 1, "a file in use stays");
	code_file_release(f, 2 * NOW);
	code_files_expire(&files, NULL, 2 * NOW + CODE_IDLE_NS - 1);
	is_u64(files.n, 1, "and for half a minute after its use");
	code_files_expire(&files, NULL, 2 * NOW + CODE_IDLE_NS);
	is_u64(files.n, 0, "then it is forgotten");
	is_u64(files.freed, 0, "it had no table that could be freed");
	code_files_close(&files);
}

int main(void)
{
	elf_version(EV_CURRENT);
	test_bias();
	test_area();
	test_find();
	test_python();
	test_same();
	test_kinds();
	test_expire();
	return tap_done();
}

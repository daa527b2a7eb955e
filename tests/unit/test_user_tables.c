// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the symbol tables of mapped files: which tables are dropped so that all of them fit into
 * memory, what is counted as lost, and for which files a debug file is searched. ELF files are
 * played.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/symbols/debug_file.h"
#include "collect/symbols/user_files.h"
#include "open_files.h"
#include "tap.h"

#define OURS 500
#define ITS  501

static struct user_symbols us;
static size_t bytes_of[8]; /* of the symbol table of each file, by its inode */
static bool is_elf, wants_debug, found, breaks;
static __u64 cut_by; /* symbols for which a new table has no room */
static char calls[512];

static void note(const char *what, __u64 number)
{
	size_t len = strlen(calls);

	snprintf(calls + len, sizeof(calls) - len, "%s%s:%llu", len ? " " : "", what,
		 (unsigned long long)number);
}

/* Returns the inode of a file, which tells the files of this test apart. */
static __u64 inode_of(const struct elf_symbols *elf)
{
	for (size_t i = 0; us.files && i < us.files->n; i++)
		if (&us.files->f[i].elf == elf)
			return us.files->f[i].id.inode;
	return 0;
}

int elf_symbols_open(int fd, struct elf_symbols *ret)
{
	if (!is_elf)
		return -ENOEXEC;
	*ret = (struct elf_symbols){.file.fd = fd, .held = -1};
	return 0;
}

void elf_symbols_close(struct elf_symbols *s)
{
	note("close", inode_of(s));
	close(s->file.fd);
}

bool elf_symbols_wants_debug(const struct elf_symbols *s)
{
	return wants_debug;
}

bool debug_file_find(struct elf_symbols *s, const char *path, int our_root, int its_root)
{
	note(path, our_root * 1000 + its_root);
	return true;
}

bool elf_symbols_find(struct elf_symbols *s, __u64 address, char *ret, size_t size,
		      __u64 *ret_offset)
{
	note("find", address);
	if (!s->known) {
		s->known = true;
		s->table.room = bytes_of[inode_of(s)];
		s->table.cut = cut_by;
		s->broken = breaks;
	}
	snprintf(ret, size, "name");
	*ret_offset = 3;
	return found;
}

size_t elf_symbols_bytes(const struct elf_symbols *s)
{
	return s->table.room;
}

void elf_symbols_drop(struct elf_symbols *s)
{
	note("drop", inode_of(s));
	s->table.room = 0;
	s->known = false;
}

static void begin(void)
{
	us = (struct user_symbols){.our_root = OURS};
	if (user_files_open(&us))
		abort();
	us.files->most = 100;
	is_elf = found = true;
	wants_debug = breaks = false;
	cut_by = 0;
	memset(bytes_of, 0, sizeof(bytes_of));
	calls[0] = 0;
}

static struct user_file *add(__u64 inode, const char *path)
{
	struct user_file_id id = {.inode = inode, .dev_major = 8, .dev_minor = 1};

	return user_files_add(&us, &id, open("/", O_RDONLY | O_CLOEXEC), path, ITS);
}

static struct user_symbol name(struct user_file *f)
{
	struct user_symbol s;

	memset(&s, 0x55, sizeof(s));
	calls[0] = 0;
	user_file_name(&us, f, 0x123, &s);
	return s;
}

static void test_add(void)
{
	size_t before = open_fds();
	struct user_file *f;
	char path[300];

	begin();
	f = add(5, "/lib/x.so");
	ok(f && f->id.inode == 5 && f->serial == 1 && f->used == 1 && !f->named && !f->unproven &&
		   !f->had_table,
	   "a file");
	is_str(f->module, "x.so", "its name");
	is_str(calls, "", "no debug file is searched");
	wants_debug = true;
	f = add(6, "y.so");
	ok(f->serial == 2 && f->used == 2, "a second file");
	is_str(f->module, "y.so", "its name");
	is_str(calls, "y.so:500501", "its debug file is searched");
	is_elf = false;
	ok(!add(7, "/lib/z"), "a file that is no ELF file");
	is_u64(us.lost.malformed, 1, "is counted");
	is_u64(open_fds(), before + 2, "and closed");
	is_elf = true;
	memset(path, 'n', sizeof(path));
	path[sizeof(path) - 1] = 0;
	f = add(7, path);
	is_u64(strlen(f->module), USER_MODULE_BYTES - 1, "a long name is cut");
	calls[0] = 0;
	user_files_close(&us);
	is_str(calls, "close:5 close:6 close:7", "all files are closed");
	is_u64(open_fds(), before, "no file is left open");
}

/* What is lost is counted when a table is built. */
static void test_counters(void)
{
	struct user_symbol s;
	struct user_file *f;

	begin();
	f = add(5, "/lib/x.so");
	bytes_of[5] = 10;
	s = name(f);
	ok(!strcmp(s.name, "name") && s.offset == 3, "a function");
	is_str(calls, "find:291", "by its address");
	ok(f->named && f->used == us.clock && f->had_table, "the file was in a stack");
	ok(!us.lost.tables && !us.lost.symbols && !us.lost.malformed, "nothing is lost");
	found = false;
	s = name(f);
	is_str(s.name, "", "no function");
	cut_by = 4;
	breaks = true;
	name(f);
	ok(!us.lost.tables && !us.lost.symbols && !us.lost.malformed,
	   "a table that is known loses nothing");
	elf_symbols_drop(&f->elf);
	name(f);
	is_u64(us.lost.tables, 1, "a table that is built again");
	is_u64(us.lost.symbols, 1, "a table that is cut");
	is_u64(us.lost.malformed, 1, "a file that is damaged");
	name(f);
	ok(us.lost.tables == 1 && us.lost.symbols == 1 && us.lost.malformed == 1, "counted once");
	user_files_close(&us);
}

/* Tables have at most USER_TABLE_BYTES, unless a single one is larger. */
static void test_bytes(void)
{
	static const struct {
		size_t bytes[4];  /* of the tables, in the order of their use */
		const char *want; /* the calls when the last table is built */
		const char *name;
	} rows[] = {
		{{10, 10, 10, USER_TABLE_BYTES - 30}, "find:291", "tables that just fit"},
		{{10, 10, 10, USER_TABLE_BYTES - 29}, "find:291 drop:1", "one byte too many"},
		{{10, 10, 10, USER_TABLE_BYTES - 20}, "find:291 drop:1", "one table too many"},
		{{10, 10, 10, USER_TABLE_BYTES - 19},
		 "find:291 drop:1 drop:2",
		 "a bit more than one table too many"},
		{{0, 10, 10, USER_TABLE_BYTES - 10}, "find:291 drop:2", "a file without symbols"},
		{{10, 10, 10, USER_TABLE_BYTES + 1},
		 "find:291 drop:1 drop:2 drop:3",
		 "a table that is too large alone"},
		{{0, 0, 0, USER_TABLE_BYTES + 1}, "find:291", "a large table and no others"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct user_file *f[4];

		begin();
		for (size_t k = 0; k < 4; k++) {
			bytes_of[k + 1] = rows[i].bytes[k];
			f[k] = add(k + 1, "/x");
		}
		for (size_t k = 0; k < 4; k++)
			name(f[k]);
		is_str(calls, rows[i].want, rows[i].name);
		is_u64(elf_symbols_bytes(&f[3]->elf), rows[i].bytes[3], "the table in use stays");
		user_files_close(&us);
	}
}

/* The table that was not used for the longest time is dropped first. */
static void test_order(void)
{
	struct user_file *f[4];

	begin();
	for (size_t k = 0; k < 4; k++) {
		bytes_of[k + 1] = k < 3 ? 10 : USER_TABLE_BYTES - 29;
		f[k] = add(k + 1, "/x");
	}
	for (size_t k = 0; k < 3; k++)
		name(f[k]);
	name(f[0]);
	name(f[3]);
	is_str(calls, "find:291 drop:2", "the second table");
	f[2]->serial = 0;
	bytes_of[2] = 20;
	name(f[1]);
	is_str(calls, "find:291 drop:1", "an entry without a file does not count");
	f[2]->serial = 3;
	user_files_close(&us);
}

/* Each file and its debug file take a descriptor. One is kept free. */
static void test_descriptors(void)
{
	struct user_file *f;

	begin();
	us.files->most = 3;
	add(1, "/x");
	add(2, "/x");
	f = add(3, "/x");
	is_str(calls, "", "three files");
	f->elf.held = 77;
	add(4, "/x");
	is_str(calls, "close:1 close:2", "a debug file counts as one more");
	is_u64(us.lost.files, 2, "closed files are counted");
	f->named = true;
	add(5, "/x");
	is_str(calls, "close:1 close:2 close:4", "a file that was in a stack stays");
	is_u64(us.files->n, 3, "entries are used again");
	f->elf.held = -1;
	user_files_close(&us);
}

int main(void)
{
	test_add();
	test_counters();
	test_bytes();
	test_order();
	test_descriptors();
	return tap_done();
}

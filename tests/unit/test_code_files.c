// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the unwind tables of the files that this process maps: the rule of each address, files that
 * are shared, damaged or changed, and tables that are freed. The rows are in memfds, in place of
 * BPF maps.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sums.h"
#include "unwind/area_blocks.h"
#include "unwind/mapped_code.h"

#define CHUNKS	    3
#define CHUNK_BYTES (FS_UNWIND_CHUNK_ROWS * sizeof(struct fs_unwind_row))
#define NOW	    1000000000ULL
#define PAGES	    4096 /* pages of rows in these tests */

static struct unwind_maps maps;
static struct code_files files;

static void open_maps(__u32 pages)
{
	memset(&maps, 0, sizeof(maps));
	memset(maps.chunk, -1, sizeof(maps.chunk));
	maps.procs = maps.epochs = maps.rows = -1;
	maps.chunks_max = CHUNKS;
	maps.area = calloc(FS_UNWIND_AREAS, sizeof(*maps.area));
	maps.page = calloc(FS_UNWIND_PAGES, sizeof(*maps.page));
	maps.rule = calloc(FS_UNWIND_RULES, sizeof(*maps.rule));
	for (int i = 0; i < CHUNKS; i++) {
		maps.chunk[i] = memfd_create("rows", MFD_CLOEXEC);
		if (maps.chunk[i] < 0 || ftruncate(maps.chunk[i], CHUNK_BYTES))
			abort();
		maps.chunks++;
	}
	if (!maps.area || !maps.page || !maps.rule ||
	    extents_init(&maps.areas, FS_UNWIND_AREAS, 0) || extents_init(&maps.pages, pages, 0) ||
	    extents_init(&maps.row_space, CHUNKS * FS_UNWIND_CHUNK_ROWS, FS_UNWIND_CHUNK_ROWS) ||
	    code_files_open(&files))
		abort();
}

static void close_maps(void)
{
	code_files_close(&files);
	unwind_maps_end_walks(&maps);
	for (int i = 0; i < CHUNKS; i++)
		close(maps.chunk[i]);
	extents_free(&maps.areas);
	extents_free(&maps.pages);
	extents_free(&maps.row_space);
	free(maps.area);
	free(maps.page);
	free(maps.rule);
}

/* Returns the rule of an address as the table of its file alone says, or false. */
static bool rule_of_file(const struct code_mapping *m, uint64_t pc, struct unwind_table *t,
			 const struct rule_set *rules, struct fs_unwind_rule *ret)
{
	__u64 bias;

	if (!unwind_table_bias(t, m->start, m->offset, &bias))
		return false;
	*ret = rules->rule[row_table_find(&t->rows, pc - bias)];
	return true;
}

/* Compares rules of addresses in a mapping with a table that is made from its file alone. */
static void compare_mapping(struct mapped_code *c, size_t i, uint64_t *dice)
{
	const struct code_mapping *m = &c->m[i];
	struct byte_source s = {.fd = open(m->path, O_RDONLY | O_CLOEXEC)};
	const char *name = strrchr(m->path, '/') + 1;
	struct fs_unwind_rule want, got;
	uint64_t wrong = 0, known = 0;
	struct rule_set rules;
	struct unwind_table t;
	struct stat st;

	if (s.fd < 0 || fstat(s.fd, &st) || rule_set_init(&rules))
		abort();
	s.bytes = st.st_size;
	is_u64(-unwind_table_read(&s, &rules, &t), 0, name);
	for (int k = 0; k < 3000; k++) {
		uint64_t pc = m->start + roll(dice) % (m->end - m->start);

		pc = k == 0 ? m->start : k == 1 ? m->end - 1 : pc;
		memset(&got, 0, sizeof(got));
		if (!rule_of_file(m, pc, &t, &rules, &want) ||
		    unwind_maps_find_rule(&maps, c->area, c->n, pc, &got) != STACK_END_GOES_ON ||
		    memcmp(&want, &got, sizeof(want)))
			wrong++;
		known += got.cfa == FS_UNWIND_CFA_SP || got.cfa == FS_UNWIND_CFA_FP;
	}
	ok(!wrong && known > 1000,
	   "%s: each address has the rule of its file, %" PRIu64 " of 3000 "
	   "in functions",
	   name, known);
	unwind_table_free(&t);
	rule_set_free(&rules);
	close(s.fd);
}

static void step_to_end(struct mapped_code *c, uint64_t now)
{
	while (mapped_code_step(c, &files, &maps, now) != MAPPED_END)
		;
}

static void test_own_code(void)
{
	struct process_key me = {.pid = getpid()};
	struct fs_unwind_epoch begun = {};
	struct fs_unwind_rule rule;
	__u8 build_id[BUILD_ID_BYTES];
	struct mapped_code c, again;
	uint64_t dice = 1;
	__u64 offset;
	size_t with_file = 0, n;

	open_maps(PAGES);
	is_u64(-mapped_code_read(&c, &me, &begun), 0, "the mappings of this process are read");
	step_to_end(&c, NOW);
	is_u64(c.at, c.n, "each mapping has an entry");
	for (size_t i = 0; i < c.n; i++) {
		if (!c.m[i].path)
			continue;
		with_file++;
		compare_mapping(&c, i, &dice);
		ok(!mapped_code_find(&c, c.m[i].start, build_id, &offset) ||
			   offset == c.m[i].offset,
		   "the first byte of a mapping has the offset of the mapping");
		ok(!mapped_code_find(&c, c.m[i].end - 1, build_id, &offset) ||
			   offset == c.m[i].offset + c.m[i].end - 1 - c.m[i].start,
		   "and its last byte that of the end");
	}
	ok(with_file >= 2, "the program and a library at least");
	ok(mapped_code_find(&c, (uintptr_t)printf, build_id, &offset), "printf() is found");
	is_u64(unwind_maps_find_rule(&maps, c.area, c.n, 1, &rule), STACK_END_OUTSIDE,
	       "address 1 is in no mapping");
	is_u64(unwind_maps_find_rule(&maps, c.area, c.n, c.m[0].start - 1, &rule),
	       STACK_END_OUTSIDE, "nor is the byte before the first one");
	n = files.n;
	is_u64(files.tables, n, "each file has a table");
	is_u64(-mapped_code_read(&again, &me, &begun), 0, "the mappings are read again");
	step_to_end(&again, NOW);
	is_u64(files.n, n, "and the files are shared");
	is_u64(files.tables, n, "without new tables");
	is_u64(files.file[0]->users, 2, "they have two users");
	mapped_code_free(&again, NOW);
	is_u64(files.file[0]->users, 1, "then one");
	code_files_expire(&files, &maps, NOW + 2 * CODE_IDLE_NS);
	is_u64(files.n, n, "a file in use stays");
	mapped_code_free(&c, NOW + 5);
	code_files_expire(&files, &maps, NOW + 4 + CODE_IDLE_NS);
	is_u64(files.n, n, "a file that was just left stays");
	ok(maps.pages.taken && maps.row_space.taken, "and its rows, too");
	code_files_expire(&files, &maps, NOW + 5 + CODE_IDLE_NS);
	is_u64(files.n, 0, "later it is freed");
	is_u64(files.freed, n, "each file");
	is_u64(maps.pages.taken + maps.row_space.taken, 0, "with all rows");
	code_files_expire(&files, &maps, NOW + 6 + CODE_IDLE_NS);
	is_u64(files.rules.spares, files.rules.n - FS_UNWIND_FIXED_RULES,
	       "and the rules, after two sweeps");
	close_maps();
}

/* A copy of this program in memory, in which bytes may be changed. */
static struct byte_source copy_of_self(size_t bytes, struct stat *st)
{
	struct byte_source s = {.fd = memfd_create("copy", MFD_CLOEXEC)};
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char part[65536];
	ssize_t n;

	while ((n = read(self, part, sizeof(part))) > 0)
		if (write(s.fd, part, n) != n)
			abort();
	close(self);
	if ((bytes && ftruncate(s.fd, bytes)) || fstat(s.fd, st))
		abort();
	s.bytes = st->st_size;
	return s;
}

static struct code_file *get(const struct byte_source *s, const struct stat *st, uint64_t now)
{
	struct code_file *f = code_files_get(&files, s, "/x/name", st, now);

	while (code_files_work(&files, &maps, now))
		;
	return f;
}

static void write_at(int fd, off_t at, const void *bytes, size_t n)
{
	if (pwrite(fd, bytes, n, at) != (ssize_t)n)
		abort();
}

static void is_area(const struct code_file *f, __u32 pages, const char *name)
{
	struct fs_unwind_area area = {.start = 0x400000, .end = 0x500000};

	code_file_area(f, 0, &area);
	is_u64(area.pages, pages, name);
}

static void test_states(void)
{
	const uint16_t other = EM_S390;
	struct code_file *f, *same;
	struct byte_source s;
	struct stat st;
	__u64 bias;

	open_maps(PAGES);
	s = copy_of_self(0, &st);
	f = get(&s, &st, NOW);
	ok(f && f->state == CODE_TABLE && f->has_build_id, "a copy of the program has a table");
	is_u64(f->pages, f->table.rows.pages ?: f->pages, "its pages");
	ok(!f->table.rows.row && !f->table.rows.page, "its rows are only in the maps");
	ok(code_file_bias(f, 0x400000 + f->table.code[0].offset, f->table.code[0].offset, &bias) &&
		   bias == 0x400000 + f->table.code[0].offset - f->table.code[0].address,
	   "its bias");
	ok(!code_file_bias(f, 0x400000, f->table.code[0].offset + f->table.code[0].bytes, &bias),
	   "no bias behind its code");
	is_area(f, FS_UNWIND_FILE_UNREADABLE, "no table for a part of the file without code");
	s = copy_of_self(0, &st);
	same = get(&s, &st, NOW);
	ok(same == f && f->users == 2 && files.n == 1, "a file with the same build ID shares it");
	s = copy_of_self(100, &st);
	f = get(&s, &st, NOW);
	is_u64(f->state, CODE_UNREADABLE, "a file that is cut off is not readable");
	is_area(f, FS_UNWIND_FILE_UNREADABLE, "its entry");
	s = copy_of_self(0, &st);
	write_at(s.fd, offsetof(Elf64_Ehdr, e_machine), &other, sizeof(other));
	write_at(s.fd, 0x7c0, "other", 5);
	if (ftruncate(s.fd, st.st_size + 1) || fstat(s.fd, &st))
		abort();
	s.bytes = st.st_size;
	f = get(&s, &st, NOW);
	is_u64(f->state, CODE_UNREADABLE, "nor is one of another machine");
	is_u64(files.unreadable, 2, "both are counted");
	s = copy_of_self(0, &st);
	write_at(s.fd, 0, "#!", 2);
	if (fstat(s.fd, &st))
		abort();
	f = get(&s, &st, NOW);
	is_u64(f->state, CODE_NO_ELF, "a file without an ELF header");
	is_area(f, FS_UNWIND_BY_CHAIN, "is walked by frame pointers");
	is_u64(files.tables, 1, "one table was made");
	is_u64(files.unreadable, 2, "and two files were not readable");
	close_maps();
}

/* Lets the file change while its table is made. */
static void test_changes(void)
{
	struct code_file *f;
	struct byte_source s;
	struct stat st;
	int begun = 0;

	open_maps(PAGES);
	s = copy_of_self(0, &st);
	f = code_files_get(&files, &s, "/x/name", &st, NOW);
	is_u64(f->state, CODE_MAKING, "the table is being made");
	is_area(f, FS_UNWIND_NO_TABLE, "until then there is none");
	if (ftruncate(s.fd, st.st_size + 4096))
		abort();
	while (code_files_work(&files, &maps, NOW))
		begun = files.making.begun;
	ok(f->state == CODE_TABLE && begun == 2, "the file changes: its table is begun again");
	is_u64(f->bytes, st.st_size + 4096, "with its new size");
	s = copy_of_self(0, &st);
	write_at(s.fd, st.st_size, "x", 1);
	if (fstat(s.fd, &st))
		abort();
	s.bytes = st.st_size;
	f = code_files_get(&files, &s, NULL, &st, NOW);
	for (int i = 1; f->state == CODE_MAKING; i++) {
		begun = files.making.begun;
		if (ftruncate(s.fd, st.st_size + i))
			abort();
		code_files_work(&files, &maps, NOW);
	}
	ok(f->state == CODE_UNREADABLE && begun == 3,
	   "a file that changes all the time is not readable");
	close_maps();
}

/* Tests what happens when there is room for only one table. */
static void test_room(void)
{
	struct code_file *first, *second;
	struct byte_source s;
	struct stat st;
	__u32 pages;
	int again;

	open_maps(PAGES);
	s = copy_of_self(0, &st);
	pages = get(&s, &st, NOW)->pages;
	close_maps();
	open_maps(2 * pages - 1);
	s = copy_of_self(0, &st);
	first = get(&s, &st, NOW);
	/* files of different sizes are not equal, even if they have the same build ID */
	s = copy_of_self(st.st_size + 1, &st);
	again = dup(s.fd);
	second = get(&s, &st, NOW);
	ok(first->state == CODE_TABLE && second->state == CODE_NO_ROOM, "there is room for one");
	is_u64(files.no_room, 1, "the other is counted");
	is_area(second, FS_UNWIND_FILE_NO_ROOM, "and says so");
	code_file_release(first, NOW);
	s.fd = again;
	is_u64(files.n, 2, "both files are known");
	second = code_files_get(&files, &s, NULL, &st, NOW + 1);
	for (int i = 0; i < 1000 && files.n == 2; i++)
		code_files_work(&files, &maps, NOW + 1);
	is_u64(files.n, 1, "a table that no process uses makes room");
	for (int i = 0; i < 1000 && code_files_work(&files, &maps, NOW + 2 * EXTENTS_REST_NS); i++)
		;
	is_u64(second->state, CODE_TABLE, "for the other");
	is_u64(files.freed, 1, "which is counted");
	is_u64(second->users, 2, "the other has two uses");
	close_maps();
}

static void test_hide(void)
{
	struct fs_unwind_area area[] = {{.start = 0x1000, .end = 0x2000, .pages = 1},
					{.start = 0x2000, .end = 0x3000, .pages = 1},
					{.start = 0x5000, .end = 0x6000, .pages = 1}};
	struct fs_unwind_epoch now = {.mapped = 9};

	for (int i = 0; i < FS_UNWIND_MAPPED; i++)
		now.mapped_at[i] = 0x100;
	now.mapped_at[8 % FS_UNWIND_MAPPED] = 0x2000;
	ok(unwind_epoch_hide(&now, 9, area, 3) && area[1].pages == 1, "no mapping was made");
	ok(unwind_epoch_hide(&now, 8, area, 3), "one mapping was made");
	ok(area[0].pages == 1 && area[1].pages == FS_UNWIND_NO_TABLE && area[2].pages == 1,
	   "it has no table");
	now.mapped_at[8 % FS_UNWIND_MAPPED] = 0x4fff;
	ok(unwind_epoch_hide(&now, 1, area, 3) && area[2].pages == 1, "eight may be told");
	ok(!unwind_epoch_hide(&now, 0, area, 3), "nine may not");
}

static void test_blocks(void)
{
	struct code_file f = {.has_build_id = true, .build_id = {1, 2, 3}}, bare = {};
	struct code_file *of[] = {&f, NULL, &bare};
	struct code_span span[] = {
		{0x1000, 0x2000, 0x300}, {0x3000, 0x4000, 0}, {0x5000, 0x6000, 0}};
	struct area_block b[] = {{.given.generation = 7},
				 {.given.generation = 9, .n = 3, .file = of, .span = span}};
	struct area_blocks x = {.b = b, .n = 2};
	__u8 build_id[BUILD_ID_BYTES];
	__u64 offset = 0;

	ok(area_blocks_find(&x, 9, 0x1000, build_id, &offset) && offset == 0x300, "the first byte");
	ok(area_blocks_find(&x, 9, 0x1fff, build_id, &offset) && offset == 0x12ff, "the last byte");
	ok(!memcmp(build_id, f.build_id, sizeof(build_id)), "the build ID");
	ok(!area_blocks_find(&x, 9, 0xfff, build_id, &offset), "the byte before");
	ok(!area_blocks_find(&x, 9, 0x2000, build_id, &offset), "the byte behind");
	ok(!area_blocks_find(&x, 9, 0x3000, build_id, &offset), "a mapping without a file");
	ok(!area_blocks_find(&x, 9, 0x5000, build_id, &offset), "a file without a build ID");
	ok(!area_blocks_find(&x, 8, 0x1000, build_id, &offset), "a list that is gone");
	ok(!area_blocks_find(&x, 7, 0x1000, build_id, &offset), "an empty list");
}

/* Moves the descriptor 0, which the first chunk may have, so that the next file gets it. */
static void free_descriptor_0(void)
{
	for (int i = 0; i < CHUNKS; i++)
		if (!maps.chunk[i])
			maps.chunk[i] = fcntl(0, F_DUPFD_CLOEXEC, 3);
	close(0);
}

static bool is_open_0(void)
{
	return fcntl(0, F_GETFD) >= 0;
}

/* Tests that directories and files may have the descriptor 0: only negative numbers mean none. */
static void test_descriptor_0(void)
{
	const struct process_key me = {.pid = getpid()}, gone = {.pid = 0x7ffffff0, .start_ns = 1};
	const struct fs_unwind_epoch begun = {};
	struct mapped_code c, no = {.proc = -1, .root = 0};
	size_t tables;

	open_maps(PAGES);
	free_descriptor_0();
	is_u64(-mapped_code_read(&c, &gone, &begun), ESRCH, "a process that is gone");
	ok(c.proc < 0 && c.root < 0 && !is_open_0(), "nothing is open");
	mapped_code_free(&c, NOW);
	is_u64(mapped_code_read(&c, &me, &begun), 0, "the mappings of this process are read");
	ok(!c.proc && is_open_0(), "its directory has the descriptor 0");
	step_to_end(&c, NOW);
	tables = files.tables;
	ok(tables >= 2, "its files are found");
	mapped_code_free(&c, NOW);
	ok(!is_open_0(), "the directory is closed");
	close_maps();

	open_maps(PAGES);
	mapped_code_read(&c, &me, &begun);
	free_descriptor_0();
	step_to_end(&c, NOW);
	is_u64(files.tables, tables, "each file has the descriptor 0");
	ok(!is_open_0(), "and is closed");
	mapped_code_free(&c, NOW);
	ok(c.proc < 0 && c.root < 0 && !c.m && !c.n, "nothing is left");
	if (dup2(maps.chunk[0], 0))
		abort();
	mapped_code_free(&no, NOW);
	ok(!is_open_0(), "a root directory with the descriptor 0 is closed");
	close_maps();
}

/* Reads the mappings of this process. Returns their number. */
static size_t count_mappings(bool *ret_cut)
{
	const struct process_key me = {.pid = getpid()};
	const struct fs_unwind_epoch begun = {};
	struct mapped_code c;
	size_t n;

	is_u64(mapped_code_read(&c, &me, &begun), 0, "the mappings of this process are read");
	n = c.n;
	*ret_cut = c.cut;
	mapped_code_free(&c, NOW);
	return n;
}

/* Tests the greatest number of mappings: each second page of a range is code. */
static void test_most_mappings(void)
{
	const size_t page = sysconf(_SC_PAGESIZE), bytes = 2 * (MAPPED_CODE_MAX + 1) * page;
	char *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t n, more;
	bool cut;

	if (at == MAP_FAILED)
		abort();
	n = count_mappings(&cut);
	more = MAPPED_CODE_MAX - 1 - n;
	ok(!cut && n < MAPPED_CODE_MAX - 1, "this process has few mappings");
	for (size_t i = 0; i < more; i++)
		if (mprotect(at + (2 * i + 1) * page, page, PROT_READ | PROT_EXEC))
			abort();
	is_u64(count_mappings(&cut), MAPPED_CODE_MAX - 1, "one mapping less than are read");
	ok(!cut, "none is left out");
	for (n = MAPPED_CODE_MAX; n <= MAPPED_CODE_MAX + 1; n++) {
		if (mprotect(at + (2 * more++ + 1) * page, page, PROT_READ | PROT_EXEC))
			abort();
		is_u64(count_mappings(&cut), MAPPED_CODE_MAX, "as many as are read, or one more");
	}
	ok(cut, "which is left out");
	munmap(at, bytes);
}

int main(void)
{
	elf_version(EV_CURRENT);
	test_own_code();
	test_states();
	test_changes();
	test_room();
	test_hide();
	test_blocks();
	test_descriptor_0();
	test_most_mappings();
	return tap_done();
}

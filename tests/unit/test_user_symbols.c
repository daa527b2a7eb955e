// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests names of user stacks. This process is the one that is watched: it maps copies of its own
 * program, whose build-ids differ, and names addresses in them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collect/symbols/user_files.h"
#include "collect/symbols/user_procs.h"
#include "collect/symbols/user_symbols.h"
#include "mapped_program.h"
#include "tap.h"

static struct program program;
static __u64 function_offset; /* of function_to_be_named() in the file of this program */
static struct process_key self; /* start_ns 0: any process with this pid */
static struct user_symbols us;

/* The function whose address is named. Its first bytes are not the last of its mapping. */
__attribute__((noinline, noclone, used)) static int function_to_be_named(int n)
{
	return n ? n * function_to_be_named(n - 1) : 1;
}

static const __u64 here = (__u64)(unsigned long)function_to_be_named;

/* Maps a copy of this program. Returns the address of its function_to_be_named(). */
static char *copy_mapped(const char *name, __u8 id, __u8 ret_id[BUILD_ID_BYTES])
{
	return program_copy(&program, name, id, ret_id) + function_offset;
}

static void forget_copy(const char *name, char *function)
{
	program_forget(&program, name, function - function_offset);
}

static bool at_address(const void *ip, bool innermost, struct user_symbol *ret)
{
	struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_IP,
					   .ip = (unsigned long)ip};

	return user_symbols_resolve(&us, &self, &frame, innermost, ret);
}

static bool in_file(const __u8 *build_id, __u64 offset, bool innermost, struct user_symbol *ret)
{
	struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_VALID, .offset = offset};

	memcpy(frame.build_id, build_id, BUILD_ID_BYTES);
	return user_symbols_resolve(&us, &self, &frame, innermost, ret);
}

static void is_named(const struct user_symbol *s, const char *module, __u64 offset,
		     const char *what)
{
	ok(!strcmp(s->name, "function_to_be_named") && !strcmp(s->module, module) &&
		   s->offset == offset && !s->astray,
	   "%s: %s+0x%llx in %s", what, s->name, (unsigned long long)s->offset, s->module);
}

static struct user_proc *own(void)
{
	return user_procs_find(&us, &self);
}

/* Starts again with the mappings that this process has now. */
static void anew(void)
{
	user_symbols_close(&us);
	if (user_symbols_open(&us) || user_symbols_learn(&us, &self))
		exit(1);
}

static void test_own_program(void)
{
	struct user_symbol s, before;
	struct user_code_file file;
	struct user_code other;

	ok(at_address((char *)here, true, &s), "the first instruction of a function");
	is_named(&s, "test_user_symbols", 0, "where it was interrupted");
	is_u64(s.code.address, s.address, "the address of its line");
	ok(at_address((char *)here + 1, false, &before), "a return address");
	is_named(&before, "test_user_symbols", 1, "names the call before it");
	is_u64(before.address, s.address + 1, "the address itself is shown");
	is_u64(before.code.address, s.address, "but its line is that of the call");
	at_address((char *)here, false, &before);
	ok(strcmp(before.name, "function_to_be_named") != 0,
	   "a return address at the start of a function belongs to the function before it");
	ok(user_symbols_code_file(&us, &s.code, &file), "the file is open");
	is_u64(file.build_id_bytes, BUILD_ID_BYTES, "it has a build-id");
	ok(!memcmp(file.build_id, program.build_id, BUILD_ID_BYTES), "that of this program");
	ok(in_file(file.build_id, function_offset, true, &before), "found by the build-id, too");
	is_named(&before, "test_user_symbols", 0, "by its build-id");
	ok(in_file(file.build_id, function_offset + 1, false, &before), "a return address there");
	is_named(&before, "test_user_symbols", 1, "of the same function");
	ok(in_file(file.build_id, 1ULL << 40, true, &before), "an offset outside of the file");
	ok(before.astray && !before.name[0] && !before.address && !before.code.serial,
	   "is no code, and has no name");
	is_str(before.module, "test_user_symbols", "but the file is known");
	other = s.code;
	other.serial++;
	ok(!user_symbols_code_file(&us, &other, &file), "a file that was closed meanwhile");
	other = (struct user_code){.place = USER_FILES_MAX - 1};
	ok(!user_symbols_code_file(&us, &other, &file), "no file");
	other = (struct user_code){.place = USER_FILES_MAX, .serial = 1};
	ok(!user_symbols_code_file(&us, &other, &file), "nor one outside of the table");
}

static void test_no_address(void)
{
	struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_EMPTY, .ip = here};
	struct user_symbol s;

	memset(&s, 1, sizeof(s));
	ok(!user_symbols_resolve(&us, &self, &frame, true, &s), "a frame without an address");
	ok(!s.name[0] && !s.module[0] && !s.address && !s.astray, "leaves nothing");
}

/* Tests when mappings are read again: at the 1st, 2nd, 4th, … address that is in no mapping. */
static void test_addresses_astray(void)
{
	struct user_symbol s;
	__u8 id[BUILD_ID_BYTES];
	char *alpha;

	anew();
	for (__u32 n = 1; n <= 3; n++) {
		ok(!at_address((char *)16, true, &s) && s.astray, "address %u is no code", n);
		is_u64(own()->astray, n, "it is counted");
	}
	alpha = copy_mapped("alpha", 1, id);
	own()->astray = 4;
	ok(!at_address(alpha, true, &s), "the 5th does not read the mappings again");
	own()->astray = 7;
	ok(at_address(alpha, true, &s), "the 8th does");
	is_named(&s, "alpha", 0, "in the new mapping");
	is_u64(own()->astray, 8, "an address in a mapping is not counted");
	ok(at_address(alpha, true, &s), "once more");
	is_u64(own()->astray, 8, "nor is the next");
	forget_copy("alpha", alpha);
}

static void test_unknown_build_ids(void)
{
	__u8 id[BUILD_ID_BYTES], absent[BUILD_ID_BYTES] = {1};
	struct user_symbol s;
	char *beta;

	anew();
	ok(!in_file(absent, 0, true, &s) && !s.module[0], "a build-id that no file has");
	is_u64(own()->nr_unknown, 1, "is noted");
	ok(!in_file(absent, 0, true, &s), "again");
	is_u64(own()->nr_unknown, 1, "only once");
	beta = copy_mapped("beta", 2, id);
	ok(in_file(id, function_offset, true, &s), "another one reads the mappings again");
	is_named(&s, "beta", 0, "the file that was mapped since");
	is_u64(own()->nr_unknown, 1, "it is not noted");
	for (__u8 i = 2; i <= USER_UNKNOWN_MAX + 1; i++) {
		absent[0] = i;
		in_file(absent, 0, true, &s);
	}
	is_u64(own()->nr_unknown, USER_UNKNOWN_MAX, "the list has an end");
	ok(!memcmp(own()->unknown[1], (const __u8[BUILD_ID_BYTES]){2}, BUILD_ID_BYTES) &&
		   own()->unknown[USER_UNKNOWN_MAX - 1][0] == USER_UNKNOWN_MAX,
	   "it is in order");
	forget_copy("beta", beta);
	beta = copy_mapped("gamma", 3, id);
	ok(!in_file(id, function_offset, true, &s), "if it is full, no mappings are read again");
	is_u64(user_symbols_learn(&us, &self), 0, "after an exec");
	ok(!own()->nr_unknown && !own()->astray, "the list is empty");
	ok(in_file(id, function_offset, true, &s), "and the file is found");
	forget_copy("gamma", beta);
}

static void close_file(struct user_file *f)
{
	elf_symbols_close(&f->elf);
	f->serial = 0;
}

/* Closed files are opened again while they are mapped. The least recently used is closed first. */
static void test_few_files(void)
{
	char *file[3], name[] = "few-0";
	__u8 id[3][BUILD_ID_BYTES];
	struct user_symbol s;
	struct user_code first;
	size_t before;

	anew();
	before = us.files->n;
	us.files->most = 2;
	for (size_t i = 0; i < before; i++)
		us.files->most += us.files->f[i].elf.held >= 0 ? 2 : 1;
	for (int i = 0; i < 3; i++) {
		name[4] = '0' + i;
		file[i] = copy_mapped(name, 4 + i, id[i]);
	}
	user_symbols_learn(&us, &self);
	is_u64(us.lost.files, 1, "one file more than may be open");
	is_u64(us.files->n, before + 2, "and no more entries than files");
	for (int i = 0; i < 3; i++)
		ok(user_files_by_build_id(&us, id[i]), "one that was opened earlier is closed");
	us.files->most = 1;
	for (int i = 0; i < 3; i++) {
		close_file(user_files_by_build_id(&us, id[i]));
		us.lost.files++;
	}
	for (int i = 0; i < 3; i++) {
		name[4] = '0' + i;
		ok(at_address(file[i], true, &s), "file %d", i);
		is_named(&s, name, 0, "opened again if needed");
		first = i ? first : s.code;
		ok(in_file(id[i], function_offset, true, &s), "by its build-id, too");
		is_named(&s, name, 0, "the same");
	}
	is_u64(us.lost.files, us.files->serials - 1, "each time, all others are closed");
	ok(!user_symbols_code_file(&us, &first, &(struct user_code_file){}), "such as the first");
	munmap(file[2] - function_offset, program.n);
	close_file(user_files_by_build_id(&us, id[2]));
	ok(!at_address(file[2], true, &s), "a closed file that is not mapped any more");
	is_str(s.name, "", "has no name");
	unlink(program_path(&program, "few-2"));
	forget_copy("few-0", file[0]);
	forget_copy("few-1", file[1]);
}

static void test_limit_of_files(void)
{
	struct rlimit was, half;

	getrlimit(RLIMIT_NOFILE, &was);
	for (rlim_t soft = 0; soft <= 64; soft = soft ? soft * 4 : 1) {
		half = (struct rlimit){soft, was.rlim_max};
		setrlimit(RLIMIT_NOFILE, &half);
		user_files_close(&us);
		is_u64(user_files_open(&us), 0, "a table of files");
		is_u64(us.files->most, soft < 2 ? 1 : soft / 2, "half of RLIMIT_NOFILE");
	}
	half = (struct rlimit){2 * USER_FILES_MAX + 2, was.rlim_max};
	if (was.rlim_max >= half.rlim_cur) {
		setrlimit(RLIMIT_NOFILE, &half);
		user_files_close(&us);
		user_files_open(&us);
		is_u64(us.files->most, USER_FILES_MAX, "never more than the table has");
	}
	setrlimit(RLIMIT_NOFILE, &was);
}

/* Tests files that are no ELF files, that were deleted, or that another file replaced. */
static void test_files_that_cannot_be_read(void)
{
	char *text, *gone, *old, link[96], page[4096] = "no program";
	__u8 id[BUILD_ID_BYTES];
	struct user_symbol s;
	bool may_open;

	anew();
	program_put(&program, "text", page, sizeof(page));
	text = program_map(&program, "text", sizeof(page));
	gone = copy_mapped("gone", 9, id);
	unlink(program_path(&program, "gone"));
	old = copy_mapped("old", 10, id);
	unlink(program_path(&program, "old"));
	program_put(&program, "old", program.bytes, program.n);
	snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx",
		 (unsigned long)(gone - function_offset),
		 (unsigned long)(gone - function_offset + ((program.n + 4095) & ~4095ul)));
	may_open = access(link, R_OK) == 0;
	user_symbols_learn(&us, &self);
	is_u64(us.lost.malformed, 1, "a file that is not ELF");
	is_u64(us.lost.refused, !may_open, "a deleted file, unless map_files can be read");
	ok(!at_address(text, true, &s) && !s.module[0], "no name in the first");
	is_u64(own()->astray, 0, "whose mapping is known");
	ok(at_address(gone, true, &s) == may_open, "the second");
	/* another file of this name has another inode number */
	ok(at_address(old, true, &s) == may_open, "no name of a file that replaced it");
	munmap(text, sizeof(page));
	munmap(gone - function_offset, program.n);
	forget_copy("old", old);
	unlink(program_path(&program, "text"));
}

static void test_foreign_pids(void)
{
	struct user_symbol s;

	anew();
	us.foreign = true;
	ok(user_symbols_learn(&us, &self) == -ESRCH, "pids of another namespace cannot be read");
	ok(at_address((char *)here, true, &s), "what was read before is known");
	own()->of.pid = 1;
	ok(!at_address((char *)here, true, &s) && s.astray, "but no other process");
	ok(in_file(program.build_id, function_offset, true, &s), "a file of another process");
	is_named(&s, "test_user_symbols", 0, "has its names");
	us.foreign = false;
	self.start_ns = 1;
	ok(user_symbols_learn(&us, &self) == -ESRCH, "a pid that was reused");
	self.start_ns = 0;
}

static void put_perf_map(const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	f = text ? fopen(path, "w") : NULL;
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static void test_generated_code(void)
{
	struct user_symbol s;

	anew();
	ok(!at_address((char *)0x1008, true, &s) && own()->perf_asked, "no perf map");
	put_perf_map("1000 10 first\n1010 10 second\n");
	own()->astray = 2;
	ok(!at_address((char *)0x1008, true, &s), "a map that was written since");
	ok(at_address((char *)0x1008, true, &s), "is found when the mappings are read again");
	user_symbols_learn(&us, &self);
	ok(!own()->perf_asked, "after an exec");
	ok(at_address((char *)0x1008, true, &s), "generated code");
	is_str(s.name, "first", "its name");
	is_str(s.module, "[jit]", "its module");
	is_u64(s.offset, 8, "its offset");
	is_u64(s.address, 0x1008, "its address in memory");
	ok(!s.code.serial, "it is in no file");
	at_address((char *)0x1010, false, &s);
	is_str(s.name, "first", "a return address is behind its call");
	is_u64(s.offset, 0x10, "the offset is its own");
	at_address((char *)0x1010, true, &s);
	is_str(s.name, "second", "an interrupted function");
	is_u64(s.offset, 0, "at its start");
	ok(!at_address((char *)0x1020, true, &s) && !s.module[0], "behind the last");
	is_u64(us.lost.perf_maps, 0, "nothing is lost");
	put_perf_map(NULL);
}

/* The least recently used process makes room for another one. */
static void test_many_processes(void)
{
	struct user_symbol s;
	size_t oldest = 77;

	anew();
	for (size_t i = 1; i < USER_PROCS_MAX; i++) {
		struct user_proc *p = &us.procs->p[i];

		p->of = (struct process_key){.pid = 1 << 30, .start_ns = i};
		p->used = i == oldest ? 0 : us.clock + i;
		p->perf.fd = -1;
	}
	us.clock += USER_PROCS_MAX;
	own()->of.start_ns = 7; /* this process is learned as another one */
	ok(at_address((char *)here, true, &s), "one process more");
	is_u64(us.lost.processes, 1, "drops one");
	is_u64(own() - us.procs->p, oldest, "the one that was not used for the longest time");
	ok(user_procs_find(&us, &(struct process_key){.pid = 1 << 30, .start_ns = 78}) &&
		   !user_procs_find(&us, &(struct process_key){.pid = 1 << 30, .start_ns = 77}),
	   "and no other");
}

/* Perf maps are closed if there are too many, but not the one that is used. */
static void test_many_perf_maps(void)
{
	struct user_symbol s;
	size_t left = 0;

	anew();
	put_perf_map("1000 10 first\n");
	for (size_t i = 0; i < USER_PERF_MAPS_MAX; i++) {
		struct user_proc *p = &us.procs->p[i + 1];

		p->of = (struct process_key){.pid = 1 << 30, .start_ns = i + 1};
		p->used = i;
		p->perf.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	}
	ok(at_address((char *)0x1008, true, &s), "a map more than may be open");
	is_u64(us.lost.perf_maps, 1, "one is closed");
	ok(us.procs->p[1].perf.fd < 0 && us.procs->p[2].perf.fd >= 0, "the least recently used");
	us.procs->p[9].perf.table.room = (16 << 20) / sizeof(struct symbol_entry);
	ok(at_address((char *)0x1008, true, &s), "tables that are too large together");
	for (size_t i = 0; i < USER_PERF_MAPS_MAX; i++)
		left += us.procs->p[i + 1].perf.fd >= 0;
	is_u64(left, USER_PERF_MAPS_MAX - 9, "close maps, until they fit");
	is_u64(us.lost.perf_maps, 9, "each of them is counted");
	put_perf_map(NULL);
}

/* Symbol tables are dropped if they are too large together, and are made again when needed. */
static void test_large_tables(void)
{
	__u8 id[2][BUILD_ID_BYTES];
	char *file[2] = {copy_mapped("small", 20, id[0]), copy_mapped("large", 21, id[1])};
	struct user_file *f[2];
	struct user_symbol s;

	anew();
	for (int i = 0; i < 2; i++)
		f[i] = user_files_by_build_id(&us, id[i]);
	at_address(file[1], true, &s);
	ok(elf_symbols_bytes(&f[1]->elf) > 0, "a table");
	f[1]->elf.table.room = USER_TABLE_BYTES / sizeof(struct symbol_entry) + 1;
	at_address(file[1], true, &s);
	ok(f[1]->elf.known, "stays while no other is made");
	at_address(file[0], true, &s);
	ok(f[0]->elf.known && !f[1]->elf.known, "another one makes it too much: the older goes");
	is_u64(us.lost.tables, 0, "no table was made twice");
	ok(at_address(file[1], true, &s), "it is made again");
	is_named(&s, "large", 0, "with the same names");
	is_u64(us.lost.tables, 1, "which is counted");
	ok(f[0]->elf.known, "both fit now");
	forget_copy("small", file[0]);
	forget_copy("large", file[1]);
}

static void test_many_mappings(void)
{
	const size_t more = USER_MAPS_MAX + 5;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *at = mmap(NULL, 4096 * 2 * more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	anew();
	before = own()->maps.n;
	for (size_t i = 0; i < more; i++)
		mmap(at + 8192 * i, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
	close(fd);
	for (int text = 0; text <= 1; text++) {
		us.lost.maps = 0;
		us.text_only = text;
		is_u64(user_symbols_learn(&us, &self), 0, "more mappings than are stored");
		is_u64(own()->maps.n, USER_MAPS_MAX, "as many as are stored");
		is_u64(us.lost.maps, before + more - USER_MAPS_MAX, "the others are counted");
	}
	munmap(at, 4096 * 2 * more);
	user_symbols_learn(&us, &self);
	is_u64(own()->maps.n, before, "mappings that are gone");
}

/* faultscope uses at most half of the descriptors that it may open. */
static void test_most_files(void)
{
	static const struct {
		rlim_t limit;
		size_t most;
	} rows[] = {{4096, 512}, {1025, 512}, {1024, 512}, {1023, 511}, {1022, 511},
		    {4, 2},	 {3, 1},      {2, 1},	   {1, 1},	{0, 1}};
	struct rlimit before, now;

	if (getrlimit(RLIMIT_NOFILE, &before))
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct user_symbols other = {};

		now = (struct rlimit){rows[i].limit, before.rlim_max};
		if (setrlimit(RLIMIT_NOFILE, &now))
			continue; /* the hard limit is lower */
		is_u64(user_files_open(&other), 0, "a store of files");
		is_u64(other.files->most, rows[i].most, "files that may be open");
		user_files_close(&other);
	}
	setrlimit(RLIMIT_NOFILE, &before);
}

/* A mapping has its first address, but not its end. */
static void test_bounds_of_mappings(void)
{
	struct user_map m[] = {{.start = 0x1000, .end = 0x2000}, {.start = 0x3000, .end = 0x3001}};
	struct user_maps maps = {.m = m, .n = 2};
	static const struct {
		uint64_t ip;
		int want; /* -1: none */
	} rows[] = {{0xfff, -1},  {0x1000, 0}, {0x1fff, 0},  {0x2000, -1},
		    {0x2fff, -1}, {0x3000, 1}, {0x3001, -1}, {0, -1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(user_maps_at(&maps, rows[i].ip) == (rows[i].want < 0 ? NULL : &m[rows[i].want]),
		   "the mapping at 0x%" PRIx64, rows[i].ip);
	ok(!user_maps_at(&(struct user_maps){}, 0), "no mappings");
}

int main(void)
{
	self.pid = getpid();
	program_read(&program);
	function_offset = program_offset(&program, function_to_be_named);
	if (user_symbols_open(&us))
		return 1;
	test_own_program();
	test_no_address();
	test_addresses_astray();
	test_unknown_build_ids();
	test_few_files();
	test_limit_of_files();
	test_files_that_cannot_be_read();
	test_foreign_pids();
	test_generated_code();
	test_many_processes();
	test_many_perf_maps();
	test_large_tables();
	test_many_mappings();
	test_most_files();
	test_bounds_of_mappings();
	user_symbols_close(&us);
	ok(us.our_root == -1 && !us.files && !us.procs, "closed");
	program_free(&program);
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how a frame of a user stack is named: which mapping and file is used, when the mappings of
 * the process are read again, and what an address outside of all mappings means. The processes,
 * mappings and files are played.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "collect/symbols/user_files.h"
#include "collect/symbols/user_procs.h"
#include "open_files.h"
#include "tap.h"

#define START  0x7000 /* of the only mapping */
#define END    0x8000
#define OFFSET 0x300	/* offset in the file of the mapping */
#define BASE   0x100000 /* difference between addresses and offsets of the file */

static const struct process_key key = {.pid = 10, .start_ns = 7};
static struct user_symbols us;
static struct user_files files;
static struct user_proc proc;
static struct user_map map = {.start = START, .end = END, .offset = OFFSET};
static bool known;	/* the process is in the table */
static bool mapped;	/* its mappings contain START */
static bool maps_later; /* they do once they are read again */
static bool opened;	/* the file of the mapping is open */
static bool jit;	/* the perf map has each address */
static int learn_error, files_error;
static bool is_code, has_address, has_name;
static __u8 id_in_maps, id_in_files; /* first byte of the build-id that is found there; 0: none */
static char calls[512];

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void note(const char *format, ...)
{
	size_t len = strlen(calls);
	va_list ap;

	if (len)
		calls[len++] = ' ';
	va_start(ap, format);
	vsnprintf(calls + len, sizeof(calls) - len, format, ap);
	va_end(ap);
}

struct user_proc *user_procs_find(struct user_symbols *of_us, const struct process_key *of)
{
	if (of_us != &us || of->pid != key.pid)
		abort();
	return known ? &proc : NULL;
}

int user_proc_learn(struct user_symbols *of_us, const struct process_key *of,
		    struct user_proc **ret_proc)
{
	if (of_us != &us || of->pid != key.pid)
		abort();
	note("learn");
	if (learn_error)
		return learn_error;
	known = true;
	mapped |= maps_later;
	*ret_proc = &proc;
	return 0;
}

void user_proc_renew(struct user_proc *p)
{
	note("renew:%d", p == &proc);
}

void user_proc_forget(struct user_proc *p)
{
	static int n;

	if (!(n++ % USER_PROCS_MAX))
		note("forget:%d", p == us.procs->p);
}

bool user_proc_jit(struct user_symbols *of_us, struct user_proc *p, __u64 ip,
		   struct user_symbol *ret)
{
	note("jit:%llx", (unsigned long long)ip);
	if (!jit)
		return false;
	strcpy(ret->name, "jitted");
	strcpy(ret->module, "[jit]");
	ret->offset = 5;
	return p == &proc && of_us == &us;
}

struct user_map *user_maps_at(const struct user_maps *maps, __u64 ip)
{
	return maps == &proc.maps && mapped && ip >= START && ip < END ? &map : NULL;
}

struct user_file *user_map_file(struct user_symbols *of_us, const struct process_key *of,
				struct user_map *m)
{
	return m == &map && opened ? &files.f[3] : NULL;
}

struct user_file *user_maps_file(struct user_symbols *of_us, const struct process_key *of,
				 struct user_maps *maps, const __u8 *build_id)
{
	note("maps:%u", build_id[0]);
	return maps == &proc.maps && mapped && id_in_maps && build_id[0] == id_in_maps ? &files.f[3]
										       : NULL;
}

struct user_file *user_files_by_build_id(struct user_symbols *of_us, const __u8 *build_id)
{
	note("files:%u", build_id[0]);
	return id_in_files && build_id[0] == id_in_files ? &files.f[3] : NULL;
}

int user_files_open(struct user_symbols *of_us)
{
	note("open_files");
	return files_error;
}

void user_files_close(struct user_symbols *of_us)
{
	note("close_files");
}

void user_file_name(struct user_symbols *of_us, struct user_file *f, __u64 address,
		    struct user_symbol *ret)
{
	note("name:%llx", (unsigned long long)address);
	if (!has_name)
		return;
	strcpy(ret->name, f == &files.f[3] ? "function" : "?");
	ret->offset = 4;
}

bool elf_headers_is_code(const struct elf_headers *h, __u64 offset)
{
	note("code:%llx", (unsigned long long)offset);
	return is_code && h == &files.f[3].elf.h;
}

bool elf_headers_address(const struct elf_headers *h, __u64 offset, __u64 *ret)
{
	*ret = offset + BASE;
	return has_address;
}

static void begin(void)
{
	us = (struct user_symbols){.files = &files, .our_root = -1};
	memset(&proc, 0, sizeof(proc));
	memset(&files, 0, sizeof(files));
	strcpy(files.f[3].module, "lib.so");
	files.f[3].serial = 9;
	known = mapped = opened = is_code = has_address = has_name = true;
	maps_later = jit = false;
	learn_error = files_error = 0;
	id_in_maps = id_in_files = 0;
	calls[0] = 0;
}

static struct user_symbol resolve_ip(__u64 ip, bool innermost, bool want)
{
	struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_IP, .ip = ip};
	struct user_symbol got;

	memset(&got, 0x55, sizeof(got));
	calls[0] = 0;
	is_u64(user_symbols_resolve(&us, &key, &frame, innermost, &got), want,
	       "whether the module is known");
	return got;
}

/* An address in a file. A return address is named by the byte before it. */
static void test_in_file(void)
{
	struct user_symbol got;

	begin();
	got = resolve_ip(START + 0x20, true, true);
	is_str(calls, "code:320 name:100320", "the innermost frame");
	is_str(got.name, "function", "its function");
	is_str(got.module, "lib.so", "its file");
	ok(got.offset == 4 && got.address == BASE + 0x320 && !got.astray, "its place");
	ok(got.code.place == 3 && got.code.serial == 9 && got.code.address == BASE + 0x320,
	   "its place for source lines");
	got = resolve_ip(START + 0x20, false, true);
	is_str(calls, "code:320 name:10031f", "another frame");
	ok(got.offset == 5 && got.address == BASE + 0x320, "its place");
	is_u64(got.code.address, BASE + 0x31f, "its place for source lines");
	has_name = false;
	got = resolve_ip(START + 0x20, false, true);
	ok(!got.name[0] && !got.offset && got.module[0], "a file without this function");
	has_address = false;
	got = resolve_ip(START + 0x20, true, true);
	is_str(calls, "code:320", "an offset that is in no segment");
	ok(!got.name[0] && !got.code.serial && !strcmp(got.module, "lib.so"), "has a file only");
	begin();
	is_code = false;
	got = resolve_ip(START + 0x20, false, true);
	ok(got.astray && !strcmp(got.module, "lib.so"), "an address in data of a file");
}

/* Code that was generated at run time, or whose file is not certain. */
static void test_jit(void)
{
	struct user_symbol got;

	for (int i = 0; i < 2; i++) {
		begin();
		jit = true;
		opened = i;
		files.f[3].unproven = i;
		got = resolve_ip(START + 0x20, true, true);
		is_str(calls, "jit:7020", i ? "a file that is not certain" : "no file");
		ok(!strcmp(got.name, "jitted") && got.offset == 5 && got.address == START + 0x20 &&
			   !got.astray,
		   "the innermost frame");
		got = resolve_ip(START + 0x20, false, true);
		is_str(calls, "jit:701f", "another frame");
		ok(got.offset == 6 && got.address == START + 0x20, "its place");
		jit = false;
		got = resolve_ip(START + 0x20, false, false);
		is_str(calls, "jit:701f", "no perf map has it, and the mapping is known");
		ok(got.astray && !got.name[0] && !got.address, "it is no code");
		is_u64(proc.astray, 0, "it is in a mapping");
	}
}

/* Mappings are read again at the 1st, 2nd, 4th, 8th … address outside of them. */
static void test_outside(void)
{
	unsigned int reads = 0;

	begin();
	for (unsigned int i = 1; i <= 64; i++) {
		bool power = i == 1 || i == 2 || i == 4 || i == 8 || i == 16 || i == 32 || i == 64;

		ok(resolve_ip(END, true, false).astray, "an address outside");
		is_str(calls, power ? "jit:8000 learn jit:8000" : "jit:8000", "the calls for it");
		reads += strstr(calls, "learn") != NULL;
		is_u64(proc.astray, i, "addresses outside of mappings");
	}
	is_u64(reads, 7, "mappings were read");
	us.foreign = true;
	proc.astray = 0;
	resolve_ip(END, true, false);
	is_str(calls, "jit:8000 jit:8000", "pids of another namespace are not read");

	begin();
	mapped = false;
	maps_later = true;
	ok(!resolve_ip(START, true, true).astray, "an address in a new mapping");
	is_str(calls, "jit:7000 learn code:300 name:100300", "the calls for it");

	begin();
	known = false;
	ok(!resolve_ip(START, true, true).astray, "a process that was not known");
	is_str(calls, "learn code:300 name:100300", "the calls for it");
	known = false;
	learn_error = -ESRCH;
	ok(resolve_ip(START, true, false).astray, "a process that is gone");
	is_str(calls, "learn", "the calls for it");
	us.foreign = true;
	ok(resolve_ip(START, true, false).astray, "a process of another namespace");
	is_str(calls, "", "no calls");

	begin();
	mapped = false;
	learn_error = -ESRCH;
	ok(resolve_ip(START, true, false).astray, "a known process that is gone");
	is_str(calls, "jit:7000 learn jit:7000", "its last mappings are used");
}

static bool resolve_id(__u8 id, bool innermost, struct user_symbol *ret)
{
	struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_VALID, .offset = 0x20};

	frame.build_id[0] = id;
	calls[0] = 0;
	memset(ret, 0x55, sizeof(*ret));
	return user_symbols_resolve(&us, &key, &frame, innermost, ret);
}

/* A file by its build-id: of the process, or of another process. */
static void test_build_ids(void)
{
	struct user_symbol got;

	begin();
	id_in_maps = 1;
	ok(resolve_id(1, true, &got), "a file of the process");
	is_str(calls, "maps:1 code:20 name:100020", "the calls for it");
	ok(!strcmp(got.name, "function") && got.offset == 4, "its function");
	ok(resolve_id(1, false, &got) && got.offset == 5, "another frame");
	is_str(calls, "maps:1 code:20 name:10001f", "by the byte before it");
	ok(!got.astray, "it is code");
	is_code = false;
	ok(resolve_id(1, true, &got) && got.astray, "an offset that is no code");
	is_str(got.module, "lib.so", "the file is known");
	is_code = true;

	mapped = false;
	maps_later = true;
	ok(resolve_id(1, true, &got), "a file that was mapped meanwhile");
	is_str(calls, "maps:1 learn maps:1 code:20 name:100020", "the calls for it");

	ok(!resolve_id(2, true, &got), "a build-id of no file");
	is_str(calls, "maps:2 learn maps:2 files:2", "the calls for it");
	ok(!got.name[0] && !got.module[0] && !got.astray, "has no name");
	ok(!resolve_id(2, true, &got), "the same build-id again");
	is_str(calls, "maps:2 files:2", "mappings are not read for it again");
	id_in_files = 2;
	ok(resolve_id(2, true, &got), "a file that another process has mapped");
	is_str(calls, "maps:2 files:2 code:20 name:100020", "the calls for it");

	known = false;
	learn_error = -ESRCH;
	ok(resolve_id(2, true, &got), "a file of a process that is gone");
	is_str(calls, "learn files:2 code:20 name:100020", "the calls for it");
	learn_error = 0;
	us.foreign = true;
	ok(!resolve_id(3, true, &got), "a process of another namespace");
	is_str(calls, "files:3", "is not read");
}

/* Up to 16 unknown build-ids are kept. Then mappings are not read for further ones. */
static void test_many_build_ids(void)
{
	struct user_symbol got;
	char want[64];

	begin();
	for (unsigned int id = 1; id <= USER_UNKNOWN_MAX + 2; id++) {
		resolve_id(id, true, &got);
		snprintf(want, sizeof(want),
			 id <= USER_UNKNOWN_MAX ? "maps:%u learn maps:%u files:%u"
						: "maps:%u files:%u",
			 id, id, id);
		is_str(calls, want, "the calls for a new build-id");
		is_u64(proc.nr_unknown, id < USER_UNKNOWN_MAX ? id : USER_UNKNOWN_MAX,
		       "unknown build-ids");
	}
	for (unsigned int i = 0; i < USER_UNKNOWN_MAX; i++)
		is_u64(proc.unknown[i][0], i + 1, "an unknown build-id");
}

static void test_other_frames(void)
{
	struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_EMPTY, .ip = START};
	struct user_symbol got, zero = {};

	begin();
	memset(&got, 0x55, sizeof(got));
	ok(!user_symbols_resolve(&us, &key, &frame, true, &got), "an empty frame");
	ok(!memcmp(&got, &zero, sizeof(got)) && !calls[0], "has no name");
}

static void test_learn(void)
{
	begin();
	is_u64(-user_symbols_learn(&us, &key), 0, "a process");
	is_str(calls, "learn renew:1", "a new program");
	begin();
	learn_error = -EACCES;
	is_u64(-user_symbols_learn(&us, &key), EACCES, "a process that cannot be read");
	is_str(calls, "learn", "keeps its values");
	begin();
	us.foreign = true;
	is_u64(-user_symbols_learn(&us, &key), ESRCH, "a process of another namespace");
	is_str(calls, "", "is not read");
}

/* Whether the mappings of a process were missed, because it ended before they were read. */
static void test_missed(void)
{
	static const struct {
		bool foreign, known;
		int learn_error;
		size_t maps;
		bool missed;
		const char *calls, *name;
	} rows[] = {
		{false, true, 0, 1, false, "", "a known process"},
		{false, true, 0, 0, true, "", "a process that waited to be reaped"},
		{false, false, 0, 1, false, "learn", "a process that is read now"},
		{false, false, 0, 0, true, "learn", "a process without mappings"},
		{false, false, -ESRCH, 1, true, "learn", "a process that is gone"},
		{false, false, -EACCES, 1, false, "learn", "a process that may not be read"},
		{true, false, -ESRCH, 0, false, "", "a process of another namespace"},
		{true, true, 0, 0, false, "", "a known process of another namespace"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		us.foreign = rows[i].foreign;
		known = rows[i].known;
		learn_error = rows[i].learn_error;
		proc.maps.n = rows[i].maps;
		is_u64(user_symbols_missed(&us, &key), rows[i].missed, rows[i].name);
		is_str(calls, rows[i].calls, "the calls for it");
	}
}

static void test_code_files(void)
{
	static const struct {
		__u32 place, serial;
		bool found;
		const char *name;
	} rows[] = {
		{3, 9, true, "the place of a file"},
		{3, 8, false, "a file that was replaced"},
		{3, 0, false, "no file"},
		{2, 0, false, "a free place"},
		{2, 9, false, "another place"},
		{USER_FILES_MAX, 9, false, "a place behind the last one"},
		{USER_FILES_MAX - 1, 7, true, "the last place"},
	};

	begin();
	files.f[3].elf.file.fd = 77;
	files.f[3].elf.h.has_lines = true;
	files.f[3].elf.h.build_id_bytes = 20;
	files.f[USER_FILES_MAX - 1].serial = 7;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct user_code code = {.place = rows[i].place, .serial = rows[i].serial};
		struct user_code_file got = {.fd = -5};

		is_u64(user_symbols_code_file(&us, &code, &got), rows[i].found, rows[i].name);
		if (!rows[i].found)
			is_u64(got.fd, (uint64_t)-5, "nothing is returned");
		else if (rows[i].place == 3)
			ok(got.fd == 77 && got.has_lines && got.build_id_bytes == 20 &&
				   got.build_id == files.f[3].elf.h.build_id,
			   "the file");
	}
	us.files = NULL;
	ok(!user_symbols_code_file(&us, &(struct user_code){.place = 3, .serial = 9},
				   &(struct user_code_file){}),
	   "no files");
}

static void test_open(void)
{
	size_t before = open_fds();

	for (int i = 0; i < 2; i++) {
		begin();
		files_error = i ? -ENOMEM : 0;
		memset(&us, 0x55, sizeof(us));
		is_u64(-user_symbols_open(&us), -files_error, "open");
		is_str(calls, "open_files", "the calls for it");
		ok(us.our_root >= 0 && us.procs && !us.foreign && !us.text_only && !us.clock &&
			   !us.lost.processes,
		   "no process is known");
		calls[0] = 0;
		user_symbols_close(&us);
		is_str(calls, "forget:1 close_files", "close");
		ok(us.our_root == -1 && !us.procs, "nothing is left");
		is_u64(open_fds(), before, "the root directory is closed");
		calls[0] = 0;
		user_symbols_close(&us);
		is_str(calls, "close_files", "close again");
	}
}

int main(void)
{
	test_in_file();
	test_jit();
	test_outside();
	test_build_ids();
	test_many_build_ids();
	test_other_frames();
	test_learn();
	test_missed();
	test_code_files();
	test_open();
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the table of a process's mappings: which files are opened, when an earlier entry is used
 * again, and what is counted as lost. The mappings and files of the process are played.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "collect/files/target_file.h"
#include "collect/symbols/mapped_file.h"
#include "collect/symbols/user_maps.h"
#include "open_files.h"
#include "tap.h"

#define NOTHING SIZE_MAX

static const struct process_key key = {.pid = 10, .start_ns = 7};
static struct user_symbols us;
static struct user_files files;
static struct exec_map list[8]; /* the mappings of the process */
static size_t n_list, repeat;	/* `repeat`: how often the list is passed on */
static bool cut, unproven, is_elf, has_id;
static int open_error, root_error, list_error, file_error;
static __u32 serials; /* of files that were added */
static bool forgets;  /* files are not found again */
static char calls[2048];

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void note(const char *format, ...)
{
	size_t len = strlen(calls);
	va_list ap;

	if (len && len + 1 < sizeof(calls))
		calls[len++] = ' ';
	va_start(ap, format);
	vsnprintf(calls + len, sizeof(calls) - len, format, ap);
	va_end(ap);
}

int target_open(const struct process_key *of)
{
	if (of->pid != key.pid || of->start_ns != key.start_ns)
		abort();
	return open_error ? open_error : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int target_root_open(int proc)
{
	if (fcntl(proc, F_GETFD) < 0)
		abort();
	return root_error ? root_error : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int exec_maps_each(int proc, enum exec_maps_of of, bool text_only, exec_map_fn *each, void *ctx,
		   bool *ret_cut)
{
	if (fcntl(proc, F_GETFD) < 0)
		abort();
	note("list%s%s", of == EXEC_MAPS_FILES ? "" : ":all", text_only ? ":text" : "");
	for (size_t k = 0; k < repeat; k++)
		for (size_t i = 0; i < n_list; i++) {
			int err = each(ctx, &list[i]);

			if (err)
				return err;
		}
	*ret_cut = cut;
	return list_error;
}

bool mapped_file_path(const struct exec_map *m, char *ret, size_t size)
{
	snprintf(ret, size, "%s!", m->path);
	return false;
}

int mapped_file_open(int proc, int root, const struct exec_map *m, const char *path,
		     bool *ret_unproven)
{
	if (fcntl(proc, F_GETFD) < 0 || (root >= 0 && fcntl(root, F_GETFD) < 0))
		abort();
	note("open:%s", path);
	*ret_unproven = unproven;
	return file_error ? file_error : 77;
}

struct user_file *user_files_find(struct user_symbols *of_us, const struct user_file_id *id,
				  const char *path)
{
	note("find:%s", path);
	for (size_t i = 0; !forgets && i < USER_FILES_MAX; i++)
		if (files.f[i].serial && files.f[i].id.inode == id->inode)
			return &files.f[i];
	return NULL;
}

struct user_file *user_files_add(struct user_symbols *of_us, const struct user_file_id *id, int fd,
				 const char *path, int its_root)
{
	struct user_file *f = &files.f[1 + serials % 8];

	note("add:%s", path);
	if (fd != 77 || (its_root < 0) != (root_error < 0))
		abort();
	if (!is_elf)
		return NULL;
	*f = (struct user_file){.id = *id, .serial = 100 + serials++};
	if (has_id) {
		f->elf.h.build_id_bytes = BUILD_ID_BYTES;
		f->elf.h.build_id[0] = id->inode;
	}
	return f;
}

struct user_file *user_files_get(struct user_symbols *of_us, __u32 place, __u32 serial)
{
	return files.f[place].serial == serial ? &files.f[place] : NULL;
}

static void begin(void)
{
	us = (struct user_symbols){.files = &files};
	memset(&files, 0, sizeof(files));
	n_list = 0;
	repeat = 1;
	cut = unproven = forgets = false;
	is_elf = has_id = true;
	open_error = root_error = list_error = file_error = 0;
	serials = 0;
	calls[0] = 0;
}

static void put(__u64 start, __u64 inode, const char *path)
{
	list[n_list++] = (struct exec_map){.start = start,
					   .end = start + 0x1000,
					   .offset = 0x300,
					   .inode = inode,
					   .dev_major = 8,
					   .dev_minor = 3,
					   .path = path};
}

static int learn(const struct user_maps *before, struct user_maps *ret)
{
	size_t fds = open_fds();
	int err;

	calls[0] = 0;
	err = user_maps_learn(&us, &key, before, ret);
	if (open_fds() != fds)
		ok(false, "a file was left open");
	return err;
}

static void test_learn(void)
{
	struct user_maps maps = {};

	begin();
	put(0x1000, 5, "/a");
	put(0x3000, 6, "/b");
	put(0x5000, 5, "/a");
	is_u64(-learn(NULL, &maps), 0, "a process");
	is_str(calls, "list find:/a! open:/a! add:/a! find:/b! open:/b! add:/b! find:/a!",
	       "each file is opened once");
	is_u64(maps.n, 3, "its mappings");
	for (size_t i = 0; i < 3; i++) {
		const struct user_map *m = &maps.m[i];

		ok(m->start == list[i].start && m->end == list[i].end && m->offset == 0x300 &&
			   m->id.inode == list[i].inode && m->id.dev_major == 8 &&
			   m->id.dev_minor == 3,
		   "mapping %zu", i);
		ok(m->place == (i == 1 ? 2 : 1) && m->serial == (i == 1 ? 101 : 100), "its file");
		ok(m->has_build_id && m->build_id[0] == list[i].inode, "its build-id");
	}
	ok(!files.f[1].unproven, "the file is certain");
	user_maps_free(&maps);
	ok(!maps.m && !maps.n && !maps.room, "freed");

	begin();
	put(0x1000, 5, "/a");
	has_id = false;
	unproven = true;
	us.text_only = true;
	root_error = -EACCES;
	is_u64(-learn(NULL, &maps), 0, "a process whose root directory is not readable");
	is_str(calls, "list:text find:/a! open:/a! add:/a!", "mappings as text");
	ok(maps.m[0].serial == 100 && !maps.m[0].has_build_id, "a file without build-id");
	ok(files.f[1].unproven, "it may be another file");
	user_maps_free(&maps);
}

/* Files that cannot be used, lists that are cut, and errors. */
static void test_lost(void)
{
	struct user_maps maps = {};

	begin();
	put(0x1000, 5, "/a");
	file_error = -EACCES;
	is_u64(-learn(NULL, &maps), 0, "a file that cannot be opened");
	is_u64(us.lost.refused, 1, "is counted");
	ok(maps.n == 1 && !maps.m[0].serial && !maps.m[0].place && !maps.m[0].has_build_id,
	   "its mapping is kept");
	user_maps_free(&maps);
	file_error = 0;
	is_elf = false;
	is_u64(-learn(NULL, &maps), 0, "a file that is no ELF file");
	ok(us.lost.refused == 1 && maps.n == 1 && !maps.m[0].serial, "its mapping is kept, too");
	user_maps_free(&maps);

	cut = true;
	is_u64(-learn(NULL, &maps), 0, "a list that is cut");
	is_u64(us.lost.maps, 1, "is counted");
	user_maps_free(&maps);
	cut = false;
	list_error = -EIO;
	maps.n = 55;
	is_u64(-learn(NULL, &maps), EIO, "a list that cannot be read");
	is_u64(maps.n, 55, "no mappings are returned");
	is_u64(us.lost.maps, 1, "nothing is counted");
	list_error = 0;
	open_error = -ESRCH;
	is_u64(-learn(NULL, &maps), ESRCH, "a process that is gone");
	is_str(calls, "", "has no list");
}

static void test_many(void)
{
	struct user_maps maps = {};

	for (size_t more = 0; more < 3; more++) {
		begin();
		put(0x1000, 5, "/a");
		repeat = USER_MAPS_MAX - 1 + more;
		is_u64(-learn(NULL, &maps), 0, "many mappings");
		is_u64(maps.n, more ? USER_MAPS_MAX : USER_MAPS_MAX - 1, "mappings that are kept");
		is_u64(us.lost.maps, more == 2, "mappings that are lost");
		user_maps_free(&maps);
	}
}

/* An earlier entry is used again if nothing of the mapping has changed and its file was opened. */
static void test_unchanged(void)
{
	static const struct {
		const char *name;
		size_t at; /* offset of the field that changes, or NOTHING */
		bool wide; /* it has 8 bytes */
		bool again;
	} rows[] = {
		{"the same mapping", NOTHING, false, true},
		{"another start", offsetof(struct user_map, start), true, false},
		{"another end", offsetof(struct user_map, end), true, false},
		{"another offset", offsetof(struct user_map, offset), true, false},
		{"another inode", offsetof(struct user_map, id.inode), true, false},
		{"another device", offsetof(struct user_map, id.dev_major), false, false},
		{"another minor number", offsetof(struct user_map, id.dev_minor), false, false},
	};
	struct user_maps before = {}, maps = {};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		put(0x1000, 5, "/a");
		put(0x3000, 6, "/b");
		learn(NULL, &before);
		forgets = true;
		if (rows[i].at != NOTHING && rows[i].wide)
			++*(__u64 *)((char *)&before.m[1] + rows[i].at);
		else if (rows[i].at != NOTHING)
			++*(__u32 *)((char *)&before.m[1] + rows[i].at);
		is_u64(-learn(&before, &maps), 0, rows[i].name);
		is_str(calls, rows[i].again ? "list" : "list find:/b! open:/b! add:/b!",
		       "the calls for it");
		ok(maps.m[0].serial == 100 && maps.m[1].serial == (rows[i].again ? 101 : 102),
		   "the files");
		ok(maps.m[1].start == 0x3000 && maps.m[1].has_build_id, "the mapping as it is");
		user_maps_free(&maps);
		user_maps_free(&before);
	}
	begin();
	put(0x1000, 5, "/a");
	file_error = -EACCES;
	learn(NULL, &before);
	file_error = 0;
	learn(&before, &maps);
	is_str(calls, "list find:/a! open:/a! add:/a!",
	       "a file that was not opened is tried again");
	ok(maps.m[0].serial == 100, "it is open now");
	user_maps_free(&maps);
	user_maps_free(&before);
}

/* The file of a mapping may be closed meanwhile. It is opened again if the mapping is the same. */
static void test_file(void)
{
	struct user_maps maps = {};
	struct user_map *m;

	begin();
	put(0x1000, 5, "/a");
	put(0x3000, 6, "/b");
	learn(NULL, &maps);
	m = &maps.m[1];
	calls[0] = 0;
	ok(user_map_file(&us, &key, m) == &files.f[2] && !calls[0], "a file that is open");
	files.f[2].serial = 0;
	us.foreign = true;
	ok(!user_map_file(&us, &key, m) && !calls[0], "a closed file of another namespace");
	us.foreign = false;
	forgets = true;
	ok(user_map_file(&us, &key, m) == &files.f[3], "a file that was closed");
	is_str(calls, "list find:/b! open:/b! add:/b!", "is opened again");
	ok(m->place == 3 && m->serial == 102, "its new place");

	files.f[3].serial = 0;
	list[1].inode = 7;
	calls[0] = 0;
	ok(!user_map_file(&us, &key, m), "another file is mapped there");
	is_str(calls, "list", "which is not opened");
	list[1].inode = 6;
	list[1].start++;
	ok(!user_map_file(&us, &key, m), "a mapping at another address");
	list[1].start--;
	file_error = -EACCES;
	ok(!user_map_file(&us, &key, m) && !m->serial && !m->has_build_id,
	   "a file that cannot be opened any more");
	calls[0] = 0;
	ok(!user_map_file(&us, &key, m) && !calls[0], "is not tried again");
	m->serial = 102;
	open_error = -ESRCH;
	ok(!user_map_file(&us, &key, m), "a process that is gone");
	user_maps_free(&maps);
}

static void test_build_ids(void)
{
	struct user_maps maps = {};
	__u8 id[BUILD_ID_BYTES] = {6};

	begin();
	put(0x1000, 5, "/a");
	put(0x3000, 6, "/b");
	learn(NULL, &maps);
	ok(user_maps_file(&us, &key, &maps, id) == &files.f[2], "a file by its build-id");
	id[BUILD_ID_BYTES - 1] = 1;
	ok(!user_maps_file(&us, &key, &maps, id), "a build-id whose last byte differs");
	id[BUILD_ID_BYTES - 1] = 0;
	files.f[2].elf.h.build_id[0] = 9;
	ok(!user_maps_file(&us, &key, &maps, id), "a file that was replaced by another one");
	files.f[2].elf.h.build_id[0] = 6;
	maps.m[1].has_build_id = false;
	ok(!user_maps_file(&us, &key, &maps, id), "a mapping without build-id");
	maps.m[1].has_build_id = true;
	ok(!user_maps_file(&us, &key, &(struct user_maps){}, id), "no mappings");
	user_maps_free(&maps);
}

static void test_addresses(void)
{
	static const struct {
		__u64 ip;
		int want; /* index of the mapping; -1: none */
	} rows[] = {{0xfff, -1},  {0x1000, 0}, {0x1fff, 0}, {0x2000, -1},
		    {0x2fff, -1}, {0x3000, 1}, {0x3fff, 1}, {0x4000, -1}};
	struct user_maps maps = {};

	begin();
	put(0x1000, 5, "/a");
	put(0x3000, 6, "/b");
	learn(NULL, &maps);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(user_maps_at(&maps, rows[i].ip) ==
			   (rows[i].want < 0 ? NULL : &maps.m[rows[i].want]),
		   "address 0x%llx", (unsigned long long)rows[i].ip);
	user_maps_free(&maps);
	ok(!user_maps_at(&maps, 0x1000), "no mappings");
}

int main(void)
{
	test_learn();
	test_lost();
	test_many();
	test_unchanged();
	test_file();
	test_build_ids();
	test_addresses();
	return tap_done();
}

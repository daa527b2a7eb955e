// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how BPF objects are opened and closed, which part of the table of growth is mapped, how
 * large tables are, and which files a load needs. The table is a file of this test; the BPF objects
 * are the real ones, which are not loaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "open_files.h"
#include "probe/object.h"
#include "probe/tracefs.h"
#include "tap.h"

#define MAPPINGS_MAX 16
#define MAPS_MAX     256

static int table = -1; /* descriptor of the table of growth */

static struct {
	int cpus;	  /* possible CPUs, or an error */
	int open_error;	  /* errno of opening an object; 0: it succeeds */
	bool no_config;	  /* the object has no settings */
	size_t few_bytes; /* bytes that its settings lack */
	const void *bytes;
	size_t size;	 /* the bytes of the object that was opened last */
	char types[256]; /* the file with its types; empty: none */
} libbpf = {.cpus = 4};

/* Mappings of the table, and memory that was unmapped or left. */
struct mapping {
	const void *at;
	size_t bytes;
	int rights;
};
static struct mapping mapped[MAPPINGS_MAX], unmapped[MAPPINGS_MAX], left[MAPPINGS_MAX];
static size_t nr_mapped, nr_unmapped, nr_left;

static void note(struct mapping *all, size_t *n, const void *at, size_t bytes, int rights)
{
	if (*n < MAPPINGS_MAX)
		all[(*n)++] = (struct mapping){at, bytes, rights};
}

void *mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t from)
{
	void *ret = (void *)syscall(SYS_mmap, at, bytes, rights, flags, fd, from);

	if (fd >= 0 && fd == table && flags == MAP_SHARED && !from)
		note(mapped, &nr_mapped, ret, bytes, rights);
	return ret;
}

int munmap(void *at, size_t bytes)
{
	note(unmapped, &nr_unmapped, at, bytes, 0);
	return syscall(SYS_munmap, at, bytes);
}

int madvise(void *at, size_t bytes, int advice)
{
	if (advice == MADV_DONTNEED)
		note(left, &nr_left, at, bytes, 0);
	return 0;
}

int libbpf_num_possible_cpus(void)
{
	return libbpf.cpus;
}

struct bpf_object *bpf_object__open_mem(const void *bytes, size_t size,
					const struct bpf_object_open_opts *opts)
{
	struct bpf_object *(*real)(const void *, size_t, const struct bpf_object_open_opts *) =
		(struct bpf_object * (*)(const void *, size_t, const struct bpf_object_open_opts *))
			dlsym(RTLD_NEXT, "bpf_object__open_mem");

	libbpf.bytes = bytes;
	libbpf.size = size;
	snprintf(libbpf.types, sizeof(libbpf.types), "%s",
		 opts->btf_custom_path ? opts->btf_custom_path : "");
	errno = libbpf.open_error;
	return libbpf.open_error ? NULL : real(bytes, size, opts);
}

static struct fs_config config;

/* The type of the result depends on the version of libbpf, so the name is another one here. */
void *made_initial_value(const struct bpf_map *map,
			 size_t *ret_size) __asm__("bpf_map__initial_value");
void *made_initial_value(const struct bpf_map *map, size_t *ret_size)
{
	if (libbpf.no_config || strcmp(bpf_map__name(map), ".rodata.config") != 0)
		return NULL;
	*ret_size = sizeof(config) - libbpf.few_bytes;
	return &config;
}

static bool no_types_file;

int memfd_create(const char *name, unsigned int flags)
{
	errno = EMFILE;
	return no_types_file ? -1 : syscall(SYS_memfd_create, name, flags);
}

/* Replaces libbpf's function, since no map has a descriptor before the load. */
int bpf_map__fd(const struct bpf_map *map)
{
	return map && !strcmp(bpf_map__name(map), "growth") ? table : -1;
}

static void test_growth(void)
{
	struct object o;
	int err = object_open(&o, OBJECT_FULL, NULL);
	const struct growth *first;
	struct growth row = {.added = 77};

	ok(!err && o.config && !o.shared, "an object that is open");
	table = -1;
	ok(object_map_growth(&o, 10) < 0 && !o.growth && !o.growth_rows, "a table without file");
	table = memfd_create("growth", MFD_CLOEXEC);
	if (ftruncate(table, GROWTH_MAX * sizeof(row)) ||
	    pwrite(table, &row, sizeof(row), 99 * sizeof(row)) != sizeof(row))
		ok(false, "the table of this test");
	is_u64(object_map_growth(&o, 100), 0, "the first rows");
	is_u64(o.growth_rows, 100, "as many as were asked for");
	is_u64(o.growth[99].added, 77, "are those of the table");
	first = o.growth;
	is_u64(object_map_growth(&o, 100), 0, "no more rows");
	ok(o.growth == first, "the mapping stays");
	is_u64(object_map_growth(&o, 101), 0, "one more row");
	is_u64(o.growth_rows, 202, "twice as many, since the table grows on");
	is_u64(o.growth[99].added, 77, "are those of the table");
	close(table);
	table = -1;
	ok(object_map_growth(&o, 1000) < 0, "a table that cannot be mapped any more");
	is_u64(o.growth_rows, 202, "keeps its rows");
	table = memfd_create("growth", MFD_CLOEXEC);
	if (ftruncate(table, GROWTH_MAX * sizeof(row)))
		ok(false, "the table of this test");
	is_u64(object_map_growth(&o, GROWTH_MAX / 2), 0, "half of the table");
	is_u64(o.growth_rows, GROWTH_MAX, "the whole table");
	first = o.growth;
	is_u64(object_map_growth(&o, UINT32_MAX), 0, "more than there is");
	ok(o.growth == first && o.growth_rows == GROWTH_MAX, "is the whole table");
	object_close(&o);
	ok(!o.obj && !o.growth && !o.growth_rows, "a closed object has none");
	object_close(&o);
}

/* Makes an empty table of growth, of all rows. */
static void make_table(void)
{
	table = memfd_create("growth", MFD_CLOEXEC);
	if (ftruncate(table, GROWTH_MAX * sizeof(struct growth)))
		abort();
}

static bool is_unmapped(const void *at, size_t bytes)
{
	for (size_t i = 0; i < nr_unmapped; i++)
		if (unmapped[i].at == at && unmapped[i].bytes == bytes)
			return true;
	return false;
}

/* After the first rows, twice as many as were asked for are mapped. */
static void test_growing(void)
{
	static const struct {
		__u32 before, rows, then;
	} rows[] = {
		{0, 1, 1},
		{0, GROWTH_MAX - 1, GROWTH_MAX - 1},
		{0, GROWTH_MAX, GROWTH_MAX},
		{0, GROWTH_MAX + 1, GROWTH_MAX},
		{10, 9, 10},
		{10, 10, 10},
		{10, 11, 22},
		{10, GROWTH_MAX / 2 - 1, GROWTH_MAX - 2},
		{10, GROWTH_MAX / 2, GROWTH_MAX},
		{10, GROWTH_MAX / 2 + 1, GROWTH_MAX},
		{10, GROWTH_MAX - 1, GROWTH_MAX},
		{10, GROWTH_MAX + 1, GROWTH_MAX},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool more = rows[i].then != rows[i].before;
		const struct growth *was;
		struct object o;

		if (object_open(&o, OBJECT_FULL, NULL))
			abort();
		make_table();
		object_map_growth(&o, rows[i].before);
		was = o.growth;
		nr_mapped = nr_unmapped = 0;
		is_u64(object_map_growth(&o, rows[i].rows), 0, "rows are asked for");
		is_u64(o.growth_rows, rows[i].then, "rows that are mapped");
		is_u64(nr_mapped, more, "whether more are mapped");
		ok(!more || (mapped[0].at == o.growth && mapped[0].rights == PROT_READ &&
			     mapped[0].bytes == rows[i].then * sizeof(struct growth)),
		   "to be read, all of them");
		ok(was ? is_unmapped(was, rows[i].before * sizeof(*was)) == more : !nr_unmapped,
		   "in place of those before");
		object_close(&o);
		close(table);
	}
	table = -1;
}

/* ---- opening and closing ---- */

static const struct object nothing;

static void fails_to_open(int err, const char *name)
{
	size_t fds = open_fds();
	struct object o;

	memset(&o, 0xff, sizeof(o));
	is_u64(-object_open(&o, OBJECT_FULL, NULL), err, name);
	ok(!memcmp(&o, &nothing, sizeof(o)), "nothing is open");
	is_u64(open_fds(), fds, "no file is left");
	libbpf.open_error = libbpf.few_bytes = libbpf.no_config = 0;
}

static void test_opening(void)
{
	size_t fds = open_fds();
	const void *bytes[3];
	struct object o;

	for (int build = OBJECT_FULL; build <= OBJECT_HASH; build++) {
		memset(&o, 0xff, sizeof(o));
		is_u64(object_open(&o, build, NULL), 0, "a build");
		ok(o.obj && (int)o.build == build && o.config == &config, "and its settings");
		ok(*o.types.path && !strcmp(libbpf.types, o.types.path),
		   "libbpf reads the types that faultscope takes: %s", libbpf.types);
		ok(!o.shared && !o.growth && !o.spares && !o.rest && !o.growth_rows,
		   "nothing is loaded");
		bytes[build] = libbpf.bytes;
		object_close(&o);
		is_u64(object_open(&o, build, "/given"), 0, "with a file of types");
		is_str(libbpf.types, "/given", "which libbpf reads");
		object_close(&o);
		ok(!memcmp(&o, &nothing, sizeof(o)), "closed");
	}
	ok(bytes[0] != bytes[1] && bytes[0] != bytes[2] && bytes[1] != bytes[2],
	   "each build is another object");
	no_types_file = true;
	is_u64(object_open(&o, OBJECT_FULL, NULL), 0, "without a file for types");
	is_str(libbpf.types, "", "libbpf looks for types itself");
	object_close(&o);
	no_types_file = false;
	is_u64(open_fds(), fds, "no file is left");
	libbpf.open_error = ENOMEM;
	fails_to_open(ENOMEM, "no memory");
	libbpf.no_config = true;
	fails_to_open(EINVAL, "no settings");
	libbpf.few_bytes = 1;
	fails_to_open(EINVAL, "settings of another size");
}

/* Memory that is mapped is unmapped, and the pages of the object's file need not stay. */
static void test_closing(void)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), begin, end;
	const size_t shared = sizeof(struct fs_shared), growth = 100 * sizeof(struct growth),
		     spares = GROWTH_MAX * sizeof(struct fs_spare);
	struct object o, was;

	if (object_open(&o, OBJECT_HASH, NULL))
		abort();
	make_table();
	object_map_growth(&o, 100);
	o.shared = mmap(NULL, shared, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	o.spares = mmap(NULL, spares, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	was = o;
	nr_unmapped = nr_left = 0;
	object_close(&o);
	ok(is_unmapped(was.shared, shared), "memory that programs share");
	ok(is_unmapped(was.growth, growth), "the table of growth");
	ok(is_unmapped(was.spares, spares), "its free entries");
	begin = ((uintptr_t)libbpf.bytes + page - 1) / page * page;
	end = ((uintptr_t)libbpf.bytes + libbpf.size) / page * page;
	ok(nr_left == 1 && left[0].at == (void *)begin && left[0].bytes == end - begin,
	   "the whole pages of the file");
	ok(!memcmp(&o, &nothing, sizeof(o)), "nothing is open");
	nr_unmapped = nr_left = 0;
	object_close(&o);
	ok(!nr_unmapped && !nr_left, "a second time, there is nothing to do");
	close(table);
	table = -1;
}

/* ---- tracepoints at the ends of calls ---- */

static struct {
	int open_error, number; /* `number`: of the tracepoint, or -errno */
	unsigned int opened;
} tracefs;

int tracefs_open(void)
{
	tracefs.opened++;
	return tracefs.open_error ? -tracefs.open_error
				  : (int)syscall(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC);
}

int tracefs_tracepoint(int root, const char *name)
{
	if (fcntl(root, F_GETFD) < 0 || strcmp(name, "syscalls/sys_exit_mmap") != 0)
		abort();
	return tracefs.number;
}

/* Only a program without a tracepoint of its own needs those of all calls. */
static void test_exits(void)
{
	static const struct {
		int open_error, number;
		bool lacks;
	} rows[] = {{0, 12, false}, {0, -ENOENT, true}, {0, -EACCES, false},
		    {0, 0, false},  {ENOENT, 12, true}, {EACCES, 12, false}};
	struct bpf_program *prog;
	struct object o;
	unsigned int found = 0;

	if (object_open(&o, OBJECT_FULL, NULL))
		abort();
	bpf_object__for_each_program (prog, o.obj) {
		const char *name = bpf_program__name(prog);
		bool asks = !strcmp(bpf_program__section_name(prog), "tp");

		if (object_is_typed(&o, name))
			continue;
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			size_t fds = open_fds();

			tracefs.open_error = rows[i].open_error;
			tracefs.number = rows[i].number;
			tracefs.opened = 0;
			if (object_lacks_target(&o, name, NULL) != (asks && rows[i].lacks) ||
			    tracefs.opened != asks || open_fds() != fds)
				ok(false, "%s, row %zu", name, i);
		}
		found += asks;
	}
	ok(found == 1, "%u program at the ends of calls", found);
	ok(!object_lacks_target(&o, "nothing", NULL), "no such program");
	object_close(&o);
}

static void test_files(void)
{
	struct bpf_program *prog;
	struct bpf_map *map;
	size_t programs = 0, maps = 0, all;
	struct object o;

	if (object_open(&o, OBJECT_PLAIN, NULL))
		ok(false, "the object can be opened");
	bpf_object__for_each_program (prog, o.obj)
		programs++;
	bpf_object__for_each_map(map, o.obj) maps++;
	all = object_files(&o);
	is_u64(all, programs + maps, "a descriptor for each program and map");
	bpf_program__set_autoload(bpf_object__next_program(o.obj, NULL), false);
	is_u64(object_files(&o), all - 1, "none for a program that is not loaded");
	bpf_map__set_autocreate(bpf_object__next_map(o.obj, NULL), false);
	is_u64(object_files(&o), all - 2, "none for a map that is not made");
	ok(!object_has_rest(&o), "no program waits for a load");
	is_u64(object_load_rest(&o), 0, "so there is nothing to do");
	object_close(&o);
}

/* Checks the entries of all tables of an object, whose sizes before are `was`. */
static void has_entries(const struct object *o, const __u32 *was, __u32 least, const char *name)
{
	struct bpf_map *map;
	size_t n = 0, wrong = 0, large = 0;

	bpf_object__for_each_map(map, o->obj)
	{
		bool is_lru = bpf_map__type(map) == BPF_MAP_TYPE_LRU_HASH;
		__u32 want = is_lru && was[n] < least ? least : was[n];

		wrong += bpf_map__max_entries(map) != want;
		large += want != was[n++];
	}
	ok(!wrong && (large || least < 1000), "%s: %zu tables are larger", name, large);
}

/* Each possible CPU needs 256 entries of a table that drops its oldest entries. */
static void test_cpus(void)
{
	static const struct {
		int cpus;
		__u32 least;
		const char *name;
	} rows[] = {{-EINVAL, 0, "a number that is not known"},
		    {0, 0, "no CPU"},
		    {1, 256, "one CPU"},
		    {3, 768, "three CPUs"},
		    {1000, 256000, "many CPUs"},
		    {1001, 256256, "one more"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int build = OBJECT_FULL; build <= OBJECT_HASH; build++) {
			__u32 was[MAPS_MAX];
			struct bpf_map *map;
			struct object o;
			size_t n = 0;

			if (object_open(&o, build, NULL))
				abort();
			bpf_object__for_each_map(map, o.obj) was[n++] = bpf_map__max_entries(map);
			libbpf.cpus = rows[i].cpus;
			object_size_lru_tables(o.obj);
			has_entries(&o, was, rows[i].least, rows[i].name);
			object_close(&o);
		}
	libbpf.cpus = 4;
}

static void test_sizes(void)
{
	struct object o;

	for (int build = OBJECT_FULL; build <= OBJECT_HASH; build++) {
		__u32 was;

		if (object_open(&o, build, NULL))
			ok(false, "the object can be opened");
		was = bpf_map__max_entries(object_map(&o, "procs"));
		object_size_tables(&o, 1 << 21, 100000);
		is_u64(bpf_map__max_entries(object_map(&o, "ring")), 1 << 21, "the ring");
		is_u64(bpf_map__max_entries(object_map(&o, "procs")),
		       build == OBJECT_HASH ? 100000 : was, "the table by pid");
		object_size_tables(&o, 1 << 20, 8192);
		is_u64(bpf_map__max_entries(object_map(&o, "procs")),
		       build == OBJECT_HASH ? 100000 : was, "a few processes need no more");
		object_close(&o);
		if (object_open(&o, build, NULL))
			ok(false, "the object can be opened");
		object_size_tables(&o, 1 << 20, 8193);
		is_u64(bpf_map__max_entries(object_map(&o, "procs")),
		       build == OBJECT_HASH ? 8193 : was, "one more needs one more entry");
		object_close(&o);
	}
}

int main(void)
{
	test_growth();
	test_growing();
	test_opening();
	test_closing();
	test_exits();
	test_files();
	test_sizes();
	test_cpus();
	return tap_done();
}

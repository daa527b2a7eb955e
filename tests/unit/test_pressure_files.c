// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what a scan of memory pressure reads from made-up files: values of the machine, and the
 * cgroups that are listed.
 */
#include "fakeroot.h"
#include "fixture.h"

#include "collect/cgroup/cgroup_walk.h"
#include "collect/pressure/pressure_reader.h"
#include "probe/host_facts.h"
#include "tap.h"

static struct pressure_record host;
static struct cgroup_record group[LEVELS_MAX + 1];
static size_t groups;

static int take(void *ctx, const struct record *h)
{
	if (h->kind == RECORD_SHORTAGE)
		memcpy(&host, h, sizeof(host));
	else if (h->kind == RECORD_LEVEL)
		memcpy(&group[groups++], h, sizeof(group[0]));
	return 0;
}

static const struct sink sink = {.take = take};
static const struct model nothing;

static struct pressure_reader reader_of(const struct fakeroot *root, bool v1)
{
	struct pressure_reader r = {.root = open(root->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				    .hierarchy = {.v1 = v1, .root = "/"}};

	for (int i = 0; i < NR_PRESSURE_FILES; i++)
		r.fd[i] = -1;
	return r;
}

static void scan_cgroups(struct pressure_reader *r)
{
	groups = 0;
	pressure_scan_only_cgroups(r, &nothing, &sink);
}

static const struct cgroup_record *of_path(const char *path)
{
	for (size_t i = 0; i < groups; i++)
		if (!strcmp(group[i].path, path))
			return &group[i];
	return NULL;
}

static void open_file(const struct fakeroot *root, struct pressure_reader *r,
		      enum pressure_file file, const char *text)
{
	char path[256];

	fake_file(root, "file", "%s", text);
	r->fd[file] = open(fake_path(root, "file", path, sizeof(path)), O_RDONLY | O_CLOEXEC);
	fake_remove(root, "file");
}

static void test_machine(void)
{
	static const struct {
		enum host_figure figure;
		uint64_t want;
		const char *name;
	} rows[] = {
		{HOST_BUFFERS, 1024, "buffers, in KiB"},
		{HOST_CACHED, 2048, "page cache, without the key SwapCached"},
		{HOST_ANON, 3072, "anonymous memory, the last line without its end"},
		{HOST_ZSWAP, 0, "a value of 0"},
		{HOST_ZSWAPPED, 7168, "a key that begins with another one"},
		{HOST_SHMEM, FIGURE_UNKNOWN, "a key that is not there"},
		{HOST_SWAP_IN, 11, "pages swapped in"},
		{HOST_DIRECT_STALLS, 1 + 20 + 300, "all keys with this prefix"},
		{HOST_DIRECT_SCANNED, 5, "a key that begins another one"},
		{HOST_NUMA_HINTS, 6, "hints"},
		{HOST_NUMA_LOCAL, 7, "local hints"},
		{HOST_SLAB, FIGURE_UNKNOWN, "a key of another file"},
		{HOST_OVERCOMMIT_RATIO, 50, "ratio"},
		{HOST_OVERCOMMIT_KBYTES, 0, "a setting of 0"},
		{HOST_SWAPPINESS, FIGURE_UNKNOWN, "a setting whose file is empty"},
	};
	struct fakeroot root = fakeroot_make();
	struct pressure_reader r = {.root = -1, .looks = 2};

	open_file(&root, &r, PRESSURE_PSI,
		  "some avg10=1.00 avg60=0.01 avg300=99.99 total=77\n"
		  "full avg10=0.50 avg60=0.25 avg300=0.00 total=0\n");
	open_file(&root, &r, PRESSURE_MEMINFO,
		  "Buffers:               1 kB\nSwapCached:        100 kB\n"
		  "Cached:                2 kB\nZswap:                 0 kB\n"
		  "Zswapped:              7 kB\nAnonPages:             3 kB");
	open_file(&root, &r, PRESSURE_VMSTAT,
		  "pswpin 11\nallocstall_dma 1\nallocstall_normal 20\nallocstall_movable 300\n"
		  "pgscan_direct 5\npgscan_direct_throttle 9\nnuma_hint_faults 6\n"
		  "numa_hint_faults_local 7\nSUnreclaim 8\n");
	open_file(&root, &r, PRESSURE_RATIO, "50\n");
	open_file(&root, &r, PRESSURE_KBYTES, "0\n");
	open_file(&root, &r, PRESSURE_SWAPPINESS, "");
	pressure_scan(&r, &nothing, &sink);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_u64(host.n[rows[i].figure], rows[i].want, rows[i].name);
	ok(host.some.known && host.full.known, "pressure");
	is_u64(host.some.avg10, 100, "1 percent, in hundredths");
	is_u64(host.some.avg60, 1, "the smallest share");
	is_u64(host.some.avg300, 9999, "nearly all of the time");
	is_u64(host.some.total_us, 77, "time in all");
	is_u64(host.full.total_us, 0, "a total of 0");
	pressure_close(&r);
	fakeroot_free(&root);
}

static void test_damaged_pressure(void)
{
	static const char *const texts[] = {"", "some", "some avg10=1.00 avg60=0.01 avg300=99.99\n",
					    "some avg10=x avg60=0.01 avg300=99.99 total=77\n",
					    "avg10=1 avg60=1 avg300=1 total=1"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct stall some = {}, full = {};

		pressure_stalls(texts[i], &some, &full);
		ok(!some.known && !full.known, "no pressure: \"%s\"", texts[i]);
	}
}

static void test_keyed(void)
{
	static const struct {
		const char *text;
		bool found;
		uint64_t want;
	} rows[] = {
		{"key 5\n", true, 5},	     {"a 1\nkey 6", true, 6}, {"key_b 1\nkey 7\n", true, 7},
		{"a_key 1\n", false, 0},     {"ke 1\n", false, 0},    {"key\n", false, 0},
		{"key 1\nkey 2\n", true, 1}, {"", false, 0},	      {"key 0\n", true, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 0;

		ok(pressure_keyed(rows[i].text, "key", &value) == rows[i].found &&
			   value == rows[i].want,
		   "row %zu has the value %" PRIu64, i, value);
	}
}

/* Tests which values of a limit mean that a cgroup has one. */
static void test_limits(void)
{
	static const struct {
		bool v1;
		const char *file, *text;
		bool listed;
		uint64_t limit;
	} rows[] = {
		{true, "memory.limit_in_bytes", "1152921504606846975\n", true, (1ULL << 60) - 1},
		{true, "memory.limit_in_bytes", "1152921504606846976\n", false, 0},
		{true, "memory.limit_in_bytes", "0\n", true, 0},
		{true, "memory.limit_in_bytes", "", false, 0},
		{true, "memory.max", "5\n", false, 0},
		{false, "memory.max", "1152921504606846976\n", true, 1ULL << 60},
		{false, "memory.max", "0\n", true, 0},
		{false, "memory.max", "max\n", false, 0},
		{false, "memory.max", "", false, 0},
		{false, "memory.high", "5\n", true, FIGURE_UNKNOWN},
		{false, "memory.high", "max\n", false, 0},
		{false, "memory.limit_in_bytes", "5\n", false, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fakeroot root = fakeroot_make();
		struct pressure_reader r = reader_of(&root, rows[i].v1);
		char path[64];

		snprintf(path, sizeof(path), "a/%s", rows[i].file);
		fake_file(&root, path, "%s", rows[i].text);
		scan_cgroups(&r);
		ok(groups == rows[i].listed, "version %d, %s: %.*s", rows[i].v1 ? 1 : 2,
		   rows[i].file, (int)strcspn(rows[i].text, "\n"), rows[i].text);
		if (groups)
			is_u64(group[0].n[CGROUP_LIMIT], rows[i].limit, "its limit");
		is_u64(r.over, 0, "no cgroup is left out");
		pressure_close(&r);
		fakeroot_free(&root);
	}
}

/* The limit of memory and swap of version 1 includes the limit of memory. */
static void test_swap_of_version_1(void)
{
	static const struct {
		const char *memory, *both;
		uint64_t want;
	} rows[] = {{"1000", "1001", 1},
		    {"1000", "1000", 0},
		    {"1000", "999", 0},
		    {"1000", "1152921504606846976", FIGURE_UNKNOWN},
		    {"1000", "", FIGURE_UNKNOWN}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fakeroot root = fakeroot_make();
		struct pressure_reader r = reader_of(&root, true);

		fake_file(&root, "memory.limit_in_bytes", "%s\n", rows[i].memory);
		fake_file(&root, "memory.memsw.limit_in_bytes", "%s", rows[i].both);
		scan_cgroups(&r);
		ok(groups == 1 && !strcmp(group[0].path, "/"), "the root cgroup");
		is_u64(group[0].n[CGROUP_SWAP_LIMIT], rows[i].want, rows[i].both);
		pressure_close(&r);
		fakeroot_free(&root);
	}
}

static void limited(const struct fakeroot *root, const char *path)
{
	char file[512];

	snprintf(file, sizeof(file), "%s/memory.max", path);
	fake_file(root, file, "5\n");
}

/* As many cgroups as there is room for are listed; others are counted. */
static void test_many(void)
{
	for (int more = 0; more <= 1; more++) {
		struct fakeroot root = fakeroot_make();
		struct pressure_reader r = reader_of(&root, false);
		char name[16];

		for (int i = 0; i < LEVELS_MAX + more; i++) {
			snprintf(name, sizeof(name), "g%d", i);
			limited(&root, name);
		}
		scan_cgroups(&r);
		is_u64(groups, LEVELS_MAX, "cgroups that are listed");
		is_u64(r.over, more, "cgroups that are left out");
		pressure_close(&r);
		fakeroot_free(&root);
	}
}

static char visited[4096];

static void visit(void *ctx, int dir, const char *path)
{
	size_t len = strlen(visited);

	(void)ctx;
	(void)dir;
	snprintf(visited + len, sizeof(visited) - len, "%s ", path);
}

static void make_dirs(const struct fakeroot *root, int dirs)
{
	char path[256], name[16];

	for (int i = 0; i < dirs; i++) {
		snprintf(name, sizeof(name), "g%d/", i);
		fake_path(root, name, path, sizeof(path));
	}
}

/* A walk ends after a number of cgroups. It counts those that it does not visit. */
static void test_walk(void)
{
	struct fakeroot root = fakeroot_make();
	struct cgroup_walk w = {.take = visit, .dirs_most = 5, .depth_most = 8};
	char path[256];

	fake_path(&root, ".hidden/", path, sizeof(path));
	make_dirs(&root, 1);
	cgroup_walk(&w, open(root.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	is_u64(w.over, 0, "as many directories as are allowed");
	ok(!strncmp(visited, "/ ", 2), "the root is the first: %s", visited);
	ok(strstr(visited, " /g0 ") && strstr(visited, " /proc/self/ns "), "then those below");
	ok(!strstr(visited, "hidden"), "without hidden ones");
	make_dirs(&root, 3);
	cgroup_walk(&w, open(root.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	ok(w.over >= 1, "directories above the limit are counted");
	w.dirs_most = 100;
	w.over = 0;
	cgroup_walk(&w, open(root.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	is_u64(w.over, 0, "a new walk counts anew");
	fakeroot_free(&root);
}

/* Makes a directory below another one. Returns its descriptor and closes the other one. */
static int below(int dir, const char *name)
{
	int fd;

	mkdirat(dir, name, 0755);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(dir);
	return fd;
}

/* A walk visits paths of up to 511 bytes. */
static void test_long_walk(void)
{
	char name[129], last[129];

	memset(name, 'n', sizeof(name));
	memset(last, 'l', sizeof(last));
	name[127] = 0;
	for (int len = 126; len <= 127; len++) {
		struct fakeroot root = fakeroot_make();
		struct cgroup_walk w = {.take = visit, .dirs_most = 100, .depth_most = 8};
		int dir = open(root.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		last[len] = 0;
		for (int i = 0; i < 3; i++)
			dir = below(dir, name);
		close(below(dir, last));
		last[len] = 'l';
		visited[0] = 0;
		cgroup_walk(&w, open(root.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
		is_u64(w.over, len > 126, "a path of more than 511 bytes is left out");
		ok((strstr(visited, "/lll") != NULL) == (len == 126), "a path of %d bytes",
		   3 * 128 + 1 + len);
		fakeroot_free(&root);
	}
}

static void test_depth(void)
{
	struct fakeroot root = fakeroot_make();
	struct pressure_reader r = reader_of(&root, false);

	limited(&root, "1/2/3/4/5/6/7/8");
	scan_cgroups(&r);
	ok(groups == 1 && of_path("/1/2/3/4/5/6/7/8"), "a cgroup of the eighth level");
	is_u64(r.over, 0, "is not too deep");
	limited(&root, "1/2/3/4/5/6/7/8/9");
	scan_cgroups(&r);
	is_u64(groups, 1, "one of the ninth level is not listed");
	is_u64(r.over, 1, "but counted");
	pressure_close(&r);
	fakeroot_free(&root);
}

/* A path of 255 bytes fits into a record. */
static void test_long_paths(void)
{
	char path[256];

	for (int more = 0; more <= 1; more++) {
		struct fakeroot root = fakeroot_make();
		struct pressure_reader r = reader_of(&root, false);

		memset(path, 'a', sizeof(path));
		path[0] = path[120] = '/';
		path[255] = 0;
		limited(&root, path + 1);
		if (more) {
			char longer[300];

			snprintf(longer, sizeof(longer), "%sa", path + 1);
			limited(&root, longer);
		}
		scan_cgroups(&r);
		ok(groups == 1 && of_path(path), "a path of 255 bytes");
		is_u64(r.over, more, "a longer one is left out and counted");
		pressure_close(&r);
		fakeroot_free(&root);
	}
}

/* Cgroups are listed by the first two scans and then by every sixteenth. */
static void test_listings(void)
{
	struct fakeroot root = fakeroot_make();
	struct pressure_reader r = reader_of(&root, false);
	char name[16];

	for (unsigned int scan = 0; scan <= 33; scan++) {
		bool lists = scan < 2 || scan == 16 || scan == 32;

		snprintf(name, sizeof(name), "g%u", scan);
		limited(&root, name);
		snprintf(name, sizeof(name), "/g%u", scan);
		scan_cgroups(&r);
		ok((of_path(name) != NULL) == lists, "scan %u %s new cgroups", scan,
		   lists ? "lists" : "does not list");
	}
	pressure_close(&r);
	fakeroot_free(&root);
}

/* Makes a model that knows this process alone. */
static void begin_own(struct model *m)
{
	struct process_record p = process_record(getpid(), 1, 2 * SECOND);

	begin_model(m, NULL);
	model_take(m, &p.h);
}

/* Of watched processes, the own cgroup and those above it are listed, if they have limits. */
static void test_cgroups_of_targets(void)
{
	struct fakeroot root = fakeroot_make();
	struct pressure_reader r = reader_of(&root, false);
	char text[4096] = "", own[200] = "";
	struct model m;
	FILE *f = fopen("/proc/self/cgroup", "r");

	if (f && fread(text, 1, sizeof(text) - 1, f) && !host_is_in_pid_namespace() &&
	    cgroup_path_find((struct span){text, strlen(text)}, NULL, own, sizeof(own)) &&
	    strncmp(own, "/..", 3)) {
		begin_own(&m);
		r.targets = true;
		limited(&root, "other");
		limited(&root, ".");
		limited(&root, own);
		groups = 0;
		pressure_scan_only_cgroups(&r, &m, &sink);
		ok(of_path("/") && !of_path("/other"), "the root, but not cgroups of others");
		ok(of_path(own) && groups == (own[1] ? 2 : 1), "the own cgroup %s", own);
		snprintf(r.hierarchy.root, sizeof(r.hierarchy.root), "%s", own);
		groups = 0;
		r.looks = 0;
		pressure_scan_only_cgroups(&r, &m, &sink);
		ok(groups == 1 && of_path("/"), "the own cgroup is the root of the mount");
		model_free(&m);
	}
	if (f)
		fclose(f);
	pressure_close(&r);
	fakeroot_free(&root);
}

static void test_file_systems(void)
{
	static const struct {
		const char *type;
		bool local, in_memory;
	} rows[] = {{"tmpfs", true, true}, {"ramfs", true, true},     {"ext2", true, false},
		    {"ext3", true, false}, {"btrfs", true, false},    {"f2fs", true, false},
		    {"vfat", true, false}, {"overlay", false, false}, {"", false, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool in_memory = false;
		struct span type = {rows[i].type, strlen(rows[i].type)};

		ok(pressure_is_local(type, &in_memory) == rows[i].local, "type \"%s\"",
		   rows[i].type);
		ok(in_memory == rows[i].in_memory, "whether it is in memory");
	}
}

int main(void)
{
	test_machine();
	test_damaged_pressure();
	test_keyed();
	test_limits();
	test_swap_of_version_1();
	test_many();
	test_walk();
	test_long_walk();
	test_depth();
	test_long_paths();
	test_listings();
	test_cgroups_of_targets();
	test_file_systems();
	return tap_done();
}

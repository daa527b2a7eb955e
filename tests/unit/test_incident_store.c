// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the directory of incidents at its bounds: which files belong to it, which ones are removed,
 * what a list says about each file, and how long the paths may be.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "fixture.h"
#include "incident/incident_store.h"
#include "tap.h"

#define HOUR_NS (3600 * SECOND)
#define WALL_S	1700000000 /* 2023-11-14T22:13:20Z */
#define WALL_NS (WALL_S * SECOND)

/* Checks that a text fills its array, and ends. */
#define ENDS(text, name) is_u64(strnlen(text, sizeof(text)), sizeof(text) - 1, name)

static const struct store_bounds unbounded;
static char dropped[8][STORED_NAME_BYTES]; /* names of removed files */
static unsigned int nr_dropped;

/* The clock on the wall stands still. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static int (*real)(clockid_t, struct timespec *);

	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	if (clock != CLOCK_REALTIME)
		return real(clock, ret);
	*ret = (struct timespec){.tv_sec = WALL_S};
	return 0;
}

/* The disk of this test. Call number `fails_at` of fsync() fails, and none if that is 0. */
static unsigned int syncs, fails_at;
static char synced[PATH_MAX]; /* this path does not exist when its contents are written */
static bool early;

int fsync(int fd)
{
	struct stat st;

	early |= !syncs && !stat(synced, &st);
	if (++syncs != fails_at)
		return fd < 0 ? -1 : 0;
	errno = EIO;
	return -1;
}

static void note_dropped(void *ctx, const char *name)
{
	(void)ctx;
	if (nr_dropped < 8)
		snprintf(dropped[nr_dropped], STORED_NAME_BYTES, "%s", name);
	nr_dropped++;
}

/* Returns the path of a file in a directory of this test. */
static const char *in(const char *dir, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%.40s/%.80s", dir, name);
	return fixture_path(path);
}

static void put(const char *dir, const char *name, size_t bytes, int64_t age_s)
{
	const struct timespec old[2] = {{.tv_sec = WALL_S - age_s}, {.tv_sec = WALL_S - age_s}};
	int fd = open(in(dir, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, bytes) || futimens(fd, old))
		abort();
	close(fd);
}

static bool exists(const char *dir, const char *name)
{
	struct stat st;

	return !lstat(in(dir, name), &st);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

static void open_store(struct incident_store *s, const char *dir)
{
	if (incident_store_open(s, fixture_path(dir), &unbounded))
		abort();
	s->dropped_one = note_dropped;
	nr_dropped = 0;
}

static void test_names(void)
{
	static const struct {
		const char *name;
		bool belongs;
	} rows[] = {
		{"0T.fsr", true},
		{"9T.fsr", true},
		{"T.fsr", false},
		{":T.fsr", false}, /* the character after 9 */
		{"-T.fsr", false},
		{"20231114-oom.fsr", false}, /* no time */
		{"2T.fsr.tmp", false},
		{"2T.fs", false},
		{"2Tfsr", false},
		{"2T", false},
		{"20231114T221320.000Z-0123456789012345678901234567890123456.fsr", true},  /* 62 */
		{"20231114T221320.000Z-01234567890123456789012345678901234567.fsr", true}, /* 63 */
		{"20231114T221320.000Z-012345678901234567890123456789012345678.fsr", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct stored_names names;
		char dir[16];

		snprintf(dir, sizeof(dir), "n%zu", i);
		if (stored_directory_make(fixture_path(dir)))
			abort();
		put(dir, rows[i].name, 0, 0);
		is_u64(stored_names_read(fixture_path(dir), &names), 0, "a directory");
		ok(names.n == rows[i].belongs, "%s (%zu bytes) %s", rows[i].name,
		   strlen(rows[i].name), rows[i].belongs ? "belongs to it" : "is another file");
		if (names.n)
			is_str(names.name[0], rows[i].name, "its whole name");
		stored_names_free(&names);
		ok(!names.name && !names.n, "nothing is left");
	}
}

static void test_made_names(void)
{
	char name[STORED_NAME_BYTES];

	stored_name(WALL_NS + 999999, "oom", name);
	is_str(name, "20231114T221320.000Z-oom.fsr", "a name: the time is cut to ms");
	stored_name(WALL_NS + 1000000, "oom", name);
	is_str(name, "20231114T221320.001Z-oom.fsr", "the next ms");
	stored_name(WALL_NS, "0123456789abcdef", name);
	is_str(name, "20231114T221320.000Z-0123456789abcdef.fsr", "16 characters of a kind");
	stored_name(WALL_NS, "0123456789abcdefg", name);
	is_str(name, "20231114T221320.000Z-0123456789abcdef.fsr", "and no more");
}

static void test_directories(void)
{
	is_u64(-stored_directory_make(fixture_path("p/q/r")), ENOENT, "two levels are missing");
	is_u64(stored_directory_make(fixture_path("p/q")), 0, "one level is missing");
	is_u64(mode_of(fixture_path("p")), 0755, "all may look into the parent");
	is_u64(mode_of(fixture_path("p/q")), 0700, "the directory is for its owner");
	is_u64(stored_directory_make(fixture_path("p/q")), 0, "one that is there");
	is_u64(stored_directory_make("/tmp"), 0, "one below the root");
	put("p", "file", 0, 0);
	is_u64(-stored_directory_make(fixture_path("p/file/x")), ENOTDIR, "the parent is a file");
	is_u64(-stored_directory_make(fixture_path("p/file/x/y")), ENOTDIR, "or its parent");
}

/* The path of a store leaves room for a slash and the longest name of a file. */
static void test_path_lengths(void)
{
	static const struct {
		size_t len;
		int err;
	} rows[] = {
		{PATH_MAX - STORED_NAME_BYTES - 2, 0},
		{PATH_MAX - STORED_NAME_BYTES - 1, 0},
		{PATH_MAX - STORED_NAME_BYTES, -ENAMETOOLONG},
		{PATH_MAX - STORED_NAME_BYTES + 1, -ENAMETOOLONG},
	};
	const char *dir = fixture_path("long");

	if (stored_directory_make(dir))
		abort();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[PATH_MAX + 1];
		struct incident_store s;
		int err;

		memset(&s, 0x5a, sizeof(s));
		memset(path, '/', sizeof(path));
		memcpy(path, dir, strlen(dir));
		path[rows[i].len] = 0;
		err = incident_store_open(&s, path, &unbounded);
		ok(err == rows[i].err, "a path of %zu bytes: %d", rows[i].len, err);
		ok(!err == !!s.dir[0] && !err == (s.fd >= 0), "it is %s",
		   err ? "not open" : "open");
		incident_store_close(&s);
		ok(s.fd == -1 && !s.dir[0], "and closed");
	}
}

/* An open store holds one descriptor, whatever its number is. */
static void test_descriptor(void)
{
	const struct store_bounds bounds = {.count = 5, .bytes = 6, .age_ns = 7};
	struct incident_store s;
	int fd;

	put("", "file", 0, 0);
	is_u64(-incident_store_open(&s, in("", "file"), &bounds), ENOTDIR, "a file is no store");
	ok(s.fd == -1 && !s.dir[0], "and is not open");
	is_u64(incident_store_open(&s, fixture_path("one"), &bounds), 0, "a store");
	is_u64(s.fd, 0, "has the first free descriptor");
	ok(fcntl(s.fd, F_GETFD) & FD_CLOEXEC, "which no other program gets");
	is_str(s.dir, fixture_path("one"), "its path");
	ok(s.bounds.count == 5 && s.bounds.bytes == 6 && s.bounds.age_ns == 7, "its bounds");
	fd = s.fd;
	incident_store_close(&s);
	ok(fcntl(fd, F_GETFD) == -1 && errno == EBADF, "it is closed");
	is_u64(s.bounds.count, 0, "and empty");
	incident_store_close(&s);
	ok(s.fd == -1, "twice");
}

/* Unfinished files stay for ten minutes: their writer may still live. */
static void test_drafts(void)
{
	struct incident_store s;

	stored_directory_make(fixture_path("drafts"));
	put("drafts", ".faultscope.new", 1, 0);
	put("drafts", ".faultscope.last", 1, 600);
	put("drafts", ".faultscope.old", 1, 601);
	put("drafts", ".faultscope", 1, 9999);
	put("drafts", ".faultscopes.old", 1, 9999);
	put("drafts", "2T.fsr", 1, 9999);
	mkdir(in("drafts", ".faultscope.dir"), 0700);
	open_store(&s, "drafts");
	ok(exists("drafts", ".faultscope.new"), "a new one stays");
	ok(exists("drafts", ".faultscope.last"), "one of ten minutes too");
	ok(!exists("drafts", ".faultscope.old"), "one second more, and it is removed");
	ok(exists("drafts", ".faultscope") && exists("drafts", ".faultscopes.old"),
	   "files with other names stay");
	ok(exists("drafts", "2T.fsr"), "and incidents");
	ok(exists("drafts", ".faultscope.dir"), "and a directory");
	incident_store_close(&s);
	rmdir(in("drafts", ".faultscope.dir"));
}

/* Makes four files, one an hour, of 100, 200, 300 and 400 bytes; the last one is the newest. */
static void put_four(struct incident_store *s, const char *dir)
{
	open_store(s, dir);
	put(dir, "20231114T190000.000Z-a.fsr", 100, 0);
	put(dir, "20231114T200000.000Z-b.fsr", 200, 0);
	put(dir, "20231114T210000.000Z-c.fsr", 300, 0);
	put(dir, "20231114T220000.000Z-d.fsr", 400, 0);
}

static void test_bounds(void)
{
	/* 22:00 of that day is 800 s before WALL_S */
	static const uint64_t newest_ns = (WALL_S - 800) * SECOND;
	static const struct {
		struct store_bounds bounds;
		uint64_t wall_ns;
		unsigned int stay;
		const char *what;
	} rows[] = {
		{{}, 0, 4, "without a bound"},
		{{.count = 5}, 0, 4, "fewer files than may be"},
		{{.count = 4}, 0, 4, "as many as may be"},
		{{.count = 3}, 0, 3, "one more"},
		{{.count = 1}, 0, 1, "three more"},
		{{.bytes = 1001}, 0, 4, "fewer bytes than may be"},
		{{.bytes = 1000}, 0, 4, "as many bytes as may be"},
		{{.bytes = 999}, 0, 3, "one more byte"},
		{{.bytes = 700}, 0, 2, "the two newest fit exactly"},
		{{.bytes = 699}, 0, 1, "the two newest do not fit"},
		{{.bytes = 1}, 0, 1, "not even the newest one fits"},
		{{.age_ns = HOUR_NS}, newest_ns + HOUR_NS, 1, "only the newest one is young"},
		{{.age_ns = 3 * HOUR_NS}, newest_ns, 4, "the oldest has just that age"},
		{{.age_ns = 3 * HOUR_NS}, newest_ns + 1000000, 3, "it is one ms older"},
		{{.age_ns = 2 * HOUR_NS}, newest_ns, 3, "the second has just that age"},
		{{.age_ns = HOUR_NS}, newest_ns + 9 * HOUR_NS, 1, "all are older"},
		{{.age_ns = newest_ns}, newest_ns - 1, 4, "an age before 1970"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct incident_store s;
		struct stored_names names;
		char dir[16];

		snprintf(dir, sizeof(dir), "b%zu", i);
		put_four(&s, dir);
		s.bounds = rows[i].bounds;
		incident_store_keep_bounds(&s, rows[i].wall_ns);
		if (stored_names_read(fixture_path(dir), &names))
			abort();
		ok(names.n == rows[i].stay, "%s: %zu stay", rows[i].what, names.n);
		is_str(names.name[0], "20231114T220000.000Z-d.fsr", "the newest one first");
		is_u64(s.dropped, 4 - rows[i].stay, "the others are counted");
		is_u64(nr_dropped, 4 - rows[i].stay, "and told");
		if (nr_dropped)
			is_str(dropped[nr_dropped - 1], "20231114T190000.000Z-a.fsr",
			       "the oldest one at last");
		stored_names_free(&names);
		incident_store_close(&s);
	}
}

static int tell_nothing(void *ctx, const struct sink *sink)
{
	(void)ctx, (void)sink;
	return 0;
}

static struct record_ring *make_ring(void)
{
	struct host_record host = host_record(SECOND);
	struct tick_record tick = tick_record(2 * SECOND);
	struct record_ring *ring;

	if (record_ring_make(&(struct ring_bounds){.bytes = 1 << 20}, tell_nothing, NULL, &ring))
		abort();
	record_ring_take(ring, &host.h);
	record_ring_take(ring, &tick.h);
	return ring;
}

static void put_text(const char *dir, const char *name, const char *text)
{
	int fd = open(in(dir, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

/* The list names each file, also those that give no incident. */
static void test_list(void)
{
	struct incident_record full = RECORD(incident_record, RECORD_INCIDENT, SECOND);
	struct tick_record other = tick_record(SECOND);
	struct record_ring *ring = make_ring();
	struct incident_list list;
	struct incident_store s;
	struct stat st;

	open_store(&s, "list");
	memset(full.finding, 'f', sizeof(full.finding));
	memset(full.comm, 'c', sizeof(full.comm));
	memset(full.cause, 'u', sizeof(full.cause));
	memset(full.workload, 'w', sizeof(full.workload));
	memset(full.title, 't', sizeof(full.title));
	memset(full.not_raised, 'n', sizeof(full.not_raised));
	is_u64(incident_store_put(&s, ring, &full, "5T.fsr"), 0, "an incident is stored");
	is_u64(s.stored, 1, "and counted");
	is_u64(mode_of(in("list", "5T.fsr")), 0600, "for its owner");
	is_u64(incident_store_put(&s, ring, (struct incident_record *)&other, "4T.fsr"), 0,
	       "a recording of something else");
	put_text("list", "3T.fsr", "this is no recording at all, whatever its name may be\n");
	put_text("list", "2T.fsr", "");
	if (symlink("/nowhere/at/all", in("list", "1T.fsr")))
		abort();
	is_u64(incident_list_read(fixture_path("list"), &list), 0, "the list");
	if (!ok(list.n == 5, "has five files"))
		exit(1);
	is_str(list.one[0].name, "5T.fsr", "the newest one first");
	is_str(list.one[0].why, "", "it is an incident");
	ok(!stat(in("list", "5T.fsr"), &st) && list.one[0].bytes == (uint64_t)st.st_size,
	   "with its size");
	ENDS(list.one[0].r.finding, "a finding that ends");
	ENDS(list.one[0].r.comm, "a program");
	ENDS(list.one[0].r.cause, "a cause");
	ENDS(list.one[0].r.workload, "a workload");
	ENDS(list.one[0].r.title, "a title");
	ENDS(list.one[0].r.not_raised, "a reason");
	is_str(list.one[1].why, "no recording of an incident", "another recording");
	is_str(list.one[2].why, "damaged, or no recording", "another file");
	is_u64(list.one[2].bytes, 54, "its size");
	is_str(list.one[3].name, "2T.fsr", "an empty file");
	ok(*list.one[3].why && !list.one[3].bytes, "is no incident: %s", list.one[3].why);
	is_str(list.one[4].why, "No such file or directory", "a link that leads nowhere");
	incident_list_free(&list);
	ok(!list.one && !list.n, "nothing is left");
	is_u64(-incident_list_read(fixture_path("absent"), &list), ENOENT, "no directory");
	ok(!list.one && !list.n, "no list");
	incident_store_close(&s);
	record_ring_free(ring);
}

/* A file that cannot be written is counted, and leaves the others. */
static void test_failures(void)
{
	struct incident_record head = RECORD(incident_record, RECORD_INCIDENT, SECOND);
	struct record_ring *ring = make_ring();
	struct incident_store s;

	put_four(&s, "fails");
	s.bounds.count = 1;
	if (mkdir(in("fails", "5T.fsr"), 0700))
		abort();
	ok(incident_store_put(&s, ring, &head, "5T.fsr") < 0, "a directory has the name");
	ok(s.failed == 1 && !s.stored, "which is counted as a failure");
	is_u64(nr_dropped, 0, "no file is removed for it");
	rmdir(in("fails", "5T.fsr"));
	is_u64(incident_store_put(&s, ring, &head, "5T.fsr"), 0, "now it can be written");
	ok(s.failed == 1 && s.stored == 1, "and is counted");
	is_u64(nr_dropped, 4, "and takes the place of the others");
	incident_store_close(&s);
	record_ring_free(ring);
}

/* A file has its name only when its contents are on the disk; then the name is, too. */
static void test_disk(void)
{
	struct incident_record head = RECORD(incident_record, RECORD_INCIDENT, SECOND);
	struct record_ring *ring = make_ring();
	struct incident_store s;

	put_four(&s, "disk");
	s.bounds.count = 4;
	snprintf(synced, sizeof(synced), "%s", in("disk", "5T.fsr"));
	syncs = 0;
	fails_at = 1;
	is_u64(-incident_store_put(&s, ring, &head, "5T.fsr"), EIO, "the contents are not written");
	ok(syncs == 1 && !early, "which is known before the file has its name");
	ok(!exists("disk", "5T.fsr") && s.failed == 1, "it gets none");
	syncs = 0;
	fails_at = 2;
	is_u64(-incident_store_put(&s, ring, &head, "5T.fsr"), EIO, "the name is not written");
	ok(s.failed == 2 && !nr_dropped, "no other file is removed for it");
	fails_at = syncs = 0;
	is_u64(incident_store_put(&s, ring, &head, "5T.fsr"), 0, "both are written");
	is_u64(syncs, 2, "each by a call of its own");
	is_u64(nr_dropped, 1, "and one file is removed for it");
	incident_store_close(&s);
	record_ring_free(ring);
}

/* The longest path of a store, with the longest name of a file. */
static void test_longest(void)
{
	static const char name[] =
		"20231114T221320.000Z-01234567890123456789012345678901234567.fsr";
	struct incident_record head = RECORD(incident_record, RECORD_INCIDENT, SECOND);
	struct record_ring *ring = make_ring();
	char path[PATH_MAX - STORED_NAME_BYTES];
	struct incident_list list;
	struct incident_store s;

	memset(path, '/', sizeof(path));
	memcpy(path, fixture_path(""), strlen(fixture_path("")));
	strcpy(path + sizeof(path) - sizeof("deep"), "deep");
	is_u64(incident_store_open(&s, path, &unbounded), 0, "a long path");
	is_u64(incident_store_put(&s, ring, &head, name), 0, "and a long name");
	ok(exists("deep", name), "make a file");
	ok(!incident_list_read(path, &list) && list.n == 1 && !*list.one[0].why, "in the list");
	is_str(list.n ? list.one[0].name : "", name, "by its whole name");
	incident_list_free(&list);
	incident_store_close(&s);
	record_ring_free(ring);
}

int main(void)
{
	test_names();
	test_made_names();
	test_directories();
	test_path_lengths();
	test_descriptor();
	test_drafts();
	test_bounds();
	test_list();
	test_failures();
	test_disk();
	test_longest();
	return tap_done();
}

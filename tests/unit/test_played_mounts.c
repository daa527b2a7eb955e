// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which file systems are measured, and their values, on a machine that this test makes: its
 * files are below a directory of the test, and stat(2) and statfs(2) answer from a table.
 */
#include "fakeroot.h"
#include "fixture.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "collect/pressure/mount_of_file.h"
#include "collect/pressure/pressure_reader.h"
#include "tap.h"

#define INITIAL_NS 0xeffffffcU /* the kernel's number of the initial pid namespace */
#define KIB	   1024

/* What stat(2) and statfs(2) say about a path. */
struct place {
	char path[512];
	unsigned int minor; /* of the device 8:N */
	uint64_t blocks;    /* of 1 KiB; 0: the file system reports no size */
	bool fails;	    /* statfs(2) fails */
};

static struct fakeroot root;
static bool played; /* paths lead to the made files */
static struct place place[256];
static size_t places;
static ino_t namespace;	   /* of pids */
static unsigned int asked; /* calls of stat(2) about places */
static struct mount_record mounted[MOUNTS_MAX];
static size_t mounts;
static int answer; /* of the sink */

static const struct place *place_of(const char *path)
{
	for (size_t i = 0; i < places; i++)
		if (!strcmp(place[i].path, path))
			return &place[i];
	errno = ENOENT;
	return NULL;
}

static int open_real(int dir, const char *path, int flags)
{
	return (int)syscall(SYS_openat, dir, path, flags, 0600);
}

int open(const char *path, int flags, ...)
{
	if (!played || path[0] != '/' || !strncmp(path, "/proc/self/fd/", 14))
		return open_real(AT_FDCWD, path, flags);
	return open_real(root.fd, path[1] ? path + 1 : ".", flags);
}

int stat(const char *path, struct stat *st)
{
	const struct place *p = place_of(path);

	if (!strcmp(path, "/proc/self/ns/pid")) {
		*st = (struct stat){.st_ino = namespace};
		return 0;
	}
	asked++;
	if (!p)
		return -1;
	*st = (struct stat){.st_dev = makedev(8, p->minor)};
	return 0;
}

int statfs(const char *path, struct statfs *st)
{
	const struct place *p = place_of(path);

	if (!p || p->fails)
		return -1;
	*st = (struct statfs){.f_type = 0x1234,
			      .f_bsize = KIB,
			      .f_blocks = p->blocks,
			      .f_bfree = p->blocks / 2,
			      .f_bavail = p->blocks / 4,
			      .f_files = 50,
			      .f_ffree = 20};
	return 0;
}

static void put(const char *path, unsigned int minor, uint64_t blocks)
{
	struct place *p = &place[places++];

	*p = (struct place){.minor = minor, .blocks = blocks};
	strcpy(p->path, path);
}

static int take(void *ctx, const struct record *h)
{
	(void)ctx;
	if (h->kind == RECORD_MOUNT)
		memcpy(&mounted[mounts++], h, sizeof(mounted[0]));
	return answer;
}

static const struct sink sink = {.take = take};
static const struct model nothing;

static void begin(void)
{
	places = mounts = 0;
	answer = asked = 0;
	namespace = INITIAL_NS;
}

static void list(struct pressure_reader *r, const struct model *m, const char *mountinfo)
{
	fake_file(&root, "proc/self/mountinfo", "%s", mountinfo);
	pressure_list_mounts(r, m);
}

#define NAME31	"/abcdefghijklmnopqrstuvwxyz1234"
#define NAME124 NAME31 NAME31 NAME31 NAME31

static void test_lines(void)
{
	static const struct {
		const char *line, *path; /* a line of mountinfo, and the path that is asked */
		unsigned int minor;	 /* of the device that is there */
		uint64_t listed, over;
		bool in_memory;
		const char *name;
	} rows[] = {
		{"1 0 8:1 / / rw - ext4 d rw", "/", 1, 1, 0, false, "a disk"},
		{"1 0 8:1 / /dev/shm rw a:1 - tmpfs t rw", "/dev/shm", 1, 1, 0, true, "a tmpfs"},
		{"1 0 8:1 / /r rw - ramfs t rw", "/r", 1, 1, 0, true, "a ramfs"},
		{"1 0 8:1 / / rw - overlay o rw", "/", 1, 1, 0, false, "the root of a container"},
		{"1 0 8:1 / /merged rw - overlay o rw", "/merged", 1, 0, 0, false,
		 "an overlay elsewhere, of which there may be hundreds"},
		{"1 0 8:1 / / rw - nfs4 s:/ rw", "/", 1, 0, 0, false,
		 "a network file system, which may block"},
		{"1 0 8:1 / /d rw - ext4 d rw", "/d", 2, 0, 0, false,
		 "a mount with another one over it"},
		{"1 0 8:1 / /d rw - ext4 d rw", "/e", 1, 0, 0, false, "a path that is not there"},
		{"1 0 8:1 / /d rw - btrfs d rw", "/d", 2, 1, 0, false,
		 "btrfs, whose files have another device number"},
		{"1 0 8:1 / /d rw - btrfs d rw", "/e", 1, 0, 0, false,
		 "btrfs, but not at this path"},
		{"1 0 8:1 / /a\\040b rw - ext4 d rw", "/a b", 1, 0, 1, false,
		 "a path with a blank is left out, but counted"},
		{"1 0 8:1 / " NAME124 "abc rw - ext4 d rw", NAME124 "abc", 1, 1, 0, false,
		 "the longest path"},
		{"1 0 8:1 / " NAME124 "abcd rw - ext4 d rw", NAME124 "abcd", 1, 0, 1, false,
		 "a longer path is left out, but counted"},
		{"1 0 8 / / rw - ext4 d rw", "/", 1, 0, 0, false, "a damaged line"},
		{"", "/", 0, 0, 0, false, "no mount"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pressure_reader r = {.root = -1};

		begin();
		put(rows[i].path, rows[i].minor, 100);
		list(&r, &nothing, rows[i].line);
		is_u64(r.mounts, rows[i].listed, rows[i].name);
		is_u64(r.over, rows[i].over, "mounts that are left out");
		if (r.mounts) {
			is_str(r.mount[0].path, rows[i].path, "its path");
			is_u64(r.mount[0].device, mountinfo_device(8, 1), "its device");
			ok(r.mount[0].in_memory == rows[i].in_memory && !r.mount[0].pid,
			   "whether it is in memory");
		}
		free(r.mount);
	}
	begin();
	list(&(struct pressure_reader){}, &nothing, "1 0 8:1 / /n rw - nfs4 s:/ rw\n");
	is_u64(asked, 0, "a network file system is not even asked");
}

/* A device that is mounted several times is measured once. */
static void test_devices(void)
{
	struct pressure_reader r = {.root = -1};

	begin();
	put("/a", 1, 100);
	put("/b", 1, 100);
	put("/c", 2, 100);
	list(&r, &nothing,
	     "1 0 8:1 / /a rw - ext4 d rw\n2 0 8:1 / /b rw - ext4 d rw\n"
	     "3 0 8:2 / /c rw - ext4 d rw\n");
	is_u64(r.mounts, 2, "two devices with three mounts");
	is_str(r.mount[0].path, "/a", "the first mount of a device");
	is_str(r.mount[1].path, "/c", "the other device");
	list(&r, &nothing, "2 0 8:1 / /\\040 rw - ext4 d rw\n2 0 8:1 / /b rw - ext4 d rw\n");
	is_u64(r.mounts, 1, "a new list replaces the old one");
	is_str(r.mount[0].path, "/b", "another mount, if the path of the first has a blank");
	free(r.mount);
}

/* As many mounts as there is room for are listed; others are counted. */
static void test_many(void)
{
	for (unsigned int more = 0; more <= 2; more++) {
		struct pressure_reader r = {.root = -1};
		static char text[MOUNTS_MAX * 64];
		size_t len = 0;

		begin();
		for (unsigned int i = 0; i < MOUNTS_MAX + more; i++) {
			char path[16];

			snprintf(path, sizeof(path), "/m%u", i);
			put(path, i, 100);
			len += snprintf(text + len, sizeof(text) - len,
					"1 0 8:%u / %s rw - ext4 d rw\n", i, path);
		}
		list(&r, &nothing, text);
		is_u64(r.mounts, MOUNTS_MAX, "mounts that are listed");
		is_u64(r.over, more, "mounts that are left out");
		free(r.mount);
	}
}

/* Makes a model with watched processes from pid 100 on. */
static void watch(struct model *m, unsigned int processes)
{
	begin_model(m, NULL);
	for (unsigned int i = 0; i < processes; i++) {
		struct process_record p = process_record(100 + i, 1, 2 * SECOND);
		char path[64];

		model_take(m, &p.h);
		snprintf(path, sizeof(path), "/proc/%u/root/dev/shm", 100 + i);
		put(path, 10 + i, 100);
	}
}

/* Each container has a /dev/shm of its own, which only its processes see. */
static void test_targets(void)
{
	static const struct {
		unsigned int processes;
		bool targets;
		ino_t namespace;
		uint64_t want;
		const char *name;
	} rows[] = {
		{2, true, INITIAL_NS, 2, "watched processes"},
		{2, false, INITIAL_NS, 0, "all processes of the machine are watched"},
		{2, true, 1, 0, "a pid namespace, whose pids are not those of /proc"},
		{8, true, INITIAL_NS, 8, "as many as are asked"},
		{9, true, INITIAL_NS, 8, "one more"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pressure_reader r = {.root = -1, .targets = rows[i].targets};
		bool right = true;
		struct model m;

		begin();
		namespace = rows[i].namespace;
		watch(&m, rows[i].processes);
		list(&r, &m, "");
		is_u64(r.mounts, rows[i].want, rows[i].name);
		for (size_t k = 0; k < r.mounts; k++) {
			char want[64];

			snprintf(want, sizeof(want), "/proc/%u/root/dev/shm", r.mount[k].pid);
			right &= !strcmp(r.mount[k].path, want) && r.mount[k].in_memory &&
				 r.mount[k].device == mountinfo_device(8, r.mount[k].pid - 90);
		}
		ok(right, "each by its path, its process and its device");
		model_free(&m);
		free(r.mount);
	}
}

/* A process that has ended, or has no /dev/shm, has none to measure. */
static void test_ended_targets(void)
{
	struct pressure_reader r = {.root = -1, .targets = true};
	struct process_record end = process_record(101, 1, 3 * SECOND);
	struct model m;

	begin();
	watch(&m, 3);
	end.g.flags = PROC_FINAL;
	model_take(&m, &end.h);
	strcpy(place[2].path, "/elsewhere");
	list(&r, &m, "");
	is_u64(r.mounts, 1, "one of three processes");
	is_u64(r.mount[0].pid, 100, "the one that lives and has a /dev/shm");
	model_free(&m);
	free(r.mount);
}

static void test_values(void)
{
	struct mount_record u = {};

	begin();
	put("/a", 1, 100);
	put("/none", 1, 0);
	put("/fails", 1, 100);
	place[2].fails = true;
	ok(pressure_measure_mount("/a", &u), "a file system");
	is_u64(u.magic, 0x1234, "its type");
	is_u64(u.size_bytes, 100 * KIB, "its size");
	is_u64(u.used_bytes, 50 * KIB, "used: not free for anyone");
	is_u64(u.free_bytes, 25 * KIB, "free: for all users");
	is_u64(u.inodes, 50, "its inodes");
	is_u64(u.inodes_free, 20, "its free inodes");
	ok(!pressure_measure_mount("/none", &u), "one without a size");
	ok(!pressure_measure_mount("/fails", &u), "one that gives an error");
}

static void scan(struct pressure_reader *r, int want, uint64_t n, const char *name)
{
	mounts = 0;
	is_u64(pressure_scan_mounts(r, &nothing, &sink), (uint64_t)(int64_t)want, name);
	is_u64(mounts, n, "records");
}

static void test_scan(void)
{
	struct listed_mount list[] = {{.path = "/gone", .device = 7},
				      {.path = "/a", .device = 8, .pid = 9},
				      {.path = "/shm", .device = 10, .in_memory = true}};
	struct pressure_reader r = {.root = -1, .mount = list, .mounts = 3, .scores = true};

	begin();
	put("/a", 1, 100);
	put("/shm", 2, 200);
	scan(&r, 0, 2, "two of three can be measured");
	is_str(mounted[0].path, "/a", "the first");
	ok(mounted[0].pid == 9 && mounted[0].device == 8 && !mounted[0].flags,
	   "its process and device");
	ok(mounted[0].h.kind == RECORD_MOUNT && mounted[0].h.len == sizeof(mounted[0]) &&
		   mounted[0].h.t_ns,
	   "a record with its time");
	is_u64(mounted[0].size_bytes, 100 * KIB, "its size");
	ok(mounted[1].flags == MOUNT_IN_MEMORY && mounted[1].device == 10, "the second");
	r.scores = false;
	scan(&r, 0, 1, "in the long run, those alone that may become news");
	is_str(mounted[0].path, "/shm", "a tmpfs that takes much memory");
	r.scores = true;
	answer = -EPIPE;
	scan(&r, -EPIPE, 1, "an error of the sink ends the scan");
}

/* Measures the file system of a file of process 300. Returns whether there is a record. */
static bool measure(struct names *n, uint64_t device)
{
	struct process_key process = {.pid = 300};

	mounts = 0;
	is_u64(mount_of_file(n, &process, device, &sink), 0, "a file of the process");
	return mounts == 1;
}

static void sees(unsigned int pid, unsigned int parent, const char *mountinfo)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%u/status", pid);
	fake_file(&root, path, "Name:\tx\nPPid:\t%u\n", parent);
	snprintf(path, sizeof(path), "proc/%u/stat", pid);
	fake_file(&root, path, "%u (x) S %u 1 1 0 -1 0\n", pid, parent);
	snprintf(path, sizeof(path), "proc/%u/mountinfo", pid);
	fake_file(&root, path, "%s", mountinfo);
}

static void test_own_mounts(void)
{
	struct names n = {};

	begin();
	put("/a b", 1, 100);
	put("/c", 2, 100);
	put("/net", 3, 100);
	put("/under", 5, 100);
	put("/again", 4, 100);
	fake_file(&root, "proc/self/mountinfo",
		  "1 0 8:1 / /a\\040b rw - ext4 d rw\n2 0 8:2 / /c rw - tmpfs d rw\n"
		  "3 0 8:3 / /net rw - nfs4 s:/ rw\n4 0 8:4 / /under rw - ext4 d rw\n"
		  "5 0 8:4 / /again rw - ext4 d rw\n");
	fake_file(&root, "c/large", "some text of the file");
	ok(measure(&n, mountinfo_device(8, 1)), "a mount whose path has a blank");
	is_str(mounted[0].path, "/a b", "its path");
	ok(!mounted[0].flags && !mounted[0].pid && !mounted[0].largest[0], "on a disk");
	is_u64(mounted[0].size_bytes, 100 * KIB, "its size");
	ok(measure(&n, mountinfo_device(8, 2)), "a tmpfs");
	is_u64(mounted[0].flags, MOUNT_IN_MEMORY, "in memory");
	is_str(mounted[0].largest, "large", "with its largest file");
	ok(!measure(&n, mountinfo_device(8, 3)), "a network file system is not measured");
	ok(measure(&n, mountinfo_device(8, 4)), "a device of which one mount is hidden");
	is_str(mounted[0].path, "/again", "the mount that is not");
	ok(!measure(&n, mountinfo_device(8, 6)), "a device that is not mounted");
	ok(!measure(&n, 0), "no device");
}

#define LINE "1 0 8:1 / /d rw - ext4 d rw\n"

/* A process that dies has left its mounts: those of its parents are asked. */
static void test_mounts_of_others(void)
{
	struct names n = {};
	char path[64];

	begin();
	fake_file(&root, "proc/self/mountinfo", "%s", "");
	for (unsigned int pid = 300; pid <= 310; pid++) {
		sees(pid, pid < 310 ? pid + 1 : 1, "");
		snprintf(path, sizeof(path), "/proc/%u/root/d", pid);
		put(path, 1, pid);
	}
	ok(!measure(&n, mountinfo_device(8, 1)), "nobody sees it");
	for (unsigned int pid = 300; pid <= 309; pid++) {
		sees(pid, pid + 1, LINE);
		ok(measure(&n, mountinfo_device(8, 1)), "%u generations above", pid - 300);
		is_u64(mounted[0].pid, pid, "the process that sees it");
		is_u64(mounted[0].size_bytes, pid * KIB, "measured where it sees it");
		n.foreign = true;
		ok(!measure(&n, mountinfo_device(8, 1)), "pids of another machine");
		n.foreign = false;
		sees(pid, pid + 1, "");
	}
	sees(310, 1, LINE);
	ok(!measure(&n, mountinfo_device(8, 1)), "not further than nine generations");
	sees(300, 301, LINE);
	sees(301, 302, LINE);
	ok(measure(&n, mountinfo_device(8, 1)), "a process and its parent");
	is_u64(mounted[0].pid, 301, "the parent first: the process may be dying");
	sees(302, 0, LINE);
	sees(300, 0, "");
	ok(!measure(&n, mountinfo_device(8, 1)), "no parent is known");
}

int main(void)
{
	root = fakeroot_make();
	played = true;
	test_lines();
	test_devices();
	test_many();
	test_targets();
	test_ended_targets();
	test_values();
	test_scan();
	test_own_mounts();
	test_mounts_of_others();
	played = false;
	fakeroot_free(&root);
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests one scan of memory pressure: the parts of a scan and their order, when cgroups and mounts
 * are listed again, the record of the machine, OOM scores, and which files are opened. The parts
 * that read cgroups and mounts are replaced by functions that note their call. Files of /proc are
 * those of the test.
 */
#include "fakeroot.h"
#include "fixture.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "collect/pressure/pressure_reader.h"
#include "open_files.h"
#include "tap.h"

#define INITIAL_NS 0xeffffffcU /* inode of the initial pid namespace */

static struct fakeroot root;
static bool played; /* paths lead to the files of the test */
static char calls[512], refused[64];
static unsigned int scores_read;
static ino_t namespace;
static uint64_t over[2]; /* cgroups and mounts that a listing leaves out */
static const char *fails;
static struct pressure_record host;
static struct score_record score[SCORES_MAX];
static size_t scores;

static void note(const char *name)
{
	snprintf(calls + strlen(calls), sizeof(calls) - strlen(calls), "%s%s", *calls ? " " : "",
		 name);
}

static int result(const char *name)
{
	note(name);
	return fails && !strcmp(fails, name) ? -EPIPE : 0;
}

void pressure_list_cgroups(struct pressure_reader *r, const struct model *m)
{
	note("list_cgroups");
	r->over += over[0];
}

void pressure_list_mounts(struct pressure_reader *r, const struct model *m)
{
	note("list_mounts");
	r->over += over[1];
}

int pressure_scan_cgroups(struct pressure_reader *r, const struct model *m, const struct sink *sink)
{
	return result("cgroups");
}

int pressure_scan_mounts(struct pressure_reader *r, const struct model *m, const struct sink *sink)
{
	return result("mounts");
}

static int open_at(int dir, const char *path, int flags)
{
	bool made = played && path[0] == '/' && strncmp(path, "/proc/self/fd/", 14) != 0;

	scores_read += strstr(path, "/oom_score") && !strstr(path, "_adj");
	if (refused[0] && !strcmp(path, refused)) {
		errno = EACCES;
		return -1;
	}
	return syscall(SYS_openat, made ? root.fd : dir,
		       !made	 ? path
		       : path[1] ? path + 1
				 : ".",
		       flags, 0600);
}

int open(const char *path, int flags, ...)
{
	return open_at(AT_FDCWD, path, flags);
}

int openat(int dir, const char *path, int flags, ...)
{
	return open_at(dir, path, flags);
}

int stat(const char *path, struct stat *st)
{
	*st = (struct stat){.st_ino = namespace};
	return 0;
}

static int take(void *ctx, const struct record *h)
{
	if (h->kind == RECORD_SHORTAGE) {
		host = *(const struct pressure_record *)h;
		return result("host");
	}
	score[scores++] = *(const struct score_record *)h;
	return result("score");
}

static const struct sink sink = {.take = take};
static const struct model empty;

/* Returns a file in memory that contains a text; -1: no text. */
static int file_of(const char *text)
{
	int fd = text ? memfd_create("file", MFD_CLOEXEC) : -1;

	if (fd >= 0 && write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	return fd;
}

static struct pressure_reader begin(void)
{
	struct pressure_reader r = {.root = -1};

	for (int i = 0; i < NR_PRESSURE_FILES; i++)
		r.fd[i] = -1;
	calls[0] = refused[0] = 0;
	scores = scores_read = 0;
	fails = NULL;
	over[0] = over[1] = 0;
	namespace = INITIAL_NS;
	return r;
}

/* Cgroups and mounts are listed before the first two scans, and then before each 16th one. */
static void test_listings(void)
{
	struct pressure_reader r = begin();

	for (unsigned int i = 0; i < 50; i++) {
		bool lists = i < 2 || i == 16 || i == 32 || i == 48;

		calls[0] = 0;
		over[0] = i == 16 ? 3 : 1;
		over[1] = i == 16 ? 4 : 0;
		is_u64(pressure_scan(&r, &empty, &sink), 0, "a scan");
		is_str(calls,
		       lists ? "list_cgroups list_mounts host cgroups mounts"
			     : "host cgroups mounts",
		       "its parts");
		is_u64(r.looks, i + 1, "scans are counted");
		is_u64(r.over, i < 16 || i >= 32 ? 1 : 7, "what the last listing left out");
		is_u64(r.left_out, i < 16 ? 1 : 7, "the most that a listing left out");
		is_u64(host.n[HOST_LEFT_OUT], r.left_out, "in the record");
	}
}

static void test_only_cgroups(void)
{
	struct pressure_reader r = begin();

	over[0] = 5;
	for (unsigned int i = 0; i < 33; i++) {
		bool lists = i < 2 || i == 16 || i == 32;

		calls[0] = 0;
		is_u64(pressure_scan_only_cgroups(&r, &empty, &sink), 0, "a scan of cgroups");
		is_str(calls, lists ? "list_cgroups cgroups" : "cgroups", "its parts");
		is_u64(r.over, 5, "what the last listing left out");
		is_u64(r.left_out, 0, "is not recorded");
	}
	fails = "cgroups";
	is_u64(-pressure_scan_only_cgroups(&r, &empty, &sink), EPIPE, "an error");
}

/* An error ends a scan. */
static void test_errors(void)
{
	static const char *const parts[][2] = {
		{"host", "host"},
		{"cgroups", "host cgroups"},
		{"mounts", "host cgroups mounts"},
		{"score", "host cgroups mounts score"},
	};
	struct process_record p = process_record(300, 1, SECOND),
			      q = process_record(301, 1, SECOND);
	struct model m;

	begin_model(&m, NULL);
	model_take(&m, &p.h);
	model_take(&m, &q.h);
	fake_file(&root, "proc/300/oom_score", "7\n");
	fake_file(&root, "proc/301/oom_score", "8\n");
	played = true;
	for (size_t i = 0; i < 4; i++) {
		struct pressure_reader r = begin();

		r.looks = 2;
		r.scores = true;
		fails = parts[i][0];
		is_u64(-pressure_scan(&r, &m, &sink), EPIPE, parts[i][0]);
		is_str(calls, parts[i][1], "the parts before it");
	}
	played = false;
	model_free(&m);
}

/* Scores are read only if they are wanted, for processes that the model has, and for own pids. */
static void test_whether_scores(void)
{
	struct process_record p = process_record(300, 1, SECOND);
	struct model m;

	begin_model(&m, NULL);
	model_take(&m, &p.h);
	fake_file(&root, "proc/300/oom_score", "7\n");
	played = true;
	for (int i = 0; i < 8; i++) {
		struct pressure_reader r = begin();

		r.looks = 2;
		r.scores = i & 1;
		namespace = i & 2 ? INITIAL_NS : INITIAL_NS + 1;
		is_u64(pressure_scan(&r, i & 4 ? &m : &empty, &sink), 0, "a scan");
		is_str(calls, i == 7 ? "host cgroups mounts score" : "host cgroups mounts",
		       "its parts");
	}
	played = false;
	model_free(&m);
}

/* Scores of processes, the highest first. Processes without memory or with score 0 have none. */
static void test_scores(void)
{
	static const struct {
		uint32_t pid, flags;
		const char *score, *adj; /* NULL: no such file */
	} rows[] = {
		{300, 0, "7", "-17"},
		{301, 0, "900", "1000"},
		{302, 0, "0", "0"},
		{303, 0, "-1", "0"},
		{304, 0, NULL, "5"},
		{305, 0, "8", NULL},
		{306, 0, "7", "3"},
		{307, PROC_NO_MM, "1000", "0"},
		{308, PROC_FINAL, "999", "0"},
		{309, 0, "1", "x"},
		{310, 0, "", "0"},
	};
	static const struct {
		uint32_t pid, score;
		int adj;
	} want[] = {{301, 900, 1000}, {305, 8, 0}, {0, 7, 0}, {0, 7, 0}, {309, 1, 0}};
	struct pressure_reader r = begin();
	struct model m;
	char path[64];

	begin_model(&m, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct process_record p = process_record(rows[i].pid, 1, SECOND);

		p.g.flags = rows[i].flags;
		model_take(&m, &p.h);
		snprintf(path, sizeof(path), "proc/%u/oom_score", rows[i].pid);
		fake_remove(&root, path);
		if (rows[i].score)
			fake_file(&root, path, "%s\n", rows[i].score);
		snprintf(path, sizeof(path), "proc/%u/oom_score_adj", rows[i].pid);
		if (rows[i].adj)
			fake_file(&root, path, "%s\n", rows[i].adj);
	}
	r.scores = played = true;
	is_u64(pressure_scan(&r, &m, &sink), 0, "a scan");
	is_u64(scores, 5, "processes with a score");
	for (uint32_t i = 0; i < 5; i++) {
		ok((!want[i].pid || score[i].subject.pid == want[i].pid) &&
			   score[i].score == want[i].score && score[i].nth == i &&
			   score[i].subject.start_ns == 1,
		   "process %u has the score %u", score[i].subject.pid, score[i].score);
		if (want[i].pid)
			ok(score[i].adj == want[i].adj, "its adjustment is %d", score[i].adj);
		else
			ok(score[i].adj == (score[i].subject.pid == 300 ? -17 : 3),
			   "its adjustment is %d", score[i].adj);
		ok(score[i].h.kind == RECORD_SCORE && score[i].h.len == sizeof(score[i]) &&
			   score[i].h.t_ns,
		   "a whole record");
	}
	played = false;
	model_free(&m);
}

/* The scores of at most 4096 processes are read. */
static void test_many_scores(void)
{
	for (uint32_t n = 4095; n <= 4097; n++) {
		struct pressure_reader r = begin();
		struct model m;

		begin_model(&m, NULL);
		for (uint32_t i = 0; i < n; i++) {
			struct process_record p = process_record(100000 + i, 1, SECOND);

			model_take(&m, &p.h);
		}
		r.scores = played = true;
		pressure_scan(&r, &m, &sink);
		played = false;
		is_u64(scores_read, n < 4096 ? n : 4096, "scores that were read");
		is_u64(scores, 0, "no process has one");
		model_free(&m);
	}
}

/* Each value of the record of the machine. */
static void test_host(void)
{
	struct pressure_reader r = begin();

	r.looks = 2;
	r.left_out = 9;
	r.fd[PRESSURE_MEMINFO] =
		file_of("MemTotal:  1000 kB\nBuffers:  1 kB\nCached:  2 kB\nSwapCached:  99 kB\n"
			"AnonPages:  3 kB\nShmem:  4 kB\nShmemHugePages: 99 kB\nSUnreclaim:  5 kB\n"
			"PageTables:  6 kB\nUnevictable:  7 kB\nZswap:  8 kB\nZswapped:  9 kB\n"
			"HardwareCorrupted:  10 kB\npswpin:  99 kB\n");
	r.fd[PRESSURE_VMSTAT] = file_of(
		"pswpin 11\npswpout 12\nzswpin 13\nzswpout 14\npgmajfault 15\n"
		"workingset_refault_anon 16\nworkingset_refault_file 17\nallocstall_dma 1\n"
		"allocstall_normal 10\nallocstall_movable 100\nallocstall 99\n"
		"pgscan_direct 18\npgscan_direct_throttle 99\ncompact_stall 19\n"
		"compact_fail 20\nthp_fault_alloc 21\nthp_fault_fallback 22\n"
		"thp_fault_fallback_charge 99\nnuma_hint_faults 23\n"
		"numa_hint_faults_local 24\nnuma_pages_migrated 25\noom_kill 26\nCached 99\n");
	r.fd[PRESSURE_RATIO] = file_of("50\n");
	r.fd[PRESSURE_KBYTES] = file_of("51\n");
	r.fd[PRESSURE_SWAPPINESS] = file_of("0\n");
	r.fd[PRESSURE_PSI] = file_of("some avg10=1.50 avg60=0.25 avg300=0.10 total=900\n"
				     "full avg10=0.50 avg60=0.00 avg300=99.99 total=800\n");
	is_u64(pressure_scan(&r, &empty, &sink), 0, "a scan");
	for (uint64_t i = 0; i < NR_HOST_FIGURES; i++) {
		uint64_t want = i <= HOST_CORRUPTED ? (i + 1) * 1024 : i + 1;

		if (i == HOST_DIRECT_STALLS)
			want = 111;
		else if (i > HOST_DIRECT_STALLS && i <= HOST_OOM_KILLS)
			want = i;
		else if (i == HOST_OVERCOMMIT_RATIO || i == HOST_OVERCOMMIT_KBYTES)
			want = 50 + i - HOST_OVERCOMMIT_RATIO;
		else if (i == HOST_SWAPPINESS)
			want = 0;
		else if (i == HOST_LEFT_OUT)
			want = 9;
		ok(host.n[i] == want, "value %" PRIu64 " is %" PRIu64 ", want %" PRIu64, i,
		   (uint64_t)host.n[i], want);
	}
	ok(host.some.known && host.some.total_us == 900 && host.some.avg10 == 150 &&
		   host.some.avg60 == 25 && host.some.avg300 == 10,
	   "pressure of some");
	ok(host.full.known && host.full.total_us == 800 && host.full.avg10 == 50 &&
		   !host.full.avg60 && host.full.avg300 == 9999,
	   "pressure of all");
	ok(host.h.kind == RECORD_SHORTAGE && host.h.len == sizeof(host) && host.h.t_ns,
	   "a whole record");
	pressure_close(&r);

	r = begin();
	r.left_out = 2;
	pressure_scan(&r, &empty, &sink);
	for (int i = 0; i < NR_HOST_FIGURES; i++)
		is_u64(host.n[i], i == HOST_LEFT_OUT ? 2 : FIGURE_UNKNOWN,
		       "a value without its file");
	ok(!host.some.known && !host.full.known, "no pressure");
}

static const char *const files[] = {
	"/proc/pressure/memory",
	"/proc/meminfo",
	"/proc/vmstat",
	"/proc/sys/vm/overcommit_ratio",
	"/proc/sys/vm/overcommit_kbytes",
	"/proc/sys/vm/swappiness",
};

/* The files of the machine, each of which may be missing. */
static void test_files(void)
{
	size_t before = open_fds();
	char text[64];

	for (size_t i = 0; i < 6; i++)
		fake_file(&root, files[i] + 1, "file %zu", i);
	for (size_t missing = 0; missing <= 6; missing++) {
		struct pressure_reader r = begin();

		if (missing < 6)
			strcpy(refused, files[missing]);
		memset(r.fd, 0x55, sizeof(r.fd));
		played = true;
		pressure_open(&r);
		played = false;
		for (size_t i = 0; i < 6; i++) {
			ssize_t n = r.fd[i] < 0 ? -1 : read(r.fd[i], text, sizeof(text) - 1);

			text[n > 0 ? n : 0] = 0;
			ok(i == missing ? r.fd[i] < 0 : n == 6 && text[5] == (char)('0' + i),
			   "file %zu is %s", i, i == missing ? "missing" : "open");
		}
		pressure_close(&r);
		is_u64(open_fds(), before, "all files are closed");
	}
}

/* The directory of the memory cgroups, by the list of mounts. */
static void test_hierarchy(void)
{
	static const struct {
		const char *mountinfo; /* NULL: the list cannot be read */
		bool opens;
		const char *name;
	} rows[] = {
		{"31 23 0:28 / /cgroup rw - cgroup2 cgroup2 rw\n", true, "version 2"},
		{"31 23 0:28 / /cgroup rw - cgroup cgroup rw,memory\n", true, "version 1"},
		{"31 23 0:28 / /cgroup rw - cgroup cgroup rw,pids\n", false, "another controller"},
		{"31 23 0:28 / /none rw - cgroup2 cgroup2 rw\n", false,
		 "a directory that is hidden"},
		{"", false, "no mounts"},
		{NULL, false, "no list of mounts"},
	};
	size_t before = open_fds();
	struct stat st, want;
	char dir[128];

	fake_path(&root, "cgroup/", dir, sizeof(dir));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pressure_reader r = begin();

		fake_remove(&root, "proc/self/mountinfo");
		if (rows[i].mountinfo)
			fake_file(&root, "proc/self/mountinfo", "%s", rows[i].mountinfo);
		r.root = 77;
		played = true;
		pressure_open(&r);
		played = false;
		ok((r.root >= 0) == rows[i].opens, "%s", rows[i].name);
		if (rows[i].opens)
			ok(!fstat(r.root, &st) && !fstatat(root.fd, "cgroup", &want, 0) &&
				   st.st_ino == want.st_ino,
			   "its directory");
		pressure_close(&r);
		is_u64(open_fds(), before, "all files are closed");
	}
}

int main(void)
{
	root = fakeroot_make();
	test_listings();
	test_only_cgroups();
	test_errors();
	test_whether_scores();
	test_scores();
	test_many_scores();
	test_host();
	test_files();
	test_hierarchy();
	fakeroot_free(&root);
	return tap_done();
}

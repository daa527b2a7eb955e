// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests values of memory pressure that are read from this machine and from cgroups v1 and v2. */
#define _GNU_SOURCE
#include "fakeroot.h"
#include "fixture.h"

#include <errno.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/pressure/mount_of_file.h"
#include "collect/pressure/pressure_reader.h"
#include "tap.h"
#include "waiting_child.h"

#define MB (1ULL << 20)

static struct pressure_record host;
static struct cgroup_record group[4];
static struct mount_record mounted[MOUNTS_MAX];
static struct score_record score[SCORES_MAX];
static size_t hosts, groups, mounts, scores;

static int take(void *ctx, const struct record *h)
{
	if (h->kind == RECORD_SHORTAGE) {
		memcpy(&host, h, sizeof(host));
		hosts++;
	} else if (h->kind == RECORD_LEVEL && groups < 4) {
		memcpy(&group[groups++], h, sizeof(group[0]));
	} else if (h->kind == RECORD_MOUNT && mounts < MOUNTS_MAX) {
		memcpy(&mounted[mounts++], h, sizeof(mounted[0]));
	} else if (h->kind == RECORD_SCORE && scores < SCORES_MAX) {
		memcpy(&score[scores++], h, sizeof(score[0]));
	}
	return *(int *)ctx;
}

static int look(struct pressure_reader *r, const struct model *m, int answer)
{
	struct sink sink = {.take = take, .ctx = &answer};

	hosts = groups = mounts = scores = 0;
	return pressure_scan(r, m, &sink);
}

/*
 * Returns the sum of the values that are called `name` in a file. With `prefix`, also adds the
 * values whose names begin with `name`.
 */
static uint64_t sum_of(const char *path, const char *name, bool prefix)
{
	FILE *f = fopen(path, "r");
	char line[512], key[256];
	unsigned long long n, sum = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%255[^: ]%*[: ]%llu", key, &n) == 2 &&
		    (prefix ? !strncmp(key, name, strlen(name)) : !strcmp(key, name)))
			sum += n;
	if (f)
		fclose(f);
	return sum;
}

static uint64_t of_meminfo(const char *name)
{
	return sum_of("/proc/meminfo", name, false) * 1024;
}

static uint64_t number_in(const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned long long n = 0;

	if (f && fscanf(f, "%llu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

/* Tests host counters. Each must lie between two values that the test reads before and after. */
static void test_host(void)
{
	static const struct {
		enum host_figure figure;
		const char *name;
		bool prefix;
	} rows[] = {{HOST_SWAP_IN, "pswpin", false},
		    {HOST_SWAP_OUT, "pswpout", false},
		    {HOST_MAJOR, "pgmajfault", false},
		    {HOST_DIRECT_STALLS, "allocstall_", true},
		    {HOST_OOM_KILLS, "oom_kill", false},
		    {HOST_COMPACT_STALLS, "compact_stall", false},
		    {HOST_THP_ALLOCATED, "thp_fault_alloc", false}};
	uint64_t before[8];
	struct pressure_reader r = {};
	struct model m = {};

	pressure_open(&r);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		before[i] = sum_of("/proc/vmstat", rows[i].name, rows[i].prefix);
	is_u64(look(&r, &m, 0), 0, "a look at this machine");
	is_u64(hosts, 1, "has one record of it");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t after = sum_of("/proc/vmstat", rows[i].name, rows[i].prefix),
			 got = host.n[rows[i].figure];

		ok(got == FIGURE_UNKNOWN ? !after : before[i] <= got && got <= after, "%s",
		   rows[i].name);
	}
	is_u64(host.n[HOST_SWAPPINESS], number_in("/proc/sys/vm/swappiness"), "swappiness");
	is_u64(host.n[HOST_OVERCOMMIT_RATIO], number_in("/proc/sys/vm/overcommit_ratio"),
	       "the ratio of overcommit");
	is_u64(host.n[HOST_OVERCOMMIT_KBYTES], number_in("/proc/sys/vm/overcommit_kbytes"),
	       "its bytes");
	ok(host.n[HOST_CORRUPTED] == FIGURE_UNKNOWN ||
		   host.n[HOST_CORRUPTED] == of_meminfo("HardwareCorrupted"),
	   "broken memory, where the kernel tells");
	ok(host.n[HOST_ANON] > MB && host.n[HOST_ANON] < of_meminfo("MemTotal"),
	   "anonymous memory is in bytes");
	ok(host.n[HOST_PAGE_TABLES] % 1024 == 0, "so are page tables");
	is_u64(host.n[HOST_LEFT_OUT], r.left_out, "places that found no room");
	is_u64(host.some.known, access("/proc/pressure/memory", R_OK) == 0, "pressure");
	ok(!host.some.known || host.some.total_us >= host.full.total_us,
	   "some is no less than all");
	is_u64(look(&r, &m, -EPIPE), (uint64_t)-EPIPE, "the sink's error ends a look");
	is_u64(hosts, 1, "at once");
	pressure_close(&r);
}

/* Tests that the values of each file system are those that statfs(2) returns. */
static void test_mounts(void)
{
	struct pressure_reader r = {.scores = true};
	struct model m = {};
	bool right = true, once = true;

	pressure_open(&r);
	look(&r, &m, 0);
	for (size_t i = 0; i < mounts; i++) {
		const struct mount_record *u = &mounted[i];
		struct statfs st;
		struct stat file;

		right &= !statfs(u->path, &st) && u->magic == (uint64_t)st.f_type &&
			 u->size_bytes == (uint64_t)st.f_blocks * st.f_bsize && u->size_bytes &&
			 u->free_bytes <= u->size_bytes && u->used_bytes <= u->size_bytes &&
			 u->used_bytes + u->free_bytes <= u->size_bytes &&
			 u->inodes == (uint64_t)st.f_files && u->inodes_free <= u->inodes &&
			 !u->pid;
		right &= (st.f_type == 0x01021994) == !!(u->flags & MOUNT_IN_MEMORY);
		right &= !stat(u->path, &file) &&
			 u->device == mountinfo_device(major(file.st_dev), minor(file.st_dev));
		for (size_t k = 0; k < i; k++)
			once &= mounted[k].device != u->device;
	}
	/* In a chroot, there may be no visible file system, so that 0 is right. */
	ok(right, "%zu file systems, as statfs says", mounts);
	ok(once, "each once");
	r.scores = false;
	look(&r, &m, 0);
	right = true;
	for (size_t i = 0; i < mounts; i++)
		right &= mounted[i].flags & MOUNT_IN_MEMORY
				 ? mounted[i].used_bytes > mounted[i].size_bytes / 100 * 5
				 : mounted[i].free_bytes < mounted[i].size_bytes / 100;
	ok(right, "in the long run those alone that may become news: %zu", mounts);
	pressure_close(&r);
}

static void test_kinds_of_file_systems(void)
{
	static const struct {
		const char *type;
		bool local, in_memory;
	} rows[] = {{"tmpfs", true, true}, {"ramfs", true, true}, {"ext4", true, false},
		    {"xfs", true, false},  {"nfs", false, false}, {"fuse.sshfs", false, false},
		    {"ext", false, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool in_memory = false;
		struct span type = {rows[i].type, strlen(rows[i].type)};

		ok(pressure_is_local(type, &in_memory) == rows[i].local &&
			   in_memory == rows[i].in_memory,
		   "%s", rows[i].type);
	}
}

/* ---- tests of cgroups, from made-up files ---- */

static struct pressure_reader reader_of(const struct fakeroot *root, bool v1)
{
	struct pressure_reader r = {.root = open(root->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				    .hierarchy = {.v1 = v1, .root = "/"}};

	for (int i = 0; i < NR_PRESSURE_FILES; i++)
		r.fd[i] = -1;
	return r;
}

static const struct cgroup_record *of_path(const char *path)
{
	static const struct cgroup_record none;

	for (size_t i = 0; i < groups; i++)
		if (!strcmp(group[i].path, path))
			return &group[i];
	ok(false, "no record of %s", path);
	return &none;
}

static void test_version_2(void)
{
	struct fakeroot root = fakeroot_make();
	struct pressure_reader r = reader_of(&root, false);
	const struct cgroup_record *c;
	struct model m = {};

	fake_file(&root, "a/memory.max", "%d\n", 1000);
	fake_file(&root, "a/memory.high", "max\n");
	fake_file(&root, "a/memory.current", "900\n");
	fake_file(&root, "a/memory.swap.current", "70\n");
	fake_file(&root, "a/memory.swap.max", "80\n");
	fake_file(&root, "a/memory.events", "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\n");
	fake_file(&root, "a/memory.stat",
		  "anon 11\nfile 12\nkernel_stack 1\npagetables 20\nshmem 13\n"
		  "slab_unreclaimable 300\nworkingset_refault_anon 14\n"
		  "workingset_refault_file 15\npgmajfault 16\n");
	fake_file(&root, "a/memory.pressure",
		  "some avg10=1.50 avg60=2.25 avg300=0.10 total=77\n"
		  "full avg10=0.50 avg60=0.25 avg300=0.00 total=33\n");
	fake_file(&root, "a/b/memory.max", "max\n");
	fake_file(&root, "a/b/memory.high", "500\n");
	fake_file(&root, "free/memory.max", "max\n");
	fake_file(&root, "free/memory.high", "max\n");
	look(&r, &m, 0);
	is_u64(groups, 2, "those of version 2 that have a limit");
	c = of_path("/a");
	is_u64(c->version, 2, "the version");
	is_u64(c->n[CGROUP_USED], 900, "in use");
	is_u64(c->n[CGROUP_LIMIT], 1000, "its limit");
	is_u64(c->n[CGROUP_HIGH], FIGURE_UNKNOWN, "no memory.high");
	is_u64(c->n[CGROUP_SWAP_USED], 70, "swapped");
	is_u64(c->n[CGROUP_SWAP_LIMIT], 80, "its limit of swap");
	is_u64(c->n[CGROUP_TIMES_HIGH], 2, "times over memory.high");
	is_u64(c->n[CGROUP_TIMES_MAX], 3, "times at its limit");
	is_u64(c->n[CGROUP_OOMS], 4, "times out of memory");
	is_u64(c->n[CGROUP_OOM_KILLS], 5, "kills");
	is_u64(c->n[CGROUP_ANON], 11, "anonymous");
	is_u64(c->n[CGROUP_FILE], 12, "of files");
	is_u64(c->n[CGROUP_SHMEM], 13, "shared");
	is_u64(c->n[CGROUP_KERNEL], 321, "of the kernel, three keys in one");
	is_u64(c->n[CGROUP_REFAULT_ANON], 14, "read again from swap");
	is_u64(c->n[CGROUP_REFAULT_FILE], 15, "read again from files");
	is_u64(c->n[CGROUP_MAJOR], 16, "major faults");
	is_u64(c->some.avg10, 150, "some, of ten seconds");
	is_u64(c->some.avg60, 225, "of a minute");
	is_u64(c->some.avg300, 10, "of five");
	is_u64(c->some.total_us, 77, "in all");
	is_u64(c->full.avg10, 50, "all at once");
	is_u64(c->full.total_us, 33, "in all");
	c = of_path("/a/b");
	is_u64(c->n[CGROUP_LIMIT], FIGURE_UNKNOWN, "one with memory.high alone");
	is_u64(c->n[CGROUP_HIGH], 500, "is told of too");
	is_u64(c->n[CGROUP_USED], FIGURE_UNKNOWN, "a file that is not there is not known");
	ok(!c->some.known, "nor is its pressure");
	fakeroot_free(&root);
	look(&r, &m, 0);
	is_u64(groups, 0, "those that were removed are not");
	pressure_close(&r);
}

static void test_version_1(void)
{
	struct fakeroot root = fakeroot_make();
	struct pressure_reader r = reader_of(&root, true);
	const struct cgroup_record *c;
	struct model m = {};

	fake_file(&root, "a/memory.limit_in_bytes", "1000\n");
	fake_file(&root, "a/memory.memsw.limit_in_bytes", "1500\n");
	fake_file(&root, "a/memory.usage_in_bytes", "999\n");
	fake_file(&root, "a/memory.failcnt", "7\n");
	fake_file(&root, "a/memory.stat",
		  "rss 1\ntotal_rss 21\ntotal_cache 22\ntotal_shmem 23\ntotal_swap 24\n"
		  "total_workingset_refault_anon 25\ntotal_workingset_refault_file 26\n"
		  "total_pgmajfault 27\n");
	fake_file(&root, "a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 8\n");
	fake_file(&root, "b/memory.limit_in_bytes", "9223372036854771712\n");
	fake_file(&root, "c/memory.limit_in_bytes", "%llu\n", (1ULL << 60) - 1);
	fake_file(&root, "c/memory.memsw.limit_in_bytes", "100\n");
	look(&r, &m, 0);
	is_u64(groups, 2, "those of version 1 that have a limit");
	c = of_path("/a");
	is_u64(c->version, 1, "the version");
	is_u64(c->n[CGROUP_USED], 999, "in use");
	is_u64(c->n[CGROUP_LIMIT], 1000, "its limit");
	is_u64(c->n[CGROUP_SWAP_LIMIT], 500, "what it may have beside memory");
	is_u64(c->n[CGROUP_TIMES_MAX], 7, "times at its limit");
	is_u64(c->n[CGROUP_ANON], 21, "anonymous, of all below");
	is_u64(c->n[CGROUP_FILE], 22, "of files");
	is_u64(c->n[CGROUP_SHMEM], 23, "shared");
	is_u64(c->n[CGROUP_SWAP_USED], 24, "swapped");
	is_u64(c->n[CGROUP_REFAULT_ANON], 25, "read again from swap");
	is_u64(c->n[CGROUP_REFAULT_FILE], 26, "read again from files");
	is_u64(c->n[CGROUP_MAJOR], 27, "major faults");
	is_u64(c->n[CGROUP_OOM_KILLS], 8, "kills");
	c = of_path("/c");
	is_u64(c->n[CGROUP_LIMIT], (1ULL << 60) - 1, "the largest limit");
	is_u64(c->n[CGROUP_SWAP_LIMIT], 0, "one of both that is lower leaves no swap");
	pressure_close(&r);
	fakeroot_free(&root);
}

/* ---- tests of processes ---- */

static bool set_score(long adj)
{
	FILE *f = fopen("/proc/self/oom_score_adj", "w");

	return f && fprintf(f, "%ld", adj) > 0 && !fclose(f);
}

static void test_scores(void)
{
	pid_t low = waiting_child(set_score, 300), high = waiting_child(set_score, 900),
	      middle = waiting_child(set_score, 600);
	const pid_t order[] = {high, middle, low};
	struct pressure_reader r = {.scores = true, .root = -1};
	struct model m;
	char path[64];

	begin_model(&m, NULL);
	for (int i = 0; i < 3; i++) {
		struct process_record p =
			process_record((pid_t[]){low, high, middle}[i], 1, 2 * SECOND);

		model_take(&m, &p.h);
	}
	for (int i = 0; i < NR_PRESSURE_FILES; i++)
		r.fd[i] = -1;
	look(&r, &m, 0);
	is_u64(scores, 3, "each process has a score");
	for (uint32_t i = 0; i < scores; i++) {
		snprintf(path, sizeof(path), "/proc/%d/oom_score", order[i]);
		is_u64(score[i].subject.pid, order[i], "the highest first");
		is_u64(score[i].score, number_in(path), "as the kernel has it");
		is_u64(score[i].adj, 900 - 300 * i, "with what was set");
		is_u64(score[i].nth, i, "in their order");
	}
	is_u64(host.n[HOST_SWAPPINESS], FIGURE_UNKNOWN, "files that are not there are not known");
	kill(high, SIGKILL);
	waitpid(high, NULL, 0);
	look(&r, &m, 0);
	is_u64(scores, 2, "one that is gone has none");
	r.scores = false;
	look(&r, &m, 0);
	is_u64(scores, 0, "and none has where nobody asks");
	pressure_close(&r);
	model_free(&m);
}

/* Tests one file system of the list. In a chroot, the list may be empty. */
static void test_mount_of_file(void)
{
	struct process_key process = {};
	uint64_t device;
	struct pressure_reader reader = {.scores = true};
	struct model m = {};
	struct names n = {};
	struct stat st, there;
	int answer = 0;
	struct sink sink = {.take = take, .ctx = &answer};

	pressure_open(&reader);
	look(&reader, &m, 0);
	pressure_close(&reader);
	if (!mounts || stat(mounted[0].path, &st))
		return;
	process.pid = getpid();
	device = mountinfo_device(major(st.st_dev), minor(st.st_dev));
	mounts = 0;
	is_u64(mount_of_file(&n, &process, device, &sink), 0, "a file");
	is_u64(mounts, 1, "has its file system measured");
	ok(!stat(mounted[0].path, &there) && there.st_dev == st.st_dev, "the one that it is on");
	ok(mounted[0].size_bytes > 0, "which has a size");
	mounts = 0;
	answer = -ENOSPC;
	is_u64(mount_of_file(&n, &process, device, &sink), (uint64_t)-ENOSPC,
	       "the sink's error is given back");
	mounts = answer = 0;
	mount_of_file(&n, &process, 0, &sink);
	is_u64(mounts, 0, "no file has none");
}

struct family {
	dev_t device;
	pid_t zombie;
};

/* Mounts a tmpfs that only this process sees. A child of the process becomes a zombie. */
static void live_apart(int to)
{
	struct family f = {};
	struct stat st;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, "size=64k") || stat("/tmp", &st))
		_exit(1);
	f.device = st.st_dev;
	f.zombie = fork();
	if (!f.zombie)
		_exit(0);
	if (f.zombie < 0 || waitid(P_PID, f.zombie, &(siginfo_t){}, WEXITED | WNOWAIT) ||
	    write(to, &f, sizeof(f)) != sizeof(f))
		_exit(1);
	pause();
}

/*
 * A zombie has no mount namespace any more, so that of its parent is used. /proc shows who the
 * parent is.
 */
static void test_mount_of_a_dead_process(void)
{
	struct process_key process = {};
	struct names n = {};
	struct sink sink = {.take = take, .ctx = &(int){0}};
	struct family f = {};
	int ends[2];
	pid_t parent;

	if (pipe(ends))
		return;
	parent = fork();
	if (!parent) {
		close(ends[0]);
		live_apart(ends[1]);
	}
	close(ends[1]);
	if (read(ends[0], &f, sizeof(f)) != sizeof(f)) {
		ok(true, "# SKIP mounting needs root");
	} else {
		process.pid = f.zombie;
		mounts = 0;
		mount_of_file(&n, &process,
			      mountinfo_device(major(f.device), minor(f.device)), &sink);
		is_u64(mounts, 1, "the file system of a dead process is found through its parent");
		is_u64(mounted[0].size_bytes, 64 << 10, "and measured");
	}
	close(ends[0]);
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
}

int main(void)
{
	test_host();
	test_mounts();
	test_kinds_of_file_systems();
	test_version_2();
	test_version_1();
	test_scores();
	test_mount_of_file();
	test_mount_of_a_dead_process();
	return tap_done();
}

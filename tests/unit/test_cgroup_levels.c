// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which records of cgroup limits are sent at a scan, on a machine that this test makes. */
#include "fakeroot.h"

#include <errno.h>

#include "collect/cgroup/cgroup_levels.h"
#include "fixture.h"
#include "tap.h"

#define V2_MOUNT "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
#define SENT_MAX 512

static struct fakeroot root;
static struct model m;
static struct cgroup_levels levels;

static struct {
	struct levels_record r[SENT_MAX];
	size_t n;
	size_t fail_at; /* number of the record with which the consumer fails; 0: none */
} sent;

static int take(void *ctx, const struct record *h)
{
	sent.r[sent.n++] = *(const struct levels_record *)h;
	return sent.n == sent.fail_at ? -EXDEV : model_take(&m, h);
}

static void add_process(uint32_t pid, const char *cgroup, uint32_t flags)
{
	struct process_record p = process_record(pid, 1, 2 * SECOND);
	char line[128];

	p.g.flags = flags;
	model_take(&m, &p.h);
	snprintf(line, sizeof(line), "0::%s\n", cgroup);
	fake_process(&root, pid, 1, "x", 0, line);
}

static void put(const char *dir, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "sys/fs/cgroup/%s/%s", dir, file);
	fake_file(&root, path, "%s\n", text);
}

static void begin(void)
{
	root = fakeroot_make();
	fake_file(&root, "proc/self/mountinfo", V2_MOUNT);
	fake_file(&root, "proc/self/cgroup", "0::/\n");
	begin_model(&m, NULL);
	memset(&levels, 0, sizeof(levels));
	levels.files.root = root.fd;
	levels.has_memory = cgroup_tree_open(&levels.files, "memory", &levels.memory);
	levels.has_pids = cgroup_tree_open(&levels.files, "pids", &levels.pids);
	levels.memory.firm = true;
	ok(levels.has_memory && levels.has_pids, "both controllers");
}

static void end(void)
{
	model_free(&m);
	fakeroot_free(&root);
}

static int scan(void)
{
	const struct sink sink = {.take = take};
	size_t fail_at = sent.fail_at;

	memset(&sent, 0, sizeof(sent));
	sent.fail_at = fail_at;
	return cgroup_levels_read(&levels, &m, 5 * SECOND, &sink);
}

static const struct levels_record *sent_of(uint32_t pid)
{
	for (size_t i = 0; i < sent.n; i++)
		if (sent.r[i].subject.pid == pid)
			return &sent.r[i];
	return NULL;
}

static void is_room(const struct level_room *got, uint64_t used, uint64_t limit, uint32_t up,
		    const char *what)
{
	ok(got->known && got->used == used && got->limit == limit && got->up == up,
	   "%s: %llu of %llu, %u up", what, (unsigned long long)got->used,
	   (unsigned long long)got->limit, got->up);
}

static void is_unlimited(const struct level_room *got, const char *what)
{
	ok(!got->known && got->limit == UINT64_MAX && !got->used && !got->up, "%s", what);
}

static void test_records(void)
{
	begin();
	put("a", "memory.max", "1000000");
	put("a", "memory.current", "600000");
	put("a", "memory.stat", "anon 1\ninactive_file 50000\nactive_file 40000\n"
				"slab_reclaimable 10000");
	put("a/b", "pids.max", "100");
	put("a/b", "pids.current", "40");
	add_process(10, "/a/b", 0);
	add_process(11, "/a", 0);
	add_process(12, "/c", 0);
	add_process(13, "/a/b", PROC_FINAL);
	is_u64(scan(), 0, "a scan");
	is_u64(sent.n, 2, "records of processes that have a limit");
	is_room(&sent_of(10)->memory, 500000, 1000000, 1, "memory that is not reclaimable");
	is_room(&sent_of(10)->pids, 40, 100, 0, "tasks");
	is_room(&sent_of(11)->memory, 500000, 1000000, 0, "memory of the process above");
	is_unlimited(&sent_of(11)->pids, "which has no limit of tasks");
	ok(sent.r[0].h.kind == RECORD_LEVELS && sent.r[0].h.t_ns == 5 * SECOND, "of this scan");
	ok(!scan() && !sent.n, "nothing has changed");
	put("a/b", "pids.current", "41");
	scan();
	ok(sent.n == 1 && sent.r[0].subject.pid == 10, "a change of tasks");
	is_room(&sent.r[0].pids, 41, 100, 0, "is sent");
	put("a", "memory.current", "700000");
	scan();
	is_u64(sent.n, 2, "a change of memory");
	put("a", "memory.max", "max");
	put("a/b", "pids.max", "max");
	scan();
	is_u64(sent.n, 2, "limits that are gone");
	is_unlimited(&sent_of(10)->memory, "no memory limit");
	is_unlimited(&sent_of(10)->pids, "no limit of tasks");
	scan();
	is_u64(sent.n, 0, "are told once");
	end();
}

/* Tests machines that have only one of the controllers. */
static void test_controllers(void)
{
	for (int which = 0; which < 2; which++) {
		begin();
		put("a", "memory.max", "1000");
		put("a", "memory.current", "600");
		put("a", "pids.max", "100");
		put("a", "pids.current", "40");
		add_process(10, "/a", 0);
		levels.has_memory = which == 0;
		levels.has_pids = which == 1;
		scan();
		is_u64(sent.n, 1, "a record");
		ok(sent.r[0].memory.known == (which == 0) && sent.r[0].pids.known == (which == 1),
		   "of what is there");
		end();
	}
}

/* Each cgroup is read only once in a scan, as long as there are few of them. */
static void test_many(void)
{
	char dir[32];

	begin();
	for (uint32_t i = 0; i < LEVELS_GROUPS + 2; i++) {
		snprintf(dir, sizeof(dir), "g%u", i);
		put(dir, "pids.max", "100");
		put(dir, "pids.current", "40");
		snprintf(dir, sizeof(dir), "/g%u", i);
		add_process(100 + 2 * i, dir, 0);
		add_process(101 + 2 * i, dir, 0);
	}
	is_u64(scan(), 0, "more cgroups than are kept");
	is_u64(sent.n, 2 * (LEVELS_GROUPS + 2), "each process has its record");
	for (size_t i = 0; i < sent.n; i++)
		if (!sent.r[i].pids.known || sent.r[i].pids.used != 40)
			ok(false, "record %zu", i);
	end();

	begin();
	put("all", "pids.max", "100");
	put("all", "pids.current", "40");
	for (uint32_t i = 0; i < LEVELS_PROCESSES + 3; i++)
		add_process(100 + i, "/all", i == 5 ? PROC_FINAL : 0);
	scan();
	is_u64(sent.n, LEVELS_PROCESSES, "as many processes as are read in a scan");
	end();

	begin();
	put("all", "pids.max", "100");
	put("all", "pids.current", "40");
	for (uint32_t i = 0; i < 3; i++)
		add_process(100 + i, "/all", 0);
	sent.fail_at = 2;
	ok(scan() == -EXDEV && sent.n == 2, "an error of the consumer ends the scan");
	sent.fail_at = 0;
	end();
}

static void test_open(void)
{
	struct cgroup_levels own;

	if (!cgroup_levels_open(&own)) {
		ok(!own.has_memory && !own.has_pids, "this machine shows no cgroups");
		return;
	}
	ok(own.has_memory || own.has_pids, "this machine has cgroups");
	ok(own.memory.firm, "memory counts only if it is not reclaimable");
	ok(fcntl(own.files.root, F_GETFD) == FD_CLOEXEC, "the root directory is open");
	cgroup_levels_close(&own);
	ok(fcntl(own.files.root, F_GETFD) == -1, "and closed");
}

int main(void)
{
	test_records();
	test_controllers();
	test_many();
	test_open();
	return tap_done();
}

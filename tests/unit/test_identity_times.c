// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests when the workload of a process is looked up again, and for how long results are kept: in
 * the caches of cgroups and processes, and while names of a pod are missing.
 */
#include "fakeroot.h"

#include <inttypes.h>

#include "collect/names/process_identity.h"
#include "tap.h"

#define SECOND 1000000000ULL
#define ID     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD    "11111111-2222-3333-4444-555555555555"
#define V2     "0::/user.slice/x\n"
#define V1     "4:memory:/\n1:name=systemd:/\n0::/\n"

static struct fakeroot root;
static struct identities *ids;

/* Begins on a machine with one version of cgroups, which /proc/self/cgroup shows. */
static void begin(const char *own)
{
	struct identity_options opt;
	char error[256] = "";

	root = fakeroot_make();
	opt = (struct identity_options){.root = root.fd};
	fake_file(&root, "proc/self/cgroup", "%s", own);
	fake_file(&root, "proc/self/mountinfo", "%s", "");
	if (identities_open(&opt, &ids, error, sizeof(error)))
		abort();
}

static void end(void)
{
	identities_close(ids);
	fakeroot_free(&root);
}

static struct process_record process(uint32_t pid, uint64_t cgroup_id, uint64_t t_ns)
{
	struct process_record r = {
		.h = {RECORD_PROCESS, sizeof(r), t_ns},
		.subject = {pid * 10ULL, pid, 0},
		.g = {.cgroup_id = cgroup_id, .ppid = 1, .comm = "prog"},
	};

	return r;
}

static const char *name_at(uint32_t pid, uint64_t cgroup_id, uint64_t t_ns)
{
	struct process_record r = process(pid, cgroup_id, t_ns);

	return identity_of(ids, &r)->name;
}

static const char *event_name(uint32_t pid, uint64_t birth, const char *comm)
{
	return identity_of_event(ids, &(struct process_key){.pid = pid, .start_ns = birth}, comm,
				 SECOND)
		->name;
}

static void put_cgroup(uint32_t pid, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%u/cgroup", pid);
	fake_file(&root, path, "%s", text);
}

static void tell_cgroup(uint64_t id, uint32_t pid, const char *path)
{
	struct cgroup_path_record r = {.h = {RECORD_CGROUP, sizeof(r), SECOND},
				       .id = id,
				       .pid = pid,
				       .hierarchy = pid ? 4 : 0};

	snprintf(r.path, sizeof(r.path), "%s", path);
	identities_take(ids, &r.h);
}

static uint64_t reads(void)
{
	return identities_counted(ids).reads;
}

/* New cgroups take the place of those that were not used for the longest time. */
static void test_used_cgroups_stay(void)
{
	char path[64];
	size_t wrong = 0;

	begin(V2);
	tell_cgroup(1, 0, "/system.slice/kept.service");
	for (uint64_t id = 2; id < 30000; id++) {
		snprintf(path, sizeof(path), "/system.slice/u%" PRIu64 ".service", id);
		tell_cgroup(id, 0, path);
		wrong += strcmp(name_at(9, 1, SECOND), "kept.service") != 0;
	}
	is_u64(wrong, 0, "a cgroup in use stays while others come");
	is_u64(identities_counted(ids).told, 29999, "each new cgroup is counted");
	is_u64(reads(), 0, "no file was read");
	ok(!strcmp(name_at(9, 29999, SECOND), "u29999.service"), "the last one is known");
	is_u64(identities_counted(ids).unresolved, 0, "no process was without a workload");
	is_str(name_at(9, 2, SECOND), "prog", "one that was not used is forgotten");
	is_u64(reads(), 1, "and is read again");
	is_u64(identities_counted(ids).unresolved, 1, "which counts if that fails");
	end();
}

/* A path that could not be read, or may be of another cgroup, is read again after 10 s. */
static void test_pause(void)
{
	begin(V2);
	is_str(name_at(9, 5, 20 * SECOND), "prog", "a process that is gone");
	is_u64(reads(), 1, "was looked for");
	put_cgroup(9, "0::/system.slice/a.service\n");
	is_str(name_at(9, 5, 30 * SECOND - 1), "prog", "not again within 10 s");
	is_u64(reads(), 1, "no file is read");
	is_str(name_at(9, 5, 30 * SECOND), "a.service", "but then");
	is_u64(reads(), 2, "one is");
	put_cgroup(9, "0::/system.slice/b.service\n");
	is_str(name_at(9, 5, 40 * SECOND - 1), "a.service", "the path is used");
	is_str(name_at(9, 5, 40 * SECOND), "b.service",
	       "it was not checked against the cgroup's id, so it is read again");
	tell_cgroup(5, 0, "/system.slice/c.service");
	is_str(name_at(9, 5, 80 * SECOND), "c.service", "what the kernel told");
	is_u64(reads(), 3, "needs no check");
	end();
}

/* With version 1, the path of a process is read again after each exec, and every 60 s. */
static void test_minute(void)
{
	struct process_record r = process(9, 1, SECOND);

	begin(V1);
	put_cgroup(9, "4:memory:/system.slice/a.service\n0::/\n");
	is_str(identity_of(ids, &r)->name, "a.service", "a process");
	put_cgroup(9, "4:memory:/system.slice/b.service\n0::/\n");
	r.h.t_ns = 61 * SECOND;
	is_str(identity_of(ids, &r)->name, "a.service", "for 60 s it is not read again");
	r.h.t_ns++;
	is_str(identity_of(ids, &r)->name, "b.service", "then it is");
	is_u64(reads(), 2, "once");
	put_cgroup(9, "4:memory:/system.slice/c.service\n0::/\n");
	r.g.execs++;
	is_str(identity_of(ids, &r)->name, "c.service", "and after an exec");
	is_str(identity_of(ids, &r)->name, "c.service", "it is known again");
	is_u64(reads(), 3, "once");
	r.g.execs++;
	r.g.flags = PROC_FINAL;
	is_str(identity_of(ids, &r)->name, "c.service", "a last record, after an exec");
	is_u64(reads(), 3, "does not read files of a process that is gone");
	r.g.flags = 0;
	identity_of(ids, &r);
	is_u64(reads(), 4, "the process was forgotten");
	end();
}

/* With version 1, a child without a path of its own has that of its parent. */
static void test_parents(void)
{
	struct process_record child = process(10, 1, SECOND);
	struct fork_record fork = {
		.h = {RECORD_FORK, sizeof(fork), SECOND}, .subject = {110, 11, 0}, .parent = 9};

	begin(V1);
	put_cgroup(9, "4:memory:/system.slice/a.service\n0::/\n");
	is_str(name_at(9, 1, SECOND), "a.service", "a parent");
	child.g.ppid = 8;
	is_str(identity_of(ids, &child)->name, "prog", "a child of another process");
	child.g.ppid = 9;
	is_str(identity_of(ids, &child)->name, "a.service", "its child, which cannot be read");
	identities_take(ids, &fork.h);
	is_str(event_name(11, 110, "x"), "a.service", "an event of a new child");
	is_str(event_name(11, 111, "x"), "x", "an event of another process with its pid");
	identities_gone(ids, &(struct process_key){.pid = 11, .start_ns = 111});
	is_str(event_name(11, 110, "x"), "a.service", "the end of that one does not concern it");
	identities_gone(ids, &fork.subject);
	is_str(event_name(11, 110, "x"), "x", "its own end does");
	tell_cgroup(7, 10, "/system.slice/b.service");
	is_str(identity_of(ids, &child)->name, "b.service", "it moved away from its parent");
	end();
}

/* An event of a process that no record has described yet. */
static void test_events(void)
{
	begin(V2);
	put_cgroup(9, "0::/system.slice/a.service\n");
	is_str(event_name(9, 90, "x"), "a.service", "its file in /proc is read");
	is_u64(reads(), 1, "once");
	is_str(event_name(9, 90, "x"), "a.service", "no entry is made, as it may have ended");
	is_u64(reads(), 2, "so it is read again");
	is_str(event_name(0, 90, "x"), "x", "an event without a process");
	is_u64(reads(), 2, "has no file");
	tell_cgroup(5, 0, "/system.slice/b.service");
	is_str(name_at(9, 5, SECOND), "b.service", "once it has a record with a cgroup");
	is_str(event_name(9, 90, "x"), "b.service", "its events have that one");
	is_u64(reads(), 2, "without a file");
	end();
	begin(V1);
	put_cgroup(9, "4:memory:/system.slice/a.service\n0::/\n");
	is_str(event_name(9, 90, "x"), "a.service", "so it is with version 1");
	end();
}

static void test_cgroup_paths(void)
{
	static const struct {
		const char *path, *want;
	} rows[] = {
		{"/system.slice/a.service", "a.service"},
		{"/", "prog"},
		{"", "prog"},
		{"/docker/" ID, "docker/0123456789ab"},
	};

	begin(V2);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_str(identity_of_cgroup(ids, rows[i].path, "prog", SECOND)->name, rows[i].want,
		       "the workload of a cgroup");
	end();
}

/* With both versions, the line of /proc/PID/cgroup that tells most is used. */
static void test_lines(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"3:cpu:/docker/" ID "\n4:memory:/system.slice/a.service\n0::/b.service\n",
		 "docker/0123456789ab"},
		{"4:memory:/system.slice/a.service\n0::/system.slice/b.service\n", "b.service"},
		{"0::/system.slice/b.service\n4:memory:/system.slice/a.service\n", "b.service"},
		{"3:cpu:/system.slice/c.service\n4:memory:/system.slice/a.service\n0::/\n",
		 "a.service"},
		{"4:memory:/system.slice/a.service\n3:cpu:/system.slice/c.service\n0::/\n",
		 "a.service"},
		{"3:cpu:/system.slice/c.service\n2:pids:/system.slice/d.service\n0::/\n",
		 "c.service"},
		{"no line\n4:memory\n0::/system.slice/b.service\n", "b.service"},
		{"4:memory:/\n0::/\n", "prog"},
	};

	begin(V1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_cgroup(100 + i, rows[i].text);
		is_str(name_at(100 + i, 1, SECOND), rows[i].want, rows[i].text);
	}
	end();
}

/*
 * While the names of a pod's container are missing, they are looked for after 1 s, and then less
 * and less often. Here only a guess is found, and each search finds another one.
 */
static void test_retries(void)
{
	static const uint64_t at[] = {2, 3, 5, 9, 17, 33, 65, 129, 257, 513, 813, 1113};
	char path[128], before[64], want[64] = "pod/" POD "/0123456789ab";

	begin(V2);
	put_cgroup(9, "0::/kubepods/burstable/pod" POD "/" ID "\n");
	is_str(name_at(9, 5, SECOND), want, "no names yet");
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		char dir[160];

		snprintf(path, sizeof(path), "var/log/pods/shop_web-%zu_" POD "/app/0.log", i);
		fake_file(&root, path, "%s", "");
		snprintf(before, sizeof(before), "%s", want);
		ok(!strcmp(name_at(9, 5, at[i] * SECOND - 1), before), "before %" PRIu64 " s",
		   at[i]);
		snprintf(want, sizeof(want), "shop/web-%zu/app", i);
		is_str(name_at(9, 5, at[i] * SECOND), want, "then it is looked for");
		fake_remove(&root, path);
		snprintf(dir, sizeof(dir), "%s/var/log/pods/shop_web-%zu_" POD "/app", root.path,
			 i);
		rmdir(dir);
		*strrchr(dir, '/') = 0;
		rmdir(dir);
	}
	end();
}

/* Only version 2 is in use if /proc/self/cgroup has the line of version 2 alone. */
static void test_versions(void)
{
	static const struct {
		const char *own, *want, *name;
	} rows[] = {
		{"0::/x\n", "prog", "version 2 alone"},
		{"0::/x\n4:memory:/\n", "a.service", "both versions, version 2 first"},
		{"4:memory:/\n0::/x\n", "a.service", "both versions"},
		{"4:memory:/\n", "a.service", "version 1 alone"},
		{"", "a.service", "no line"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(rows[i].own);
		put_cgroup(9, "4:memory:/system.slice/a.service\n0::/\n");
		is_str(name_at(9, 5, SECOND), rows[i].want, rows[i].name);
		end();
	}
}

int main(void)
{
	test_used_cgroups_stay();
	test_pause();
	test_minute();
	test_parents();
	test_events();
	test_cgroup_paths();
	test_lines();
	test_retries();
	test_versions();
	return tap_done();
}

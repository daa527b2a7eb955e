// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fakeroot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "collect/names/process_names.h"
#include "model/identity.h"
#include "render/render.h"
#include "tap.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1234.slice/"

static const struct {
	const char *name, *text, *want;
} cases[] = {
	{"v2", "0::/system.slice/ssh.service\n", "/system.slice/ssh.service"},
	{"v2 without a newline", "0::/user.slice/a.scope", "/user.slice/a.scope"},
	{"v2 root", "0::/\n", "/"},
	{"v1", "12:pids:/p\n5:cpu,cpuacct:/c\n4:memory:/jobs/7\n1:name=systemd:/s\n", "/jobs/7"},
	{"v1 without memory", "2:cpu:/only\n", "/only"},
	{"v1, all root", "4:memory:/\n1:name=systemd:/\n", "/"},
	{"hybrid, v2 at the root", "4:memory:/jobs/7\n1:name=systemd:/s\n0::/\n", "/jobs/7"},
	{"hybrid, v2 first", "0::/\n4:memory:/jobs/7\n", "/jobs/7"},
	{"hybrid, v2 set", "4:memory:/jobs/7\n0::/system.slice/x.service\n",
	 "/system.slice/x.service"},
	{"hybrid, v2 set, first", "0::/system.slice/x.service\n4:memory:/m\n",
	 "/system.slice/x.service"},
	{"hybrid, memory at the root", "4:memory:/\n2:cpu:/c\n0::/\n", "/c"},
	{"a line with one colon, before one that begins with a colon", "3:cpu\n:/x:/y\n", "/y"},
	{"a line with one colon at its end", "3:\n:/x\n", ""},
	{"a line with no colon", "3\n0::/x\n", "/x"},
	{"v1 without memory: the first", "3:cpu:/one\n2:cpuset:/two\n", "/one"},
	{"v1, memory twice: the first", "3:memory:/one\n2:memory,pids:/two\n", "/one"},
	{"v2 twice: the first", "0::/one\n0::/two\n", "/one"},
	{"docker, v1", "4:memory:/docker/" HEX "\n1:name=systemd:/docker/" HEX "\n",
	 "/docker/" HEX},
	{"docker, v2 with systemd", "0::/system.slice/docker-" HEX ".scope\n",
	 "/system.slice/docker-" HEX ".scope"},
	{"containerd in kubernetes", "0::" POD "cri-containerd-" HEX ".scope\n",
	 POD "cri-containerd-" HEX ".scope"},
	{"inside a cgroup namespace", "0::/../outer\n", "/../outer"},
	{"a colon in the path", "0::/a:b/c:d\n", "/a:b/c:d"},
	{"memory within other controllers", "3:cpu,memory,pids:/x\n2:cpuset:/y\n", "/x"},
	{"a removed cgroup", "0::/gone (deleted)\n", "/gone (deleted)"},
	{"nothing", "", ""},
	{"no colons", "hello\nworld\n", ""},
	{"one colon", "1:memory\n", ""},
	{"empty lines", "\n\n0::/x\n\n", "/x"},
	{"hostile bytes", "0::/\033[31m\xff\n", "/\033[31m\xff"},
	{"a colon at the end", "0:", ""},
	{"no path", "0::", ""},
};

static void test_sizes(void)
{
	char *text = malloc(9000), *exact = malloc(8);

	memset(text, 'a', 8999);
	memcpy(text, "0::/", 4);
	text[8999] = 0;
	memset(exact, 'Z', 8);
	cgroup_of(text, exact, 8);
	is_str(exact, "/aaaaaa", "a path longer than there is room for is cut");
	cgroup_of("0::/abcdef\n", exact, 8);
	is_str(exact, "/abcdef", "a path that just fits");
	cgroup_of("0::/x\n", exact, 1);
	is_str(exact, "", "room for nothing");
	free(text);
	free(exact);
}

static void is_workload(const char *cgroup, const char *comm, const char *want)
{
	char got[256];

	workload_name(&(struct workload_of_process){cgroup, comm, false}, got, sizeof(got));
	is_str(got, want, cgroup ? cgroup : "no cgroup");
}

/* All kernel threads are one workload, also where the line shows their comm already. */
static void test_kernel_threads(void)
{
	struct subject s = {.id = {1, 77, 0}, .cgroup = (char[]){"/"}};
	struct workload_of_process of;
	char got[256];

	strcpy(s.now.g.comm, "kworker/0:1");
	of = workload_of_subject(&s);
	workload_name(&of, got, sizeof(got));
	is_str(got, "kworker_0:1", "a process with the name of a kernel thread");
	s.now.g.ppid = KTHREADD_PID;
	of = workload_of_subject(&s);
	workload_name(&of, got, sizeof(got));
	is_str(got, "kthreadd", "a kernel thread");
	of.comm = "";
	workload_name(&of, got, sizeof(got));
	is_str(got, "kthreadd", "without its comm");
}

/* Tests a process that exits before /proc is read. A record contains its cgroup's name. */
static void test_made(void)
{
	struct cgroup_path_record made = {.id = 7, .path = "/system.slice/a.service"};
	struct process_record r = {.subject = {1, 4242, 0},
				   .g = {.cgroup_id = 7, .flags = PROC_FINAL}};
	struct names_record found = {};
	struct names n = {};

	ok(!names_find(&n, &r, &found), "nothing is known of it");
	made.hierarchy = 4;
	names_cgroup(&n, &made);
	ok(!names_find(&n, &r, &found), "ids of version 1 are others");
	made.hierarchy = 0;
	names_cgroup(&n, &made);
	ok(names_find(&n, &r, &found), "now it is");
	is_str(found.cgroup, "/system.slice/a.service", "by its cgroup");
	names_free(&n);
}

#define TICK_NS 10000000ULL /* nanoseconds per clock tick of /proc (CLK_TCK 100) */
#define HYBRID                                                                                     \
	"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"                               \
	"35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"                        \
	"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"

static void put_process(const struct fakeroot *root, uint32_t pid, uint64_t ticks,
			const char *cgroup)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%u/stat", pid);
	fake_file(root, path,
		  "%u (a b) S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 %" PRIu64 " 1 1\n", pid,
		  ticks);
	snprintf(path, sizeof(path), "proc/%u/cgroup", pid);
	fake_file(root, path, "%s", cgroup);
	snprintf(path, sizeof(path), "proc/%u/exe", pid);
	fake_link(root, path, "/bin/sleep");
}

static void is_in(struct names *n, uint32_t pid, uint64_t ticks, uint64_t id, const char *want,
		  const char *what)
{
	struct process_record r = {.subject = {ticks * TICK_NS, pid, 0}, .g.cgroup_id = id};
	struct names_record found = {};

	names_find(n, &r, &found);
	is_str(found.cgroup, want, what);
}

/*
 * Tests a process that moves to another cgroup after its record was sent. The name of the new
 * cgroup must not be stored for the id of the old one. If both cgroup versions are in use, most
 * processes have the same cgroup id. The wrong name would then be shown for all of them.
 */
static void test_moved_meanwhile(void)
{
	struct fakeroot root = fakeroot_make();
	struct names n = {.root = dup(root.fd)};
	struct stat st;
	char path[128];

	fake_file(&root, "proc/self/mountinfo", HYBRID);
	fake_file(&root, "sys/fs/cgroup/unified/docker/" HEX "/cgroup.procs", "%s", "");
	stat(fake_path(&root, "sys/fs/cgroup/unified/docker/" HEX, path, sizeof(path)), &st);
	put_process(&root, 9, 7, "4:memory:/docker/" HEX "\n0::/docker/" HEX "\n");
	put_process(&root, 10, 8, "4:memory:/jobs\n0::/\n");
	is_in(&n, 9, 7, 1, "/docker/" HEX, "where it is by now");
	is_in(&n, 10, 8, 1, "/jobs", "the others of its old cgroup are where they were");
	is_in(&n, 11, 9, 1, "", "and of who is gone nothing is known");
	is_in(&n, 9, 7, st.st_ino, "/docker/" HEX, "the record has the new id");
	is_in(&n, 11, 9, st.st_ino, "/docker/" HEX, "now the id tells, of who is gone too");
	names_free(&n);
	fakeroot_free(&root);
}

/* Tests pids that other processes may have reused, because records were lost. */
static void test_pid_reused(void)
{
	struct process_record r = {.subject = {7 * TICK_NS + 1, 9, 0}};
	struct fakeroot root = fakeroot_make();
	struct names n = {.root = dup(root.fd)};
	struct names_record found = {};

	fake_file(&root, "proc/self/mountinfo", HYBRID);
	put_process(&root, 9, 8, "4:memory:/jobs\n0::/\n");
	ok(!names_find(&n, &r, &found), "born at another time: it is another process");
	put_process(&root, 9, 7, "4:memory:/jobs\n0::/\n");
	ok(names_find(&n, &r, &found), "born within the same tick: it is the same");
	is_str(found.exe, "/bin/sleep", "its program");
	names_free(&n);
	fakeroot_free(&root);
}

int main(void)
{
	char got[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(got, 'Z', sizeof(got));
		cgroup_of(cases[i].text, got, sizeof(got));
		is_str(got, cases[i].want, cases[i].name);
	}
	test_sizes();
	test_made();
	test_kernel_threads();
	test_moved_meanwhile();
	test_pid_reused();
	is_workload(NULL, "sh", "sh");
	is_workload("/", "sh", "sh");
	is_workload("/system.slice/ssh.service", "sshd", "ssh.service");
	is_workload("/docker/" HEX, "sh", "docker/0123456789ab");
	is_workload("/a/", "sh", "sh");
	is_workload("", "sh", "sh");
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "collect/names.h"
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

	workload_name(cgroup, comm, got, sizeof(got));
	is_str(got, want, cgroup ? cgroup : "no cgroup");
}

/* A process that is gone before /proc can be read: its cgroup was told as it was made. */
static void test_made(void)
{
	struct fs_cgroup_record made = {.id = 7, .path = "/system.slice/a.service"};
	struct fs_process_record r = {.subject = {1, 4242, 0},
				      .g = {.cgroup_id = 7, .flags = FS_PROC_FINAL}};
	struct fs_names_record found = {};
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
	is_workload(NULL, "sh", "sh");
	is_workload("/", "sh", "sh");
	is_workload("/system.slice/ssh.service", "sshd", "ssh.service");
	is_workload("/docker/" HEX, "sh", "0123456789ab");
	is_workload("/a/", "sh", "sh");
	is_workload("", "sh", "sh");
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests readers of files when standard input is closed: a file that they open then has the
 * descriptor 0, which is as good as any other. Each reader closes it again.
 */
#include "fakeroot.h"

#include <errno.h>
#include <sys/socket.h>

#include "collect/cgroup/cgroup_find.h"
#include "collect/files/target_file.h"
#include "collect/names/container_pids.h"
#include "collect/names/pod_names.h"
#include "collect/names/process_names.h"
#include "collect/oom/kernel_log.h"
#include "collect/oom/oom_scene.h"
#include "collect/pressure/pressure_reader.h"
#include "collect/pressure/tmpfs_files.h"
#include "collect/symbols/exec_maps.h"
#include "collect/symbols/mapped_file.h"
#include "collect/symbols/perf_map.h"
#include "tap.h"

#define SECOND 1000000000ULL
#define ID     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct fakeroot root;

static bool is_free(void)
{
	return fcntl(STDIN_FILENO, F_GETFD) == -1 && errno == EBADF;
}

/* Moves a descriptor to a high number, so that 0 is the next one. */
static int moved(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 30);

	close(fd);
	return high;
}

/* Checks a result, and that the descriptor 0 was closed. */
static void works(bool good, const char *name)
{
	ok(good, "%s", name);
	if (!ok(is_free(), "the descriptor 0 is closed"))
		close(STDIN_FILENO);
}

static void test_rooted_files(void)
{
	struct files f = {.root = root.fd}, of = {};
	struct file_list l = {};
	uint64_t n = 0;

	fake_file(&root, "etc/a.conf", "7\n");
	errno = EPERM;
	works(file_exists(&f, "etc/a.conf"), "a file exists");
	errno = ENOSYS;
	works(file_exists(&f, "etc/a.conf"), "whatever the last error was");
	works(!file_number(&f, "etc/a.conf", &n) && n == 7, "a number");
	file_list_add_dir(&f, &l, "etc");
	works(l.n == 1 && !f.unread, "a directory");
	file_list_free(&l);
	ok(!file_root_of(&f, 1, &of) && of.root == 0 && of.foreign, "the root of a process");
	works(!close(of.root), "which the caller closes");
}

static void test_files_of_processes(void)
{
	int proc = moved(open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC)), fd;
	struct stat st = {}, own = {};
	struct process_key of = {.pid = getpid()};
	struct target_identity id;

	fd = target_open(&of);
	ok(fd == 0, "a process");
	works(!close(fd), "which the caller closes");
	works(!target_identity_read(proc, &id) && id.euid == geteuid(), "its identity");
	fd = target_root_open(proc);
	ok(fd == 0, "its root directory");
	works(!close(fd), "which the caller closes");
	fd = target_link_open(proc, "exe", &st);
	stat("/proc/self/exe", &own);
	ok(fd > 0 && st.st_ino == own.st_ino, "its program");
	works(!close(fd), "is opened again for reading");
	fake_file(&root, "etc/b", "b");
	fd = target_path_open(root.fd, "etc/b", &st);
	ok(fd > 0, "a file by its path");
	works(!close(fd), "is opened again for reading");
	close(proc);
}

static int first_map(void *ctx, const struct exec_map *m)
{
	*(struct exec_map *)ctx = *m;
	return 1;
}

static void test_mappings(void)
{
	int proc = moved(open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC)), fd, at_root;
	struct exec_map m = {};
	bool cut, unproven;

	works(exec_maps_each(proc, EXEC_MAPS_FILES, true, first_map, &m, &cut) == 1 && m.end,
	      "mappings of a process");
	at_root = moved(target_root_open(proc));
	fd = mapped_file_open(proc, at_root, &m, "/proc/none", &unproven);
	works(fd != 0 && (fd < 0 || !close(fd)), "the file of a mapping");
	close(at_root);
	close(proc);
}

static void test_cgroups(void)
{
	struct files f = {.root = root.fd};
	struct cgroup_near near;

	fake_file(&root, "proc/self/mountinfo",
		  "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	fake_file(&root, "sys/fs/cgroup/a/b/cgroup.procs", "%s", "");
	cgroup_find(&f, "/a/b", &near);
	works(near.exists, "a cgroup");
	cgroup_find(&f, "/a/x", &near);
	works(!near.exists && near.names == 1 && !strcmp(near.name[0], "b"), "those beside it");
}

static void test_names(void)
{
	struct names n = {.root = root.fd};
	struct process_record r = {.subject = {.pid = 9, .start_ns = SECOND}};
	struct names_record got = {};
	struct pod_names pod;
	uint32_t pid = 0;
	int proc;

	fake_process(&root, 9, 1, "web", 0, "0::/docker/" ID "\n");
	fake_file(&root, "proc/9/stat", "9 (web) S 1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %ld 0\n",
		  sysconf(_SC_CLK_TCK));
	fake_file(&root, "proc/9/cmdline", "web");
	fake_file(&root, "etc/passwd", "anna:x:0:\n");
	fake_link(&root, "proc/9/exe", "/usr/bin/web");
	n.commands = true;
	names_find(&n, &r, &got);
	works(!strcmp(got.exe, "/usr/bin/web") && !strcmp(got.cgroup, "/docker/" ID),
	      "program and cgroup of a process");
	ok(!strcmp(got.user, "anna") && !strcmp(got.command, "web"), "user and command line");
	works(names_read(getpid(), &got) && got.exe[0] == '/', "names of this process");
	proc = moved(openat(root.fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	works(container_pids_find(proc, ID, &pid, 1) == 1 && pid == 9, "a container's process");
	close(proc);
	fake_file(&root, "var/log/containers/web-0_shop_app-" ID ".log", "%s", "");
	pod_names_find(root.fd, "", ID, &pod);
	works(!strcmp(pod.pod, "web-0"), "the name of a pod");
	n.root = 0;
	names_free(&n);
}

static int count(void *ctx, const struct record *h)
{
	*(int *)ctx += h->kind == RECORD_LEVEL;
	return 0;
}

static void test_pressure(void)
{
	static const struct model m;
	struct pressure_reader r = {.root = root.fd, .hierarchy = {.root = "/"}};
	struct mount_record u = {.used_bytes = 1};
	char path[128];
	int seen = 0;

	for (int i = 0; i < NR_PRESSURE_FILES; i++)
		r.fd[i] = -1;
	fake_file(&root, "memory.max", "5\n");
	pressure_scan_only_cgroups(&r, &m, &(struct sink){.take = count, .ctx = &seen});
	works(seen == 1, "the cgroups of a scan");
	fake_file(&root, "files/a", "%s", "text");
	tmpfs_files_read(fake_path(&root, "files", path, sizeof(path)), &u);
	works(!strcmp(u.largest, "a"), "files of a file system");
	r.root = dup2(root.fd, STDIN_FILENO);
	pressure_close(&r);
	works(r.root == 0, "the directory of cgroups");
	r = (struct pressure_reader){.root = -1};
	for (int i = 0; i < NR_PRESSURE_FILES; i++)
		r.fd[i] = i ? -1 : dup2(root.fd, STDIN_FILENO);
	pressure_close(&r);
	works(r.fd[0] == 0, "a file of the machine");
}

static void test_out_of_memory(void)
{
	struct oom_scenes scenes = {.opened = true, .root = -1};
	struct kernel_log *log;
	struct oom_report report;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair))
		exit(1);
	pair[1] = moved(pair[1]);
	if (pair[0] != STDIN_FILENO)
		exit(1);
	log = kernel_log_of(pair[0]);
	ok(log && !kernel_log_find(log, 1, 4096, &report), "a log without a report");
	kernel_log_close(log);
	works(true, "the kernel log");
	close(pair[1]);
	scenes.root = dup2(root.fd, STDIN_FILENO);
	oom_scenes_close(&scenes);
	works(scenes.root == 0, "the root directory for names of victims");
}

static void test_perf_map(void)
{
	struct perf_map m = {.fd = -1};
	char name[32] = "", path[128];
	__u64 offset = 7;

	fake_file(&root, "map", "1000 10 f\n");
	m.fd = open(fake_path(&root, "map", path, sizeof(path)), O_RDONLY | O_CLOEXEC);
	is_u64(m.fd, 0, "the map has the descriptor 0");
	ok(perf_map_find(&m, 0x1001, name, sizeof(name), &offset) && offset == 1, "a function");
	is_str(name, "f", "its name");
	perf_map_close(&m);
	works(m.fd == -1, "the map is closed");
}

int main(void)
{
	root = fakeroot_make();
	root.fd = moved(root.fd);
	works(true, "standard input");
	test_rooted_files();
	test_files_of_processes();
	test_mappings();
	test_cgroups();
	test_names();
	test_pressure();
	test_out_of_memory();
	test_perf_map();
	fakeroot_free(&root);
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how files of another process are opened: which process it is, links, and types of files. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/io.h"
#include "collect/files/target_file.h"
#include "tap.h"
#include "waiting_child.h"

static char place[64];

static const char *below(const char *name, char ret[128])
{
	snprintf(ret, 128, "%s/%s", place, name);
	return ret;
}

static void put(const char *name)
{
	char path[128];
	int fd = open(below(name, path), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, name, strlen(name)) < 0)
		exit(1);
	close(fd);
}

static void put_link(const char *name, const char *target)
{
	char path[128];

	if (symlink(target, below(name, path)))
		exit(1);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static bool is_ready(long argument)
{
	return true;
}

/* Returns when a process was started, in nanoseconds, as the kernel rounds it to clock ticks. */
static uint64_t born(pid_t pid)
{
	char path[64], text[1024], *at;
	unsigned long long ticks = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	io_read(AT_FDCWD, path, text, sizeof(text));
	at = strrchr(text, ')');
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	if (at)
		ticks = strtoull(at, NULL, 10);
	return ticks * (1000000000ull / sysconf(_SC_CLK_TCK));
}

static void *leave_main(void *unused)
{
	pause();
	return NULL;
}

/* Leaves only a second thread of the process alive. */
static bool end_main(long ready)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, leave_main, NULL) || write(ready, "r", 1) != 1)
		return false;
	pthread_exit(NULL);
}

static bool waits_for_end(pid_t pid)
{
	char path[64], text[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (int i = 0; i < 1000000; i++)
		if (io_read(AT_FDCWD, path, text, sizeof(text)) > 0 && strstr(text, ") Z "))
			return true;
	return false;
}

static void test_processes(void)
{
	uint64_t tick_ns = 1000000000ull / sysconf(_SC_CLK_TCK);
	pid_t child = waiting_child(is_ready, 0);
	struct process_key of = {.pid = child, .start_ns = born(child)};
	struct target_identity id;
	int proc = target_open(&of);

	ok(proc >= 0, "a process");
	ok(target_born_at(proc, of.start_ns), "its time");
	ok(target_born_at(proc, of.start_ns + tick_ns - 1), "within the same tick");
	ok(!target_born_at(proc, of.start_ns + tick_ns), "not the next tick");
	ok(!target_born_at(proc, of.start_ns - 1), "nor the tick before");
	is_u64(target_identity_read(proc, &id), 0, "its identity");
	is_u64(id.euid, geteuid(), "its user");
	is_u64(id.pid, child, "its pid");
	close(proc);
	of.start_ns += tick_ns;
	ok(target_open(&of) == -ESRCH, "a process born later has another pid");
	of.start_ns = 0;
	proc = target_open(&of);
	ok(proc >= 0, "if the time is unknown, the pid is enough");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(!target_born_at(proc, of.start_ns), "a process that has ended");
	ok(target_identity_read(proc, &id) == -ESRCH, "has no identity");
	close(proc);
	ok(target_open(&of) == -ESRCH, "and cannot be opened");
}

static void test_threads(void)
{
	struct process_key of = {};
	struct target_identity id;
	int ready[2], proc, root;
	pid_t child;
	char c;

	if (pipe(ready) || (child = fork()) < 0)
		exit(1);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		end_main(ready[1]);
		_exit(1);
	}
	ok(read(ready[0], &c, 1) == 1 && waits_for_end(child), "the first thread has ended");
	of = (struct process_key){.pid = child, .start_ns = born(child)};
	proc = target_open(&of);
	ok(proc >= 0, "the process can be opened");
	root = target_root_open(proc);
	ok(root >= 0, "and has a root directory");
	is_u64(target_identity_read(proc, &id), 0, "and an identity");
	ok(id.pid != (uint32_t)child, "of another thread");
	close(root);
	close(proc);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

/* Opens a path in both ways, and compares the results with the expected ones: 0 is success. */
static void opens(int root, const char *path, int followed, int plain)
{
	struct stat st = {};
	int fd = target_path_open(root, path, &st);

	ok(followed ? fd == followed : fd >= 0 && S_ISREG(st.st_mode), "%s: %d", path, fd);
	if (fd >= 0)
		close(fd);
	st = (struct stat){};
	fd = target_plain_open(root, path, &st);
	ok(plain ? fd == plain : fd >= 0 && S_ISREG(st.st_mode), "%s, as it is: %d", path, fd);
	if (fd >= 0)
		close(fd);
}

static void test_files(void)
{
	struct process_key of = {.pid = getpid()};
	int root = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC), proc = target_open(&of), fd;
	struct stat st = {}, own;
	char path[128];

	put("file");
	mkdir(below("dir", path), 0755);
	put("dir/inner");
	mkfifo(below("fifo", path), 0600);
	put_link("link", "file");
	put_link("absolute", "/dir/inner");
	put_link("up", "../../../file");
	put_link("dangling", "none");
	put_link("dirs", "dir");
	opens(root, "file", 0, 0);
	opens(root, "/file", 0, 0);
	opens(root, "../file", 0, 0);
	opens(root, "dir/inner", 0, 0);
	opens(root, "link", 0, -EINVAL);
	opens(root, "absolute", 0, -EINVAL);
	opens(root, "up", 0, -EINVAL);
	opens(root, "dirs/inner", 0, 0);
	opens(root, "dangling", -ENOENT, -EINVAL);
	opens(root, "none", -ENOENT, -ENOENT);
	opens(root, "dir", -EINVAL, -EINVAL);
	opens(root, "fifo", -EINVAL, -EINVAL);
	opens(root, "file/below", -ENOTDIR, -ENOTDIR);
	close(root);

	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	opens(root, "/proc/self/exe", -ELOOP, -EINVAL);
	close(root);
	fd = target_link_open(proc, "exe", &st);
	ok(fd >= 0 && !stat("/proc/self/exe", &own) && st.st_ino == own.st_ino,
	   "the link to the program is followed");
	close(fd);
	ok(target_link_open(proc, "cwd", &st) == -EINVAL, "a link to a directory");
	ok(target_link_open(proc, "none", &st) == -ENOENT, "a missing one");
	close(proc);
}

int main(void)
{
	strcpy(place, "/tmp/test_target_file.XXXXXX");
	if (!mkdtemp(place))
		return 1;
	test_processes();
	test_threads();
	test_files();
	nftw(place, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return tap_done();
}

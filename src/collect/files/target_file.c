// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/files/target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alive.h"
#include "base/io.h"
#include "probe/proc_scan.h"

/* starttime is field 22 of proc_pid_stat(5); field 2, comm, may itself contain ')'. */
bool target_born_at(int proc, __u64 start_ns)
{
	unsigned long long ticks;
	char text[1024], *after;

	if (io_read(proc, "stat", text, sizeof(text)) <= 0)
		return false;
	after = strrchr(text, ')');
	if (!after || sscanf(after + 1,
			     " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			     "%*s %*s %llu",
			     &ticks) != 1)
		return false;
	return ticks * (1000000000ULL / sysconf(_SC_CLK_TCK)) == proc_scan_birth(start_ns);
}

static bool is_thread_of(int proc, __u32 pid)
{
	char text[4096];
	const char *line;

	if (io_read(proc, "status", text, sizeof(text)) <= 0)
		return false;
	line = strstr(text, "\nTgid:"); /* names in /proc/PID/status have no line breaks */
	return line && strtoul(line + 6, NULL, 10) == pid;
}

/* Returns `proc` if the main thread lives, else the open directory of another thread that lives. */
static int open_alive(int proc, __u32 pid)
{
	__u32 tid = alive_thread(pid);
	char path[32];
	int fd;

	if (tid == pid)
		return proc;
	close(proc);
	snprintf(path, sizeof(path), "/proc/%u", tid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && is_thread_of(fd, pid))
		return fd;
	if (fd >= 0)
		close(fd);
	return -ESRCH;
}

int target_open(const struct process_key *of)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u", of->pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	if (of->start_ns && !target_born_at(fd, of->start_ns)) {
		close(fd);
		return -ESRCH;
	}
	return open_alive(fd, of->pid);
}

int target_root_open(int proc)
{
	int fd = openat(proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/*
 * Opens the file of an O_PATH descriptor for reading, and closes that descriptor. The file's type
 * is checked first, because opening a device or a pipe may have an effect or block.
 */
static int reopen_regular(int path_fd, struct stat *ret)
{
	char path[40];
	struct stat st;
	int fd;

	if (fstat(path_fd, &st)) {
		fd = -errno;
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		fd = -EINVAL;
		goto out;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		fd = -errno;
	else
		*ret = st;
out:
	close(path_fd);
	return fd;
}

static int open_within(int root, const char *path, __u64 flags, struct stat *ret)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : reopen_regular(fd, ret);
}

int target_path_open(int root, const char *path, struct stat *ret)
{
	return open_within(root, path, 0, ret);
}

/* O_PATH opens a symbolic link itself, which is then refused: a link is no regular file. */
int target_plain_open(int root, const char *path, struct stat *ret)
{
	return open_within(root, path, O_NOFOLLOW, ret);
}

int target_link_open(int proc, const char *name, struct stat *ret)
{
	int fd = openat(proc, name, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : reopen_regular(fd, ret);
}

/*
 * Finds the last of up to skip + 1 numbers in a line "KEY: n n n". Returns false if there is no
 * number.
 */
static bool parse_last(const char *text, const char *key, int skip, __u32 *ret)
{
	const char *line = strstr(text, key);
	bool found = false;
	char *end;

	if (!line)
		return false;
	line += strlen(key);
	for (int i = 0; i <= skip; i++) {
		unsigned long n;

		while (*line == ' ' || *line == '\t')
			line++;
		n = strtoul(line, &end, 10);
		if (end == line)
			break;
		*ret = n;
		found = true;
		line = end;
	}
	return found;
}

bool target_identity_parse(const char *status, struct target_identity *ret)
{
	struct target_identity id;

	/*
	 * the process itself chooses only its name in `status`, and the kernel escapes newlines in
	 * the name
	 */
	if (!parse_last(status, "\nUid:", 1, &id.euid) ||
	    !parse_last(status, "\nNSpid:", 31, &id.pid))
		return false;
	*ret = id;
	return true;
}

int target_identity_read(int proc, struct target_identity *ret)
{
	char text[4096];
	ssize_t n = io_read(proc, "status", text, sizeof(text));

	if (n < 0)
		return n;
	return target_identity_parse(text, ret) ? 0 : -EBADMSG;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "base/alive.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

/* include/linux/sched.h: exit_signals() sets it, before the tracepoint sched_process_exit */
#define PF_EXITING 0x4

bool alive_is_over(const char *stat)
{
	/*
	 * The process name may contain any character, so search for the bracket that closes it; the
	 * state follows: proc_pid_stat(5).
	 */
	const char *close = strrchr(stat, ')');
	unsigned int flags = 0;
	char state;

	if (!close || sscanf(close + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) < 1)
		return false;
	return state == 'Z' || state == 'X' || flags & PF_EXITING;
}

static bool is_over(int dir, const char *path)
{
	char text[1024];

	return io_read(dir, path, text, sizeof(text)) <= 0 || alive_is_over(text);
}

uint32_t alive_below(int proc)
{
	int fd = openat(proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	uint32_t found = 0;
	struct dirent *de;
	char path[64];

	while (d && !found && (de = readdir(d))) {
		uint32_t tid = strtoul(de->d_name, NULL, 10);

		snprintf(path, sizeof(path), "%u/stat", tid);
		if (tid && !is_over(dirfd(d), path))
			found = tid;
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return found;
}

uint32_t alive_thread(uint32_t pid)
{
	uint32_t tid = pid;
	char path[32];
	int proc;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return pid;
	if (is_over(proc, "stat"))
		tid = alive_below(proc);
	close(proc);
	return tid ? tid : pid;
}

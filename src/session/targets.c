// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "session/targets.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "collect/cgroup/cgroup_find.h"
#include "probe/host_facts.h"
#include "render/completeness.h"

/*
 * Returns the id of the process to which a thread belongs. -p accepts thread ids, as ps and gdb do.
 */
static pid_t leader_of(pid_t pid)
{
	char path[64], text[512];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	io_read(AT_FDCWD, path, text, sizeof(text));
	line = strstr(text, "\nTgid:"); /* the kernel escapes newlines in process names */
	return line ? atoi(line + 6) : pid;
}

static pid_t parent_of(pid_t pid)
{
	char path[64], text[512];
	const char *close;
	int ppid;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	io_read(AT_FDCWD, path, text, sizeof(text));
	/* a process name may contain brackets, so the last bracket in the line ends the name */
	close = strrchr(text, ')');
	return close && sscanf(close + 1, " %*c %d", &ppid) == 1 ? ppid : 0;
}

/* Returns whether a process descends from another one, whose id is *ctx. */
static bool descends(pid_t pid, const void *ctx)
{
	pid_t from = *(const pid_t *)ctx;

	if (pid == from)
		return false;
	for (int depth = 0; depth < 64 && pid > 1; depth++) {
		pid = parent_of(pid);
		if (pid == from)
			return true;
	}
	return false;
}

/*
 * Returns the pid of the next process in the directory /proc. Returns 0 at the end and on error. On
 * error, *err is -errno, else 0.
 */
static pid_t next_process(DIR *proc, int *err)
{
	struct dirent *de;
	pid_t pid = 0;

	while (pid <= 0 && (de = io_next_entry(proc, err)))
		pid = atoi(de->d_name);
	return pid > 0 ? pid : 0;
}

/*
 * Watches existing processes that `is_wanted` selects. BPF programs follow children that are
 * created later. Returns the number of processes. If it may be too small, notes a gap with `what`.
 */
static size_t watch_existing(struct session *s, bool (*is_wanted)(pid_t pid, const void *ctx),
			     const void *ctx, const char *what)
{
	DIR *d = opendir("/proc");
	int refused = 0, err = d ? 0 : -errno;
	size_t watched = 0;

	for (pid_t pid; d && (pid = next_process(d, &err));) {
		int one = is_wanted(pid, ctx) ? live_watch(s->in.src, pid, true) : -ESRCH;

		watched += !one;
		if (one && one != -ESRCH)
			refused = one;
	}
	if (d)
		closedir(d);
	if (err || refused)
		session_note_gap(s, "not watched", what, err ?: refused);
	return watched;
}

bool targets_are_native(const struct options *o)
{
	char path[64], head[EI_CLASS + 2];

	for (size_t i = 0; i < o->filter.pids; i++) {
		snprintf(path, sizeof(path), "/proc/%u/exe", o->filter.pid[i]);
		if (io_read(AT_FDCWD, path, head, sizeof(head)) < EI_CLASS + 1 ||
		    head[EI_CLASS] != ELFCLASS64)
			return false;
	}
	return true;
}

bool targets_are_filtered(const struct options *o)
{
	for (size_t i = 0; i < o->filter.pids; i++)
		if (permission_is_filtered(o->filter.pid[i]))
			return true;
	return false;
}

/* Returns whether a process is in a cgroup or below it, in any hierarchy. */
static bool is_in_cgroup(pid_t pid, const struct filter *f)
{
	char path[64], text[4096], *save = NULL;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	io_read(AT_FDCWD, path, text, sizeof(text));
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *list = strchr(line, ':'), *of = list ? strchr(list + 1, ':') : NULL;

		if (of && filter_shows(f, pid, 0, "", of + 1))
			return true;
	}
	return false;
}

static bool is_kernel_thread(pid_t pid)
{
	char path[64], exe[2];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return readlink(path, exe, sizeof(exe)) < 0 && errno == ENOENT;
}

/* Returns whether a process other than faultscope is in a cgroup, which a filter selects. */
static bool belongs_to(pid_t pid, const void *filter)
{
	return pid != getpid() && is_in_cgroup(pid, filter) && !is_kernel_thread(pid);
}

/* Returns whether a cgroup has a process, or may have one since /proc cannot be listed. */
static bool may_have_process(const struct filter *only)
{
	DIR *d = opendir("/proc");
	int err = d ? 0 : -errno;
	bool found = false;

	for (pid_t pid; d && !found && (pid = next_process(d, &err));)
		found = is_in_cgroup(pid, only);
	if (d)
		closedir(d);
	return found || err;
}

int targets_find_cgroup(const struct session *s)
{
	struct files f = {.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	struct filter only = {};
	struct cgroup_near near;
	char names[3 * CGROUP_PATH_LEN] = "";

	memcpy(only.cgroup, s->o->filter.cgroup, sizeof(only.cgroup));
	/* in a pid namespace, the cgroups of the host may be invisible */
	if (f.root < 0 || !only.cgroup[0] || host_is_in_pid_namespace()) {
		if (f.root >= 0)
			close(f.root);
		return 0;
	}
	cgroup_find(&f, only.cgroup, &near);
	close(f.root);
	if (near.exists || may_have_process(&only))
		return 0;
	for (size_t i = 0; i < near.names; i++) {
		array_append(names, sizeof(names), i ? ", " : "");
		array_append(names, sizeof(names), near.name[i]);
	}
	complain("--cgroup %s: no such cgroup\n  %s has: %s\n  list cgroups: systemd-cgls, or "
		 "cat /proc/PID/cgroup",
		 only.cgroup, near.above, near.names ? names : "no cgroup");
	return EXIT_NO_TARGET;
}

size_t targets_watch_cgroup(struct session *s)
{
	struct filter only = {};

	memcpy(only.cgroup, s->o->filter.cgroup, sizeof(only.cgroup));
	return watch_existing(s, belongs_to, &only, "processes of the cgroup");
}

int targets_watch(struct session *s)
{
	bool children = s->plan.children;
	size_t found = 0;

	if (!s->o->filter.pids && targets_watch_cgroup(s))
		return 0;
	if (!s->o->filter.pids && has_gaps(&s->out.gaps))
		return fail_of_gaps(&s->out.gaps);
	if (!s->o->filter.pids) {
		complain("--cgroup %s: no process in this cgroup", s->o->filter.cgroup);
		return EXIT_NO_TARGET;
	}
	if (host_is_in_pid_namespace() && !host_has_own_proc()) {
		complain("-p: /proc belongs to another pid namespace\n"
			 "  mount /proc of this one: unshare -p -f --mount-proc …");
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < s->o->filter.pids; i++) {
		pid_t pid = s->o->filter.pid[i], leader = leader_of(pid);
		int err = live_watch(s->in.src, leader, children);

		if (err == -ESRCH) {
			complain("no process %d", pid);
			continue;
		}
		if (err == -EOPNOTSUPP) {
			complain("-p %d: in a pid namespace, -p needs task storage (Linux 5.17), "
				 "which "
				 "is unavailable here\n"
				 "  try:  outside of the namespace, with the pid that it has there",
				 pid);
			return EXIT_KERNEL_LACKS;
		}
		if (err) {
			complain("cannot watch process %d: %s", pid, strerror(-err));
			return EXIT_FAILED;
		}
		found++;
		if (children)
			watch_existing(s, descends, &leader, "child processes");
	}
	if (found)
		return 0;
	fputs("  list processes: ps -e, or faultscope 1 1\n", stderr);
	return EXIT_NO_TARGET;
}

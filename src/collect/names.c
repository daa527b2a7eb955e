// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/names.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

static ssize_t read_cgroup(unsigned int pid, char *ret, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	return io_read(AT_FDCWD, path, ret, size);
}

void cgroup_of(const char *proc_text, char *ret, size_t size)
{
	const char *line = proc_text;
	int best = -1;

	ret[0] = 0;
	while (*line) {
		const char *end = strchrnul(line, '\n');
		const char *list = memchr(line, ':', end - line);
		const char *path = list ? memchr(list + 1, ':', end - list - 1) : NULL;
		int rank;

		if (path) {
			bool root = end - path == 2;

			rank = root		  ? 0
			       : list + 1 == path ? 3 /* 0::PATH, the v2 hierarchy */
			       : memmem(list, path - list, "memory", 6) ? 2
									: 1;
			if (rank > best) {
				best = rank;
				snprintf(ret, size, "%.*s", (int)(end - path - 1), path + 1);
			}
		}
		line = *end ? end + 1 : end;
	}
}

static size_t slot_of_cgroup(__u64 id)
{
	return id * 0x9e3779b97f4a7c15ULL >> 55;
}

/* The id is of the v2 hierarchy: only a path there goes with it. */
static void keep_cgroup(struct names *n, __u64 id, const char *path)
{
	size_t slot = slot_of_cgroup(id);

	if (!n->cgroup)
		n->cgroup = calloc(NAMES_CGROUPS, sizeof(*n->cgroup));
	if (!n->cgroup || strlen(path) >= sizeof(n->cgroup[slot].path))
		return;
	n->cgroup[slot].id = id;
	strcpy(n->cgroup[slot].path, path);
}

void names_cgroup(struct names *n, const struct fs_cgroup_record *r)
{
	if (!r->hierarchy)
		keep_cgroup(n, r->id, r->path);
}

static void find_cgroup(struct names *n, const struct fs_process_record *r, char *ret, size_t size)
{
	size_t slot = slot_of_cgroup(r->g.cgroup_id);
	char text[4096];

	if (n->cgroup && n->cgroup[slot].id == r->g.cgroup_id && n->cgroup[slot].path[0]) {
		snprintf(ret, size, "%s", n->cgroup[slot].path);
		return;
	}
	if (n->foreign || r->g.flags & FS_PROC_FINAL ||
	    read_cgroup(r->subject.pid, text, sizeof(text)) <= 0)
		return;
	cgroup_of(text, ret, size);
	if (strstr(text, "0::/") && !strstr(text, "0::/\n"))
		keep_cgroup(n, r->g.cgroup_id, ret);
}

/* Keeps the program of a process; NULL: it is not known. */
static void keep_exe(struct names *n, const struct fs_subject *of, __u32 execs, const char *exe)
{
	size_t slot = of->pid % NAMES_PROCS;

	if (!n->proc)
		n->proc = calloc(NAMES_PROCS, sizeof(*n->proc));
	if (!n->proc)
		return;
	exe = exe && *exe ? strdup(exe) : NULL;
	free(n->proc[slot].exe);
	n->proc[slot].of = *of;
	n->proc[slot].execs = execs;
	n->proc[slot].exe = (char *)exe;
}

static void read_exe(__u32 pid, char *ret, size_t size)
{
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	len = readlink(path, ret, size - 1);
	ret[len > 0 ? len : 0] = 0;
}

/* Read where that is permitted, else as the kernel side told. */
static void find_exe(struct names *n, const struct fs_process_record *r, char *ret, size_t size)
{
	size_t slot = r->subject.pid % NAMES_PROCS;
	bool over = r->g.flags & FS_PROC_FINAL;

	ret[0] = 0;
	if (!over && !n->foreign)
		read_exe(r->subject.pid, ret, size);
	if (*ret)
		keep_exe(n, &r->subject, r->g.execs, ret);
	else if (n->proc && n->proc[slot].exe && n->proc[slot].execs == r->g.execs &&
		 n->proc[slot].of.pid == r->subject.pid &&
		 n->proc[slot].of.start_ns == r->subject.start_ns)
		snprintf(ret, size, "%s", n->proc[slot].exe);
}

void names_forked(struct names *n, const struct fs_fork_record *r)
{
	size_t slot = r->parent % NAMES_PROCS;
	bool known = n->proc && n->proc[slot].of.pid == r->parent;

	keep_exe(n, &r->subject, 0, known ? n->proc[slot].exe : NULL);
}

void names_execed(struct names *n, const struct fs_exec_record *r)
{
	keep_exe(n, &r->subject, r->execs, r->path);
}

bool names_find(struct names *n, const struct fs_process_record *r, struct fs_names_record *ret)
{
	find_cgroup(n, r, ret->cgroup, sizeof(ret->cgroup));
	find_exe(n, r, ret->exe, sizeof(ret->exe));
	return ret->exe[0] || ret->cgroup[0];
}

bool names_read(__u32 pid, struct fs_names_record *ret)
{
	char text[4096];

	read_exe(pid, ret->exe, sizeof(ret->exe));
	if (read_cgroup(pid, text, sizeof(text)) > 0)
		cgroup_of(text, ret->cgroup, sizeof(ret->cgroup));
	return ret->exe[0] || ret->cgroup[0];
}

void names_free(struct names *n)
{
	for (size_t i = 0; n->proc && i < NAMES_PROCS; i++)
		free(n->proc[i].exe);
	free(n->proc);
	n->proc = NULL;
	free(n->cgroup);
	n->cgroup = NULL;
}

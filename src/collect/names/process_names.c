// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/names/command_line.h"
#include "collect/names/process_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alive.h"
#include "base/io.h"
#include "collect/files/target_file.h"
#include "model/model.h"

/* Opens "/", and finds the mount of cgroup v2. */
static void begin(struct names *n)
{
	if (n->begun)
		return;
	n->begun = true;
	if (n->root <= 0)
		n->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cgroup_v2_open(&n->v2, n->root);
}

/*
 * Returns a descriptor of proc/PID, so that all reads below it concern one process. Returns -1 if
 * the process is gone, if its pid was reused, or if /proc has other pids than the records.
 */
static int open_process(const struct names *n, const struct process_record *r)
{
	char path[32];
	int dir;

	if (n->foreign || r->g.flags & PROC_FINAL)
		return -1;
	snprintf(path, sizeof(path), "proc/%u", r->subject.pid);
	dir = openat(n->root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || target_born_at(dir, r->subject.start_ns))
		return dir;
	close(dir);
	return -1;
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

			rank = root					? 0
			       : list + 1 == path			? 3 /* a v2 path: 0::PATH */
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

/* Stores the path of a v2 cgroup by its id. */
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

void names_cgroup(struct names *n, const struct cgroup_path_record *r)
{
	size_t slot = r->pid % NAMES_PROCS;

	if (!r->hierarchy)
		keep_cgroup(n, r->id, r->path);
	if (r->pid && n->proc && n->proc[slot].of.pid == r->pid)
		n->proc[slot].moved = true;
}

bool names_was_moved(struct names *n, const struct process_key *of)
{
	size_t slot = of->pid % NAMES_PROCS;
	bool moved = n->proc && n->proc[slot].of.pid == of->pid && n->proc[slot].moved;

	if (moved)
		n->proc[slot].moved = false;
	return moved;
}

/*
 * Stores a path from /proc for a cgroup id only if a check shows that they belong together. A
 * process may move after its record was made. The record then has the id of the old cgroup, and
 * /proc has the path of the new one. On hosts with v1 hierarchies, nearly all processes have the id
 * of the v2 root.
 */
static void find_cgroup(struct names *n, const struct process_record *r, int proc, char *ret,
			size_t size)
{
	size_t slot = slot_of_cgroup(r->g.cgroup_id);
	char text[4096], path[CGROUP_PATH_LEN];

	if (n->cgroup && n->cgroup[slot].id == r->g.cgroup_id && n->cgroup[slot].path[0]) {
		snprintf(ret, size, "%s", n->cgroup[slot].path);
		return;
	}
	if (proc < 0 || io_read(proc, "cgroup", text, sizeof(text)) <= 0)
		return;
	cgroup_of(text, ret, size);
	if (cgroup_path_find((struct span){text, strlen(text)}, NULL, path, sizeof(path)) &&
	    strcmp(path, "/") && cgroup_v2_match(&n->v2, path, r->g.cgroup_id) == CGROUP_SAME)
		keep_cgroup(n, r->g.cgroup_id, path);
}

/* Stores the program path of a process; `exe` is NULL if unknown. */
static void keep_exe(struct names *n, const struct process_key *of, __u32 execs, const char *exe)
{
	size_t slot = of->pid % NAMES_PROCS;

	if (!n->proc)
		n->proc = calloc(NAMES_PROCS, sizeof(*n->proc));
	if (!n->proc)
		return;
	exe = exe && *exe ? strdup(exe) : NULL;
	free(n->proc[slot].exe);
	if (!same_subject(&n->proc[slot].of, of))
		n->proc[slot].parent = 0;
	n->proc[slot].of = *of;
	n->proc[slot].execs = execs;
	n->proc[slot].exe = (char *)exe;
}

static void read_exe(int proc, char *ret, size_t size)
{
	ssize_t len = readlinkat(proc, "exe", ret, size - 1);

	if (len < 0 && errno == ENOENT) { /* the main thread has ended: use another thread */
		char path[32];

		snprintf(path, sizeof(path), "task/%u/exe", alive_below(proc));
		len = readlinkat(proc, path, ret, size - 1);
	}
	ret[len > 0 ? len : 0] = 0;
}

/* Reads /proc/PID/exe. If this is not permitted, uses the path that a BPF program reported. */
static void find_exe(struct names *n, const struct process_record *r, int proc, char *ret,
		     size_t size)
{
	size_t slot = r->subject.pid % NAMES_PROCS;

	ret[0] = 0;
	if (proc >= 0)
		read_exe(proc, ret, size);
	if (*ret)
		keep_exe(n, &r->subject, r->g.execs, ret);
	else if (n->proc && n->proc[slot].exe && n->proc[slot].execs == r->g.execs &&
		 n->proc[slot].of.pid == r->subject.pid &&
		 n->proc[slot].of.start_ns == r->subject.start_ns)
		snprintf(ret, size, "%s", n->proc[slot].exe);
}

void names_forked(struct names *n, const struct fork_record *r)
{
	size_t slot = r->parent % NAMES_PROCS;
	bool known = n->proc && n->proc[slot].of.pid == r->parent;

	keep_exe(n, &r->subject, 0, known ? n->proc[slot].exe : NULL);
	if (n->proc)
		n->proc[r->subject.pid % NAMES_PROCS].parent = r->parent;
}

__u32 names_parent(const struct names *n, const struct process_key *of)
{
	size_t slot = of->pid % NAMES_PROCS;

	return n->proc && same_subject(&n->proc[slot].of, of) ? n->proc[slot].parent : 0;
}

void names_execed(struct names *n, const struct exec_record *r)
{
	keep_exe(n, &r->subject, r->execs, r->path);
}

static void find_command(struct names *n, const struct process_record *r, int proc,
			 struct names_record *ret)
{
	const char *user = n->foreign ? NULL : user_name_find(&n->users, n->root, r->g.uid);

	snprintf(ret->user, sizeof(ret->user), "%s", user ? user : "");
	if (proc >= 0)
		command_line_read(proc, ret->command, sizeof(ret->command));
}

bool names_find(struct names *n, const struct process_record *r, struct names_record *ret)
{
	int proc;

	begin(n);
	proc = open_process(n, r);
	find_cgroup(n, r, proc, ret->cgroup, sizeof(ret->cgroup));
	find_exe(n, r, proc, ret->exe, sizeof(ret->exe));
	if (n->commands)
		find_command(n, r, proc, ret);
	if (proc >= 0)
		close(proc);
	return ret->exe[0] || ret->cgroup[0];
}

bool names_read(__u32 pid, struct names_record *ret)
{
	char path[32], text[4096];
	int proc;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return false;
	read_exe(proc, ret->exe, sizeof(ret->exe));
	if (io_read(proc, "cgroup", text, sizeof(text)) > 0)
		cgroup_of(text, ret->cgroup, sizeof(ret->cgroup));
	close(proc);
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
	if (n->root > 0)
		close(n->root);
	n->root = 0;
	n->begun = false;
	user_names_free(&n->users);
}

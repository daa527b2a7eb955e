// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/pressure/mount_of_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alive.h"
#include "collect/pressure/tmpfs_files.h"
#include "probe/host_facts.h"

#define ANCESTORS_MOST 8

/*
 * Measures a local mount of the device ret->device that is below `prefix`. Returns false if there
 * is none.
 */
static bool measure(struct span mountinfo, const char *prefix, struct mount_record *ret)
{
	struct text_lines lines = {.rest = mountinfo};
	char point[PATH_MAX], path[PATH_MAX + sizeof("/proc/4294967295/root")];
	struct mount_line line;
	struct span text;
	bool in_memory;

	while (text_line(&lines, &text)) {
		if (!mountinfo_parse(text, &line) || line.device != ret->device ||
		    !pressure_is_local(line.type, &in_memory) ||
		    !mountinfo_path(line.point, point, sizeof(point)))
			continue;
		snprintf(path, sizeof(path), "%s%s", prefix, point);
		if (!pressure_is_mounted(path, &line) || !pressure_measure_mount(path, ret))
			continue;
		snprintf(ret->path, sizeof(ret->path), "%.*s", (int)sizeof(ret->path) - 1, path);
		ret->flags = in_memory ? MOUNT_IN_MEMORY : 0;
		if (in_memory)
			tmpfs_files_read(path, ret);
		return true;
	}
	return false;
}

/* Searches the mounts that a process sees for the file's device; pid 0: faultscope's own mounts. */
static bool find(struct files *f, uint32_t pid, struct mount_record *ret)
{
	char file[48] = "/proc/self/mountinfo", prefix[32] = "";
	struct span text;
	char *s = NULL;
	bool found;

	if (pid) {
		uint32_t thread = alive_thread(pid);

		snprintf(file, sizeof(file), "/proc/%u/mountinfo", thread);
		snprintf(prefix, sizeof(prefix), "/proc/%u/root", thread);
	}
	if (file_read(f, file, &s, &text.len))
		return false;
	text.s = s;
	found = measure(text, prefix, ret);
	free(s);
	ret->pid = pid;
	return found;
}

/* Returns the pid of the parent; 0: not known. */
static uint32_t parent_of(struct files *f, uint32_t pid)
{
	char file[48], *s = NULL;
	struct span text, word;
	uint64_t parent = 0;

	snprintf(file, sizeof(file), "/proc/%u/status", pid);
	if (file_read(f, file, &s, &text.len))
		return 0;
	text.s = s;
	if (!text_status(text, "PPid", &word) || text_number(word, &parent))
		parent = 0;
	free(s);
	return parent;
}

/*
 * Searches the mounts of a process and of its ancestors. A dying process has left its mount
 * namespace, so its own paths cannot be used. Its parent is usually in the same mount namespace.
 */
static bool find_around(struct files *f, uint32_t pid, uint32_t parent, struct mount_record *ret)
{
	if (!parent)
		parent = parent_of(f, pid);
	if ((parent && find(f, parent, ret)) || find(f, pid, ret))
		return true;
	for (unsigned int i = 0; i < ANCESTORS_MOST && parent > 1; i++) {
		parent = parent_of(f, parent);
		if (parent && find(f, parent, ret))
			return true;
	}
	return false;
}

int mount_of_file(const struct names *n, const struct process_key *process, uint64_t device,
		  const struct sink *sink)
{
	struct mount_record u = {.h = {RECORD_MOUNT, sizeof(u), host_monotonic_ns()},
				 .device = device};
	struct files f = {};
	bool found;
	uint32_t pid = process->pid;

	if (!device)
		return 0;
	f.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f.root < 0)
		return 0;
	found = find(&f, 0, &u) ||
		(!n->foreign && find_around(&f, pid, names_parent(n, process), &u));
	close(f.root);
	return found ? sink->take(sink->ctx, &u.h) : 0;
}

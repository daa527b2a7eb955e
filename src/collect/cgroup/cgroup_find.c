// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/cgroup/cgroup_find.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/cgroup/cgroup_tree.h"

/* Opens the directory of a cgroup in one hierarchy. */
static DIR *open_cgroup(const struct files *f, const struct cgroup_mount *m, const char *path)
{
	size_t root = strcmp(m->root, "/") ? strlen(m->root) : 0;
	char place[FILE_PATH_BYTES + 512];
	DIR *d;
	int fd;

	/* a root that begins with "/.." is outside of the cgroup namespace */
	if (strncmp(path, m->root, root) || (path[root] && path[root] != '/'))
		return NULL;
	snprintf(place, sizeof(place), "%s%s", m->point, path + root);
	fd = openat(f->root, place + 1, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !d)
		close(fd);
	return d;
}

static size_t common(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

/* Keeps the names that begin most like `wanted`, in this order, and equal ones by name. */
static void propose(struct cgroup_near *near, const char *name, const char *wanted)
{
	size_t at = 0;

	for (; at < near->names; at++) {
		size_t has = common(near->name[at], wanted), new = common(name, wanted);
		int order = strcmp(name, near->name[at]);

		if (!order)
			return;
		if (new > has || (new == has && order < 0))
			break;
	}
	if (at == CGROUP_NEAR_MAX)
		return;
	if (near->names < CGROUP_NEAR_MAX)
		near->names++;
	memmove(near->name[at + 1], near->name[at],
		(near->names - at - 1) * sizeof(near->name[0]));
	snprintf(near->name[at], sizeof(near->name[at]), "%s", name);
}

static void list(DIR *d, struct cgroup_near *near, const char *wanted)
{
	struct dirent *de;

	while ((de = readdir(d)))
		if (de->d_type == DT_DIR && de->d_name[0] != '.')
			propose(near, de->d_name, wanted);
}

/* Visits a cgroup in all hierarchies. Returns whether one has it. With `wanted`, lists children. */
static bool visit(const struct files *f, struct span mountinfo, const char *path,
		  struct cgroup_near *near, const char *wanted)
{
	struct text_lines lines = {.rest = mountinfo};
	struct cgroup_mount m;
	bool found = false;

	while (cgroup_mount_next(&lines, &m)) {
		DIR *d = open_cgroup(f, &m, path);

		if (!d)
			continue;
		found = true;
		if (wanted)
			list(d, near, wanted);
		closedir(d);
	}
	return found;
}

void cgroup_find(struct files *f, const char *path, struct cgroup_near *ret)
{
	char above[sizeof(ret->above)], *slash;
	const char *wanted = path + 1;
	struct span mountinfo;
	char *text;

	memset(ret, 0, sizeof(*ret));
	strcpy(ret->above, "/");
	if (file_read(f, "/proc/self/mountinfo", &text, &mountinfo.len))
		return;
	mountinfo.s = text;
	snprintf(above, sizeof(above), "%s", path);
	ret->exists = visit(f, mountinfo, path, ret, NULL);
	while (!ret->exists && (slash = strrchr(above, '/'))) {
		wanted = path + (slash - above) + 1;
		*slash = 0;
		if (!visit(f, mountinfo, above[0] ? above : "/", ret, wanted))
			continue;
		snprintf(ret->above, sizeof(ret->above), "%s", above[0] ? above : "/");
		break;
	}
	free(text);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/cgroup/cgroup_v2.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"

#define MOUNTINFO_BYTES (1u << 20) /* hosts with containers have many mounts */

void cgroup_v2_open(struct cgroup_v2 *v, int root)
{
	char *text = malloc(MOUNTINFO_BYTES);
	struct text_lines lines = {.rest = {text, 0}};
	struct cgroup_mount one;
	struct span line;
	ssize_t len;

	memset(v, 0, sizeof(*v));
	v->root = root;
	len = text ? io_read(root, "proc/self/mountinfo", text, MOUNTINFO_BYTES) : -1;
	if (len > 0)
		lines.rest.len = len;
	/* no v1 controller is called "/": only the v2 mount matches */
	while (!v->mount.point[0] && text_line(&lines, &line))
		if (cgroup_mount_find(line, "/", &one) && !strcmp(one.root, "/"))
			v->mount = one;
	free(text);
}

enum cgroup_match cgroup_v2_match(const struct cgroup_v2 *v, const char *path, uint64_t id)
{
	char whole[sizeof(v->mount.point) + 512];
	struct stat st;
	int len;

	/* a path that begins with "/.." is outside of faultscope's cgroup namespace */
	if (!v->mount.point[0] || !strncmp(path, "/..", 3))
		return CGROUP_UNKNOWN;
	len = snprintf(whole, sizeof(whole), "%s%s", v->mount.point + 1, path);
	if (len < 0 || (size_t)len >= sizeof(whole) || fstatat(v->root, whole, &st, 0))
		return CGROUP_UNKNOWN;
	return st.st_ino == id ? CGROUP_SAME : CGROUP_OTHER;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/cgroup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE   1024
#define NO_LIMIT_V1 (1ULL << 60) /* version 1 writes none as the most pages there can be */

static const struct files {
	const char *controller, *max, *now, *max_v1, *now_v1;
} files[] = {
	{"memory", "memory.max", "memory.current", "memory.limit_in_bytes",
	 "memory.usage_in_bytes"},
	{"pids", "pids.max", "pids.current", "pids.max", "pids.current"},
};

/*
 * The path in the line of /proc/self/cgroup with this controller; "" is version 2's, NULL takes the
 * first that is not the root.
 */
static bool find_line(const char *controller, char *ret, size_t size)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[PATH_SIZE], *list, *path;
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		list = strchr(line, ':');
		path = list ? strchr(list + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = 0;
		found = controller ? !strcmp(list + 1, controller) : strcmp(path, "/") != 0;
		for (char *one = strtok(list + 1, ","); one && controller && !found;
		     one = strtok(NULL, ","))
			found = !strcmp(one, controller);
		if (found)
			snprintf(ret, size, "%s", path);
	}
	if (f)
		fclose(f);
	return found;
}

void cgroup_path(char *ret, size_t size)
{
	static const char *const order[] = {"", "memory", NULL};

	ret[0] = 0;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (find_line(order[i], ret, size) && strcmp(ret, "/"))
			return;
}

static bool read_figure(const char *dir, const char *name, uint64_t *ret)
{
	char path[PATH_SIZE + 64], text[32];
	bool ok = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	if (f && fgets(text, sizeof(text), f)) {
		*ret = strncmp(text, "max", 3) ? strtoull(text, NULL, 10) : UINT64_MAX;
		ok = true;
	}
	if (f)
		fclose(f);
	return ok;
}

/*
 * Where the hierarchy is mounted that holds the controller, and which version it is. Beside
 * hierarchies of version 1 (hybrid) version 2 has the controllers that they leave.
 */
static bool find_dir(const struct files *f, char *dir, size_t size, size_t *ret_root, bool *ret_v1)
{
	char root[64] = "/sys/fs/cgroup", path[PATH_SIZE];

	if (!access("/sys/fs/cgroup/cgroup.controllers", F_OK)) {
		*ret_v1 = false;
	} else {
		snprintf(root, sizeof(root), "/sys/fs/cgroup/%s", f->controller);
		*ret_v1 = !access(root, F_OK) && find_line(f->controller, path, sizeof(path));
		if (!*ret_v1)
			strcpy(root, "/sys/fs/cgroup/unified");
	}
	if (!*ret_v1 && !find_line("", path, sizeof(path)))
		return false;
	snprintf(dir, size, "%s%s", root, path);
	*ret_root = strlen(root);
	/* mounted from within a container the path is not below the mount */
	if (access(dir, F_OK))
		dir[*ret_root] = 0;
	return !access(dir, F_OK);
}

void cgroup_limit(const char *controller, struct cgroup_limit *ret)
{
	const struct files *f = !strcmp(controller, files[0].controller) ? &files[0] : &files[1];
	char dir[PATH_SIZE + 64];
	size_t root;
	bool v1;

	memset(ret, 0, sizeof(*ret));
	ret->unlimited = true;
	if (!find_dir(f, dir, sizeof(dir), &root, &v1))
		return;
	for (;;) {
		const char *name = v1 ? f->max_v1 : f->max;
		char *slash;
		uint64_t max;

		/* the root of version 2 has no such file: no limit */
		ret->known = true;
		if (read_figure(dir, name, &max) && max < NO_LIMIT_V1 &&
		    (ret->unlimited || max < ret->max)) {
			ret->unlimited = false;
			ret->max = max;
			snprintf(ret->file, sizeof(ret->file), "%.150s/%.40s", dir, name);
			if (!read_figure(dir, v1 ? f->now_v1 : f->now, &ret->now))
				ret->now = 0;
		}
		slash = strrchr(dir, '/');
		if (!slash || (size_t)(slash - dir) < root)
			return;
		*slash = 0;
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/cgroup/cgroup_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

/* Visits a cgroup directory, then all directories below it. */
static void walk_from(struct cgroup_walk *w, int dir, unsigned int depth)
{
	size_t len = strlen(w->path);
	DIR *d = fdopendir(dir);
	struct dirent *de;
	int err;

	if (!d) {
		close(dir);
		return;
	}
	w->take(w->ctx, dir, len ? w->path : "/");
	while ((de = io_next_entry(d, &err))) {
		size_t more = strlen(de->d_name) + 1;
		int below;

		if (de->d_type != DT_DIR || de->d_name[0] == '.')
			continue;
		if (depth == w->depth_most || w->dirs == w->dirs_most ||
		    len + more >= sizeof(w->path)) {
			w->over++;
			continue;
		}
		w->dirs++;
		below = openat(dir, de->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0)
			continue;
		w->path[len] = '/';
		memcpy(w->path + len + 1, de->d_name, more);
		walk_from(w, below, depth + 1);
		w->path[len] = 0;
	}
	w->over += err < 0;
	closedir(d);
}

void cgroup_walk(struct cgroup_walk *w, int dir)
{
	w->dirs = 0;
	w->path[0] = 0;
	walk_from(w, dir, 0);
}

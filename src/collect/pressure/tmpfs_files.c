// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/pressure/tmpfs_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

#define DEPTH_MOST  8
#define BLOCK_BYTES 512 /* unit of st_blocks */

struct tmpfs_walk {
	struct mount_record *ret;
	dev_t device;
	unsigned int left;    /* number of entries that may still be visited */
	uint64_t named_bytes; /* space of all files that have a name */
	bool cut;	      /* some entries were not visited */
};

static void add_file(struct tmpfs_walk *w, const char *above, const char *name,
		     const struct stat *st)
{
	uint64_t bytes = (uint64_t)st->st_blocks * BLOCK_BYTES;

	/* each of its names adds its part */
	w->named_bytes += st->st_nlink ? bytes / st->st_nlink : 0;
	if (bytes <= w->ret->largest_bytes)
		return;
	w->ret->largest_bytes = bytes;
	w->ret->largest_uid = st->st_uid;
	snprintf(w->ret->largest, sizeof(w->ret->largest), "%.40s%.54s", above, name);
}

/*
 * Visits the entries of a directory, and closes `fd`. `above`: its path below the mount, ending in
 * a slash, or "". Long paths are cut.
 */
static void visit(struct tmpfs_walk *w, int fd, const char *above, unsigned int depth)
{
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	char below[sizeof(w->ret->largest)];
	struct dirent *e;
	struct stat st;
	int err;

	if (!d) {
		if (fd >= 0)
			close(fd);
		w->cut = true;
		return;
	}
	while ((e = io_next_entry(d, &err))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!w->left) {
			w->cut = true;
			break;
		}
		w->left--;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    st.st_dev != w->device)
			continue;
		if (S_ISREG(st.st_mode)) {
			add_file(w, above, e->d_name, &st);
		} else if (S_ISDIR(st.st_mode) && depth < DEPTH_MOST) {
			snprintf(below, sizeof(below), "%.40s%.53s/", above, e->d_name);
			visit(w,
			      openat(dirfd(d), e->d_name,
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			      below, depth + 1);
		} else if (S_ISDIR(st.st_mode)) {
			w->cut = true;
		}
	}
	w->cut |= err < 0;
	closedir(d);
}

void tmpfs_files_read(const char *path, struct mount_record *ret)
{
	struct tmpfs_walk w = {.ret = ret, .left = TMPFS_ENTRIES_MOST};
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st)) {
		close(fd);
		return;
	}
	w.device = st.st_dev;
	visit(&w, fd, "", 0);
	if (!w.cut && ret->used_bytes > w.named_bytes)
		ret->unnamed_bytes = ret->used_bytes - w.named_bytes;
}

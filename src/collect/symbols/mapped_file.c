// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/symbols/mapped_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/files/target_file.h"

bool mapped_file_path(const struct exec_map *m, char *ret, size_t size)
{
	static const char mark[] = " (deleted)";
	size_t len = strnlen(m->path, size - 1);
	bool deleted =
		len > sizeof(mark) && !strcmp(m->path + len - sizeof(mark) + 1, mark);

	if (deleted)
		len -= sizeof(mark) - 1;
	memcpy(ret, m->path, len);
	ret[len] = 0;
	return deleted;
}

/*
 * Opens a mapped file. /proc/PID/map_files also has deleted files, but needs CAP_CHECKPOINT_RESTORE
 * (5.9) or CAP_SYS_ADMIN. /proc/PID/exe and /proc/PID/root need only ptrace access. By now, the
 * path may lead to another file. This file has another inode number, except on overlayfs.
 */
int mapped_file_open(int proc, int root, const struct exec_map *m, const char *path,
		     bool *ret_unproven)
{
	char link[64];
	struct stat st;
	int fd;

	*ret_unproven = false;
	snprintf(link, sizeof(link), "map_files/%llx-%llx", m->start, m->end);
	fd = target_link_open(proc, link, &st);
	if (fd >= 0)
		return fd;
	fd = target_link_open(proc, "exe", &st);
	if (fd >= 0 && st.st_ino == m->inode)
		return fd;
	if (fd >= 0)
		close(fd);
	fd = target_path_open(root, path, &st);
	*ret_unproven = fd >= 0 && st.st_ino != m->inode;
	return fd;
}

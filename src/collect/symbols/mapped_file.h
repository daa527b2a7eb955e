/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: opens the file of a mapping of another process. */
#ifndef FS_COLLECT_SYMBOLS_MAPPED_FILE_H
#define FS_COLLECT_SYMBOLS_MAPPED_FILE_H

#include "collect/symbols/exec_maps.h"

/*
 * Copies the path of a mapping without the suffix " (deleted)". Returns whether the file was
 * deleted.
 */
bool mapped_file_path(const struct exec_map *m, char *ret, size_t size);

/*
 * Opens the file of a mapping. `proc` is a descriptor of /proc/PID, `root` of the process's root
 * directory (-1: not readable). *ret_unproven: the file was opened by its path and has another
 * inode number, so it may be another file. Returns a descriptor or -errno.
 */
int mapped_file_open(int proc, int root, const struct exec_map *m, const char *path,
		     bool *ret_unproven);

#endif

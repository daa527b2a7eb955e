/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: finds which files fill a tmpfs. */
#ifndef FS_COLLECT_PRESSURE_TMPFS_FILES_H
#define FS_COLLECT_PRESSURE_TMPFS_FILES_H

#include "records/pressure_records.h"

/*
 * Fills the fields of `ret` about files, given the directory where a tmpfs is mounted, and
 * ret->used_bytes. Visits at most TMPFS_ENTRIES_MOST entries of directories. Opens no file, and
 * follows no symbolic link. If the directory cannot be read, the fields stay as they are.
 */
void tmpfs_files_read(const char *path, struct mount_record *ret);

#define TMPFS_ENTRIES_MOST 4096

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: small files that only their owner can change. Each directory of the path belongs to root
 * or to the effective user, so that no other user decides which file is read or written. Root
 * therefore never uses a directory of another user.
 */
#ifndef FS_BASE_PRIVATE_FILE_H
#define FS_BASE_PRIVATE_FILE_H

#include "base/buf.h"

/*
 * Opens the directory at an absolute path. It must belong to the effective user, and only this user
 * may have the right to write to it. Symbolic links are followed only in directories that only root
 * can change. Creates up to `creates` directories at the end of the path that are missing, with
 * mode 0700. Returns a file descriptor, or -errno with `error` set.
 */
int private_directory(const char *path, size_t creates, char *error, size_t size);

/*
 * Appends the file `name` of the directory, if it is a regular file of the user or of root with at
 * most `most` bytes. Returns 0, -ENOENT, or another -errno with `error` set.
 */
int private_read(int dir, const char *name, size_t most, struct buf *ret, char *error,
		 size_t size);

/*
 * Replaces the file by one of mode 0600, which is complete on the disk before it gets its name.
 * Replaces only regular files. Returns 0, or -errno with `error` set.
 */
int private_write(int dir, const char *name, const struct buf *text, char *error, size_t size);

#endif

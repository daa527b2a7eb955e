/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: reads bytes of a file or of memory. */
#ifndef FS_COLLECT_FILES_BYTE_SOURCE_H
#define FS_COLLECT_FILES_BYTE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <linux/types.h>

struct byte_source {
	int fd;		 /* file descriptor, not owned; -1: the bytes are in `mem` */
	const char *mem; /* memory to read, not owned */
	__u64 bytes;	 /* size of `mem`, or of the file when it was opened */
};

/* Reads up to `size` bytes at `offset`. Returns the number of bytes that were read, or -errno. */
ssize_t bytes_read(const struct byte_source *s, __u64 offset, void *ret, size_t size);

/* Reads exactly `size` bytes at `offset`. Returns false on an error or if the file is too short. */
bool bytes_get(const struct byte_source *s, __u64 offset, void *ret, size_t size);

/* Reads text up to a NUL or the character `end`, cut to `size` bytes. Returns its length. */
size_t bytes_text(const struct byte_source *s, __u64 offset, char end, char *ret, size_t size);

#endif

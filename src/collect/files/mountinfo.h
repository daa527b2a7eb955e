/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: parses lines of /proc/PID/mountinfo (proc_pid_mountinfo(5)). */
#ifndef FS_COLLECT_FILES_MOUNTINFO_H
#define FS_COLLECT_FILES_MOUNTINFO_H

#include <stddef.h>
#include <stdint.h>

#include "collect/files/file_text.h"

struct mount_line {
	uint64_t device;   /* device number of the kernel: MKDEV() */
	struct span point; /* mount point, with octal escapes */
	struct span type;
};

/* Parses a line. Returns false if the line is invalid. */
bool mountinfo_parse(struct span line, struct mount_line *ret);

/*
 * Decodes a mount point: blanks and backslashes are octal escapes. Returns false if it is too long.
 */
bool mountinfo_path(struct span point, char *ret, size_t size);

/* The device number of the kernel, include/linux/kdev_t.h. */
static inline uint64_t mountinfo_device(uint64_t major, uint64_t minor)
{
	return major << 20 | minor;
}

#endif

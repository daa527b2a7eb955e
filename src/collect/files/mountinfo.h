/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: parses lines of /proc/PID/mountinfo (proc_pid_mountinfo(5)). */
#ifndef FS_COLLECT_FILES_MOUNTINFO_H
#define FS_COLLECT_FILES_MOUNTINFO_H

#include <stddef.h>
#include <stdint.h>

#include "collect/files/file_text.h"

struct mount_line {
	uint64_t device;   /* device number in the kernel's format, MKDEV() */
	struct span point; /* mount point, in which blanks and backslashes are octal escapes */
	struct span type;
	struct span options; /* of the file system, not of this mount: "rw,size=64k" */
};

/* Parses a line of mountinfo. Returns false if the line is invalid. */
bool mountinfo_parse(struct span line, struct mount_line *ret);

/* Decodes a mount point, whose blanks are octal escapes. Returns false if the path is too long. */
bool mountinfo_path(struct span point, char *ret, size_t size);

/* Makes a device number in the kernel's format, as MKDEV() in include/linux/kdev_t.h does. */
static inline uint64_t mountinfo_device(uint64_t major, uint64_t minor)
{
	return major << 20 | minor;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: files of a watched process, which may be hostile. Paths are resolved within its own root
 * (a symbolic link cannot lead out of it), only regular files are opened, and they are only read by
 * pread: with a mapping, a file that shrinks would cause SIGBUS in faultscope.
 */
#ifndef FS_COLLECT_FILES_TARGET_FILE_H
#define FS_COLLECT_FILES_TARGET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "records/records.h"

/*
 * Opens the directory /proc/PID of a process: later opens below it concern that process or fail. If
 * its main thread has exited, it is the directory of another thread. Returns -ESRCH when the
 * process is gone or its pid was reused.
 */
int target_open(const struct process_key *of);

/*
 * Returns whether a /proc/PID directory belongs to the process born at `start_ns` (CLOCK_BOOTTIME,
 * compared in clock ticks). False: the pid was reused, or the process is gone.
 */
bool target_born_at(int proc, __u64 start_ns);

/* Opens the root directory of a process as an O_PATH descriptor; `proc` is from target_open(). */
int target_root_open(int proc);

/* These three functions open a file. They return a descriptor or -errno; -EINVAL: not regular. */
int target_path_open(int root, const char *path, struct stat *ret);

/* As target_path_open(), but the last component must not be a link. */
int target_plain_open(int root, const char *path, struct stat *ret);

/* Opens the target of the link proc/NAME, such as map_files/START-END; deleted files, too. */
int target_link_open(int proc, const char *name, struct stat *ret);

/* The process's effective user, and its pid in its innermost pid namespace. */
struct target_identity {
	__u32 euid;
	__u32 pid;
};
int target_identity_read(int proc, struct target_identity *ret);

/* As target_identity_read(), from the text of /proc/PID/status. False: a line is missing. */
bool target_identity_parse(const char *status, struct target_identity *ret);

#endif

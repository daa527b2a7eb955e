/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: opens files of a watched process, which may be hostile. Paths are resolved within the
 * process's own root, which no symbolic link can leave. Only regular files are opened. They are
 * read by pread() and not mapped: if a mapped file shrinks, an access causes SIGBUS.
 */
#ifndef FS_COLLECT_FILES_TARGET_FILE_H
#define FS_COLLECT_FILES_TARGET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "records/records.h"

/*
 * Opens the directory /proc/PID of a process. Later opens below this directory concern the same
 * process, or fail. If the main thread has exited, opens the directory of another thread. Returns
 * -ESRCH if the process is gone or its pid was reused.
 */
int target_open(const struct process_key *of);

/*
 * Returns whether a /proc/PID directory is of the process born at `start_ns` (CLOCK_BOOTTIME,
 * compared in clock ticks). Returns false if the process is gone, or its pid was reused.
 */
bool target_born_at(int proc, __u64 start_ns);

/* Opens the root directory of a process as an O_PATH descriptor; `proc` is from target_open(). */
int target_root_open(int proc);

/* Opens a file below a process's root. Returns an fd or -errno; -EINVAL: not a regular file. */
int target_path_open(int root, const char *path, struct stat *ret);

/* Opens a file as target_path_open() does, unless the last component is a symbolic link. */
int target_plain_open(int root, const char *path, struct stat *ret);

/*
 * Opens the target of the link proc/NAME, such as map_files/START-END. The target may be a deleted
 * file.
 */
int target_link_open(int proc, const char *name, struct stat *ret);

/* A process's effective user, and its pid in its innermost pid namespace. */
struct target_identity {
	__u32 euid;
	__u32 pid;
};
int target_identity_read(int proc, struct target_identity *ret);

/* Finds user and pid in the text of /proc/PID/status. Returns false if a line is missing. */
bool target_identity_parse(const char *status, struct target_identity *ret);

#endif

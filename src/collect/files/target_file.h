/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: files of a process that is watched, and may be hostile. Paths are walked within its own
 * root (a symbolic link cannot lead out of it), only regular files are opened, and they are only
 * ever read by pread: a mapping would make a file that shrinks a SIGBUS of ours.
 */
#ifndef FS_COLLECT_FILES_TARGET_FILE_H
#define FS_COLLECT_FILES_TARGET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "records/records.h"

/*
 * The directory /proc/PID of a process, held: what is opened below it is of that process or fails.
 * Where its first thread has ended, the directory of another thread. -ESRCH where the process is
 * gone, and where its pid is another's by now.
 */
int target_open(const struct process_key *of);

/*
 * Whether a directory /proc/PID is of the process that was born at `start_ns` (CLOCK_BOOTTIME), to
 * a clock tick. False: its pid is another's by now, or it is gone.
 */
bool target_born_at(int proc, __u64 start_ns);

/* Its root directory, an O_PATH descriptor. */
int target_root_open(int proc);

/* Each of these returns a descriptor to read from, or -errno: -EINVAL: no regular file. */
int target_path_open(int root, const char *path, struct stat *ret);

/* The same, but the path must not end in a link. */
int target_plain_open(int root, const char *path, struct stat *ret);

/* What proc/NAME points to, such as map_files/START-END: deleted files too. */
int target_link_open(int proc, const char *name, struct stat *ret);

/* The process's effective user, and its pid where it lives (its innermost pid namespace). */
struct target_identity {
	__u32 euid;
	__u32 pid;
};
int target_identity_read(int proc, struct target_identity *ret);

/* The same of the text of /proc/PID/status; false: not there. */
bool target_identity_parse(const char *status, struct target_identity *ret);

#endif

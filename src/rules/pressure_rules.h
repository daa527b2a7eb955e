/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: findings about memory shortage of the machine, of cgroups and of file systems. Also
 * findings about OOM-killed processes, and about signals for failed page faults.
 */
#ifndef FS_RULES_PRESSURE_RULES_H
#define FS_RULES_PRESSURE_RULES_H

#include "rules/rules.h"

/*
 * Returns true if there is little room for page cache. There are two cases: almost all memory of
 * the machine or of the process's cgroup is not reclaimable, or pages are swapped in and out. In
 * both cases, the kernel evicts pages of files, so read-ahead is not the reason that files are read
 * again.
 */
bool memory_is_short(const struct model *m, const struct subject *s);

/* Makes a finding about a signal critical, and adds the evidence of the signal's record. */
void pressure_say_signal(const struct occasion *o, struct finding *f);

/* Adds evidence: the processes with the most memory, and the next victim of the OOM killer. */
void pressure_say_who(struct finding *f, const struct model *m);

/*
 * Adds a remedy with numbers: how much more of `what` (memory or swap) is needed, or by how much to
 * reduce the number of workers.
 */
void pressure_help_room(struct finding *f, const struct model *m, uint64_t short_bytes,
			const char *what);

/*
 * Like pressure_help_room(), but for memory in use that grows: says how long `more_bytes` would
 * suffice. If it is known how much memory the machine has left, suggests no more than that.
 */
void pressure_help_growth(struct finding *f, const struct model *m, uint64_t more_bytes,
			  double per_second, const char *what);

/* Adds evidence in bytes. If `limit` is FIGURE_UNKNOWN, the evidence has no limit. */
void evidence_bytes(struct finding *f, const char *field, uint64_t bytes, uint64_t limit);

/*
 * Returns true if a file with this device number and file system type is on the mount. Compares
 * only the types if one of the device numbers is 0 or not known.
 */
bool mount_is(const struct mount_use *u, uint64_t device, uint64_t magic);

/*
 * Finds the tmpfs of a file by its device number, file system type and size. Returns NULL if
 * faultscope sees none, or several that may be meant.
 */
const struct mount_use *tmpfs_find(const struct model *m, uint64_t device, uint64_t magic,
				   uint64_t size_bytes);

/* Adds which files hold most of a tmpfs, if that is known. `u` may be NULL. */
void tmpfs_say_files(struct finding *f, const struct mount_use *u);

/*
 * Adds remedies for a tmpfs of `size_bytes`, mounted at `path`: what uses the space, and a larger
 * size. need_bytes: how much is needed at once; 0: not known, since the tmpfs is not full yet.
 * Suggests no size beyond the memory of the machine.
 */
void tmpfs_help(struct finding *f, const struct model *m, uint64_t size_bytes, uint64_t need_bytes,
		const char *path, enum remedy_scope scope);

/*
 * Quotes a path as one word of a shell command: paths in records may have any bytes. Returns
 * `text`, which is "DIR" if the quoted path is too long.
 */
#define PATH_WORD 520
const char *path_as_word(const char *path, char text[PATH_WORD]);

#endif

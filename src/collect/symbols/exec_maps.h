/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: which files a process maps executable. Since Linux 6.11 the kernel is asked for just
 * those, whatever else is mapped; before, /proc/PID/maps is read once, up to a cap.
 */
#ifndef FS_COLLECT_SYMBOLS_EXEC_MAPS_H
#define FS_COLLECT_SYMBOLS_EXEC_MAPS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#define EXEC_MAPS_TEXT_BYTES (16u << 20) /* of /proc/PID/maps: about 150,000 mappings */
#define EXEC_MAPS_ASKED	     4096	 /* mappings of one process that the kernel is asked for */

struct exec_map {
	__u64 start;
	__u64 end;
	__u64 offset; /* in its file */
	__u64 inode;
	__u32 dev_major;
	__u32 dev_minor;
	const char *path; /* as the process's namespace has it; " (deleted)" may follow. Borrowed */
};

/* Returns 0 to go on, else what exec_maps_each() returns. */
typedef int exec_map_fn(void *ctx, const struct exec_map *m);

/*
 * Calls it for each, in the order of addresses. *ret_cut: there were more than the caps allow.
 * Returns 0, -errno, or what `each` returned. `text_only`: as on a kernel before 6.11.
 */
int exec_maps_each(int proc, bool text_only, exec_map_fn *each, void *ctx, bool *ret_cut);

/* One line of /proc/PID/maps, without its newline; the path borrows from it. */
bool exec_map_parse(char *line, struct exec_map *ret);

#endif

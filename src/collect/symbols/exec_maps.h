/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: lists the executable file mappings of a process: since Linux 6.11 by PROCMAP_QUERY; on
 * older kernels, /proc/PID/maps is read once, up to a maximum size.
 */
#ifndef FS_COLLECT_SYMBOLS_EXEC_MAPS_H
#define FS_COLLECT_SYMBOLS_EXEC_MAPS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#define EXEC_MAPS_TEXT_BYTES (16u << 20) /* maximum bytes of maps: about 150,000 mappings */
#define EXEC_MAPS_ASKED	     4096	 /* maximum number of PROCMAP_QUERY ioctls per process */

struct exec_map {
	__u64 start;
	__u64 end;
	__u64 offset; /* offset of the mapping in its file */
	__u64 inode;
	__u32 dev_major;
	__u32 dev_minor;
	const char *path; /* path in the process's namespace; " (deleted)" may follow; not owned */
};

/* Returns 0 to continue; another value ends exec_maps_each(), which returns that value. */
typedef int exec_map_fn(void *ctx, const struct exec_map *m);

/*
 * Calls `each` for each executable mapping by address. *ret_cut is set if there are too many. With
 * `text_only`, reads /proc/PID/maps, as before Linux 6.11. Returns 0, -errno, or `each`'s result.
 */
int exec_maps_each(int proc, bool text_only, exec_map_fn *each, void *ctx, bool *ret_cut);

/* Parses a line of /proc/PID/maps, without its newline. ret->path points into the line. */
bool exec_map_parse(char *line, struct exec_map *ret);

#endif

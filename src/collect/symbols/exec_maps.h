/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: lists the executable file mappings of a process. Since Linux 6.11, it uses
 * PROCMAP_QUERY. On older kernels, it reads /proc/PID/maps once, up to a maximum size.
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
	/*
	 * The path in the process's mount namespace, which may end with " (deleted)". Without a
	 * file, it is "[vdso]", a name that the process gave, or empty. Borrowed.
	 */
	const char *path;
};

/* Returns 0 to continue. With another value, exec_maps_each() ends and returns this value. */
typedef int exec_map_fn(void *ctx, const struct exec_map *m);

enum exec_maps_of {
	EXEC_MAPS_FILES,
	EXEC_MAPS_ALL, /* also mappings without a file, such as code of JIT compilers */
};

/*
 * Calls `each` for each executable mapping, by address. Sets *ret_cut if there are too many
 * mappings. With `text_only`, reads /proc/PID/maps, as on kernels before 6.11. Returns 0, -errno,
 * or the result of `each`.
 */
int exec_maps_each(int proc, enum exec_maps_of of, bool text_only, exec_map_fn *each, void *ctx,
		   bool *ret_cut);

/* Parses a line of /proc/PID/maps without its newline; ret->path points into it. False: no file. */
bool exec_map_parse(char *line, struct exec_map *ret);

#endif

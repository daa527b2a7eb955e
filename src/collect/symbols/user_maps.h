/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: reads a process's executable file mappings, and opens the files. While the process
 * lives, a file that was closed to make room is opened again.
 */
#ifndef FS_COLLECT_SYMBOLS_USER_MAPS_H
#define FS_COLLECT_SYMBOLS_USER_MAPS_H

#include "collect/symbols/user_files.h"

#define USER_MAPS_MAX 1024 /* maximum number of mappings per process */

struct user_map {
	__u64 start;
	__u64 end;
	__u64 offset;
	struct user_file_id id;
	__u32 place;  /* index of the file in user_files */
	__u32 serial; /* serial of the file; 0: the file could not be opened */
	__u8 build_id[BUILD_ID_BYTES];
	bool has_build_id;
};

/* A process's executable mappings. Initialise with zeros. */
struct user_maps {
	struct user_map *m; /* array, freed by user_maps_free() */
	size_t n;
	size_t room;
};

/* Reads a process's mappings. Does not open a file again that `before`, an earlier result, has. */
int user_maps_learn(struct user_symbols *us, const struct process_key *of,
		    const struct user_maps *before, struct user_maps *ret);

/*
 * Returns the file with this build-id. Returns NULL if there is none, or if the file was closed and
 * the process is gone.
 */
struct user_file *user_maps_file(struct user_symbols *us, const struct process_key *of,
				 struct user_maps *maps, const __u8 *build_id);

/* Find the mapping at an address, or the open file of a mapping. NULL: not found. */
struct user_map *user_maps_at(const struct user_maps *maps, __u64 ip);
struct user_file *user_map_file(struct user_symbols *us, const struct process_key *of,
				struct user_map *m);

void user_maps_free(struct user_maps *maps);

#endif

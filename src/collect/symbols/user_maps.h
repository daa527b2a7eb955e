/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: where a process has files mapped executable, and those files opened: while it lives
 * also those that were closed since, to make room for others.
 */
#ifndef FS_COLLECT_SYMBOLS_USER_MAPS_H
#define FS_COLLECT_SYMBOLS_USER_MAPS_H

#include "collect/symbols/user_files.h"

#define USER_MAPS_MAX 1024 /* of one process */

struct user_map {
	__u64 start;
	__u64 end;
	__u64 offset;
	struct user_file_id id;
	__u32 place;  /* of the file */
	__u32 serial; /* 0: it could not be opened */
	__u8 build_id[BUILD_ID_BYTES];
	bool has_build_id;
};

/* Zero-initialise. */
struct user_maps {
	struct user_map *m; /* owned, user_maps_free() */
	size_t n;
	size_t room;
};

/* `before`: what was learned of it earlier, or NULL; files known from then are not opened again. */
int user_maps_learn(struct user_symbols *us, const struct process_key *of,
		    const struct user_maps *before, struct user_maps *ret);

/* The file with this build-id among them. NULL: none, or it is closed and its process gone. */
struct user_file *user_maps_file(struct user_symbols *us, const struct process_key *of,
				 struct user_maps *maps, const __u8 *build_id);

/* The mapping that an address is in, or NULL; and its file, as above. */
struct user_map *user_maps_at(const struct user_maps *maps, __u64 ip);
struct user_file *user_map_file(struct user_symbols *us, const struct process_key *of,
				struct user_map *m);

void user_maps_free(struct user_maps *maps);

#endif

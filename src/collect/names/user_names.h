/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: names of users, from /etc/passwd. The C library's getpwuid() is not used, because it may
 * ask a directory service over the network, and would run its modules with our rights.
 */
#ifndef FS_COLLECT_NAMES_USER_NAMES_H
#define FS_COLLECT_NAMES_USER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USER_NAME_LEN 32

/* Users of /etc/passwd. Initialise with zeros. */
struct user_names {
	struct user_name {
		uint32_t uid;
		char name[USER_NAME_LEN];
	} * user; /* sorted by uid; owned */
	size_t n;
	/* modification time in ns, inode and size of the file that was read; 0: none was */
	uint64_t modified_ns, inode, bytes;
};

/*
 * Finds the name of a user. Reads etc/passwd below the directory `root` at the first call, and
 * again after it changed if a uid is unknown. Returns NULL if the user has no entry or a name that
 * is too long. The name is valid until the next call.
 */
const char *user_name_find(struct user_names *u, int root, uint32_t uid);

void user_names_free(struct user_names *u);

#endif

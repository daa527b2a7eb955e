/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: reads a user and the user's groups from files below a root directory. */
#ifndef FS_COLLECT_LIMITS_ORIGIN_USER_H
#define FS_COLLECT_LIMITS_ORIGIN_USER_H

#include "collect/files/rooted_file.h"

#define USER_NAME_BYTES	 64
#define USER_GROUPS_MOST 64

struct user {
	uint32_t uid, gid;
	char name[USER_NAME_BYTES]; /* user name; empty: no file has this user */
	char home[128];
	struct {
		uint32_t gid;
		char name[USER_NAME_BYTES];
	} group[USER_GROUPS_MOST]; /* the user's groups, the primary group first */
	size_t groups;
};

/* Reads a user from /etc/passwd and /etc/group. Does not read other sources, such as LDAP. */
void user_find(struct files *f, uint32_t uid, struct user *ret);

/* Parse the text of /etc/passwd or /etc/group. */
void user_scan(struct user *u, struct span passwd);
void user_scan_groups(struct user *u, struct span group);

#endif

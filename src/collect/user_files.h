/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: the ELF files that processes map, each open once however many map it, up to a cap; the
 * one that was not used for longest makes room.
 */
#ifndef FS_COLLECT_USER_FILES_H
#define FS_COLLECT_USER_FILES_H

#include "collect/elf_symbols.h"
#include "collect/user_symbols.h"

#define USER_FILES_MAX	 256	     /* two descriptors each at most */
#define USER_TABLE_BYTES (24u << 20) /* of all their tables together, but one is always allowed */

/* Which file: a device and inode of no other file, for as long as we hold it open. */
struct user_file_id {
	__u64 inode;
	__u32 dev_major;
	__u32 dev_minor;
};

struct user_file {
	struct user_file_id id;
	struct elf_symbols elf;
	char module[USER_MODULE_BYTES];
	__u64 used;   /* the clock then */
	__u32 serial; /* 0: a free place; never that of another */
	bool had_table;
};

/* Where a process has a file mapped. */
struct user_map {
	__u64 start;
	__u64 end;
	__u64 offset;
	__u32 place;  /* of the file */
	__u32 serial; /* 0: it could not be opened */
};

struct user_files {
	struct user_file f[USER_FILES_MAX];
	__u32 serials;
};

/* NULL: not there, or not any more. */
struct user_file *user_files_find(struct user_symbols *us, const struct user_file_id *id);
struct user_file *user_files_get(struct user_symbols *us, const struct user_map *m);
struct user_file *user_files_by_build_id(struct user_symbols *us, const __u8 *build_id);

/* Takes over the fd; path is the process's own, in its root. NULL: it is no ELF file. */
struct user_file *user_files_add(struct user_symbols *us, const struct user_file_id *id, int fd,
				 const char *path, int its_root);

/* Names an address of it, within the memory that all tables may take. */
void user_file_name(struct user_symbols *us, struct user_file *f, __u64 address,
		    struct user_symbol *ret);

#endif

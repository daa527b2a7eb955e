/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: the ELF files that processes map, each open once however many map it, up to a cap; the
 * one that was not used for longest makes room.
 */
#ifndef FS_COLLECT_SYMBOLS_USER_FILES_H
#define FS_COLLECT_SYMBOLS_USER_FILES_H

#include "collect/symbols/elf_symbols.h"
#include "collect/symbols/user_symbols.h"

#define USER_FILES_MAX	 512	     /* descriptors; but at most half of RLIMIT_NOFILE */
#define USER_TABLE_BYTES (24u << 20) /* of all their tables together, but one is always allowed */

/* Which file: as its mappings say, and no other has it for as long as we hold it open. */
struct user_file_id {
	__u64 inode;
	__u32 dev_major;
	__u32 dev_minor;
};

struct user_file {
	struct user_file_id id;
	bool unproven; /* found by its path, with another inode: only its build-id tells that it is
			  it */
	struct elf_symbols elf;
	char module[USER_MODULE_BYTES];
	__u64 used;   /* the clock then */
	bool named;   /* it was in a stack: such are closed last */
	__u32 serial; /* 0: a free place; never that of another */
	bool had_table;
};

struct user_files {
	struct user_file f[USER_FILES_MAX];
	size_t n;    /* places that are in use or were */
	size_t most; /* descriptors */
	__u32 serials;
};

/*
 * NULL: not there, or not any more. The path's last part is looked at too: on btrfs, files of two
 * subvolumes may have the same device and inode in /proc/PID/maps.
 */
struct user_file *user_files_find(struct user_symbols *us, const struct user_file_id *id,
				  const char *path);
struct user_file *user_files_get(struct user_symbols *us, __u32 place, __u32 serial);
struct user_file *user_files_by_build_id(struct user_symbols *us, const __u8 *build_id);

int user_files_open(struct user_symbols *us);
void user_files_close(struct user_symbols *us);

/* Takes over the fd; path is the process's own, in its root. NULL: it is no ELF file. */
struct user_file *user_files_add(struct user_symbols *us, const struct user_file_id *id, int fd,
				 const char *path, int its_root);

/* Names an address of it, within the memory that all tables may take. */
void user_file_name(struct user_symbols *us, struct user_file *f, __u64 address,
		    struct user_symbol *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: the ELF files that processes map. A file is opened once for all processes. If too many
 * files are open, the least recently used one is closed.
 */
#ifndef FS_COLLECT_SYMBOLS_USER_FILES_H
#define FS_COLLECT_SYMBOLS_USER_FILES_H

#include "collect/symbols/elf_symbols.h"
#include "collect/symbols/user_symbols.h"

/* maximum number of open files; faultscope uses at most half of RLIMIT_NOFILE */
#define USER_FILES_MAX 512
/* maximum bytes of all symbol tables; a single table may be larger */
#define USER_TABLE_BYTES (24u << 20)

/* Identifies a file as /proc/PID/maps does. The identity is unique while the file is open. */
struct user_file_id {
	__u64 inode;
	__u32 dev_major;
	__u32 dev_minor;
};

struct user_file {
	struct user_file_id id;
	/*
	 * the file was opened by its path, but has another inode number: only a build-id can
	 * identify it
	 */
	bool unproven;
	struct elf_symbols elf;
	char module[USER_MODULE_BYTES];
	__u64 used;   /* value of user_symbols.clock at the last use */
	bool named;   /* the file was in a stack: other files are closed first */
	__u32 serial; /* number of the file, never reused; 0: the entry is free */
	bool had_table;
};

struct user_files {
	struct user_file f[USER_FILES_MAX];
	size_t n;    /* number of entries that are or were in use */
	size_t most; /* maximum number of fds */
	__u32 serials;
};

/*
 * Find an open file. NULL: no such file is open. The last component of the file's path is compared,
 * too: on btrfs, files of two subvolumes may have the same device and inode in /proc/PID/maps.
 */
struct user_file *user_files_find(struct user_symbols *us, const struct user_file_id *id,
				  const char *path);
struct user_file *user_files_get(struct user_symbols *us, __u32 place, __u32 serial);
struct user_file *user_files_by_build_id(struct user_symbols *us, const __u8 *build_id);

int user_files_open(struct user_symbols *us);
void user_files_close(struct user_symbols *us);

/* Adds a file, and takes over `fd`; `path` is below its_root. Returns NULL for invalid ELF. */
struct user_file *user_files_add(struct user_symbols *us, const struct user_file_id *id, int fd,
				 const char *path, int its_root);

/* Names an address in a file, and keeps all symbol tables within USER_TABLE_BYTES. */
void user_file_name(struct user_symbols *us, struct user_file *f, __u64 address,
		    struct user_symbol *ret);

#endif

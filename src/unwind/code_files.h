/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: the executable files that processes map. Each file has one unwind table, which all
 * processes share. Two files are equal if device, inode, size and ctime are equal, or if their
 * build IDs are. The table of a file that no process maps is kept for a while for programs that are
 * started repeatedly, unless its memory is needed.
 */
#ifndef FS_UNWIND_CODE_FILES_H
#define FS_UNWIND_CODE_FILES_H

#include <sys/stat.h>

#include "unwind/python_file.h"
#include "unwind/table_maker.h"
#include "unwind/unwind_maps.h"

#define CODE_FILES_MAX	8192
#define CODE_PATH_BYTES 4096 /* maximum length of a path */
/* nanoseconds after which the table of an unmapped file is freed */
#define CODE_IDLE_NS 30000000000ULL

/* work of one call of code_files_work(), in units of about 10 ns: 1 ms */
#define CODE_WORK 100000

enum code_state {
	CODE_TABLE,
	CODE_MAKING, /* the table is being made */
	/* a file without an ELF header, such as JIT-compiled code: walked by frame pointers */
	CODE_NO_ELF,
	CODE_UNREADABLE, /* the file is damaged, too large, or for another architecture */
	CODE_NO_ROOM,
};

struct code_file {
	dev_t dev;
	ino_t inode;
	off_t bytes;
	struct timespec changed; /* ctime */
	__u8 build_id[BUILD_ID_BYTES];
	bool has_build_id;
	enum code_state state;
	struct unwind_table table; /* the unwind table; its rows are in the BPF maps, at `place` */
	struct python_file python;
	__u32 pages;
	struct unwind_place place;
	struct rule_list rules; /* rules that the rows use; owned */
	__u32 users;   /* number of lists of mappings (area_blocks.c) that refer to the file */
	__u64 left_ns; /* time at which the last of these lists was freed */
};

/* The table that is being made: at most one at a time. */
struct code_making {
	struct code_file *f;	   /* borrowed; NULL: none */
	struct table_maker *maker; /* owned; NULL: the rows are being copied into the BPF maps */
	struct byte_source source; /* owns the descriptor */
	char *path;		   /* owned; NULL: unknown */
	bool has_place;		   /* there is room for the pages of the table */
	int begun; /* number of times that this table was begun, because the file changed */
};

struct code_files {
	struct code_file **file; /* array of owned pointers; owned */
	size_t n, room;
	struct rule_set rules;
	struct code_making making;
	/* counters since the start of faultscope */
	__u64 tables, freed, no_room, unreadable;
	__u64 rows;
};

/* Initialises an empty set of files. Returns 0 or -ENOMEM. */
int code_files_open(struct code_files *c);
void code_files_close(struct code_files *c);

/*
 * Returns the file. The descriptor of `source` is moved to this module, which closes it. `path`
 * gives the name and may be NULL. `st` is NULL for the vDSO, which every process has. The caller
 * gets one use of the file, and releases it. Returns NULL if memory is short. If the state of the
 * file is CODE_MAKING, the caller must call code_files_work() until the table is made, before it
 * asks for another file.
 */
struct code_file *code_files_get(struct code_files *c, const struct byte_source *source,
				 const char *path, const struct stat *st, __u64 now_ns);

/*
 * Does a part of the work for the table that is being made. Returns whether there is more to do. If
 * the file changes meanwhile, its table is begun again.
 */
bool code_files_work(struct code_files *c, struct unwind_maps *m, __u64 now_ns);

/* Releases one use of a file. */
void code_file_release(struct code_file *f, __u64 now_ns);

/*
 * Computes the difference between the addresses of a mapping and the file's own addresses. Returns
 * false if the file has no code at this offset.
 */
bool code_file_bias(const struct code_file *f, __u64 start, __u64 offset, __u64 *ret);

/* Fills in the BPF program's entry for a mapping of the file. */
void code_file_area(const struct code_file *f, __u64 offset, struct fs_unwind_area *area);

/*
 * Frees the tables of files that no process has mapped for CODE_IDLE_NS, and rules that no table
 * uses. Call this every second.
 */
void code_files_expire(struct code_files *c, struct unwind_maps *m, __u64 now_ns);

#endif

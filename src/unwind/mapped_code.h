/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unwind: reads the executable mappings of one process, and opens the files, one at a time. */
#ifndef FS_UNWIND_MAPPED_CODE_H
#define FS_UNWIND_MAPPED_CODE_H

#include "records/records.h"
#include "unwind/code_files.h"

#define MAPPED_CODE_MAX 4096 /* maximum number of mappings of a process */

struct mapped_code {
	struct process_key of;
	/* the process when the read began, and when its mappings were read */
	struct fs_unwind_epoch begun, read;
	/* descriptors of /proc/PID and of the process's root directory, owned; -1: none */
	int proc, root;
	struct code_mapping {
		__u64 start, end, offset, inode;
		char *path; /* path of the file, owned; NULL: the mapping has no file */
		bool is_vdso;
	} * m;			     /* owned */
	struct fs_unwind_area *area; /* entries for the BPF program, for m[0..at); owned */
	/* files of m[0..at), and of m[at] while its table is made; NULL: none; owned */
	struct code_file **file;
	size_t n, at, room;
	bool cut; /* true: the process has more than MAPPED_CODE_MAX mappings */
};

/*
 * Reads the mappings. `begun` is the result of unwind_maps_begin(). Returns 0 or -errno: -ESRCH if
 * the process is gone.
 */
int mapped_code_read(struct mapped_code *c, const struct process_key *of,
		     const struct fs_unwind_epoch *begun);

enum mapped_step {
	MAPPED_NEXT,   /* an entry is filled in */
	MAPPED_MAKING, /* a part of the table of the next mapping's file is made */
	MAPPED_END,    /* there is no further mapping */
};

/* Works on the entry of the next mapping. */
enum mapped_step mapped_code_step(struct mapped_code *c, struct code_files *files,
				  struct unwind_maps *m, __u64 now_ns);

/*
 * Describes the CPython of the process, from the files that are read so far. Returns false if no
 * CPython was found.
 */
bool mapped_code_python(const struct mapped_code *c, struct fs_python *ret);

/*
 * Finds the file and the offset in it of an address. Returns false if there is no file with a build
 * ID.
 */
bool mapped_code_find(const struct mapped_code *c, __u64 ip, __u8 ret_build_id[BUILD_ID_BYTES],
		      __u64 *ret_offset);

void mapped_code_free(struct mapped_code *c, __u64 now_ns);

#endif

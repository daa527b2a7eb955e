/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: the lists of mappings that were given to the BPF program, and the files that they refer
 * to. A forked child shares the list of its parent. The BPF program's table of processes shows
 * which lists are in use.
 */
#ifndef FS_UNWIND_AREA_BLOCKS_H
#define FS_UNWIND_AREA_BLOCKS_H

#include "unwind/mapped_code.h"

#define AREA_BLOCKS_MAX FS_UNWIND_AREAS

struct area_block {
	struct unwind_given given;
	__u32 n;
	struct code_file **file; /* array of n files, NULL for mappings without a file; owned */
	struct code_span {
		__u64 start, end, offset;
	} * span; /* array of n mappings; owned */
	/* number of sweeps in a row that found no process with this list */
	unsigned int unused;
	bool seen; /* the current sweep found a process with this list */
};

struct area_blocks {
	struct area_block *b; /* owned */
	size_t n, room;
	size_t ended; /* number of ended processes that the current sweep found */
};

/*
 * Gives a process its list of mappings. Mappings that are not read yet are marked as such. Returns
 * 0, the error of unwind_maps_publish(), or -ENOMEM.
 */
int area_blocks_publish(struct area_blocks *x, struct unwind_maps *m, const struct mapped_code *c,
			__u64 now_ns);

/*
 * Finds the file and the offset in it that an address had in the mappings of this generation.
 * Returns false if there is no file with a build ID.
 */
bool area_blocks_find(const struct area_blocks *x, __u32 generation, __u64 ip,
		      __u8 ret_build_id[BUILD_ID_BYTES], __u64 *ret_offset);

/* Frees lists that no process uses any more, and the entries of ended processes. */
void area_blocks_sweep(struct area_blocks *x, struct unwind_maps *m, __u64 now_ns);

void area_blocks_free(struct area_blocks *x);

#endif

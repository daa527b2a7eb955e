/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: one step of a stack walk in user space, with the BPF program's code. A function of the
 * caller reads the stack memory.
 */
#ifndef FS_UNWIND_MEMORY_STEP_H
#define FS_UNWIND_MEMORY_STEP_H

#include <stdbool.h>

#include "wire_unwind_step.h"

struct fs_unwind_memory {
	/* Reads a word. Returns false if it cannot be read. */
	bool (*read)(void *ctx, __u64 at, __u64 *ret);
	void *ctx;
	const __u64 *number; /* registers of the innermost frame, by DWARF number; borrowed */
	unsigned int numbers;
};

static inline int fs_unwind_read(struct fs_unwind_memory *m, __u64 at, __u64 *ret)
{
	return m->read(m->ctx, at, ret) ? 0 : -1;
}

static inline int fs_unwind_register(struct fs_unwind_memory *m, __u32 number, __u64 *ret)
{
	if (number >= m->numbers)
		return -1;
	*ret = m->number[number];
	return 0;
}

#endif

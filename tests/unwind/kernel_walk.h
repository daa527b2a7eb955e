/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests: the record that kernel_walk.bpf.c sends. */
#ifndef FS_TESTS_KERNEL_WALK_H
#define FS_TESTS_KERNEL_WALK_H

#include "wire_unwind.h"

#define WALKED_CALL 110 /* getppid() on x86-64 */
#define WALKED_MARK 0x57a11ed

struct walked_stack {
	__u32 tid;
	__u32 n;
	__u32 end;
	__u32 ns;
	__u64 hash;
	__u64 pc[FS_UNWIND_FRAMES];
};

#endif

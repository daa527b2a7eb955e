/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * records: why a walk of a user stack ended. A stack is complete only with STACK_END_ENTRY. The
 * value 0 means that the kernel followed frame pointers, which do not show whether the stack is
 * complete.
 */
#ifndef FS_RECORDS_STACK_ENDS_H
#define FS_RECORDS_STACK_ENDS_H

enum stack_end {
	STACK_END_GOES_ON,
#define STACK_END(constant, name, meaning) STACK_END_##constant,
#include "records/stack_ends.def"
#undef STACK_END
	NR_STACK_ENDS,
};

#define STACK_ENDS_MAX 16 /* size of arrays of counters by stack end; a power of two */

#endif

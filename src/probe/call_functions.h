/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the kernel's functions of system calls. The kernel calls one function for each system call
 * of user space, and calls none of them itself: SYSCALL_DEFINEx() in include/linux/syscalls.h, and
 * asm/syscall_wrapper.h of each architecture.
 */
#ifndef FS_PROBE_CALL_FUNCTIONS_H
#define FS_PROBE_CALL_FUNCTIONS_H

#include <stddef.h>

#include "wire.h"

#define CALL_FUNCTIONS_MAX 256
#define CALL_FUNCTION_NAME 48

/*
 * The function that runs a task's seccomp filters (kernel/seccomp.c). If a filter answers a call,
 * it returns -1, and the kernel does not call the function of the call.
 */
#define FILTER_FUNCTION "__secure_computing"

struct call_functions {
	char name[CALL_FUNCTIONS_MAX][CALL_FUNCTION_NAME]; /* no two have the same address */
	__u64 address[CALL_FUNCTIONS_MAX];
	size_t nr;
	size_t hidden; /* functions that are left out, since their addresses are hidden */
};

/*
 * Finds the functions of the calls in call_rows, and on x86 those of the 32-bit calls, except for
 * writes, in a table in the format of /proc/kallsyms; its last line may be incomplete. Names that
 * the table lacks are left out: the kernel is built without these calls.
 */
void call_functions_parse(const char *table, size_t size, struct call_functions *ret);

#endif

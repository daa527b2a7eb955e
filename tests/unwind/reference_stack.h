/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests: the stack of a stopped thread, as libdw finds it without debug information. */
#ifndef FS_TESTS_REFERENCE_STACK_H
#define FS_TESTS_REFERENCE_STACK_H

#include <elfutils/libdwfl.h>

#include "unwind/unwind_walk.h"

#define REFERENCE_FRAMES_MAX 1024

struct reference {
	Dwfl *dwfl;
	pid_t pid;
	pid_t tid; /* thread whose stack is read */
	bool attached;
	const __u64 *registers;
	__u64 pc[REFERENCE_FRAMES_MAX];
	/* the address itself was interrupted; it is not a return address */
	bool exact[REFERENCE_FRAMES_MAX];
	size_t n;
	bool whole; /* libdw says that the last frame is the outermost one */
	char error[128];
};

/* Reads the mappings of a process again. */
void reference_update(struct reference *r, pid_t pid);

/* Finds the stack of a thread with these registers, given by DWARF number. */
void reference_walk(struct reference *r, pid_t tid, const __u64 registers[UNWIND_REGISTERS]);

void reference_close(struct reference *r);

#endif

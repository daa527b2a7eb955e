/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the system calls to count, and how to interpret their arguments and results. */
#ifndef FS_PROBE_CALLS_H
#define FS_PROBE_CALLS_H

#include "wire.h"

struct call_row {
	unsigned int number; /* system call number on this architecture */
	unsigned char call;  /* kind of call: enum call_id */
	unsigned char shape; /* form of arguments and result: enum fs_shape */
	const char *name;    /* name of the call, as in its tracepoint sys_exit_NAME */
};

/* The native calls, except for writes: a probe may attach to the end of each of these calls. */
extern const struct call_row call_rows[];
extern const unsigned int nr_call_rows;

/* The calls of 32-bit programs on x86; on other architectures, there are none. */
extern const struct call_row compat_call_rows[];
extern const unsigned int nr_compat_call_rows;

/* Fills the BPF programs' tables of system calls, on x86 also the table of 32-bit calls. */
void calls_fill(struct fs_config *c);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: which system calls make or change mappings and descriptors, and how to read them. */
#ifndef FS_PROBE_CALLS_H
#define FS_PROBE_CALLS_H

#include "wire.h"

struct call_row {
	unsigned int number; /* of this architecture */
	unsigned char call;  /* enum call_id */
	unsigned char shape; /* enum fs_shape */
	const char *name;    /* its tracepoint is sys_exit_NAME */
};

extern const struct call_row call_rows[];
extern const unsigned int nr_call_rows;

/* The tables that the kernel side reads; of 32-bit calls too, where the kernel takes them. */
void calls_fill(struct fs_config *c);

#endif

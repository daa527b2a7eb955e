/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the kernel log, the modules and the flight recorder's records out of a memory dump. */
#ifndef FS_CRASH_VMCORE_VMCORE_H
#define FS_CRASH_VMCORE_VMCORE_H

#include "base/buf.h"
#include "blackbox/scan.h"

struct vmcore {
	struct buf log;	    /* as dmesg prints it; empty: it could not be read */
	struct buf modules; /* names of the loaded modules; empty: not known */
	struct bb_found records;
	const char *why; /* the reason why the log could not be read */
};

/* Returns whether an open file is a memory dump. */
bool vmcore_is(int fd);

/* Reads a dump. Returns 0, or -errno with the reason in ret->why. The caller frees *ret. */
int vmcore_read(struct vmcore *ret, int fd);

/* Adds the records in a dump. Returns 0, or -errno if the dump cannot be read. */
int vmcore_records(struct bb_found *f, int fd);

void vmcore_free(struct vmcore *v);

#endif

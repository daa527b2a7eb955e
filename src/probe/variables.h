/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: finds the addresses of kernel variables that hold limits, and the functions of system
 * calls. Reads them from /proc/kallsyms.
 */
#ifndef FS_PROBE_VARIABLES_H
#define FS_PROBE_VARIABLES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "probe/call_functions.h"
#include "records/records.h"

/*
 * A thread that reads the addresses, while other threads load BPF programs: /proc/kallsyms has
 * several megabytes, and takes tens of milliseconds.
 */
struct variables {
	pthread_t thread;
	bool reads; /* `thread` runs */
	int fd;
	__u64 address[NR_VARIABLES];
	struct call_functions functions; /* valid after variables_end() */
};

/*
 * Starts to read the addresses, with the rights of the caller. End with variables_end(). If there
 * is no file or no thread, no address is known.
 */
void variables_begin(struct variables *v);

/*
 * Waits until all addresses are read, and copies them. An address is 0 if the name is missing,
 * ambiguous, or hidden from faultscope.
 */
void variables_take(struct variables *v, __u64 ret[NR_VARIABLES]);

void variables_end(struct variables *v);

/* Fills addresses from a table in the format of kallsyms; its last line may be incomplete. */
void variables_parse(const char *table, size_t size, __u64 ret[NR_VARIABLES]);

#endif

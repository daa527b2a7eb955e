/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The work that calibrate.c times: loops of operations that probes observe, in this process. */
#ifndef FS_SESSION_CALIBRATE_WORK_H
#define FS_SESSION_CALIBRATE_WORK_H

#include <stddef.h>

enum bench_work {
	WORK_FAULT,
	WORK_USER_COPY,
	WORK_MAPPING,
	WORK_DESCRIPTOR,
	WORK_FILE,
	WORK_OTHER_CALL,
	WORK_SIGNAL,
	WORK_PROCESS,
	NR_WORKS
};

struct bench {
	unsigned char *pages;
	size_t page_bytes;
	int zero; /* file descriptor of /dev/zero */
};

/* Prepares the work. Returns 0 or -errno. Call bench_close() in either case. */
int bench_open(struct bench *b);
void bench_close(struct bench *b);

/* Returns the time of one operation in ns: the minimum of a few short runs. */
double bench_time(const struct bench *b, enum bench_work work);

#endif

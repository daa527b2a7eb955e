/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Small loops of what hooks see, of this process alone, timed: the yardstick of calibrate.c. */
#ifndef FS_SESSION_CALIBRATE_WORK_H
#define FS_SESSION_CALIBRATE_WORK_H

#include <stddef.h>

enum bench_work {
	WORK_FAULT,
	WORK_USER_COPY,
	WORK_MAPPING,
	WORK_DESCRIPTOR,
	WORK_OTHER_CALL,
	WORK_SIGNAL,
	WORK_PROCESS,
	NR_WORKS
};

struct bench {
	unsigned char *pages;
	size_t page_bytes;
	int zero; /* /dev/zero */
};

/* 0, -errno; bench_close() frees either way. */
int bench_open(struct bench *b);
void bench_close(struct bench *b);

/* ns that one operation takes: of the fastest of a few short runs. */
double bench_time(const struct bench *b, enum bench_work work);

#endif

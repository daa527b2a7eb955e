/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plays CLOCK_MONOTONIC, so that a test decides when time passes. */
#ifndef FS_TESTS_UNIT_PLAYED_CLOCK_H
#define FS_TESTS_UNIT_PLAYED_CLOCK_H

#include <dlfcn.h>
#include <time.h>

#include "fixture.h"

static uint64_t now_ns; /* CLOCK_MONOTONIC; each test defines it with the time at which it begins */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static int (*real)(clockid_t, struct timespec *);

	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	if (clock != CLOCK_MONOTONIC)
		return real(clock, ret);
	ret->tv_sec = now_ns / SECOND;
	ret->tv_nsec = now_ns % SECOND;
	return 0;
}

#endif

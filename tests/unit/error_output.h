/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keeps what is written to standard error, to compare error messages with expected ones. */
#ifndef FS_TESTS_ERROR_OUTPUT_H
#define FS_TESTS_ERROR_OUTPUT_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

static int errors_real = -1, errors_file = -1;

/* From now on, standard error is a file in memory. */
static inline void errors_begin(void)
{
	errors_file = memfd_create("stderr", MFD_CLOEXEC);
	fflush(stderr);
	errors_real = dup(STDERR_FILENO);
	if (errors_file < 0 || dup2(errors_file, STDERR_FILENO) < 0)
		abort();
}

/* Restores standard error. Returns what was written since errors_begin(), until the next call. */
static inline const char *errors_end(void)
{
	static char text[4096];
	ssize_t n;

	fflush(stderr);
	dup2(errors_real, STDERR_FILENO);
	close(errors_real);
	n = pread(errors_file, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	close(errors_file);
	return text;
}

/* Restores standard error, and checks what was written since errors_begin(). */
static inline void errors_are(const char *want, const char *name)
{
	is_str(errors_end(), want, name);
}

#endif

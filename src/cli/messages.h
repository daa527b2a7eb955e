/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages on standard error, output to --output, and exit statuses. */
#ifndef FS_CLI_MESSAGES_H
#define FS_CLI_MESSAGES_H

#include "cli/options.h"

/* Prints "faultscope: …" on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Writes the text to the file of --output or to standard output. Prints errors. Returns 0 or an
 * exit status.
 */
int say_all(const struct options *o, const struct buf *b);

/*
 * Returns EXIT_INCOMPLETE and prints the gaps (render/completeness.h) if `status` is 0 and there
 * are gaps; else returns `status`.
 */
int status_of_gaps(int status, const struct buf *gaps);

/* Prints the gaps as an error, because nothing at all was read. Returns EXIT_FAILED. */
int fail_of_gaps(const struct buf *gaps);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a command says: on standard error, to --output, and by its exit status. */
#ifndef FS_CLI_MESSAGES_H
#define FS_CLI_MESSAGES_H

#include "cli/options.h"

/* Says "faultscope: …" on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* To --output or standard output, and says where that fails. Returns 0 or an exit status. */
int say_all(const struct options *o, const struct buf *b);

/*
 * The exit status of a command whose result has these gaps (render/completeness.h): EXIT_INCOMPLETE
 * in place of 0, and standard error says why. Any other status stays: what was found was found.
 */
int status_of_gaps(int status, const struct buf *gaps);

#endif

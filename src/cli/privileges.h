/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decides which commands need privileges. */
#ifndef FS_CLI_PRIVILEGES_H
#define FS_CLI_PRIVILEGES_H

#include "cli/options.h"

/*
 * Returns whether the command measures this machine. Commands that do not measure only read files
 * and print.
 */
bool privileges_needed(const struct options *o);

/* Prints which files root could not open, after a failure without privileges. */
void privileges_explain_denied(const struct options *o);

#endif

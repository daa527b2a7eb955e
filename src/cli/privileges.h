/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which commands need privileges at all. */
#ifndef FS_CLI_PRIVILEGES_H
#define FS_CLI_PRIVILEGES_H

#include "cli/options.h"

/* Whether the command measures this machine; the others read files and print, which needs none. */
bool privileges_needed(const struct options *o);

/* After such a command failed: says on standard error which file is closed to root without them. */
void privileges_explain_denied(const struct options *o);

#endif

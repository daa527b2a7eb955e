/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command `blackbox`: run, arm, status and read. */
#ifndef FS_CRASH_BLACKBOX_COMMAND_H
#define FS_CRASH_BLACKBOX_COMMAND_H

#include "cli/options.h"

int command_blackbox(const struct options *o);

#endif

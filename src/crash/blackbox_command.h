/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The flight recorder as a command. */
#ifndef FS_CRASH_BLACKBOX_COMMAND_H
#define FS_CRASH_BLACKBOX_COMMAND_H

#include "cli/options.h"

int command_blackbox(const struct options *o);

#endif

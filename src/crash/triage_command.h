/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command `triage`: reads logs, finds the cause of a crash, and prints it. */
#ifndef FS_CRASH_TRIAGE_COMMAND_H
#define FS_CRASH_TRIAGE_COMMAND_H

#include "cli/options.h"

int command_triage(const struct options *o);

#endif

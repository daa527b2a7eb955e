/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The flight recorder at work: as a daemon, or for a session with a driver under test. */
#ifndef FS_CRASH_BLACKBOX_LIVE_H
#define FS_CRASH_BLACKBOX_LIVE_H

#include "cli/options.h"

/* Records until a signal, or for --duration. An exit status. */
int blackbox_run(const struct options *o);

/* Prints as it records, and ends with a verdict on what the log said meanwhile. */
int triage_live(const struct options *o);

#endif

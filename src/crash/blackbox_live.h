/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs the flight recorder: as a daemon, or for a session with a driver under test. */
#ifndef FS_CRASH_BLACKBOX_LIVE_H
#define FS_CRASH_BLACKBOX_LIVE_H

#include "cli/options.h"

/* Runs the recorder until a signal arrives or --duration ends. Returns an exit status. */
int blackbox_run(const struct options *o);

/* Prints records as they arrive, then analyses the log of that time. Returns an exit status. */
int triage_live(const struct options *o);

#endif

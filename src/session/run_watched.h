/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Starts a command and watches it to its end, for `run` and `memory`. */
#ifndef FS_SESSION_RUN_WATCHED_H
#define FS_SESSION_RUN_WATCHED_H

#include "session/run_plan.h"

/*
 * Runs the command of the options by a plan, whose members `whom`, `target`, `after_first_scan` and
 * `ctx` are set here. Returns the exit status of faultscope, or ends as the command did.
 */
int run_watched(const struct run_plan *base);

#endif

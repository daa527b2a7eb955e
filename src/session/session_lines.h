/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session: adds source lines and inlined functions of native code to the lists of frames. A helper
 * process finds them. Lists without lines are there at once; lists with lines replace them.
 */
#ifndef FS_SESSION_SESSION_LINES_H
#define FS_SESSION_SESSION_LINES_H

#include "session/session.h"

#define LINES_STEP_MS 50 /* time after which session_lines_wait() may change from true to false */

/* Starts the helper process. Call before BPF programs are loaded. */
void session_lines_begin(struct session *s);

/* The descriptor that is readable when the helper has answered; -1: none. */
int session_lines_fd(const struct session *s);

/* Takes answers, and asks further questions. `ctx` is a struct session. Returns 0 or -errno. */
int session_lines_work(void *ctx);

/*
 * Returns whether output shall wait, because stacks wait for their source lines. Findings keep the
 * stacks that they were found with, so they would never have lines otherwise. Returns false if the
 * helper makes no progress or takes long, until all stacks that wait now have their lines.
 */
bool session_lines_wait(struct session *s);

/* Waits for the remaining answers while session_lines_wait() is true. */
void session_lines_finish(struct session *s);

void session_lines_end(struct session *s);

#endif

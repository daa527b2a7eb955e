/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Phases of the command of `run --phases`. The command inherits a stream socket, whose number is in
 * the environment variable FAULTSCOPE_PHASES. A line that it writes is a mark: it ends the running
 * phase, and begins a phase with this name unless the line is empty. At each mark faultscope scans,
 * and then writes an empty line to the socket. So a program can wait until the scan is done.
 */
#ifndef FS_SESSION_PHASE_MARKS_H
#define FS_SESSION_PHASE_MARKS_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/phases.h"

#define PHASE_MARKS_CLOSED                                                                         \
	(struct phase_marks)                                                                       \
	{                                                                                          \
		.fd = -1, .of_command = -1                                                         \
	}

struct session;

struct phase_marks {
	int fd;		/* faultscope's end of the socket; -1: closed */
	int of_command; /* the command's end, until the command has started; -1: closed */
	char line[PHASE_NAME_LEN]; /* the line that is read, cut to size */
	size_t len;
};

/*
 * Opens the socket, and sets the environment variable. Call it while the process has one thread.
 * Returns 0 or -errno.
 */
int phase_marks_open(struct phase_marks *p);

/* Lets the command inherit its end of the socket. Returns 0 or an errno. */
int phase_marks_pass(const struct phase_marks *p, posix_spawn_file_actions_t *actions);

/* Closes the command's end, which the command has inherited, and reads marks in the event loop. */
int phase_marks_watch(struct session *s);

/* Takes the marks that are still unread after the command has ended. Returns 0 or -errno. */
int phase_marks_finish(struct session *s);

void phase_marks_close(struct phase_marks *p);

#endif

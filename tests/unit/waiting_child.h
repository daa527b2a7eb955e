/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Starts a child process that waits, for tests of what /proc shows about another process. */
#ifndef FS_TESTS_WAITING_CHILD_H
#define FS_TESTS_WAITING_CHILD_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Forks a child that calls prepare(argument) and then waits. Returns the child's pid after
 * prepare() has returned. The child is killed when the test ends. If prepare() returns false, the
 * test ends. The child has called poll() before it is ready, so that its memory no longer grows.
 */
static inline pid_t waiting_child(bool (*prepare)(long argument), long argument)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready) || (pid = fork()) < 0)
		exit(1);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (prepare(argument) && !poll(NULL, 0, 0) && write(ready[1], "r", 1) == 1)
			poll(NULL, 0, -1);
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		exit(1);
	close(ready[0]);
	return pid;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs a command of faultscope, and keeps what it prints. */
#ifndef FS_TESTS_COMMAND_OUTPUT_H
#define FS_TESTS_COMMAND_OUTPUT_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/options.h"
#include "fixture.h"

static struct {
	char out[16384], err[4096];
	int status; /* exit status; -1: the command was killed */
} got;

static inline void command_direct(int fd, const char *path)
{
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (to < 0 || dup2(to, fd) < 0)
		_exit(99);
	close(to);
}

/* Runs a command in a child process, because commands drop privileges. Fills `got`. */
static inline void run_command(int (*command)(const struct options *o), const struct options *o)
{
	int status;
	pid_t child;

	fflush(stdout);
	fixture_path("out"); /* makes the directory, which the child shares */
	child = fork();
	if (!child) {
		command_direct(STDOUT_FILENO, fixture_path("out"));
		command_direct(STDERR_FILENO, fixture_path("err"));
		exit(command(o));
	}
	waitpid(child, &status, 0);
	got.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	io_read(AT_FDCWD, fixture_path("out"), got.out, sizeof(got.out));
	io_read(AT_FDCWD, fixture_path("err"), got.err, sizeof(got.err));
}

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Executes a program with SIGINT and SIGQUIT at their defaults. A shell without job control starts
 * background commands with both signals ignored, and the commands cannot undo this.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}

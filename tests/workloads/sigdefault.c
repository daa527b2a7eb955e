// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Executes a program with the default actions for SIGINT and SIGQUIT. A shell without job control
 * ignores both signals in background commands, and a shell script cannot change this.
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

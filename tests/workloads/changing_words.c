/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens and closes a file N times at one place. The words at the top of its stack are numbers that
 * change with each call. They are in the range of the code addresses of a program that is linked to
 * a fixed address, so they look like return addresses of such a program.
 */
#include "common.h"

#define WORDS 8

/* syscall() has no stack frame, so the frame of this function is at the top of the stack. */
static __attribute__((noinline)) long open_and_close(unsigned long number)
{
	volatile unsigned long words[WORDS];
	long fd;

	for (int i = 0; i < WORDS; i++)
		words[i] = number;
	fd = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);
	return syscall(SYS_close, fd) ? -1 : (long)words[0];
}

int main(int argc, char **argv)
{
	static const char usage[] = "N";
	const char *word = NULL;
	const struct opt opts[] = { { 0 } };
	long calls;

	parse_args(argc, argv, usage, opts, &word, 1, 1);
	calls = parse_number(word);
	wait_for_go();
	for (long i = 0; i < calls; i++)
		if (open_and_close(0x10000000 + i) < 0)
			die("open and close");
	truth_open();
	truth_number("calls", calls);
	truth_close();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps known amounts of memory in a process and its children.
 *
 * usage: hold_fork MODE
 *	child	a child reads all memory of its parent, and writes to a third of one part
 *	grand	as child; the child also forks, and its child does the same
 *	gone	a child reads all memory and ends; then the parent writes to all of one part
 *	shared	parent and child share memory, which the parent wrote and the child reads
 *	moved	a child reads all memory; then the parent moves one part, and gets other memory at
 *		its old address, without faults
 */
#include "hold.h"

own char *hold_first_60(void)
{
	char *at = map_own(60 * MIB);

	touch_here(at, 60 * MIB);
	return at;
}

own char *hold_second_40(void)
{
	char *at = map_own(40 * MIB);

	touch_here(at, 40 * MIB);
	return at;
}

own char *share_30(void)
{
	char *at = map(30 * MIB, MAP_SHARED | MAP_ANONYMOUS, -1);

	touch_here(at, 30 * MIB);
	return at;
}

own void read_all(const char *first, const char *second)
{
	read_here(first, 60 * MIB);
	read_here(second, 40 * MIB);
}

own void copy_third_20(char *first)
{
	touch_here(first, 20 * MIB);
}

own void read_shared_30(const char *at)
{
	read_here(at, 30 * MIB);
}

own void write_after_end_60(char *first)
{
	touch_here(first, 60 * MIB);
}

own void move_40(char *at)
{
	char *to = map_own(41 * MIB) + MIB;

	if (mremap(at, 40 * MIB, 40 * MIB, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		die("mremap");
	if (mmap(at, 40 * MIB, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0) != at)
		die("mmap");
}

/* Runs in a child: says that it is ready, and waits for the end of its parent. */
static void stay(int ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(ready, "r", 1) != 1)
		die("write");
	for (;;)
		pause();
}

static void wait_ready(int ready)
{
	char byte;

	if (read(ready, &byte, 1) != 1)
		die("a child ended");
}

int main(int argc, char **argv)
{
	char *first, *second, *shared = NULL;
	const char *mode = NULL;
	pid_t child, grandchild = 0;
	int ready[2];

	hold_begin(argc, argv, "child|grand|gone|shared|moved", &mode);
	if (!mode || pipe(ready))
		wrong_usage("child|grand|gone|shared|moved");
	first = hold_first_60();
	second = hold_second_40();
	if (!strcmp(mode, "shared"))
		shared = share_30();
	child = fork_or_die();
	if (!child) {
		if (shared)
			read_shared_30(shared);
		read_all(first, second);
		if (!strcmp(mode, "gone"))
			_exit(0);
		if (strcmp(mode, "shared") && strcmp(mode, "moved"))
			copy_third_20(first);
		if (!strcmp(mode, "grand")) {
			grandchild = fork_or_die();
			if (!grandchild)
				read_all(first, second);
		}
		if (!grandchild && !strcmp(mode, "grand"))
			copy_third_20(first + 20 * MIB);
		stay(ready[1]);
	}
	if (!strcmp(mode, "gone")) {
		waitpid(child, NULL, 0);
		write_after_end_60(first);
	} else {
		wait_ready(ready[0]);
	}
	if (!strcmp(mode, "grand"))
		wait_ready(ready[0]);
	if (!strcmp(mode, "moved"))
		move_40(second);
	truth_open();
	truth_number("child", child);
	truth_close();
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens N files with different names, so that each file has its own row in tables by file name.
 * Then leaks fds of one file. For "ended", children open the N files and exit. Otherwise, this
 * process opens the N files, and either closes them or keeps them open.
 */
#include "common.h"

#include <sys/mman.h>
#include <sys/resource.h>

#define A_CHILD 64 /* number of files that each child opens */

static long rate;

/* Opens a file whose name has only letters, because digits in names are folded. */
static void open_one(long n, bool closes)
{
	char name[16] = "x";
	int fd;

	for (int i = 1; i < 8; i++, n /= 16)
		name[i] = 'g' + n % 16;
	fd = memfd_create(name, 0);
	if (fd < 0)
		die("memfd_create %s", name);
	if (closes)
		close(fd);
}

static void open_many(long from, long to, bool closes, long long start)
{
	for (long n = from; n < to; n++) {
		open_one(n, closes);
		keep_rate(start, n + 1, rate);
	}
}

static void open_in_child(long from, long to, long long start)
{
	pid_t child = fork_or_die();

	if (!child) {
		open_many(from, to, false, start);
		_exit(0);
	}
	if (waitpid(child, NULL, 0) != child)
		die("waitpid");
}

/* Leaks fds. Returns how many it opened. */
__attribute__((noinline)) static long leak(long wanted, int *ret_errno)
{
	for (long n = 0; n < wanted; n++)
		if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) {
			*ret_errno = errno;
			return n;
		}
	return wanted;
}

int main(int argc, char **argv)
{
	long wanted, leaks = 2000, nofile = 4096, made;
	const char *words[2];
	const struct opt opts[] = {
		{ "leak", OPT_NUMBER, &leaks },
		{ "rate", OPT_NUMBER, &rate },
		{ "nofile", OPT_NUMBER, &nofile },
		{ 0 },
	};
	struct rlimit limit;
	int refusal = 0;
	long long start;

	parse_args(argc, argv, "ended|closed|held N [--leak N] [--rate PER_SEC] [--nofile N]", opts,
		   words, 2, 2);
	wanted = parse_count(words[1]);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = nofile;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit RLIMIT_NOFILE %ld", nofile);
	wait_for_go();
	start = now_ns();
	if (!strcmp(words[0], "ended"))
		for (long n = 0; n < wanted; n += A_CHILD)
			open_in_child(n, n + A_CHILD < wanted ? n + A_CHILD : wanted, start);
	else
		open_many(0, wanted, !strcmp(words[0], "closed"), start);
	made = leak(leaks, &refusal);
	truth_open();
	truth_number("leaked", made);
	truth_errno(refusal);
	truth_close();
	return 0;
}

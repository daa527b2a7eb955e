// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * For each line of input, does some work and prints its CPU time in nanoseconds: "faults" for a page
 * fault, "forks" for a fork with a child that writes to 64 pages and ends.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

static const size_t page = 4096, pages = 4096;
static const int rounds = 24, forks = 400;
static volatile char *at;

static double cpu_ns()
{
	struct rusage own, children;
	double ns = 0;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	for (const struct rusage *u : {&own, &children})
		ns += (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e9 +
		      (u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1e3;
	return ns;
}

static void touch(size_t n)
{
	for (size_t i = 0; i < n; i++)
		at[i * page] = 1;
}

static double fault()
{
	double before = cpu_ns();

	for (int i = 0; i < rounds; i++) {
		touch(pages);
		madvise(const_cast<char *>(at), pages * page, MADV_DONTNEED);
	}
	return (cpu_ns() - before) / rounds / pages;
}

static double fork_children()
{
	double before = cpu_ns();

	for (int i = 0; i < forks; i++) {
		pid_t child = fork();

		if (!child) {
			touch(64);
			_exit(0);
		}
		waitpid(child, nullptr, 0);
	}
	return (cpu_ns() - before) / forks;
}

int main()
{
	char line[32];

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	at = static_cast<char *>(mmap(nullptr, pages * page, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		printf("%.1f\n", strncmp(line, "forks", 5) ? fault() : fork_children());
		fflush(stdout);
	}
	return 0;
}

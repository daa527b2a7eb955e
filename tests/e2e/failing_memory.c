// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs a faultscope command many times in child processes. In each run one allocation fails: the
 * first allocation that is made by a certain chain of callers. A run must then either print the
 * same output and end with the same status as a run without failure, or end with an error and a
 * message.
 *
 * usage: failing_memory MOST COMMAND...
 *
 * At most MOST chains of callers are tried, spread evenly over all chains of the command. The
 * program prints a line for each wrong run, and at the end the number of runs that failed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int faultscope_main(int argc, char **argv);

#define main	 faultscope_main
#define REVISION "failing_memory"
#include "../../src/main.c"
#undef main

#define CALLERS	   6 /* callers of an allocation that are compared */
#define SKIPPED	   2 /* innermost frames: allocation_fails() and the function that calls it */
#define CHAINS_MAX 4096

/* Chains of callers in the order of their first allocation, written by the first run. */
struct chains {
	uint64_t hash[CHAINS_MAX];
	size_t n;
};

static struct chains *chains;
static bool learning, inside;
static uint64_t failing; /* hash of the chain whose first allocation fails, or 0 */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static uint64_t hash_of_callers(void)
{
	void *frame[SKIPPED + CALLERS] = {};
	int n = backtrace(frame, SKIPPED + CALLERS);
	uint64_t hash = 0xcbf29ce484222325;

	for (int i = SKIPPED; i < n; i++)
		hash = (hash ^ (uintptr_t)frame[i]) * 0x100000001b3;
	return hash ?: 1;
}

static void learn(uint64_t hash)
{
	for (size_t i = 0; i < chains->n; i++)
		if (chains->hash[i] == hash)
			return;
	if (chains->n < CHAINS_MAX)
		chains->hash[chains->n++] = hash;
}

static bool __attribute__((noinline)) allocation_fails(void)
{
	bool fails = false;

	if (inside || (!learning && !failing))
		return false;
	inside = true;
	if (learning)
		learn(hash_of_callers());
	else if (hash_of_callers() == failing)
		fails = true;
	if (fails) {
		failing = 0;
		errno = ENOMEM;
	}
	inside = false;
	return fails;
}

void *malloc(size_t size)
{
	return allocation_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return allocation_fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return allocation_fails() ? NULL : __libc_realloc(old, size);
}

struct ran {
	int status; /* as of waitpid() */
	char *out, *err;
};

static char *content(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = size >= 0 ? __libc_calloc(1, size + 1) : NULL;

	if (!text || pread(fd, text, size, 0) != size)
		abort();
	close(fd);
	return text;
}

static struct ran run(int argc, char **argv, bool learns, uint64_t fails)
{
	int out = memfd_create("out", 0), err = memfd_create("err", 0);
	struct ran r = {.status = -1};
	pid_t pid;

	fflush(stdout); /* so that the child does not print this buffer again */
	pid = fork();
	if (!pid) {
		int status;

		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		close(out);
		close(err);
		learning = learns;
		failing = fails;
		status = faultscope_main(argc, argv);
		fflush(NULL);
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &r.status, 0) != pid)
		abort();
	r.out = content(out);
	r.err = content(err);
	return r;
}

/* Returns whether an output says that it is incomplete. */
static bool tells(const char *out)
{
	return strstr(out, "lost: ") || strstr(out, "out of memory");
}

static bool is_right(const struct ran *r, const struct ran *whole)
{
	int status = WEXITSTATUS(r->status);

	if (!WIFEXITED(r->status))
		return false;
	if (r->status == whole->status && !strcmp(r->out, whole->out))
		return true;
	if ((status == EXIT_FAILED || status == EXIT_INCOMPLETE) && strstr(r->err, "faultscope: "))
		return true;
	return tells(r->out) && !tells(whole->out);
}

/* Prints where the output of a run begins to differ from the whole output. */
static void print_wrong(size_t at, const struct ran *r, const struct ran *whole)
{
	size_t from = 0;

	while (r->out[from] && r->out[from] == whole->out[from])
		from++;
	printf("wrong: chain %zu of %zu: status 0x%x, %.60s", at, chains->n, r->status, r->err);
	from = from < 20 ? 0 : from - 20;
	printf("\n  got  %.70s\n  want %.70s\n", r->out + from, whole->out + from);
}

int main(int argc, char **argv)
{
	size_t most = argc > 2 ? strtoul(argv[1], NULL, 10) : 0, failed = 0, done = 0;
	void *frame[1];
	struct ran whole;

	if (!most) {
		fprintf(stderr, "usage: failing_memory MOST COMMAND...\n");
		return EXIT_USAGE;
	}
	chains = mmap(NULL, sizeof(*chains), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (chains == MAP_FAILED)
		abort();
	backtrace(frame, 1); /* the first call loads a library, which allocates memory */
	argv[1] = "faultscope";
	whole = run(argc - 1, argv + 1, true, 0);
	for (size_t i = 0; i < most && i < chains->n; i++, done++) {
		size_t at = chains->n > most ? i * chains->n / most : i;
		struct ran r = run(argc - 1, argv + 1, false, chains->hash[at]);

		failed += r.status != whole.status;
		if (!is_right(&r, &whole))
			print_wrong(at, &r, &whole);
		free(r.out);
		free(r.err);
	}
	printf("%zu of %zu runs failed\n", failed, done);
	return 0;
}

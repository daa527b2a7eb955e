// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs a faultscope command many times in child processes. In each run one call of the C library
 * fails: the first call that is made by a certain chain of callers. A run must then either print
 * the same output and end with the same status as a run without failure, or end with an error and
 * a message. If a call for files failed, the message names its error (EIO), and a run without an
 * error prints no other messages.
 *
 * usage: failing_calls memory|files MOST COMMAND...
 *
 * With `memory`, allocations fail; with `files`, calls that use files, events and sockets fail. At
 * most MOST chains of callers are tried, spread evenly over all chains of the command. The program
 * prints a line for each wrong run, and at the end the number of runs that failed.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

int faultscope_main(int argc, char **argv);

#define main	 faultscope_main
#define REVISION "failing_calls"
#include "../../src/main.c"
#undef main

#define CALLERS	    6 /* callers of an allocation that are compared */
#define SKIPPED	    2 /* innermost frames: call_fails() and the function that calls it */
#define CHAINS_MAX  4096
#define RUN_SECONDS 20 /* a run that takes longer is wrong */

/* Chains of callers in the order of their first call, written by the first run. */
struct chains {
	uint64_t hash[CHAINS_MAX];
	size_t n;
};

static struct chains *chains;
static enum calls { MEMORY, FILES } kind; /* calls of this kind fail */
static bool learning, inside;
static uint64_t failing; /* hash of the chain whose first call fails, or 0 */
static void *outermost;	 /* chains end before this frame, since run() has several callers */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static uint64_t hash_of_callers(void)
{
	void *frame[SKIPPED + CALLERS] = {};
	int n = backtrace(frame, SKIPPED + CALLERS);
	uint64_t hash = 0xcbf29ce484222325;

	for (int i = SKIPPED; i < n && frame[i] != outermost; i++)
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

static bool __attribute__((noinline)) call_fails(enum calls calls)
{
	bool fails = false;

	if (inside || calls != kind || (!learning && !failing))
		return false;
	inside = true;
	if (learning)
		learn(hash_of_callers());
	else if (hash_of_callers() == failing)
		fails = true;
	if (fails) {
		failing = 0;
		errno = calls == MEMORY ? ENOMEM : EIO;
	}
	inside = false;
	return fails;
}

void *malloc(size_t size)
{
	return call_fails(MEMORY) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return call_fails(MEMORY) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return call_fails(MEMORY) ? NULL : __libc_realloc(old, size);
}

ssize_t __read_chk(int fd, void *ret, size_t n, size_t size);
ssize_t __pread_chk(int fd, void *ret, size_t n, off_t at, size_t size);

/* Defines a function of the C library that fails with EIO, or calls the real function. */
#define FAILS(type, name, parameters, arguments)                                                   \
	type name parameters                                                                       \
	{                                                                                          \
		static type(*real) parameters;                                                     \
                                                                                                   \
		if (call_fails(FILES))                                                             \
			return (type)-1;                                                           \
		if (!real)                                                                         \
			real = (type(*) parameters)dlsym(RTLD_NEXT, #name);                        \
		return real arguments;                                                             \
	}

FAILS(int, open, (const char *path, int flags, ...), (path, flags, 0644))
FAILS(int, openat, (int dir, const char *path, int flags, ...), (dir, path, flags, 0644))
FAILS(ssize_t, read, (int fd, void *ret, size_t n), (fd, ret, n))
FAILS(ssize_t, __read_chk, (int fd, void *ret, size_t n, size_t size), (fd, ret, n, size))
FAILS(ssize_t, pread, (int fd, void *ret, size_t n, off_t at), (fd, ret, n, at))
FAILS(ssize_t, __pread_chk, (int fd, void *ret, size_t n, off_t at, size_t size),
      (fd, ret, n, at, size))
FAILS(ssize_t, write, (int fd, const void *data, size_t n), (fd, data, n))
FAILS(ssize_t, pwrite, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
FAILS(int, fstat, (int fd, struct stat *ret), (fd, ret))
FAILS(off_t, lseek, (int fd, off_t at, int whence), (fd, at, whence))
FAILS(int, ftruncate, (int fd, off_t size), (fd, size))
FAILS(int, fsync, (int fd), (fd))
FAILS(int, fdatasync, (int fd), (fd))
FAILS(int, rename, (const char *from, const char *to), (from, to))
FAILS(int, renameat, (int from, const char *old, int to, const char *name), (from, old, to, name))
FAILS(int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags))
FAILS(int, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode))
FAILS(int, mkdir, (const char *path, mode_t mode), (path, mode))
FAILS(int, stat, (const char *path, struct stat *ret), (path, ret))
FAILS(int, lstat, (const char *path, struct stat *ret), (path, ret))
FAILS(int, fstatat, (int dir, const char *path, struct stat *ret, int flags),
      (dir, path, ret, flags))
FAILS(int, fchmod, (int fd, mode_t mode), (fd, mode))
FAILS(int, flock, (int fd, int how), (fd, how))
FAILS(ssize_t, readlinkat, (int dir, const char *path, char *ret, size_t size),
      (dir, path, ret, size))
FAILS(ssize_t, readlink, (const char *path, char *ret, size_t size), (path, ret, size))
FAILS(int, linkat, (int from, const char *old, int to, const char *name, int flags),
      (from, old, to, name, flags))
FAILS(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t from),
      (at, n, prot, flags, fd, from))
FAILS(int, epoll_create1, (int flags), (flags))
FAILS(int, epoll_ctl, (int poll, int op, int fd, struct epoll_event *e), (poll, op, fd, e))
FAILS(int, epoll_wait, (int poll, struct epoll_event *e, int most, int ms), (poll, e, most, ms))
FAILS(int, timerfd_create, (int clock, int flags), (clock, flags))
FAILS(int, timerfd_settime,
      (int fd, int flags, const struct itimerspec *to, struct itimerspec *was),
      (fd, flags, to, was))
FAILS(int, signalfd, (int fd, const sigset_t *mask, int flags), (fd, mask, flags))
FAILS(int, eventfd, (unsigned int n, int flags), (n, flags))
FAILS(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
FAILS(int, socketpair, (int domain, int type, int protocol, int fd[2]),
      (domain, type, protocol, fd))
FAILS(int, pipe2, (int fd[2], int flags), (fd, flags))

/* Like FAILS(), for functions that return NULL if they fail. */
#define FAILS_WITH_NULL(type, name, parameters, arguments)                                         \
	type *name parameters                                                                      \
	{                                                                                          \
		static type *(*real)parameters;                                                    \
                                                                                                   \
		if (call_fails(FILES))                                                             \
			return NULL;                                                               \
		if (!real)                                                                         \
			real = (type * (*)parameters) dlsym(RTLD_NEXT, #name);                     \
		return real arguments;                                                             \
	}

FAILS_WITH_NULL(FILE, fopen, (const char *path, const char *mode), (path, mode))
FAILS_WITH_NULL(FILE, fdopen, (int fd, const char *mode), (fd, mode))
FAILS_WITH_NULL(DIR, opendir, (const char *path), (path))
FAILS_WITH_NULL(DIR, fdopendir, (int fd), (fd))
FAILS_WITH_NULL(struct dirent, readdir, (DIR * d), (d))

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

/* Hides ages, such as "7 s ago", which differ between runs. */
static void hide_ages(char *text)
{
	static const char age[] = " s ago";

	for (char *at = text; (at = strstr(at, age)); at += strlen(age))
		for (char *digit = at; digit > text && isdigit((unsigned char)digit[-1]);)
			*--digit = '#';
}

static struct ran __attribute__((noinline)) run(int argc, char **argv, bool learns, uint64_t fails)
{
	int out = memfd_create("out", 0), err = memfd_create("err", 0);
	struct ran r = {.status = -1};
	pid_t pid;

	fflush(stdout); /* so that the child does not print this buffer again */
	pid = fork();
	if (!pid) {
		int status;

		alarm(RUN_SECONDS);
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		close(out);
		close(err);
		outermost = __builtin_return_address(0);
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
	hide_ages(r.out);
	return r;
}

/* Returns whether an output says that it is incomplete, and the whole output does not say so. */
static bool tells(const char *out, const char *whole)
{
	return (strstr(out, "lost: ") && !strstr(whole, "lost: ")) ||
	       (strstr(out, "out of memory") && !strstr(whole, "out of memory"));
}

/* Returns whether a run says what failed. Messages about memory use several words. */
static bool names_error(const struct ran *r)
{
	const char *what = kind == MEMORY ? "faultscope: " : strerror(EIO);

	return strstr(r->err, what) || (kind == FILES && strstr(r->out, what));
}

static bool is_right(const struct ran *r, const struct ran *whole)
{
	int status = WEXITSTATUS(r->status);

	if (!WIFEXITED(r->status))
		return false;
	/* without memory, a run may warn that not all privileges could be dropped */
	if (r->status == whole->status && !strcmp(r->out, whole->out) &&
	    (kind == MEMORY || !strcmp(r->err, whole->err)))
		return true;
	if ((status == EXIT_FAILED || status == EXIT_INCOMPLETE) && names_error(r))
		return true;
	return tells(r->out, whole->out);
}

/* Prints where the output of a run begins to differ from the whole output. */
static void print_wrong(size_t at, const struct ran *r, const struct ran *whole)
{
	size_t from = 0;

	while (r->out[from] && r->out[from] == whole->out[from])
		from++;
	printf("wrong: chain %zu of %zu: status 0x%x, %.300s", at, chains->n, r->status, r->err);
	from = from < 20 ? 0 : from - 20;
	printf("\n  got  %.70s\n  want %.70s\n", r->out + from, whole->out + from);
}

int main(int argc, char **argv)
{
	size_t most = argc > 3 ? strtoul(argv[2], NULL, 10) : 0, failed = 0, done = 0;
	void *frame[1];
	struct ran whole;

	if (!most) {
		fprintf(stderr, "usage: failing_calls memory|files MOST COMMAND...\n");
		return EXIT_USAGE;
	}
	kind = strcmp(argv[1], "files") ? MEMORY : FILES;
	chains = mmap(NULL, sizeof(*chains), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (chains == MAP_FAILED)
		abort();
	backtrace(frame, 1); /* the first call loads a library, which allocates memory */
	argv[2] = "faultscope";
	whole = run(argc - 2, argv + 2, true, 0);
	for (size_t i = 0; i < most && i < chains->n; i++, done++) {
		size_t at = chains->n > most ? i * chains->n / most : i;
		struct ran r = run(argc - 2, argv + 2, false, chains->hash[at]);

		failed += r.status != whole.status;
		if (!is_right(&r, &whole))
			print_wrong(at, &r, &whole);
		free(r.out);
		free(r.err);
	}
	printf("%zu of %zu runs failed\n", failed, done);
	return 0;
}

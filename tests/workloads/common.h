/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions for all workloads: arguments, waits, children, pages, mappings, and the "truth line".
 * The truth line is a JSON object with exact counts of what the workload did. Tests compare
 * faultscope's counts with the counts in the truth line.
 */
#ifndef WORKLOADS_COMMON_H
#define WORKLOADS_COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES 4096L
#define NSEC_PER_SEC 1000000000LL
#define NO_LIMIT LONG_MAX

enum opt_kind { OPT_FLAG, OPT_NUMBER, OPT_TEXT };

/* An option "--name [VALUE]". An empty element ends a table of options. */
struct opt {
	const char *name;
	enum opt_kind kind;
	void *value;
};

static struct {
	bool wait;
	bool hold;
	long sleep_ms;
} common;

/*
 * Ends the program with an error message. If errno is not 0, the message includes the text of
 * errno.
 */
static inline __attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...)
{
	int error = errno;
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, error ? ": %s\n" : "\n", strerror(error));
	exit(1);
}

static inline long parse_number(const char *text)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 0);
	if (errno || end == text || *end || number < 0)
		die("not a count: '%s'", text);
	return number;
}

/* Parses a count. For the word "limit", the workload makes as many as the kernel permits. */
static inline long parse_count(const char *text)
{
	return strcmp(text, "limit") ? parse_number(text) : NO_LIMIT;
}

static inline const struct opt *find_opt(const struct opt *opts, const char *name)
{
	for (; opts->name; opts++)
		if (!strcmp(opts->name, name))
			return opts;
	return NULL;
}

static inline __attribute__((noreturn)) void wrong_usage(const char *usage)
{
	fprintf(stderr, "usage: %s %s [--wait] [--hold] [--sleep-ms N]\n",
		program_invocation_short_name, usage);
	exit(2);
}

/*
 * Parses options, and stores the other words in words[]: at least `need` and at most `most`.
 * Returns the number of words.
 */
static inline int parse_args(int argc, char **argv, const char *usage, const struct opt *opts,
			     const char **words, int need, int most)
{
	static const struct opt shared[] = {
		{ "wait", OPT_FLAG, &common.wait },
		{ "hold", OPT_FLAG, &common.hold },
		{ "sleep-ms", OPT_NUMBER, &common.sleep_ms },
		{ 0 },
	};
	/* The stdout buffer is static, so that the truth line needs no free memory. */
	static char out[4096];
	const struct opt *opt;
	int found = 0;

	setvbuf(stdout, out, _IOFBF, sizeof(out));
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--", 2)) {
			if (found == most)
				wrong_usage(usage);
			words[found++] = argv[i];
			continue;
		}
		opt = find_opt(shared, argv[i] + 2);
		if (!opt && opts)
			opt = find_opt(opts, argv[i] + 2);
		if (!opt || (opt->kind != OPT_FLAG && ++i == argc))
			wrong_usage(usage);
		if (opt->kind == OPT_FLAG)
			*(bool *)opt->value = true;
		else if (opt->kind == OPT_NUMBER)
			*(long *)opt->value = parse_number(argv[i]);
		else
			*(const char **)opt->value = argv[i];
	}
	if (found < need)
		wrong_usage(usage);
	return found;
}

static inline long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static inline void sleep_until(long long ns)
{
	struct timespec at = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/* Sleeps until operation `made` is due at `rate` operations per second. Rate 0 never sleeps. */
static inline void keep_rate(long long start, long made, long rate)
{
	if (rate)
		sleep_until(start + made * NSEC_PER_SEC / rate);
}

static inline void note_stop(int signal)
{
	(void)signal;
}

/* Blocks SIGTERM and SIGINT outside of the waits below, so that the program can clean up. */
static inline void catch_stop(void)
{
	struct sigaction action = { .sa_handler = note_stop };
	sigset_t stops;

	sigemptyset(&stops);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGINT);
	sigprocmask(SIG_BLOCK, &stops, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}

/*
 * Waits. Returns true if a stop signal arrived, if stdin had a byte (which is then read), or if
 * stdin is at its end.
 */
static inline bool told(struct pollfd *input, long timeout_ms)
{
	struct timespec timeout = { timeout_ms / 1000, timeout_ms % 1000 * 1000000 };
	sigset_t none;
	char byte;
	int ready;

	sigemptyset(&none);
	ready = ppoll(input, input ? 1 : 0, timeout_ms < 0 ? NULL : &timeout, &none);
	if (ready > 0 && read(input->fd, &byte, 1) < 0)
		die("read stdin");
	return ready != 0;
}

static inline bool told_by_input(long timeout_ms)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return told(&input, timeout_ms);
}

/* With --wait: prints that the work is about to start, then waits for a byte on stdin. */
static inline void wait_for_go(void)
{
	if (!common.wait)
		return;
	printf("{\"pid\":%d,\"ready\":true}\n", getpid());
	fflush(stdout);
	told_by_input(-1);
}

static inline void truth_open(void)
{
	printf("{\"pid\":%d", getpid());
}

static inline void truth_number(const char *key, long long number)
{
	printf(",\"%s\":%lld", key, number);
}

static inline void truth_text(const char *key, const char *text)
{
	printf(",\"%s\":\"%s\"", key, text);
}

static inline void truth_errno(int error)
{
	truth_number("errno", error);
	truth_text("errno_name", error ? strerrorname_np(error) : "");
}

/* Ends the truth line. Then waits as long as the options --hold and --sleep-ms say. */
static inline void truth_close(void)
{
	puts("}");
	fflush(stdout);
	if (common.hold)
		told_by_input(-1);
	if (common.sleep_ms)
		told(NULL, common.sleep_ms);
}

static inline pid_t fork_or_die(void)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	return child;
}

/* Starts a thread with a small stack, so that many threads fit into memory. */
static inline pthread_t start_thread(void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 16);
	errno = pthread_create(&thread, &attr, run, arg);
	if (errno)
		die("pthread_create");
	pthread_attr_destroy(&attr);
	return thread;
}

struct faults {
	long minor;
	long major;
};

static inline struct faults faults_now(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (struct faults){ usage.ru_minflt, usage.ru_majflt };
}

static inline struct faults faults_since(int who, struct faults start)
{
	struct faults end = faults_now(who);

	return (struct faults){ end.minor - start.minor, end.major - start.major };
}

static inline void truth_faults(struct faults delta)
{
	truth_number("minflt_delta", delta.minor);
	truth_number("majflt_delta", delta.major);
}

/* Maps writable private anonymous memory that is never backed by huge pages. */
static inline char *map_pages(long pages)
{
	size_t bytes = pages ? pages * PAGE_BYTES : PAGE_BYTES;
	char *base;

	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		die("prctl PR_SET_THP_DISABLE");
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		die("mmap %zu bytes", bytes);
	if (madvise(base, bytes, MADV_NOHUGEPAGE) && errno != EINVAL)
		die("madvise MADV_NOHUGEPAGE");
	return base;
}

static inline void write_pages(char *base, long pages)
{
	for (long i = 0; i < pages; i++)
		*(volatile char *)(base + i * PAGE_BYTES) = 1;
}

static inline void read_pages(const char *base, long pages)
{
	for (long i = 0; i < pages; i++)
		(void)*(const volatile char *)(base + i * PAGE_BYTES);
}

/* Maps a page that cannot merge with the page mapped before it: their protections differ. */
static inline void *map_unmergeable(long index)
{
	return (void *)syscall(SYS_mmap, NULL, PAGE_BYTES, index & 1 ? PROT_READ : PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Returns the number of lines of /proc/self/maps except [vsyscall]. Needs no free memory. */
static inline long map_count(void)
{
	static const char gate[] = "[vsyscall]\n";
	const size_t tail = sizeof(gate) - 1;
	static char text[sizeof(gate) - 1 + 16384];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	long lines = 0;
	ssize_t got;

	if (fd < 0)
		die("open /proc/self/maps");
	while ((got = read(fd, text + tail, sizeof(text) - tail)) > 0) {
		for (ssize_t i = 0; i < got; i++)
			lines += text[tail + i] == '\n';
		memmove(text, text + got, tail);
	}
	if (got < 0)
		die("read /proc/self/maps");
	close(fd);
	return lines - !memcmp(text, gate, tail);
}

#endif

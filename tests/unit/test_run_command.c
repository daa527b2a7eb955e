// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the command run with a played kernel: the peak of memory that it reports, the environment
 * and the signals of the command, calls that fail, and its exit statuses. Scans read /proc.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "command_output.h"
#include "played_kernel.h"
#include "session/commands.h"
#include "session/run_watched.h"
#include "session/session.h"
#include "tap.h"

static long peak_kib; /* peak RSS of the largest child; -1: it cannot be read */
static bool no_thread, no_socket;
static int ending; /* exit status that the plan sets after the last scan */

int getrusage(__rusage_who_t who, struct rusage *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->ru_maxrss = who == RUSAGE_CHILDREN ? peak_kib : 0;
	return peak_kib < 0 ? -1 : 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (!real)
		real = (typeof(real))dlsym(RTLD_NEXT, "pthread_create");
	return no_thread ? EAGAIN : real(thread, attr, run, arg);
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
	if (!no_socket)
		return played_real(SYS_socketpair, domain, type, protocol, ends, 0, 0);
	errno = EMFILE;
	return -1;
}

/* Sets the RSS of faultscope itself, which is compared with the peak of the command. */
static void set_own_rss(struct session *s)
{
	s->in.m.tick.own_rss_bytes = 80 << 20;
	if (ending)
		s->status = ending;
}

static void say_peak(struct buf *b, const struct view *v)
{
	buf_printf(b, "%s: %llu KiB", v->ending, (unsigned long long)v->child_rss_bytes / 1024);
}

static const struct renderer peak = {.name = "peak",
				     .open = render_nothing,
				     .event = render_no_event,
				     .finding = render_no_finding,
				     .frame = render_nothing,
				     .close = say_peak};

static int run(const struct options *o)
{
	struct run_plan plan;

	alarm(60); /* ends a command that does not end */
	plan_init(&plan, o);
	plan.mode = "run";
	plan.tiers = 3;
	plan.after_scan = set_own_rss;
	plan.before_end = set_own_rss;
	return run_watched(&plan);
}

static char *shell[4] = {"sh", "-c", NULL, NULL};

/* Runs a line of the shell. */
static void run_line(const char *line)
{
	struct options o = {.colour = WHEN_NEVER, .revision = "test", .interval = 10};

	shell[2] = (char *)line;
	o.argv = shell;
	o.argc = 3;
	o.phases = strstr(line, "FAULTSCOPE_PHASES") != NULL;
	o.format = peak_kib ? &peak : NULL;
	o.forced[hook_find("scan")] = "/proc";
	played_begin();
	run_command(run, &o);
}

/* A peak near that of faultscope itself says nothing about the command. */
static void test_peak(void)
{
	static const struct {
		long kib;
		const char *want;
	} rows[] = {
		{-1, "exit 0: 0 KiB"},
		{1, "exit 0: 0 KiB"},
		{90 << 10, "exit 0: 0 KiB"},
		{(90 << 10) + 1, "exit 0: 92161 KiB"},
		{3 << 20, "exit 0: 3145728 KiB"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		peak_kib = rows[i].kib;
		run_line("exit 0");
		is_str(got.out, rows[i].want, "the peak");
	}
	peak_kib = 0;
}

/* What the command inherits. */
static void test_command(void)
{
	run_line("echo \"$FAULTSCOPE_PHASES\"; ls -l /proc/$$/fd/$FAULTSCOPE_PHASES");
	ok(atoi(got.out) > 2 && strstr(got.out, "socket:"), "a socket for phases");
	run_line("grep SigBlk /proc/self/status");
	is_str(got.out, "SigBlk:\t0000000000000000\n", "no signal is blocked");
	unsetenv("FAULTSCOPE_PHASES");
	run_line("env | grep -c PHASES=");
	is_str(got.out, "0\n", "no socket without --phases");
}

static void test_statuses(void)
{
	static const struct {
		const char *line;
		int session, want; /* -1: the command was killed */
	} rows[] = {
		{"exit 3", 0, 3},
		{"exit 3", EXIT_GATE, 3},
		{"exit 0", EXIT_GATE, EXIT_GATE},
		{"exit 0", EXIT_FAILED, EXIT_RUN_FAILED},
		{"exit 0", EXIT_INCOMPLETE, EXIT_INCOMPLETE},
		{"kill -9 $$", EXIT_GATE, -1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ending = rows[i].session;
		run_line(rows[i].line);
		is_u64(got.status, rows[i].want, rows[i].line);
	}
	ending = 0;
}

static void test_failures(void)
{
	no_thread = true;
	run_line("exit 0");
	no_thread = false;
	is_u64(got.status, EXIT_RUN_FAILED, "no thread");
	ok(strstr(got.err, "faultscope: cannot start a thread: Resource temporarily unavailable\n"),
	   "is an error");
	no_socket = true;
	run_line("echo $FAULTSCOPE_PHASES");
	no_socket = false;
	is_u64(got.status, EXIT_RUN_FAILED, "no socket");
	is_str(got.err, "faultscope: cannot open a socket for --phases: Too many open files\n",
	       "is an error");
	is_str(got.out, "", "the command is not started");
}

int main(void)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		ok(true, "# SKIP no types of the kernel");
		return tap_done();
	}
	signal(SIGPIPE, SIG_IGN);
	test_peak();
	test_command();
	test_statuses();
	test_failures();
	return tap_done();
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Overflows a thread's stack in a child, which then ends as language runtimes do. The child has
 * either no SIGSEGV handler, or a handler on an alternate stack. The handler does one of four
 * things: it reports the overflow and aborts (like Rust), raises the signal again (like Python's
 * faulthandler), exits, or jumps out of the overflow. After such a jump, the program either
 * continues, or aborts later for another reason.
 */
#include "common.h"

#include <pthread.h>
#include <setjmp.h>

#define STACK_BYTES (256 << 10)

static enum how { FATAL, ABORTS, RAISES, EXITS, GOES_ON, ABORTS_LATER, HANDLES_NULL } how;
static const char *const names[] = { "fatal",	"aborts",	"raises",	"exits",
				     "goes-on", "aborts-later", "handles-null" };
#define NR_WAYS (sizeof(names) / sizeof(names[0]))

static char *guard_from, *guard_to;
static sigjmp_buf back;

static int recurse(int depth)
{
	volatile char frame[1024];

	frame[0] = depth;
	return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}

static void say(const char *text)
{
	if (write(2, text, strlen(text)) < 0)
		_exit(1);
}

static void handle(int number, siginfo_t *info, void *context)
{
	char *at = info->si_addr;

	(void)context;
	if (how == HANDLES_NULL)
		siglongjmp(back, 1);
	if (at < guard_from || at >= guard_to) {
		signal(number, SIG_DFL);
		return;
	}
	if (how == EXITS)
		_exit(1);
	if (how == RAISES) {
		signal(number, SIG_DFL);
		raise(number);
	}
	if (how != ABORTS && how != RAISES)
		siglongjmp(back, 1);
	if (how == RAISES)
		return; /* the raised signal is delivered when this handler returns */
	say("\nthread 'worker' has overflowed its stack\n");
	abort();
}

static void take_signal(void)
{
	static char other[1 << 16];
	const stack_t stack = { .ss_sp = other, .ss_size = sizeof(other) };
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	if (how == FATAL)
		return;
	if (sigaltstack(&stack, NULL) || sigaction(SIGSEGV, &action, NULL))
		die("signal handler");
}

static void *overflow(void *unused)
{
	pthread_attr_t attr;
	size_t size, guard;
	void *base;

	(void)unused;
	if (pthread_getattr_np(pthread_self(), &attr) ||
	    pthread_attr_getstack(&attr, &base, &size) || pthread_attr_getguardsize(&attr, &guard))
		die("pthread_getattr_np");
	/* In glibc, the guard is the lowest part of the stack. Other C libraries put it below. */
	guard_from = (char *)base - guard;
	guard_to = (char *)base + guard;
	take_signal();
	if (!sigsetjmp(back, 1)) {
		if (how == HANDLES_NULL)
			write_pages(NULL, 1);
		else
			recurse(0);
	}
	if (how == ABORTS_LATER)
		abort();
	return NULL;
}

static int run(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, STACK_BYTES) ||
	    pthread_create(&thread, &attr, overflow, NULL) || pthread_join(thread, NULL))
		die("thread");
	return 0;
}

int main(int argc, char **argv)
{
	static const char usage[] = "fatal|aborts|raises|exits|goes-on|aborts-later|handles-null";
	const struct rlimit no_core = { 0, 0 };
	const struct opt opts[] = { { 0 } };
	const char *word;
	size_t i = 0;
	pid_t child;
	int status;

	parse_args(argc, argv, usage, opts, &word, 1, 1);
	while (i < NR_WAYS && strcmp(word, names[i]))
		i++;
	if (i == NR_WAYS)
		wrong_usage(usage);
	how = i;
	setrlimit(RLIMIT_CORE, &no_core);
	wait_for_go();
	child = fork_or_die();
	if (!child) {
		if (!freopen("/dev/null", "w", stderr))
			die("/dev/null");
		_exit(run());
	}
	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	truth_open();
	truth_number("child", child);
	truth_number("signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	truth_number("stack", STACK_BYTES);
	truth_close();
	return 0;
}

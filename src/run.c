// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "session.h"

#define TIERS_RUN 0xfu

extern char **environ;

static void describe_command(struct session *s)
{
	size_t len = 0;

	strcpy(s->mode, "run");
	for (int i = 0; i < s->o->argc && len < sizeof(s->target); i++)
		len += snprintf(s->target + len, sizeof(s->target) - len, "%s%s", i ? " " : "",
				s->o->argv[i]);
}

/*
 * Starts the command between two words to the kernel side: the child it forks for us is watched
 * from its first instant. posix_spawn forks with CLONE_VM, so hardly any fault before exec is ours.
 */
static int start_command(struct session *s)
{
	posix_spawnattr_t attr;
	sigset_t none, plain;
	int err;

	sigemptyset(&none);
	sigfillset(&plain);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &plain);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	live_run_parent(s->src, true);
	err = posix_spawnp(&s->child, s->o->argv[0], NULL, &attr, s->o->argv, environ);
	live_run_parent(s->src, false);
	posix_spawnattr_destroy(&attr);
	if (!err)
		return 0;
	s->child = 0;
	complain("cannot run %s: %s", s->o->argv[0], strerror(err));
	return err == ENOENT ? EXIT_RUN_NOT_FOUND : EXIT_RUN_NOT_EXECUTABLE;
}

static void describe_ending(struct session *s)
{
	char name[24];

	if (!s->child_gone)
		strcpy(s->ending, "still running");
	else if (WIFSIGNALED(s->child_status))
		snprintf(s->ending, sizeof(s->ending), "killed by %s",
			 signal_name(WTERMSIG(s->child_status), name, sizeof(name)));
	else
		snprintf(s->ending, sizeof(s->ending), "exit %d", WEXITSTATUS(s->child_status));
}

/* Exits as the command did: its status, or its signal, without a core of our own. */
static int end_as(int child_status)
{
	struct rlimit no_core = {0, 0};
	sigset_t set;
	int sig;

	if (!WIFSIGNALED(child_status))
		return WEXITSTATUS(child_status);
	sig = WTERMSIG(child_status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	return 128 + sig;
}

/*
 * The most that any process of the command had, as the kernel kept it. Until its exec the child has
 * our memory, which counts (fs/exec.c: setmax_mm_hiwater_rss()): no more than that says nothing.
 */
static uint64_t child_rss_bytes(const struct session *s)
{
	struct rusage usage;
	uint64_t own = s->m.tick.own_rss_bytes;

	if (getrusage(RUSAGE_CHILDREN, &usage) || (uint64_t)usage.ru_maxrss * 1024 <= own + own / 8)
		return 0;
	return (uint64_t)usage.ru_maxrss * 1024;
}

int command_run(const struct options *o)
{
	struct live_options lo;
	struct session s;
	bool gone, started = false;
	int err = session_begin(&s, o), child_status = 0, status;

	describe_command(&s);
	lo = session_live_options(&s, false, TIERS_RUN);
	if (!err)
		err = session_open_live(&s, &lo);
	if (err)
		err = err == EXIT_FAILED ? EXIT_RUN_FAILED : err;
	if (!err) {
		err = start_command(&s);
		started = !err;
	}
	if (!err)
		err = session_start(&s);
	if (!err)
		err = session_loop(&s);
	if (started && s.child && !o->duration) {
		/* we failed, the command did not: let it end */
		waitpid(s.child, &s.child_status, 0);
		s.child_gone = true;
	}
	describe_ending(&s);
	s.view.child_rss_bytes = s.child_gone ? child_rss_bytes(&s) : 0;
	gone = s.child_gone;
	child_status = s.child_status;
	if (!started && err)
		s.status = err;
	status = session_end(&s);
	if (!started)
		return status ? status : EXIT_RUN_FAILED;
	if (!gone)
		return status;
	if (status && WIFEXITED(child_status) && !WEXITSTATUS(child_status))
		return status == EXIT_GATE ? EXIT_GATE : EXIT_RUN_FAILED;
	return end_as(child_status);
}

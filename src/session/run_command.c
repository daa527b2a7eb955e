// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "session/commands.h"
#include "session/run_watched.h"
#include "session/session.h"
#include "base/signals.h"

#define TIERS_RUN 0xfu

extern char **environ;

/*
 * A thread that starts the command with the caller's privileges. Capabilities, no_new_privs,
 * Landlock and seccomp belong to a single thread. All other threads drop their privileges; after
 * that, this thread starts the command and ends.
 */
struct starter {
	struct session *s;
	pthread_t thread;
	bool made, joined;
	sem_t go;
	bool abandoned;
	int err; /* result of posix_spawnp(): 0 or an errno */
};

/*
 * Starts the command. While live_run_parent() is on, BPF programs watch new children of faultscope
 * from their start. posix_spawn() uses CLONE_VM, so that the child causes almost no page faults
 * between fork and exec.
 */
static int spawn(struct session *s)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int err;

	/*
	 * Unblocks all signals in the command, because the command inherits the mask of faultscope,
	 * which blocks the signals that it handles. Signals that were ignored when faultscope
	 * started stay ignored.
	 */
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&files);
	err = phase_marks_pass(&s->marks, &files);
	live_run_parent(s->in.src, true);
	err = err ?: posix_spawnp(&s->child.pid, s->o->argv[0], &files, &attr, s->o->argv, environ);
	live_run_parent(s->in.src, false);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	if (err)
		s->child.pid = 0;
	else if (s->plan.after_spawn)
		s->plan.after_spawn(s);
	return err;
}

static void *wait_and_spawn(void *arg)
{
	struct starter *st = arg;

	while (sem_wait(&st->go))
		continue; /* sem_wait() was interrupted by a signal: wait again */
	if (!st->abandoned)
		st->err = spawn(st->s);
	return NULL;
}

static int make_starter(struct starter *st, struct session *s)
{
	int err;

	*st = (struct starter){.s = s};
	sem_init(&st->go, 0, 0);
	err = pthread_create(&st->thread, NULL, wait_and_spawn, st);
	st->made = !err;
	if (!err)
		return 0;
	complain("cannot start a thread: %s", strerror(err));
	return EXIT_RUN_FAILED;
}

static void end_starter(struct starter *st)
{
	if (!st->made || st->joined)
		return;
	sem_post(&st->go);
	pthread_join(st->thread, NULL);
	st->joined = true;
}

/*
 * Lets the starter thread start the command and end. Call this function after privileges were
 * dropped.
 */
static void start_command(struct session *s)
{
	struct starter *st = s->plan.ctx;

	end_starter(st);
	if (!st->err)
		return;
	complain("cannot run %s: %s", s->o->argv[0], strerror(st->err));
	s->status = st->err == ENOENT ? EXIT_RUN_NOT_FOUND : EXIT_RUN_NOT_EXECUTABLE;
	/* a last scan at time 0 means that there was none, so no summary is printed */
	s->in.m.last_ns = 0;
}

static void describe_ending(struct session *s)
{
	char name[24];

	if (!s->child.gone)
		strcpy(s->child.ending, "still running");
	else if (WIFSIGNALED(s->child.status))
		snprintf(s->child.ending, sizeof(s->child.ending), "killed by %s",
			 signal_name(WTERMSIG(s->child.status), name, sizeof(name)));
	else
		snprintf(s->child.ending, sizeof(s->child.ending), "exit %d",
			 WEXITSTATUS(s->child.status));
}

/* Ends faultscope with the command's exit status or signal, without a core dump of its own. */
static int end_as(int child_status)
{
	if (!WIFSIGNALED(child_status))
		return WEXITSTATUS(child_status);
	signal_end_by(WTERMSIG(child_status));
	return 128 + WTERMSIG(child_status);
}

/*
 * Returns the largest peak RSS of a process of the command, or 0 if it is not known. Until exec,
 * the child uses faultscope's memory, and its peak RSS is that of faultscope (fs/exec.c:
 * setmax_mm_hiwater_rss()). A value near faultscope's own RSS therefore says nothing about the
 * command.
 */
static uint64_t child_rss_bytes(const struct session *s)
{
	struct rusage usage;
	uint64_t own = s->in.m.tick.own_rss_bytes;

	if (getrusage(RUSAGE_CHILDREN, &usage) || (uint64_t)usage.ru_maxrss * 1024 <= own + own / 8)
		return 0;
	return (uint64_t)usage.ru_maxrss * 1024;
}

/* Completes a plan to watch the command of the options. */
static void plan_command(struct run_plan *p, struct starter *st)
{
	const struct options *o = p->o;
	size_t len = 0;

	p->whom = WATCH_COMMAND;
	for (int i = 0; i < o->argc && len < sizeof(p->target); i++)
		len += snprintf(p->target + len, sizeof(p->target) - len, "%s%s", i ? " " : "",
				o->argv[i]);
	p->tells_overhead = true;
	p->shares_terminal = true;
	p->view.command = true;
	p->after_first_scan = start_command;
	p->ctx = st;
}

static int open_marks(struct session *s)
{
	int err = phase_marks_open(&s->marks);

	if (!err)
		return 0;
	complain("cannot open a socket for --phases: %s", strerror(-err));
	return EXIT_FAILED;
}

int run_watched(const struct run_plan *base)
{
	struct run_plan plan = *base;
	struct starter st = {};
	struct session s;
	bool gone, started;
	int err, child_status = 0, status;

	plan_command(&plan, &st);
	err = session_begin(&s, &plan);
	if (!err && s.o->phases)
		err = open_marks(&s);
	if (!err)
		err = session_open_live(&s);
	if (err)
		err = err == EXIT_FAILED ? EXIT_RUN_FAILED : err;
	if (!err)
		err = make_starter(&st, &s);
	if (!err)
		err = session_start(&s);
	started = s.child.pid != 0;
	st.abandoned = true;
	end_starter(&st);
	if (!err)
		err = session_loop(&s);
	if (started && s.child.pid && !plan.duration) {
		/* faultscope failed, but the command runs on: wait for its end */
		waitpid(s.child.pid, &s.child.status, 0);
		s.child.gone = true;
	}
	describe_ending(&s);
	s.out.view.child_rss_bytes = s.child.gone ? child_rss_bytes(&s) : 0;
	gone = s.child.gone;
	child_status = s.child.status;
	if (!started && err)
		s.status = err;
	status = session_end(&s);
	if (!started)
		return status ? status : EXIT_RUN_FAILED;
	if (!gone)
		return status;
	if (status && WIFEXITED(child_status) && !WEXITSTATUS(child_status))
		return status == EXIT_GATE || status == EXIT_INCOMPLETE ? status : EXIT_RUN_FAILED;
	return end_as(child_status);
}

int command_run(const struct options *o)
{
	struct run_plan plan;

	plan_init(&plan, o);
	plan.mode = "run";
	plan.tiers = TIERS_RUN;
	return run_watched(&plan);
}

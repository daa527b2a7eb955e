// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what signals do to a session, to its start, and to the command that it watches. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "session/session.h"
#include "session/startup.h"
#include "tap.h"

static void session_for_signals(struct session *s, bool redraws)
{
	static const struct options none;

	*s = (struct session){.o = &none,
			      .loop = {LOOP_CLOSED},
			      .out.file = OUTPUT_NONE,
			      .out.junit = OUTPUT_NONE,
			      .out.redraws = redraws};
	if (session_open_loop(s))
		abort();
}

static pid_t waiting_command(void)
{
	pid_t child = fork();

	if (!child) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		for (int number = 1; number < 32; number++)
			signal(number, SIG_DFL);
		pause();
		_exit(0);
	}
	return child;
}

/* Returns the signal that ended the command; 0: none did. The session may have seen its end. */
static int death_of(const struct session *s, pid_t child)
{
	int status = s->child.status;

	if (!s->child.gone)
		waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_signals_end_a_session(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct session s;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		session_for_signals(&s, false);
		loop_once(&s.loop, 0);
		ok(!s.loop.done, "no signal");
		kill(getpid(), numbers[i]);
		loop_once(&s.loop, 1000);
		ok(s.loop.done && s.stopped && !s.status, "signal %d ends the session",
		   numbers[i]);
		loop_close(&s.loop);
	}
	session_for_signals(&s, false);
	kill(getpid(), SIGWINCH);
	loop_once(&s.loop, 1000);
	ok(!s.loop.done && s.out.view.width, "SIGWINCH measures the terminal");
	loop_close(&s.loop);
}

static void test_signals_for_a_command(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct session s;
	pid_t child;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		session_for_signals(&s, false);
		child = s.child.pid = waiting_command();
		kill(getpid(), numbers[i]);
		loop_once(&s.loop, 1000);
		ok(!s.loop.done, "a command is not left alone");
		is_u64(death_of(&s, child), numbers[i], "it gets the signal");
		loop_close(&s.loop);
	}
	session_for_signals(&s, false);
	s.child.pid = waiting_command();
	kill(s.child.pid, SIGKILL);
	for (int i = 0; i < 100 && !s.child.gone; i++)
		loop_once(&s.loop, 100);
	ok(s.child.gone && !s.child.pid, "the end of the command is seen");
	ok(WIFSIGNALED(s.child.status) && WTERMSIG(s.child.status) == SIGKILL, "and how it ended");
	kill(getpid(), SIGTERM);
	loop_once(&s.loop, 1000);
	ok(s.loop.done, "a signal after its end ends the session");
	loop_close(&s.loop);
}

/* Sends signals to a session in a child. Returns the child's wait status. */
static int with_signals(bool redraws, bool reloads, bool begins, const int *numbers, size_t n)
{
	struct rlimit no_core = {};
	struct startup st;
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		struct session s;

		setrlimit(RLIMIT_CORE, &no_core);
		if (reloads)
			signal(SIGHUP, SIG_IGN);
		session_for_signals(&s, redraws);
		s.plan.reloads = reloads;
		if (reloads) {
			loop_close(&s.loop);
			session_open_loop(&s);
		}
		output_file_open(&s.out.file, fixture_path("unfinished"), 0);
		if (begins)
			startup_begin(&st, &s);
		else
			s.child.pid = n > 1 ? waiting_command() : 0;
		for (size_t i = 0; i < n; i++) {
			kill(getpid(), numbers[i]);
			if (begins)
				sleep(10);
			loop_once(&s.loop, 100);
		}
		session_discard(&s);
		_exit(s.loop.done ? 50 : 51);
	}
	waitpid(child, &status, 0);
	return status;
}

static void test_signals_in_a_row(void)
{
	static const int twice[] = {SIGINT, SIGINT}, hup[] = {SIGHUP}, goes_on[] = {SIGCONT},
			 term[] = {SIGTERM}, quit[] = {SIGQUIT};
	int status = with_signals(false, false, false, twice, 2);

	ok(WIFEXITED(status) && WEXITSTATUS(status) == 130, "a second SIGINT ends at once");
	status = with_signals(false, true, false, hup, 1);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 50, "SIGHUP is not ignored for a reload");
	status = with_signals(true, false, false, goes_on, 1);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 51, "SIGCONT does nothing");
	status = with_signals(false, false, true, term, 1);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "SIGTERM ends the start");
	status = with_signals(false, false, true, quit, 1);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGQUIT, "so does SIGQUIT");
	ok(access(fixture_path("unfinished"), F_OK), "no unfinished file is left");
}

/* Only a session that redraws the terminal handles job control. */
static void test_job_control(void)
{
	static const int numbers[] = {SIGTSTP, SIGCONT};
	struct session s;
	sigset_t blocked;

	for (int redraws = 0; redraws < 2; redraws++) {
		session_for_signals(&s, redraws);
		sigprocmask(SIG_BLOCK, NULL, &blocked);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			is_u64(sigismember(&blocked, numbers[i]), redraws, "job control");
		loop_close(&s.loop);
	}
}

static void test_start_without_signal(void)
{
	struct startup st;
	struct session s;

	session_for_signals(&s, false);
	startup_begin(&st, &s);
	ok(st.ends >= 0, "a thread waits for signals");
	startup_end(&st);
	is_u64(st.ends, (uint64_t)-1, "it has ended");
	startup_end(&st);
	kill(getpid(), SIGTERM);
	loop_once(&s.loop, 1000);
	ok(s.loop.done, "later signals are the session's");
	loop_close(&s.loop);
}

/* Processes that a shell starts in the background, or with nohup, ignore some signals. */
static void take_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], SIG_DFL);
}

int main(void)
{
	take_signals();
	fixture_path("unfinished"); /* children must not make the directory */
	test_signals_end_a_session();
	test_signals_for_a_command();
	test_signals_in_a_row();
	test_job_control();
	test_start_without_signal();
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Signals of a session: signals that end it, the end of the command, and job control of the
 * terminal.
 */
#define _GNU_SOURCE
#include "session/session.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/terminal.h"
#include "session/live_view.h"

static void suspend(struct session *s)
{
	terminal_leave();
	raise(SIGSTOP);
	terminal_enter(s->out.fd, STDIN_FILENO);
	session_measure_view(s);
	viewing_draw(s);
}

static void stop(struct session *s)
{
	s->stopped = true;
	s->loop.done = true;
}

static void on_interrupt(struct session *s, const struct signalfd_siginfo *si)
{
	if (s->interrupts++) {
		viewing_end(s);
		session_discard(s);
		_exit(130);
	}
	if (!s->child.pid) {
		stop(s);
		return;
	}
	/*
	 * Forward only signals from kill(2): a SIGINT of the terminal reaches the command anyway.
	 */
	if (si->ssi_code != SI_KERNEL)
		kill(s->child.pid, si->ssi_signo);
}

static void reap_child(struct session *s)
{
	if (s->child.pid && waitpid(s->child.pid, &s->child.status, WNOHANG) == s->child.pid) {
		s->child.pid = 0;
		s->child.gone = true;
	}
}

static int on_signal(void *ctx, const struct signalfd_siginfo *si)
{
	struct session *s = ctx;

	switch (si->ssi_signo) {
	case SIGCHLD:
		reap_child(s);
		break;
	case SIGWINCH:
		session_measure_view(s);
		if (s->out.viewing)
			viewing_draw(s);
		break;
	case SIGTSTP:
		suspend(s);
		break;
	case SIGCONT:
		break;
	case SIGUSR1:
		incident_watch_request(s, INCIDENT_USR1, "SIGUSR1", (char[PATH_MAX + 64]){},
				       PATH_MAX + 64);
		break;
	case SIGINT:
		on_interrupt(s, si);
		break;
	default: /* SIGTERM, SIGHUP and SIGQUIT */
		if (s->child.pid)
			kill(s->child.pid, si->ssi_signo);
		else
			stop(s);
	}
	return 0;
}

int session_open_loop(struct session *s)
{
	/* Signals to handle; those at the end only if the session needs them. */
	int wanted[9] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGWINCH};
	size_t n = 6;

	if (s->incidents)
		wanted[n++] = SIGUSR1;
	if (s->out.redraws) { /* only the live view handles job control */
		wanted[n++] = SIGTSTP;
		wanted[n++] = SIGCONT;
	}

	/* if SIGCHLD were ignored, the kernel would discard the exit status of the command */
	signal(SIGCHLD, SIG_DFL);
	/*
	 * SIGHUP reloads the exporter's configuration, even if nohup(1) made the process ignore
	 * SIGHUP
	 */
	if (s->plan.reloads)
		signal(SIGHUP, SIG_DFL);
	s->loop.on_signal = on_signal;
	s->loop.ctx = s;
	return loop_open(&s->loop, wanted, n);
}

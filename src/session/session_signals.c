// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Signals of a session: its end, the end of its command, and job control of its terminal. */
#define _GNU_SOURCE
#include "session/session.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"
#include "live/terminal.h"
#include "live/live_view.h"

int session_take_signals(struct session *s)
{
	/* job control is ours only where the terminal is: the last two */
	static const int wanted[] = {SIGINT,  SIGTERM,	SIGHUP,	 SIGQUIT,
				     SIGCHLD, SIGWINCH, SIGTSTP, SIGCONT};
	size_t n = sizeof(wanted) / sizeof(wanted[0]) - (s->redraws ? 0 : 2);

	/* else the kernel reaps the command of `run`, and its status is lost */
	signal(SIGCHLD, SIG_DFL);
	/* the exporter reads its configuration anew: closing a terminal does not end it by that */
	if (s->o->command == CMD_EXPORT)
		signal(SIGHUP, SIG_DFL);
	s->signals = signals_open(wanted, n, SFD_NONBLOCK);
	return s->signals < 0 ? s->signals : 0;
}

static void suspend(struct session *s)
{
	terminal_leave();
	raise(SIGSTOP);
	terminal_enter(s->fd, STDIN_FILENO);
	session_measure_view(s);
	viewing_draw(s);
}

static void on_interrupt(struct session *s, const struct signalfd_siginfo *si)
{
	if (s->interrupts++) {
		viewing_end(s);
		session_discard(s);
		_exit(130);
	}
	if (!s->child) {
		s->done = true;
		return;
	}
	/* the terminal sent it to the command too; a kill came to us alone */
	if (si->ssi_code != SI_KERNEL)
		kill(s->child, si->ssi_signo);
}

static void reap_child(struct session *s)
{
	if (s->child && waitpid(s->child, &s->child_status, WNOHANG) == s->child) {
		s->child = 0;
		s->child_gone = true;
	}
}

void session_on_signals(struct session *s)
{
	struct signalfd_siginfo si;

	while (read(s->signals, &si, sizeof(si)) == sizeof(si)) {
		switch (si.ssi_signo) {
		case SIGCHLD:
			reap_child(s);
			break;
		case SIGWINCH:
			session_measure_view(s);
			if (s->viewing)
				viewing_draw(s);
			break;
		case SIGTSTP:
			suspend(s);
			break;
		case SIGCONT:
			break;
		case SIGINT:
			on_interrupt(s, &si);
			break;
		default: /* TERM, HUP, QUIT */
			if (s->child)
				kill(s->child, si.ssi_signo);
			else
				s->done = true;
		}
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/terminal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/*
 * Alternate screen, hidden cursor; clicks and wheel (1000) are reported in SGR mode (1006), which
 * has no maximum column. LEAVE undoes all of it; it is written also when a signal ends the program.
 */
#define ENTER "\033[?1049h\033[?25l\033[2J\033[?1000h\033[?1006h"
#define LEAVE "\033[?1006l\033[?1000l\033[0m\033[?25h\033[?1049l"

/* State of the terminal, global because a signal handler gets no context argument. */
static struct {
	volatile sig_atomic_t taken;
	int fd, keys;
	bool has_keys;
	struct termios before;
} term;

bool terminal_can_redraw(int fd)
{
	const char *name = getenv("TERM");

	return isatty(fd) && name && *name && strcmp(name, "dumb");
}

bool terminal_size(int fd, int *ret_width, int *ret_height)
{
	struct winsize ws;

	if (ioctl(fd, TIOCGWINSZ, &ws) || !ws.ws_col)
		return false;
	*ret_width = ws.ws_col;
	*ret_height = ws.ws_row;
	return true;
}

void terminal_leave(void)
{
	if (!term.taken)
		return;
	term.taken = 0;
	if (write(term.fd, LEAVE, sizeof(LEAVE) - 1) < 0)
		term.fd = -1; /* the terminal is gone: nothing to restore */
	if (term.has_keys)
		tcsetattr(term.keys, TCSANOW, &term.before);
}

static void on_fatal(int sig)
{
	terminal_leave();
	raise(sig); /* SA_RESETHAND has reset the handler, so this signal ends the process */
}

void terminal_enter(int fd, int keys)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
	struct sigaction sa = {.sa_handler = on_fatal, .sa_flags = SA_RESETHAND | SA_NODEFER};
	struct termios raw;

	term.fd = fd;
	term.keys = keys;
	term.has_keys = !tcgetattr(keys, &term.before);
	if (term.has_keys) {
		raw = term.before;
		raw.c_lflag &= ~(ICANON | ECHO);
		raw.c_cc[VMIN] = 0;
		raw.c_cc[VTIME] = 0;
		tcsetattr(keys, TCSANOW, &raw);
	}
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		sigaction(fatal[i], &sa, NULL);
	term.taken = 1;
	atexit(terminal_leave);
	if (write(fd, ENTER, sizeof(ENTER) - 1) < 0)
		terminal_leave();
}

void terminal_redraw(struct buf *to, const struct buf *frame)
{
	const char *at = frame->s ? frame->s : "", *end;

	buf_puts(to, "\033[H");
	while ((end = strchr(at, '\n'))) {
		buf_add(to, at, end - at);
		buf_puts(to, "\033[K");
		/* prints no newline after the last line, which would scroll the screen */
		if (end[1])
			buf_puts(to, "\r\n");
		at = end + 1;
	}
	buf_printf(to, "%s\033[K\033[J", at);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests control of a terminal, and the choice of a style, on pseudo-terminals. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "live/terminal.h"
#include "live/terminal_view.h"
#include "tap.h"

#define ENTER	    "\033[?1049h\033[?25l\033[2J\033[?1000h\033[?1006h"
#define LEAVE	    "\033[?1006l\033[?1000l\033[0m\033[?25h\033[?1049l"
#define PATIENCE_MS 60000 /* after this time, bytes that are missing do not come */

struct pty {
	int master, terminal;
};

static void pty_open(struct pty *p)
{
	p->master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	if (p->master < 0 || grantpt(p->master) || unlockpt(p->master))
		abort();
	p->terminal = open(ptsname(p->master), O_RDWR | O_NOCTTY);
	if (p->terminal < 0)
		abort();
}

static void pty_close(struct pty *p)
{
	close(p->terminal);
	close(p->master);
}

static void resize(const struct pty *p, int width, int height)
{
	struct winsize ws = {.ws_col = width, .ws_row = height};

	ioctl(p->terminal, TIOCSWINSZ, &ws);
}

/*
 * Compares what the terminal has shown since the last call with `want`. A worker thread of the
 * kernel delivers what a program writes, so the bytes may come late and in pieces.
 */
static void shows(const struct pty *p, const char *want, const char *name)
{
	struct pollfd ready = {.fd = p->master, .events = POLLIN};
	char seen[256] = "";
	size_t len = 0;
	ssize_t n;

	do {
		n = read(p->master, seen + len, sizeof(seen) - 1 - len);
		len += n > 0 ? n : 0;
	} while (len < strlen(want) && len < sizeof(seen) - 1 && poll(&ready, 1, PATIENCE_MS) > 0);
	seen[len] = 0;
	is_str(seen, want, name);
}

static bool is_raw(const struct pty *p)
{
	struct termios t;

	return !tcgetattr(p->terminal, &t) && !(t.c_lflag & ICANON) && !(t.c_lflag & ECHO) &&
	       !t.c_cc[VMIN] && !t.c_cc[VTIME];
}

static bool is_cooked(const struct pty *p)
{
	struct termios t;

	return !tcgetattr(p->terminal, &t) && t.c_lflag & ICANON && t.c_lflag & ECHO &&
	       t.c_lflag & ISIG;
}

static void test_what_a_terminal_can(void)
{
	int width = 1, height = 2, ends[2];
	struct pty p;

	pty_open(&p);
	if (pipe(ends))
		abort();
	setenv("TERM", "xterm", 1);
	ok(terminal_can_redraw(p.terminal), "a terminal can be redrawn");
	ok(!terminal_can_redraw(ends[1]), "a pipe cannot");
	setenv("TERM", "dumb", 1);
	ok(!terminal_can_redraw(p.terminal), "nor can a dumb terminal");
	setenv("TERM", "", 1);
	ok(!terminal_can_redraw(p.terminal), "nor one without a type");
	unsetenv("TERM");
	ok(!terminal_can_redraw(p.terminal), "nor one of an unknown type");
	setenv("TERM", "xterm", 1);
	resize(&p, 0, 30);
	ok(!terminal_size(p.terminal, &width, &height), "a terminal that has no size");
	ok(!terminal_size(ends[1], &width, &height), "a pipe has none");
	ok(width == 1 && height == 2, "then the size stays what it was");
	resize(&p, 123, 45);
	ok(terminal_size(p.terminal, &width, &height), "a terminal has a size");
	ok(width == 123 && height == 45, "%d columns, %d lines", width, height);
	close(ends[0]);
	close(ends[1]);
	pty_close(&p);
}

static void test_enter_and_leave(void)
{
	struct pty p, keys;
	int file = open("/dev/null", O_RDWR | O_CLOEXEC);

	pty_open(&p);
	pty_open(&keys);
	terminal_leave();
	shows(&p, "", "nothing to leave");
	terminal_enter(p.terminal, keys.terminal);
	shows(&p, ENTER, "the alternate screen, without a cursor");
	ok(is_raw(&keys), "keys come at once, and are not shown");
	ok(is_cooked(&p), "the terminal of the output keeps its mode");
	terminal_leave();
	shows(&p, LEAVE, "the normal screen");
	ok(is_cooked(&keys), "keys are as before");
	terminal_leave();
	shows(&p, "", "it is left only once");
	terminal_enter(p.terminal, file);
	shows(&p, ENTER, "keys from a file");
	terminal_leave();
	shows(&p, LEAVE, "need no mode");
	terminal_enter(-1, keys.terminal);
	ok(is_cooked(&keys), "if the output fails, the terminal is left at once");
	terminal_leave();
	shows(&keys, "", "and not again");
	close(file);
	pty_close(&p);
	pty_close(&keys);
}

/* Ends a child process in the live view, by a signal or (0) by exit(). */
static void ends_by(int number)
{
	static const struct rlimit no_core = {};
	struct pty p;
	int status;
	pid_t child;

	pty_open(&p);
	fflush(stdout);
	child = fork();
	if (!child) {
		setrlimit(RLIMIT_CORE, &no_core);
		close(STDOUT_FILENO);
		terminal_enter(p.terminal, p.terminal);
		if (number)
			raise(number);
		exit(7);
	}
	waitpid(child, &status, 0);
	shows(&p, ENTER LEAVE, "the screen is restored");
	ok(is_cooked(&p), "and the mode");
	if (number)
		ok(WIFSIGNALED(status) && WTERMSIG(status) == number, "after signal %d", number);
	else
		ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "after exit()");
	pty_close(&p);
}

static void test_redraw(void)
{
	static const struct {
		const char *frame, *bytes;
	} rows[] = {
		{"one\ntwo\n", "\033[Hone\033[K\r\ntwo\033[K\033[K\033[J"},
		{"one\ntwo", "\033[Hone\033[K\r\ntwo\033[K\033[J"},
		{"one\n\nx\n", "\033[Hone\033[K\r\n\033[K\r\nx\033[K\033[K\033[J"},
		{NULL, "\033[H\033[K\033[J"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf frame = {}, out = {};

		if (rows[i].frame)
			buf_puts(&frame, rows[i].frame);
		terminal_redraw(&out, &frame);
		ok(out.s && !strcmp(out.s, rows[i].bytes), "frame %zu", i);
		buf_free(&frame);
		buf_free(&out);
	}
}

static struct view style_of(const struct options *o, bool on_terminal)
{
	struct view v = {};

	view_choose_style(&v, o, on_terminal);
	return v;
}

static void test_style(void)
{
	const struct options by_default = {.colour = WHEN_AUTO}, always = {.colour = WHEN_ALWAYS},
			     never = {.colour = WHEN_NEVER}, ascii = {.no_unicode = true};

	unsetenv("NO_COLOR");
	ok(style_of(&by_default, true).colour, "colours on a terminal");
	ok(!style_of(&by_default, false).colour, "none in a file");
	ok(style_of(&always, false).colour, "unless they are always wanted");
	ok(!style_of(&never, true).colour, "or never");
	setenv("NO_COLOR", "", 1);
	ok(style_of(&by_default, true).colour, "an empty NO_COLOR says nothing");
	setenv("NO_COLOR", "1", 1);
	ok(!style_of(&by_default, true).colour, "NO_COLOR");
	ok(style_of(&always, true).colour, "an option is stronger");
	unsetenv("NO_COLOR");
	setenv("LC_ALL", "C.UTF-8", 1);
	ok(style_of(&by_default, true).unicode, "Unicode by the locale");
	ok(!style_of(&ascii, true).unicode, "unless an option forbids it");
	setenv("LC_ALL", "C", 1);
	ok(!style_of(&by_default, true).unicode, "no Unicode in the locale C");
}

/* Returns the width and whether there are colours, if standard output is a terminal. */
static int width_on(const struct options *o, int columns, bool *ret_colour)
{
	struct view v = {};
	struct pty p;
	int saved;

	pty_open(&p);
	resize(&p, columns, 20);
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(p.terminal, STDOUT_FILENO);
	view_make(&v, o);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	pty_close(&p);
	*ret_colour = v.colour;
	return v.width;
}

static void test_width(void)
{
	const struct options none = {.colour = WHEN_AUTO},
			     to_file = {.colour = WHEN_AUTO, .output = "/tmp/x"};
	struct options o = {};
	bool colour;

	is_u64(width_on(&none, 77, &colour), 77, "as wide as the terminal");
	ok(colour, "with colours");
	is_u64(width_on(&to_file, 77, &colour), 77, "also for a file");
	ok(!colour, "without colours");
	is_u64(width_on(&none, 40, &colour), 40, "a narrow terminal");
	is_u64(width_on(&none, 39, &colour), 100, "one that is too narrow");
	is_u64(width_on(&none, 0, &colour), 100, "one without a size");
	o.width = 61;
	is_u64(width_on(&o, 77, &colour), 61, "an option is stronger");
	o.width = 39;
	is_u64(width_on(&o, 77, &colour), 100, "if it is large enough");
}

int main(void)
{
	test_what_a_terminal_can();
	test_enter_and_leave();
	ends_by(0);
	ends_by(SIGSEGV);
	ends_by(SIGBUS);
	ends_by(SIGABRT);
	ends_by(SIGFPE);
	ends_by(SIGILL);
	test_redraw();
	test_style();
	test_width();
	return tap_done();
}

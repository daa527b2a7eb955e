// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the phases that the command of a session marks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "made_session.h"
#include "open_files.h"

/* Begins a session whose command can mark phases. Returns the command's end of the socket. */
static int begin_phases(struct run *r)
{
	const char *number;
	int end;

	run_make(r);
	r->o.count = 1;
	r->plan.interval = 0.05;
	if (session_begin(&r->s, &r->plan) || pipe2(r->made.pipe, O_CLOEXEC | O_NONBLOCK))
		abort();
	r->made.src = (struct source){.ops = &made_ops, .live = 1, .plain = 1};
	r->s.in.src = &r->made.src;
	session_open_loop(&r->s);
	pressure_open(&r->s.in.pressure);
	is_u64(phase_marks_open(&r->s.marks), 0, "a socket for marks");
	number = getenv("FAULTSCOPE_PHASES");
	ok(number && atoi(number) == r->s.marks.of_command, "its number is in the environment");
	ok(fcntl(r->s.marks.of_command, F_GETFD) == FD_CLOEXEC, "only the command inherits it");
	end = fcntl(r->s.marks.of_command, F_DUPFD_CLOEXEC, 100);
	unsetenv("FAULTSCOPE_PHASES");
	session_start(&r->s);
	return end;
}

static void put_marks(int fd, const char *text, size_t n)
{
	if (send(fd, text, n, 0) != (ssize_t)n)
		abort();
}

/* Returns how many answers the command has. Each is an empty line. */
static unsigned int answers(int fd)
{
	char text[64];
	ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);

	for (ssize_t i = 0; i < n; i++)
		if (text[i] != '\n')
			return ~0u;
	return n > 0 ? n : 0;
}

static void is_phase(const struct session *s, size_t i, const char *name)
{
	const struct phases *p = s->in.m.phases;

	is_str(p && i < p->n ? p->phase[i].name : NULL, name, "name of a phase");
}

/* Tests marks of phases: each one is scanned and answered, whatever it contains. */
static void test_phases(void)
{
	static const char marks[] = "load\nse\0cond\n\nhalf of a na";
	char longest[PHASE_NAME_LEN + 8];
	struct run r;
	int end;

	errors_begin();
	end = begin_phases(&r);
	put_marks(end, marks, sizeof(marks) - 1);
	session_loop(&r.s);
	is_u64(r.s.marks.of_command, -1, "our copy of the command's end is closed");
	is_u64(r.made.looks, 1 + 3 + 1, "a scan for each mark, and one for the interval");
	is_u64(answers(end), 3, "each mark is answered");
	is_phase(&r.s, 0, "load");
	is_phase(&r.s, 1, "second");
	ok(r.s.in.m.phases->n == 2 && !r.s.in.m.phases->runs, "an empty line ends a phase");
	memset(longest, 'x', sizeof(longest));
	put_marks(end, "me\n", 3);
	put_marks(end, longest, sizeof(longest));
	put_marks(end, "\nlast\n", 6);
	is_u64(phase_marks_finish(&r.s), 0, "marks that are unread at the end");
	is_phase(&r.s, 2, "half of a name");
	longest[PHASE_NAME_LEN - 1] = 0;
	is_phase(&r.s, 3, longest);
	is_u64(r.made.looks, 5 + 3, "are scanned, too");
	ok(r.s.in.m.phases->runs && r.s.in.m.phases->n == 5, "the last one goes on");
	close(end);
	is_u64(phase_marks_finish(&r.s), 0, "the command has closed its end");
	phase_marks_close(&r.s.marks);
	ok(r.s.marks.fd == -1, "so does faultscope");
	is_u64(phase_marks_finish(&r.s), 0, "no socket");
	is_u64(session_end(&r.s), EXIT_INCOMPLETE, "status");
	errors_are(INCOMPLETE, "no error");
	run_free(&r);
}

/* Tests a command that closes the socket, and one whose marks cannot be scanned. */
static void test_phases_that_fail(void)
{
	struct run r;
	int end;

	errors_begin();
	end = begin_phases(&r);
	close(end);
	close(r.s.marks.of_command);
	r.s.marks.of_command = -1;
	session_loop(&r.s);
	is_u64(r.s.marks.fd, -1, "the event loop forgets a socket that is closed");
	is_u64(r.made.looks, 2, "and goes on");
	is_u64(session_end(&r.s), EXIT_INCOMPLETE, "status");
	errors_are(INCOMPLETE, "no error");
	run_free(&r);
	errors_begin();
	end = begin_phases(&r);
	r.made.fails_at = 2;
	r.made.err = -EIO;
	put_marks(end, "a\nb\n", 4);
	ok(phase_marks_finish(&r.s) == -EIO, "a scan that fails ends the marks");
	ok(!answers(end) && !r.s.in.m.phases, "no phase begins, and no answer is sent");
	session_loop(&r.s);
	session_end(&r.s);
	close(end);
	errors_are(INCOMPLETE, "the next scan succeeds");
	run_free(&r);
}

static bool fails_socket, fails_setenv;

int socketpair(int domain, int type, int protocol, int ends[2])
{
	if (!fails_socket)
		return syscall(SYS_socketpair, domain, type, protocol, ends);
	errno = EMFILE;
	return -1;
}

int setenv(const char *name, const char *value, int replace)
{
	static int (*real)(const char *, const char *, int);

	if (!real)
		real = (typeof(real))dlsym(RTLD_NEXT, "setenv");
	if (!fails_setenv)
		return real(name, value, replace);
	errno = ENOMEM;
	return -1;
}

static void test_no_socket(void)
{
	struct phase_marks marks = PHASE_MARKS_CLOSED;
	posix_spawn_file_actions_t actions;
	size_t fds = open_fds();

	fails_socket = true;
	ok(phase_marks_open(&marks) == -EMFILE, "no socket");
	fails_socket = false;
	ok(marks.fd == -1 && marks.of_command == -1, "nothing is open");
	posix_spawn_file_actions_init(&actions);
	is_u64(phase_marks_pass(&marks, &actions), 0, "nothing is passed to a command");
	phase_marks_close(&marks);
	fails_setenv = true;
	ok(phase_marks_open(&marks) == -ENOMEM, "no variable");
	fails_setenv = false;
	phase_marks_close(&marks);
	is_u64(open_fds(), fds, "no file is left");
	is_u64(phase_marks_open(&marks), 0, "a socket");
	is_u64(phase_marks_pass(&marks, &actions), 0, "it is passed to a command");
	is_u64(open_fds(), fds + 2, "both ends");
	ok(fcntl(marks.fd, F_GETFD) == FD_CLOEXEC && marks.fd != marks.of_command,
	   "the command does not inherit faultscope's end");
	posix_spawn_file_actions_destroy(&actions);
	phase_marks_close(&marks);
	is_u64(open_fds(), fds, "no file is left");
	unsetenv("FAULTSCOPE_PHASES");
}

int main(void)
{
	place_begin();
	test_phases();
	test_phases_that_fail();
	test_no_socket();
	place_end();
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "session/phase_marks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session/session.h"

#define VARIABLE      "FAULTSCOPE_PHASES"
#define PART_BYTES    4096
#define PARTS_AT_ONCE 4 /* maximum number of reads before other events get their turn */

int phase_marks_open(struct phase_marks *p)
{
	char number[12];
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	p->fd = pair[0];
	p->of_command = pair[1];
	snprintf(number, sizeof(number), "%d", p->of_command);
	return setenv(VARIABLE, number, 1) ? -errno : 0;
}

int phase_marks_pass(const struct phase_marks *p, posix_spawn_file_actions_t *actions)
{
	/* equal numbers clear FD_CLOEXEC: posix_spawn_file_actions_adddup2(3) */
	return p->of_command < 0
		       ? 0
		       : posix_spawn_file_actions_adddup2(actions, p->of_command, p->of_command);
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void phase_marks_close(struct phase_marks *p)
{
	close_end(&p->fd);
	close_end(&p->of_command);
}

/* Scans, so that both phases have the values of this moment, and then sends the mark. */
static int take_mark(struct session *s)
{
	struct phase_marks *p = &s->marks;
	struct phase_record r = {.h = {RECORD_PHASE, sizeof(r)}};
	struct sink sink = session_sink(s);
	int err = s->in.src->ops->drain(s->in.src, &sink);

	err = err ?: session_take_window(s, false);
	if (err)
		return err;
	session_next_window(s);
	r.h.t_ns = s->in.m.last_ns;
	memcpy(r.name, p->line, p->len);
	p->len = 0;
	err = sink.take(sink.ctx, &r.h);
	session_check_recording(s);
	/* a command that does not read the answers loses them when the socket is full */
	if (p->fd >= 0)
		send(p->fd, "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	return err;
}

static int take_part(struct session *s, const char *text, size_t n)
{
	struct phase_marks *p = &s->marks;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (text[i] == '\n')
			err = take_mark(s);
		else if (p->len + 1 < sizeof(p->line) && text[i])
			p->line[p->len++] = text[i];
	return err;
}

/* Reads at most `parts` parts. Returns the number of bytes of the last part, or -errno. */
static ssize_t read_parts(struct session *s, int parts)
{
	char text[PART_BYTES];
	ssize_t n = 1;
	int err;

	for (int i = 0; i < parts && n > 0; i++) {
		n = recv(s->marks.fd, text, sizeof(text), MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 1 : -errno;
		err = take_part(s, text, n);
		if (err)
			return err;
	}
	return n;
}

static int on_marks(void *ctx)
{
	struct session *s = ctx;
	ssize_t n = read_parts(s, PARTS_AT_ONCE);

	if (n > 0)
		return 0;
	/* all processes have closed the socket, or it failed */
	loop_forget(&s->loop, s->marks.fd);
	close_end(&s->marks.fd);
	return n == -ECONNRESET ? 0 : n;
}

int phase_marks_watch(struct session *s)
{
	close_end(&s->marks.of_command);
	return loop_watch(&s->loop, s->marks.fd, on_marks);
}

int phase_marks_finish(struct session *s)
{
	ssize_t n;

	if (s->marks.fd < 0)
		return 0;
	n = read_parts(s, PHASES_MAX);
	return n < 0 && n != -ECONNRESET ? n : 0;
}

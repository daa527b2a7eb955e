// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a session writes: its output, and the recording that it makes. */
#include "session/session.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "probe/host_facts.h"
#include "session/live_view.h"

/* Where output goes: standard output, a file, or for the text of `run` standard error. */
int session_open_output(struct session *s)
{
	const struct options *o = s->o;
	int err;

	s->fd = o->command == CMD_RUN && s->renderer == &text_renderer ? STDERR_FILENO
								       : STDOUT_FILENO;
	if (!o->output)
		return 0;
	err = output_file_open(&s->output, o->output, 0);
	if (err) {
		complain("cannot write %s: %s", o->output, output_file_error(err));
		return EXIT_FAILED;
	}
	s->fd = s->output.fd;
	return 0;
}

/*
 * What is written while it is watched gets its names once that has begun well, so that it can be
 * followed. A file that has the name already stays until all is written; where there will be no
 * right to rename then, it is replaced now.
 */
int session_publish(struct session *s)
{
	const char *path = s->o->output;
	int err = output_file_publish_new(&s->output);

	if (!err) {
		path = s->o->junit;
		err = output_file_publish_new(&s->junit);
	}
	if (!err && s->collector.rec) {
		path = s->record_path;
		err = recorder_publish(s->collector.rec);
	}
	s->began = !err;
	if (!err)
		return 0;
	complain("cannot write %s: %s", path, output_file_error(err));
	return s->status = EXIT_FAILED;
}

void session_flush(struct session *s)
{
	int err = s->mute ? 0 : io_write(s->fd, s->out.s, s->out.len);

	buf_clear(&s->out);
	s->flushed = true;
	/* of a recording there is more to come, and what has the name is to stay until it is whole
	 */
	if (!err && !s->o->replay)
		err = output_file_publish_new(&s->output);
	if (!err)
		return;
	s->mute = true;
	s->write_error = err;
	if (err != -EPIPE) {
		complain("cannot write %s: %s%s", s->o->output ? s->o->output : "the output",
			 strerror(-err),
			 s->output.waits ? "; the file that has the name stays as it was" : "");
		s->status = EXIT_FAILED;
	}
	if (!s->child && !s->collector.rec)
		s->loop.done = true;
}

/* The recording failed: say it once, go on watching. `empty`: not even one interval is in it. */
static void say_failed(struct session *s, bool empty)
{
	if (!s->collector.rec_error || s->rec_told)
		return;
	s->rec_told = true;
	if (s->collector.rec_error == -EOVERFLOW) {
		complain("the recording %s is as large as --max-size allows: it ends here",
			 s->o->record);
		s->loop.done = true;
		return;
	}
	s->status = EXIT_FAILED;
	if (viewing_say(s, empty ? "the recording failed: it is empty"
				 : "the recording failed: it ends with the last whole interval"))
		return;
	/* nothing else is made here */
	s->loop.done |= s->o->command == CMD_RECORD;
	complain("the recording %s failed: %s; %s%s", s->record_path,
		 strerror(-s->collector.rec_error),
		 empty ? "it is empty, because not one interval was written whole"
		       : "it ends with the last whole interval",
		 s->o->command == CMD_RECORD ? "" : ", watching goes on");
}

void session_check_recording(struct session *s)
{
	say_failed(s, s->collector.rec && recorder_is_empty(s->collector.rec));
}

void session_end_recording(struct session *s)
{
	struct fs_end_record end = {.h = {FS_REC_END, sizeof(end), host_monotonic_ns()}};
	bool empty;
	int err;

	if (!s->collector.rec)
		return;
	if (!s->began) {
		recorder_discard(s->collector.rec);
		s->collector.rec = NULL;
		return;
	}
	recorder_take(s->collector.rec, &end.h);
	empty = recorder_is_empty(s->collector.rec);
	err = recorder_close(s->collector.rec);
	s->collector.rec = NULL;
	if (err && !s->rec_told) {
		s->collector.rec_error = err;
		say_failed(s, empty);
	}
}

/* A session that told nothing leaves what has the name as it was. */
void session_end_output(struct session *s)
{
	int err = output_file_end(&s->output, s->flushed ? s->write_error : -ECANCELED);

	if (!s->flushed || !err || s->write_error)
		return;
	complain("cannot write %s: %s", s->o->output, output_file_error(err));
	s->status = EXIT_FAILED;
}

void session_discard(struct session *s)
{
	output_file_end(&s->output, -ECANCELED);
	output_file_end(&s->junit, -ECANCELED);
	if (s->collector.rec)
		recorder_discard(s->collector.rec);
}

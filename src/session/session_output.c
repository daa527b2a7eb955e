// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The output of a session, and its recording. */
#include "session/session.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error_text.h"
#include "base/io.h"
#include "probe/host_facts.h"

/* Opens the output: a file, standard output or, for text output of `run`, standard error. */
int session_open_output(struct session *s)
{
	const char *path = s->plan.output;
	int err;

	s->out.last_lines = s->plan.shares_terminal && s->out.renderer == &text_renderer;
	s->out.fd = s->out.last_lines ? STDERR_FILENO : STDOUT_FILENO;
	if (!path)
		return 0;
	err = output_file_open(&s->out.file, path, 0);
	if (err) {
		complain("cannot write %s: %s", path, output_file_error(err));
		return EXIT_FAILED;
	}
	s->out.fd = s->out.file.fd;
	return 0;
}

/*
 * Gives output files their final names after a successful start, so that users can follow them
 * (tail -f). An existing file is replaced only when the new file is complete. Exception: if the
 * rename needs privileges, which are dropped soon, the file is replaced now.
 */
int session_publish(struct session *s)
{
	const char *path = s->plan.output;
	int err = output_file_publish_new(&s->out.file);

	if (!err) {
		path = s->o->junit;
		err = output_file_publish_new(&s->out.junit);
	}
	if (!err && s->in.collector.rec) {
		path = s->out.record_path;
		err = recorder_publish(s->in.collector.rec);
	}
	s->out.began = !err;
	if (!err)
		return 0;
	complain("cannot write %s: %s", path, output_file_error(err));
	return s->status = EXIT_FAILED;
}

/* Reports once that an interval is missing from the output, which goes on with the next one. */
static void report_no_memory(struct session *s)
{
	const char *text = "not enough memory for the output of an interval, which is missing";

	if (!s->out.incomplete && !session_message(s, text))
		complain("%s: %s", text, as_error(-ENOMEM).s);
	s->out.incomplete = true;
	s->status = EXIT_FAILED;
}

/* Writes a screen with one call, and lines so that another writer of the pipe splits none. */
static int write_text(struct session *s)
{
	const struct buf *b = &s->out.text;

	return s->out.redraws ? io_write(s->out.fd, b->s, b->len)
			      : io_write_lines(s->out.fd, b->s, b->len);
}

void session_flush(struct session *s)
{
	bool whole = !s->out.text.failed;
	int err = s->out.mute || !whole ? 0 : write_text(s);

	if (!whole)
		report_no_memory(s);
	buf_clear(&s->out.text);
	s->out.flushed = true;
	/*
	 * for a recording, an existing file is kept until the output is complete, as reading ends
	 * soon
	 */
	if (!err && !s->plan.replay)
		err = output_file_publish_new(&s->out.file);
	if (!err)
		return;
	s->out.mute = true;
	s->out.write_error = err;
	if (err != -EPIPE) {
		complain("cannot write %s: %s%s", s->plan.output ? s->plan.output : "the output",
			 strerror(-err),
			 s->out.file.waits ? "; the existing file is unchanged" : "");
		s->status = EXIT_FAILED;
	}
	if (!s->child.pid && !s->in.collector.rec)
		s->loop.done = true;
}

int session_open_recording(struct session *s)
{
	const struct run_plan *p = &s->plan;
	struct recorder **rec = &s->in.collector.rec;
	char error[512];
	int err;

	if (!p->record)
		return 0;
	err = p->records_alone ? recorder_open_capped(p->record, s->o->force, s->o->max_bytes, rec,
						      error, sizeof(error))
			       : recorder_open(p->record, s->o->force, rec, error, sizeof(error));
	if (err) {
		complain("%s", error);
		return EXIT_FAILED;
	}
	s->out.record_path = p->record;
	return 0;
}

bool session_message(struct session *s, const char *text)
{
	if (!s->out.viewing)
		return false;
	array_copy(s->out.note, sizeof(s->out.note), text);
	return true;
}

/*
 * Reports once that recording failed; the session continues. `empty` is true if the recording
 * contains no complete interval.
 */
static void write_failed(struct session *s, bool empty)
{
	if (!s->in.collector.rec_error || s->out.rec_error_reported)
		return;
	s->out.rec_error_reported = true;
	if (s->in.collector.rec_error == -EOVERFLOW) {
		complain("the recording %s reached --max-size: recording stops", s->plan.record);
		s->loop.done = true;
		return;
	}
	s->status = EXIT_FAILED;
	if (session_message(
		    s, empty ? "the recording failed: it is empty"
			     : "the recording failed: it ends with the last complete interval"))
		return;
	/* a session that only records has nothing more to do */
	s->loop.done |= s->plan.records_alone;
	complain("the recording %s failed: %s; %s%s", s->out.record_path,
		 strerror(-s->in.collector.rec_error),
		 empty ? "it is empty, because no interval was written completely"
		       : "it ends with the last complete interval",
		 s->plan.records_alone ? "" : ", watching continues");
}

void session_check_recording(struct session *s)
{
	write_failed(s, s->in.collector.rec && recorder_is_empty(s->in.collector.rec));
}

void session_end_recording(struct session *s)
{
	struct end_record end = {.h = {RECORD_END, sizeof(end), host_monotonic_ns()}};
	bool empty;
	int err;

	if (!s->in.collector.rec)
		return;
	if (!s->out.began) {
		recorder_discard(s->in.collector.rec);
		s->in.collector.rec = NULL;
		return;
	}
	recorder_take(s->in.collector.rec, &end.h);
	empty = recorder_is_empty(s->in.collector.rec);
	err = recorder_close(s->in.collector.rec);
	s->in.collector.rec = NULL;
	if (err && !s->out.rec_error_reported) {
		s->in.collector.rec_error = err;
		write_failed(s, empty);
	}
}

/* Closes the output. If nothing was written, an existing output file stays unchanged. */
void session_end_output(struct session *s)
{
	int err = output_file_end(&s->out.file, s->out.flushed ? s->out.write_error : -ECANCELED);

	if (!s->out.flushed || !err || s->out.write_error)
		return;
	complain("cannot write %s: %s", s->plan.output, output_file_error(err));
	s->status = EXIT_FAILED;
}

void session_discard(struct session *s)
{
	output_file_end(&s->out.file, -ECANCELED);
	output_file_end(&s->out.junit, -ECANCELED);
	if (s->in.collector.rec)
		recorder_discard(s->in.collector.rec);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* info, report and diff: commands that read recordings completely, then print results. */
#include <string.h>

#include "base/compress.h"
#include "collect/redact.h"
#include "render/diff.h"
#include "render/formats/formats.h"
#include "render/html/html.h"
#include "session/commands.h"
#include "session/whole_recording.h"

int command_info(const struct options *o)
{
	struct buf b = {};
	struct story st;
	int status = story_read(&st, o, o->argv[0], NULL), ended;

	if (!status) {
		(o->format == &json_renderer ? info_json : info_text)(&b, &st.view);
		status = say_all(o, &b);
	}
	buf_free(&b);
	ended = story_end(&st);
	return status ? status : ended;
}

/*
 * Writes a compressed copy of the recording, redacted if requested. Replaces an existing file only
 * with --force.
 */
static int make_recording(const struct options *o)
{
	struct redaction redaction;
	struct recorder *rec = NULL;
	char error[512];
	struct story st;
	int status, err, write_error, closing;

	if (!o->output) {
		complain("report: name the output file\n  try: faultscope report %s -o OTHER.fsr",
			 o->argv[0]);
		return EXIT_USAGE;
	}
	if (recorder_open_capped(o->output, o->force, 0, &rec, error, sizeof(error))) {
		complain("%s", error);
		return EXIT_FAILED;
	}
	redaction_begin(&redaction);
	status = story_read_into(&st, o, o->argv[0], rec, o->redact ? &redaction : NULL);
	write_error = st.s.in.collector.rec_error;
	err = story_end(&st);
	if (status) {
		recorder_discard(rec);
		return status;
	}
	closing = recorder_close(rec);
	if (!write_error)
		write_error = closing;
	if (!write_error)
		return err;
	complain("cannot write %s: %s", o->output, strerror(-write_error));
	return EXIT_FAILED;
}

static int make_textfile(const struct options *o, int (*write_metrics)(const struct options *o))
{
	struct options mine = *o;

	if (!o->output) {
		complain("report: name the output file\n  try: faultscope report --format textfile "
			 "%s "
			 "-o "
			 "faultscope.prom",
			 o->argv[0]);
		return EXIT_USAGE;
	}
	mine.command = CMD_EXPORT;
	mine.replay = o->argv[0];
	mine.textfile = o->output;
	mine.output = NULL;
	return write_metrics(&mine);
}

/* Prints lines to the output that session_begin() opened, while the recording is read. */
static int make_lines(const struct options *o, const struct report_format *f)
{
	struct story st;
	int status = story_read(&st, o, o->argv[0], f->lines), err;

	st.s.out.view.verdict = f->lines == &diagnosis_renderer;
	err = story_end(&st);
	return status ? status : err;
}

static int make_whole(const struct options *o, const struct report_format *f)
{
	const struct gzip_way best = {.level = 9, .window_bits = 15, .memory = 8};
	struct buf b = {}, packed = {};
	struct gzip *gzip = NULL;
	struct story st;
	int status = story_read_rows(&st, o, o->argv[0], f->row), ended;

	st.s.out.view.verdict = f->make == html_report;
	if (!status) {
		f->make(&b, &st.view);
		if (f->gzipped && !b.failed && gzip_pack(&gzip, &best, &b, &packed))
			packed.failed = true;
		status = say_all(o, f->gzipped ? &packed : &b);
	}
	gzip_free(gzip);
	buf_free(&packed);
	buf_free(&b);
	ended = story_end(&st);
	return status ? status : ended;
}

int command_report(const struct options *o, int (*write_metrics)(const struct options *o))
{
	const struct report_format *f = o->report_format;

	if (!f && o->output)
		f = report_format_of(o->output);
	if (!f)
		f = report_format_find("text");
	if (o->redact && f->way != WAY_RECORDING) {
		complain("report: --redact writes a new recording, so name it\n"
			 "  try: faultscope report --redact %s -o REDACTED.fsr",
			 o->argv[0]);
		return EXIT_USAGE;
	}
	switch (f->way) {
	case WAY_RECORDING:
		return make_recording(o);
	case WAY_TEXTFILE:
		return make_textfile(o, write_metrics);
	case WAY_LINES:
		return make_lines(o, f);
	default:
		return make_whole(o, f);
	}
}

/* Writes the difference of two recordings in the requested format. */
static void put_diff(struct buf *b, const struct options *o, const struct diff *d,
		     const struct story_view *before, const struct story_view *after)
{
	const struct view *v = after->v;
	const struct report_format *f = o->report_format;

	if (!f && o->output)
		f = report_format_of(o->output);
	if (f && f->make == html_report)
		html_diff(b, d, before, after);
	else if (o->format == &json_renderer || (f && f->lines == &json_renderer))
		diff_json(b, d, v);
	else
		diff_text(b, d, v, o->top);
}

int diff_print(const struct options *o, const char *const path[2], const char *const name[2])
{
	struct story before, after;
	struct diff *d = NULL;
	struct buf b = {};
	int status, err;

	status = story_read(&before, o, path[0], NULL);
	if (status) {
		err = story_end(&before);
		return status ? status : err;
	}
	status = story_read(&after, o, path[1], NULL);
	if (name[0])
		before.view.file.name = name[0];
	if (name[1])
		after.view.file.name = name[1];
	if (!status && diff_make(&d, &before.view, &after.view)) {
		complain("out of memory");
		status = EXIT_FAILED;
	}
	if (!status) {
		put_diff(&b, o, d, &before.view, &after.view);
		status = say_all(o, &b);
		err = before.s.status ? before.s.status : after.s.status;
		/*
		 * the gaps of both recordings were printed together: do not print them again for
		 * each one
		 */
		before.s.status = after.s.status = status_of_gaps(err, &d->gaps);
	}
	diff_free(d);
	buf_free(&b);
	err = story_end(&after);
	status = status ? status : err;
	err = story_end(&before);
	return status ? status : err;
}

int command_diff(const struct options *o)
{
	return diff_print(o, (const char *const[2]){o->argv[0], o->argv[1]},
			  (const char *const[2]){NULL, NULL});
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/whole_recording.h"

#include <string.h>

#include "render/text/empty_renderer.h"

static void add_scan(struct session *s)
{
	struct story *st = s->plan.ctx;

	if (history_add_scan(&st->h, &s->in.m) || finding_times_add(&st->times, &s->in.findings)) {
		complain("out of memory");
		st->failed = s->loop.done = true;
	}
}

static void put_dropped(void *ctx, const struct history_row *r)
{
	struct story *st = ctx;

	st->put_row(&st->dropped, &st->s.out.view, r);
}

static void describe_file(struct story *st)
{
	const struct replay_facts *f = replay_facts(st->s.in.src);
	const char *slash = strrchr(st->s.plan.replay, '/');

	st->view.file = (struct story_file){
		.name = slash ? slash + 1 : st->s.plan.replay,
		.format = f->format,
		.bytes = f->bytes,
		.records = f->records,
		.record_bytes = f->record_bytes,
		.damages = f->damages,
		.damage_offset = f->damage_offset,
		.lost_bytes = f->lost_bytes,
		.error = st->s.in.src->error,
		.end = !f->ended	       ? STORY_CUT_OFF
		       : f->reason == END_FULL ? STORY_FULL
					       : STORY_AS_ASKED,
	};
}

static int read_story(struct story *st, const struct options *o, const char *path,
		      const struct renderer *lines, struct recorder *rec,
		      const struct redaction *redaction, story_put_row *put_row)
{
	struct run_plan plan;
	int err;

	memset(st, 0, sizeof(*st));
	plan_init(&plan, o);
	plan.replay = path;
	plan.renderer = lines ? lines : &silent_renderer;
	plan.output = lines ? o->output : NULL; /* without `lines`, the caller writes the output */
	plan.view.identifies = lines == &json_renderer;
	plan.redaction = redaction;
	plan.after_scan = add_scan;
	plan.ctx = st;
	err = session_begin(&st->s, &plan);
	if (!err)
		err = session_open_replay(&st->s);
	if (!err && history_init(&st->h)) {
		complain("out of memory");
		err = EXIT_FAILED;
	}
	if (err) {
		st->failed = true;
		return st->s.status = err;
	}
	st->put_row = put_row;
	st->h.drop = put_row ? put_dropped : NULL;
	st->h.drop_ctx = st;
	st->s.in.m.samples = &st->samples;
	st->s.in.findings.keep_cleared = st->s.out.view.command = true;
	st->s.in.collector.rec = rec;
	st->s.out.rec_error_reported = true; /* the caller reports errors of its recorder */
	err = session_start(&st->s);
	if (!err)
		session_loop(&st->s);
	if (!err && (history_end(&st->h, &st->s.in.m) ||
		     finding_times_add(&st->times, &st->s.in.findings) || st->dropped.failed)) {
		complain("out of memory");
		err = EXIT_FAILED;
	}
	st->failed |= err;
	st->view.v = &st->s.out.view;
	st->view.h = &st->h;
	st->view.times = &st->times;
	st->view.dropped = put_row ? &st->dropped : NULL;
	describe_file(st);
	st->s.in.collector.rec = NULL; /* the caller owns this recorder */
	return st->failed ? EXIT_FAILED : 0;
}

int story_read(struct story *st, const struct options *o, const char *path,
	       const struct renderer *lines)
{
	return read_story(st, o, path, lines, NULL, NULL, NULL);
}

int story_read_into(struct story *st, const struct options *o, const char *path,
		    struct recorder *rec, const struct redaction *redaction)
{
	return read_story(st, o, path, NULL, rec, redaction, NULL);
}

int story_read_rows(struct story *st, const struct options *o, const char *path, story_put_row *put)
{
	return read_story(st, o, path, NULL, NULL, NULL, put);
}

int story_end(struct story *st)
{
	int status;

	history_free(&st->h);
	finding_times_free(&st->times);
	buf_free(&st->dropped);
	samples_free(&st->samples);
	status = session_end(&st->s);
	return status ? status : st->failed ? EXIT_FAILED : 0;
}

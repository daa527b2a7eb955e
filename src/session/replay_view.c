// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The live view of a recording. It can be shown at the recorded speed, faster, slower, step by
 * step, and backwards.
 */
#include "session/live_view.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "probe/host_facts.h"

/*
 * Handles keys until the next interval of the recording is due. At normal speed, each interval is
 * shown for as long as it lasted when it was recorded.
 */
static void wait_for_scan(struct session *s)
{
	struct viewing *w = s->out.viewing;
	double left = model_window_seconds(&w->tui.shot.m);
	uint64_t from = host_monotonic_ns();

	while (!s->loop.done && !w->go && (w->tui.paused || w->ended || left > 0)) {
		bool stands = w->tui.paused || w->ended;
		uint64_t now;

		viewing_show_state(w);
		loop_once(&s->loop, stands ? -1 : (int)(left / w->speed * 1000) + 1);
		now = host_monotonic_ns();
		if (!stands)
			left -= (now - from) / 1e9 * w->speed;
		from = now;
	}
}

/*
 * Reads the next interval of the recording and stores a snapshot. Returns 1 at the end of the
 * recording.
 */
static int take_one(struct session *s)
{
	struct viewing *w = s->out.viewing;
	bool paused = w->tui.paused;
	int err = session_take_window(s, false);

	w->ended = err == 1;
	if (err)
		return err;
	/* the user stepped to this interval: a paused view takes no snapshot, so end the pause */
	w->tui.paused = false;
	viewing_take_snapshot(s);
	w->tui.paused = paused;
	w->window++;
	session_next_window(s);
	return 0;
}

/* Reopens the recording to go back, because recordings are read only forwards. */
static int start_anew(struct session *s)
{
	struct sink sink = session_sink(s);
	bool keeps = s->in.findings.keep_cleared;
	int err;

	tui_forget(&s->out.viewing->tui);
	s->in.src->ops->close(s->in.src);
	s->in.src = NULL;
	findings_free(&s->in.findings);
	s->in.findings.keep_cleared = keeps;
	model_free(&s->in.m);
	err = model_init(&s->in.m);
	if (err)
		return err;
	memcpy(s->in.m.assumed, s->o->assumed, sizeof(s->in.m.assumed));
	if (session_open_replay(s) || session_first_scan(s, &sink))
		return -EIO;
	findings_judge(&s->in.findings, &s->in.m);
	viewing_take_snapshot(s);
	s->out.viewing->window = 0;
	session_next_window(s);
	return 0;
}

static int go(struct session *s)
{
	struct viewing *w = s->out.viewing;
	long by = w->go ? w->go : 1;
	int err = 0;

	w->go = 0;
	if (by < 0) {
		by += (long)w->window;
		err = start_anew(s);
	}
	while (by-- > 0 && !err)
		err = take_one(s);
	viewing_show_state(w);
	viewing_draw(s);
	return err == 1 ? 0 : err;
}

int viewing_replay(struct session *s)
{
	int err = 0;

	s->out.viewing->speed = !s->o->speed_given ? 1
				: s->o->speed > 0  ? s->o->speed
						   : VIEWING_SPEED_MOST;
	/* loop_watch() fails if standard input is a file; keys have no effect in this case */
	loop_watch(&s->loop, STDIN_FILENO, viewing_on_keys);
	while (!s->loop.done && !err) {
		wait_for_scan(s);
		if (!s->loop.done)
			err = go(s);
		if (s->out.viewing->ended && !isatty(STDIN_FILENO))
			s->loop.done = true; /* without a terminal, no key can quit */
		if (s->o->count && ++s->out.frames >= s->o->count)
			s->loop.done = true;
	}
	return err;
}

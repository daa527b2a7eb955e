// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "session/live_view.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/holdings_reader.h"
#include "collect/model_records.h"
#include "probe/host_facts.h"
#include "render/tui/tui.h"
#include "live/terminal.h"

#define SPEED_MOST     1024.0
#define LEAP	       10 /* looks */
#define ESCAPE_WAIT_MS 30 /* after which Esc is a key by itself */

struct viewing {
	struct tui tui;
	size_t pace; /* row of paces[] */
	char path[128];
	/* of a recording */
	double speed;
	long go;	 /* looks to go at once; below 0: back */
	uint64_t window; /* that is shown */
	bool ended;
};

static const double paces[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};
#define NR_PACES (sizeof(paces) / sizeof(paces[0]))

int viewing_begin(struct session *s)
{
	struct viewing *w = calloc(1, sizeof(*w));
	double interval = s->o->interval ? s->o->interval : 1;

	if (!w)
		return -ENOMEM;
	s->viewing = w;
	tui_open(&w->tui, &s->view);
	w->tui.looks = s->src->live && !host_is_in_pid_namespace();
	w->tui.writes = s->src->live;
	w->tui.recording = s->collector.rec != NULL;
	while (w->pace + 1 < NR_PACES && paces[w->pace] < interval)
		w->pace++;
	terminal_enter(s->fd, STDIN_FILENO);
	return 0;
}

void viewing_draw(struct session *s)
{
	struct buf frame = {};

	tui_frame(&s->viewing->tui, &s->view, &frame);
	terminal_redraw(&s->out, &frame);
	buf_free(&frame);
	session_flush(s);
}

/* One bounded read of its maps and descriptors. What it says is there at the next look. */
static void read_holdings(struct session *s)
{
	struct sink sink = {.take = collector_take, .ctx = &s->collector};
	struct tui *t = &s->viewing->tui;
	const struct fs_subject id = t->chosen;

	if (!model_find(&s->m, &id))
		return;
	for (int what = FS_WHAT_MAPS; what <= FS_WHAT_FDS; what++)
		holdings_read(id.pid, &id, what, &sink);
	snapshot_hold(&t->shot, &s->m, &id);
}

/* Watching one process, it is the one to show. */
static void show_only(struct session *s)
{
	struct subject *only = model_each(&s->m, NULL);

	if (strcmp(s->m.host.mode, "targets") || !only || model_each(&s->m, only))
		return;
	tui_show(&s->viewing->tui, &only->id);
	if (s->viewing->tui.looks)
		read_holdings(s);
}

static void look(struct session *s)
{
	struct tui *t = &s->viewing->tui;

	if (tui_look(t, &s->view))
		viewing_say(s, "out of memory: this is no longer up to date");
}

void viewing_look(struct session *s)
{
	bool first = !s->viewing->tui.has_looked;

	look(s);
	if (first)
		show_only(s);
	viewing_draw(s);
}

static int record_below(struct viewing *w, const char *directory, struct recorder **ret,
			char *error, size_t size)
{
	struct tm now;
	time_t t = time(NULL);
	char stamp[32];

	localtime_r(&t, &now);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &now);
	snprintf(w->path, sizeof(w->path), "%sfaultscope-%s.fsr", directory, stamp);
	return recorder_open_packed(w->path, false, 0, ret, error, size);
}

/* Of use to a recording alone. */
static void sample_faults(struct session *s, bool on)
{
	if (s->src->live && !s->src->plain)
		live_sample(s->src, on);
}

static void begin_recording(struct session *s)
{
	struct viewing *w = s->viewing;
	struct recorder *rec;
	char error[512], say[192];

	/* root without its capabilities may not write to a user's directory */
	if (record_below(w, "", &rec, error, sizeof(error)) &&
	    record_below(w, "/tmp/", &rec, error, sizeof(error))) {
		viewing_say(s, error);
		return;
	}
	s->collector.rec = rec;
	s->collector.rec_error = retell(&s->m, rec);
	if (!s->collector.rec_error)
		s->collector.rec_error = recorder_publish(rec);
	s->rec_told = false;
	s->record_path = w->path;
	w->tui.recording = true;
	sample_faults(s, true);
	snprintf(say, sizeof(say), "recording to %s; w ends it", w->path);
	viewing_say(s, say);
}

static void change_recording(struct session *s)
{
	struct viewing *w = s->viewing;
	char say[192];

	if (!s->collector.rec) {
		begin_recording(s);
		return;
	}
	snprintf(say, sizeof(say), "recorded: faultscope --replay %s", s->record_path);
	viewing_say(s, say);
	session_end_recording(s);
	w->tui.recording = false;
	sample_faults(s, false);
}

/* How fast, or that it is over. */
static void tell_state(struct viewing *w)
{
	if (w->ended)
		snprintf(w->tui.status, sizeof(w->tui.status), "END OF RECORDING");
	else if (w->speed >= 1)
		snprintf(w->tui.status, sizeof(w->tui.status), "REPLAY x%g", w->speed);
	else
		snprintf(w->tui.status, sizeof(w->tui.status), "REPLAY x1/%g", 1 / w->speed);
}

static void change_pace(struct session *s, int by)
{
	struct viewing *w = s->viewing;
	char say[80];

	if (!s->src->live) {
		w->speed = by < 0 ? w->speed * 2 : w->speed / 2;
		w->speed = w->speed > SPEED_MOST       ? SPEED_MOST
			   : w->speed < 1 / SPEED_MOST ? 1 / SPEED_MOST
						       : w->speed;
		tell_state(w);
		return;
	}
	if ((by < 0 && !w->pace) || (by > 0 && w->pace + 1 == NR_PACES))
		return;
	w->pace += by;
	loop_every(&s->loop, paces[w->pace] * 1e9);
	snprintf(say, sizeof(say), "a look every %g s", paces[w->pace]);
	viewing_say(s, say);
}

/* How many looks a key goes on; 0: it is none of these. */
static long looks_of(uint32_t key)
{
	return key == '.' ? 1 : key == ',' ? -1 : key == ']' ? LEAP : key == '[' ? -LEAP : 0;
}

/* Of a recording: it stops where one went. */
static void step(struct session *s, uint32_t key)
{
	struct viewing *w = s->viewing;

	if (s->src->live || !looks_of(key))
		return;
	w->go = looks_of(key);
	w->tui.paused = true;
}

static void act(struct session *s, enum tui_action action, uint32_t key)
{
	switch (action) {
	case TUI_QUIT:
		s->loop.done = true;
		break;
	case TUI_READ:
		read_holdings(s);
		break;
	case TUI_RECORD:
		change_recording(s);
		break;
	case TUI_FASTER:
		change_pace(s, -1);
		break;
	case TUI_SLOWER:
		change_pace(s, 1);
		break;
	case TUI_OTHER:
		step(s, key);
		break;
	case TUI_DRAW:
		break;
	}
}

static void press(struct session *s, const char *bytes, size_t len)
{
	struct tui *t = &s->viewing->tui;
	uint32_t key;
	size_t n;

	do {
		n = tui_decode(&t->keys, bytes, len, &key);
		bytes += n;
		len -= n;
		if (key != KEY_NONE)
			act(s, tui_press(t, &s->view, key), key);
	} while (len && !s->loop.done);
}

int viewing_on_keys(void *ctx)
{
	struct session *s = ctx;
	struct pollfd more = {.fd = STDIN_FILENO, .events = POLLIN};
	char bytes[256];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0) {
		s->loop.done = true; /* the terminal is gone */
		return 0;
	}
	press(s, bytes, n);
	if (s->viewing->tui.keys.n && !poll(&more, 1, ESCAPE_WAIT_MS))
		press(s, "", 0);
	if (!s->loop.done)
		viewing_draw(s);
	return 0;
}

/* Until the next look is due: as long as the one that is shown took. */
static void wait_for_look(struct session *s)
{
	struct viewing *w = s->viewing;
	double left = model_window_seconds(&w->tui.shot.m);
	uint64_t from = host_monotonic_ns();

	while (!s->loop.done && !w->go && (w->tui.paused || w->ended || left > 0)) {
		bool stands = w->tui.paused || w->ended;
		uint64_t now;

		tell_state(w);
		loop_once(&s->loop, stands ? -1 : (int)(left / w->speed * 1000) + 1);
		now = host_monotonic_ns();
		if (!stands)
			left -= (now - from) / 1e9 * w->speed;
		from = now;
	}
}

/* One look on, with what the view keeps of it. 1: there is none. */
static int take_one(struct session *s)
{
	struct viewing *w = s->viewing;
	bool paused = w->tui.paused;
	int err = session_take_window(s, false);

	w->ended = err == 1;
	if (err)
		return err;
	w->tui.paused = false; /* it stands, but where one went */
	look(s);
	w->tui.paused = paused;
	w->window++;
	session_next_window(s);
	return 0;
}

/* A recording is read forwards alone: from its beginning. */
static int start_anew(struct session *s)
{
	struct sink sink = {.take = collector_take, .ctx = &s->collector};
	bool keeps = s->findings.keep_cleared;
	int err;

	tui_forget(&s->viewing->tui);
	s->src->ops->close(s->src);
	s->src = NULL;
	findings_free(&s->findings);
	s->findings.keep_cleared = keeps;
	model_free(&s->m);
	err = model_init(&s->m);
	if (err)
		return err;
	memcpy(s->m.assumed, s->o->assumed, sizeof(s->m.assumed));
	if (session_open_replay(s) || session_first_look(s, &sink))
		return -EIO;
	findings_judge(&s->findings, &s->m);
	look(s);
	s->viewing->window = 0;
	session_next_window(s);
	return 0;
}

static int go(struct session *s)
{
	struct viewing *w = s->viewing;
	long by = w->go ? w->go : 1;
	int err = 0;

	w->go = 0;
	if (by < 0) {
		by += (long)w->window;
		err = start_anew(s);
	}
	while (by-- > 0 && !err)
		err = take_one(s);
	tell_state(w);
	viewing_draw(s);
	return err == 1 ? 0 : err;
}

int viewing_replay(struct session *s)
{
	int err = 0;

	s->viewing->speed = !s->o->speed_given ? 1 : s->o->speed > 0 ? s->o->speed : SPEED_MOST;
	/* a file cannot be waited for, and has no keys */
	loop_watch(&s->loop, STDIN_FILENO, viewing_on_keys);
	while (!s->loop.done && !err) {
		wait_for_look(s);
		if (!s->loop.done)
			err = go(s);
		if (s->viewing->ended && !isatty(STDIN_FILENO))
			s->loop.done = true; /* nobody can say so */
		if (s->o->count && ++s->frames >= s->o->count)
			s->loop.done = true;
	}
	return err;
}

bool viewing_say(struct session *s, const char *text)
{
	if (!s->viewing)
		return false;
	array_copy(s->viewing->tui.say, sizeof(s->viewing->tui.say), text);
	return true;
}

void viewing_end(struct session *s)
{
	if (!s->viewing)
		return;
	terminal_leave();
	tui_free(&s->viewing->tui);
	free(s->viewing);
	s->viewing = NULL;
}

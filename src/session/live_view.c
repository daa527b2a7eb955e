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
#include "model/ended.h"
#include "session/replay_outline.h"

#define ESCAPE_WAIT_MS 30 /* Esc with no further byte within this time is the Esc key */

static const double paces[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};
#define NR_PACES (sizeof(paces) / sizeof(paces[0]))

void viewing_open_settings(struct session *s)
{
	view_settings_open(&s->out.settings, true);
	/* Landlock confines users who have faultscope's capabilities from its program file */
	if (s->out.settings.dir >= 0)
		s->in.scope.writable[0] = s->out.settings.directory;
}

/* Applies the settings of the user; options of the command line come before them. */
static void apply_settings(struct session *s)
{
	struct view_settings *kept = &s->out.settings;
	struct tui *t = &s->out.viewing->tui;
	const char *wrong;

	view_settings_load(kept, t);
	if (s->o->colour == WHEN_ALWAYS && t->theme == THEME_NONE)
		t->theme = THEME_DARK;
	tui_obey_sort(t, &s->out.view);
	view_settings_keep(kept, t, NULL);
	wrong = !kept->missing && kept->error[0] ? kept->error : kept->wrong.s;
	if (!wrong)
		return;
	complain("settings of the live view: %s", wrong);
	snprintf(t->say, sizeof(t->say), "settings: %.*s", (int)strcspn(wrong, "\n"), wrong);
}

/* Writes the settings that the user has changed. */
static void save_settings(struct session *s)
{
	struct view_settings *kept = &s->out.settings;
	struct tui *t = &s->out.viewing->tui;

	/* at the end of a recording, the key e is no choice for the next live view */
	if (!s->in.src->live)
		view_settings_keep(kept, t, "ended");
	if (view_settings_save(kept, t))
		complain("the changed settings of the live view are not kept: %s", kept->error);
}

int viewing_begin(struct session *s)
{
	struct viewing *w = calloc(1, sizeof(*w));
	double interval = s->plan.interval;

	if (!w)
		return -ENOMEM;
	s->out.viewing = w;
	if (model_keep_ended(&s->in.m, VIEWING_ENDED))
		return -ENOMEM;
	tui_open(&w->tui, &s->out.view);
	apply_settings(s);
	w->tui.looks = s->in.src->live && !host_is_in_pid_namespace();
	w->tui.writes = s->in.src->live;
	w->tui.recording = s->in.collector.rec != NULL;
	while (w->pace + 1 < NR_PACES && paces[w->pace] < interval)
		w->pace++;
	terminal_enter(s->out.fd, STDIN_FILENO);
	return 0;
}

void viewing_draw(struct session *s)
{
	struct tui *t = &s->out.viewing->tui;
	struct buf frame = {};

	if (s->out.note[0])
		array_copy(t->say, sizeof(t->say), s->out.note);
	s->out.note[0] = 0;
	tui_frame(t, &s->out.view, &frame);
	terminal_redraw(&s->out.text, &frame);
	buf_free(&frame);
	session_flush(s);
}

/* Reads the mappings and file descriptors of the chosen process once, up to a maximum. */
static void read_holdings(struct session *s)
{
	struct sink sink = {.take = collector_take, .ctx = &s->in.collector};
	struct tui *t = &s->out.viewing->tui;
	const struct process_key id = t->chosen;

	if (!model_find(&s->in.m, &id))
		return;
	for (int what = WHAT_MAPS; what <= WHAT_FDS; what++)
		holdings_read(id.pid, &id, what, &sink);
	snapshot_hold(&t->shot, &s->in.m, &id);
}

/* Shows the page of the process if only one process is watched. */
static void show_only(struct session *s)
{
	struct subject *only = model_each(&s->in.m, NULL);

	if (!model_watches_targets(&s->in.m) || !only || model_each(&s->in.m, only))
		return;
	tui_show(&s->out.viewing->tui, &only->id);
	if (s->out.viewing->tui.looks)
		read_holdings(s);
}

const struct subject *viewing_chosen(const struct session *s)
{
	const struct tui *t = s->out.viewing ? &s->out.viewing->tui : NULL;
	bool is_page = t && (t->where == TUI_PROCESS || t->where == TUI_MEMORY);

	return is_page ? model_find(&s->in.m, &t->chosen) : NULL;
}

void viewing_take_snapshot(struct session *s)
{
	struct tui *t = &s->out.viewing->tui;

	if (tui_update(t, &s->out.view))
		session_message(s, "out of memory: the view is no longer updated");
}

void viewing_update(struct session *s)
{
	bool first = !s->out.viewing->tui.has_scanned;

	viewing_take_snapshot(s);
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
	return recorder_open_capped(w->path, false, 0, ret, error, size);
}

/* Enables or disables the sampling of page faults. Only recordings use fault samples. */
static void sample_faults(struct session *s, bool on)
{
	if (s->in.src->live && !s->in.src->plain)
		live_sample(s->in.src, on);
}

static int take_retold(void *ctx, const struct record *h)
{
	return recorder_take(ctx, h);
}

static void begin_recording(struct session *s)
{
	struct viewing *w = s->out.viewing;
	struct recorder *rec;
	char error[512], say[192];
	struct sink sink = {.take = take_retold};

	/*
	 * write to /tmp if the current directory is another user's: root without capabilities
	 * cannot write there
	 */
	if (record_below(w, "", &rec, error, sizeof(error)) &&
	    record_below(w, "/tmp/", &rec, error, sizeof(error))) {
		session_message(s, error);
		return;
	}
	s->in.collector.rec = rec;
	sink.ctx = rec;
	s->in.collector.rec_error = retell(&s->in.m, &sink);
	if (!s->in.collector.rec_error)
		s->in.collector.rec_error = recorder_publish(rec);
	s->out.rec_error_reported = false;
	s->out.record_path = w->path;
	w->tui.recording = true;
	sample_faults(s, true);
	snprintf(say, sizeof(say), "recording to %s; press w to stop", w->path);
	session_message(s, say);
}

static void change_recording(struct session *s)
{
	struct viewing *w = s->out.viewing;
	char say[192];

	if (!s->in.collector.rec) {
		begin_recording(s);
		return;
	}
	snprintf(say, sizeof(say), "recorded: faultscope --replay %s", s->out.record_path);
	session_message(s, say);
	session_end_recording(s);
	w->tui.recording = false;
	sample_faults(s, false);
}

void viewing_show_state(struct viewing *w)
{
	if (w->ended)
		snprintf(w->tui.status, sizeof(w->tui.status), "END OF RECORDING%s",
			 w->damage ? " (DAMAGED)" : "");
	else if (w->speed >= 1)
		snprintf(w->tui.status, sizeof(w->tui.status), "REPLAY x%g", w->speed);
	else
		snprintf(w->tui.status, sizeof(w->tui.status), "REPLAY x1/%g", 1 / w->speed);
}

static void change_pace(struct session *s, int by)
{
	struct viewing *w = s->out.viewing;
	char say[80];

	if (!s->in.src->live) {
		w->speed = by < 0 ? w->speed * 2 : w->speed / 2;
		w->speed = w->speed > VIEWING_SPEED_MOST       ? VIEWING_SPEED_MOST
			   : w->speed < 1 / VIEWING_SPEED_MOST ? 1 / VIEWING_SPEED_MOST
							       : w->speed;
		viewing_show_state(w);
		return;
	}
	if ((by < 0 && !w->pace) || (by > 0 && w->pace + 1 == NR_PACES))
		return;
	w->pace += by;
	loop_every(&s->loop, paces[w->pace] * 1e9);
	snprintf(say, sizeof(say), "a scan every %g s", paces[w->pace]);
	session_message(s, say);
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
	case TUI_JUMP:
		viewing_replay_jump(s, s->out.viewing->tui.typed);
		break;
	case TUI_OTHER:
		viewing_replay_key(s, key);
		break;
	case TUI_DRAW:
		break;
	}
}

static void press(struct session *s, const char *bytes, size_t len)
{
	struct tui *t = &s->out.viewing->tui;
	uint32_t key;
	size_t n;

	do {
		n = tui_decode(&t->keys, bytes, len, &key);
		bytes += n;
		len -= n;
		if (key != KEY_NONE)
			act(s, tui_press(t, &s->out.view, key), key);
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
		s->loop.done = true; /* end of input means that the terminal is gone */
		return 0;
	}
	press(s, bytes, n);
	if (s->out.viewing->tui.keys.n && !poll(&more, 1, ESCAPE_WAIT_MS))
		press(s, "", 0);
	if (!s->loop.done)
		viewing_draw(s);
	return 0;
}

void viewing_end(struct session *s)
{
	if (!s->out.viewing)
		return;
	terminal_leave();
	save_settings(s);
	tui_free(&s->out.viewing->tui);
	if (s->out.viewing->outline)
		outline_end(s->out.viewing->outline);
	free(s->out.viewing->outline);
	free(s->out.viewing);
	s->out.viewing = NULL;
}

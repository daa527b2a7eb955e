// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "viewing.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/holdings.h"
#include "collect/retell.h"
#include "probe/host.h"
#include "render/tui.h"
#include "terminal.h"

#define ESCAPE_WAIT_MS 30 /* after which Esc is a key by itself */

struct viewing {
	struct tui tui;
	size_t pace; /* row of paces[] */
	char path[128];
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

/* Watching one process, it is the one to show. */
static void show_only(struct session *s)
{
	struct subject *only = model_each(&s->m, NULL);

	if (strcmp(s->m.host.mode, "targets") || !only || model_each(&s->m, only))
		return;
	tui_show(&s->viewing->tui, &only->id);
}

void viewing_draw(struct session *s)
{
	struct buf frame = {};

	tui_frame(&s->viewing->tui, &s->view, &frame);
	terminal_redraw(&s->out, &frame);
	buf_free(&frame);
	session_flush(s);
}

void viewing_look(struct session *s)
{
	struct tui *t = &s->viewing->tui;
	bool first = !t->has_looked;

	if (tui_look(t, &s->view))
		viewing_say(s, "out of memory: this is no longer up to date");
	if (first)
		show_only(s);
	viewing_draw(s);
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

static int record_below(struct viewing *w, const char *directory, struct recorder **ret,
			char *error, size_t size)
{
	struct tm now;
	time_t t = time(NULL);
	char stamp[32];

	localtime_r(&t, &now);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &now);
	snprintf(w->path, sizeof(w->path), "%sfaultscope-%s.fsr", directory, stamp);
	return recorder_open(w->path, false, ret, error, size);
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
	s->rec_told = false;
	s->record_path = w->path;
	w->tui.recording = true;
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
}

static void change_pace(struct session *s, int by)
{
	struct viewing *w = s->viewing;
	struct itimerspec every;
	char say[80];
	uint64_t ns;

	if (!s->src->live || (by < 0 && !w->pace) || (by > 0 && w->pace + 1 == NR_PACES))
		return;
	w->pace += by;
	ns = paces[w->pace] * 1e9;
	every.it_value = every.it_interval = (struct timespec){ns / 1000000000, ns % 1000000000};
	timerfd_settime(s->timer, 0, &every, NULL);
	snprintf(say, sizeof(say), "a look every %g s", paces[w->pace]);
	viewing_say(s, say);
}

static void act(struct session *s, enum tui_action action)
{
	switch (action) {
	case TUI_QUIT:
		s->done = true;
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
	case TUI_DRAW:
	case TUI_OTHER:
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
			act(s, tui_press(t, &s->view, key));
	} while (len && !s->done);
}

void viewing_keys(struct session *s)
{
	struct pollfd more = {.fd = STDIN_FILENO, .events = POLLIN};
	char bytes[256];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		s->done = true; /* the terminal is gone */
		return;
	}
	press(s, bytes, n);
	if (s->viewing->tui.keys.n && !poll(&more, 1, ESCAPE_WAIT_MS))
		press(s, "", 0);
	if (!s->done)
		viewing_draw(s);
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

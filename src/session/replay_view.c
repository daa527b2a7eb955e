// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The live view of a recording. It can be shown at the recorded speed, faster, slower, step by
 * step, and from any time on.
 */
#define _GNU_SOURCE
#include "session/live_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/moment.h"
#include "model/ended.h"
#include "probe/host_facts.h"
#include "probe/recording.h"
#include "session/replay_outline.h"

#define LEAP	   10 /* number of scans that the keys > and < skip */
#define MINUTE_NS  60000000000ULL
#define SLICE_NS   20000000ULL	/* time of work on the outline between two looks at the keys */
#define PATIENT_NS 150000000ULL /* after this time, a view that is on its way says so */
#define REDRAW_NS  500000000ULL /* time between redraws for the progress of the outline */
#define DAY_NS	   86400000000000ULL

/*
 * Adds a goal, and pauses. A time replaces all goals. Equal goals in one direction add up; a way
 * back is a goal of its own, since the way forward may end earlier, at the end of the recording.
 */
static void add_goal(struct viewing *w, struct replay_goal goal)
{
	struct replay_goal *last = w->nr_goals ? &w->goal[w->nr_goals - 1] : NULL;

	w->tui.paused = true;
	if (goal.kind == GOAL_TIME)
		w->nr_goals = 0;
	else if (last && last->kind == goal.kind && (last->by > 0) == (goal.by > 0)) {
		last->by += goal.by;
		return;
	}
	if (w->nr_goals < REPLAY_GOALS)
		w->goal[w->nr_goals++] = goal;
}

/* Takes the first goal; without one, the replay just goes on. */
static struct replay_goal take_goal(struct viewing *w)
{
	struct replay_goal first = w->goal[0];

	if (!w->nr_goals)
		return (struct replay_goal){};
	w->nr_goals--;
	memmove(w->goal, w->goal + 1, w->nr_goals * sizeof(*w->goal));
	return first;
}

/* Returns whether the user chose a time while the replay was on its way. */
static bool is_called_off(const struct viewing *w)
{
	return w->nr_goals && w->goal[0].kind == GOAL_TIME;
}

/* Writes a clock time, with its date if the recording lasts a day or longer. */
static void write_clock(const struct moment_span *of, uint64_t t_ns, char *ret, size_t size)
{
	time_t at = (of->wall_ns + (t_ns - of->begin_ns)) / 1000000000;
	struct tm tm;

	*ret = 0;
	if (!of->wall_ns || t_ns < of->begin_ns)
		return;
	localtime_r(&at, &tm);
	strftime(ret, size, of->end_ns - of->begin_ns < DAY_NS ? "%H:%M:%S" : "%b %d %H:%M:%S",
		 &tm);
}

static void show_timeline(struct session *s)
{
	struct outline *o = s->out.viewing->outline;
	struct tui_timeline *t = &s->out.viewing->tui.timeline;

	if (o->span.end_ns < s->in.m.last_ns)
		o->span.end_ns = s->in.m.last_ns;
	t->begin_ns = o->span.begin_ns;
	t->end_ns = o->span.end_ns;
	t->read_ns = o->read_ns;
	t->mark = o->mark;
	t->nr_marks = o->n;
	write_clock(&o->span, t->begin_ns, t->from, sizeof(t->from));
	write_clock(&o->span, t->end_ns, t->to, sizeof(t->to));
	write_clock(&o->span, s->in.m.last_ns, t->now, sizeof(t->now));
}

static void draw(struct session *s)
{
	viewing_show_state(s->out.viewing);
	show_timeline(s);
	viewing_draw(s);
}

/* Reads a part of the outline. Returns true if it is time to show the progress. */
static bool read_outline(struct outline *o, uint64_t *drawn_ns)
{
	uint64_t begin = host_monotonic_ns();

	while (!o->complete && host_monotonic_ns() < begin + SLICE_NS)
		outline_step(o);
	if (!o->complete && host_monotonic_ns() < *drawn_ns + REDRAW_NS)
		return false;
	*drawn_ns = host_monotonic_ns();
	return true;
}

/*
 * Handles keys until the next interval of the recording is due. At normal speed, each interval is
 * shown for as long as it lasted when it was recorded. Reads the outline meanwhile.
 */
static void wait_for_scan(struct session *s)
{
	struct viewing *w = s->out.viewing;
	double left = model_window_seconds(&w->tui.shot.m);
	uint64_t from = host_monotonic_ns(), drawn_ns = from;

	while (!s->loop.done && !w->nr_goals && (w->tui.paused || w->ended || left > 0)) {
		bool stands = w->tui.paused || w->ended;
		uint64_t now;

		viewing_show_state(w);
		loop_once(&s->loop, !w->outline->complete ? 0
				    : stands		  ? -1
							  : (int)(left / w->speed * 1000) + 1);
		if (!w->outline->complete && read_outline(w->outline, &drawn_ns) && !s->loop.done)
			draw(s);
		now = host_monotonic_ns();
		if (!stands)
			left -= (now - from) / 1e9 * w->speed;
		from = now;
	}
}

/* Reads the next interval of the recording. Returns 1 at the end of the recording. */
static int take_one(struct session *s)
{
	struct viewing *w = s->out.viewing;
	int err = session_take_window(s, false);

	w->ended = err == 1 || err == -EBADMSG;
	if (err < 0)
		w->damage = err;
	if (err)
		return w->ended ? 1 : err;
	w->window++;
	w->shown = false;
	return tui_pass(&w->tui, &s->out.view);
}

/* Copies the last interval for frames. */
static int show_now(struct session *s)
{
	struct viewing *w = s->out.viewing;

	w->shown = true;
	return tui_show_now(&w->tui, &s->out.view);
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
	err = err ?: model_keep_ended(&s->in.m, VIEWING_ENDED);
	if (err)
		return err;
	memcpy(s->in.m.assumed, s->o->assumed, sizeof(s->in.m.assumed));
	if (session_open_replay(s) || session_first_scan(s, &sink))
		return -EIO;
	findings_judge(&s->in.findings, &s->in.m);
	s->out.viewing->window = 0;
	s->out.viewing->ended = s->out.viewing->shown = false;
	s->out.viewing->damage = 0;
	return tui_pass(&s->out.viewing->tui, &s->out.view);
}

/* A goal as a number of intervals, or as a time. */
struct target {
	uint64_t window; /* UINT64_MAX: the target is a time */
	uint64_t t_ns;
};

static bool is_there(const struct session *s, const struct target *to)
{
	return to->window != UINT64_MAX ? s->out.viewing->window >= to->window
					: s->in.m.last_ns >= to->t_ns;
}

/* Returns whether the target is before the interval that was read last. */
static bool is_before(const struct session *s, const struct target *to)
{
	if (to->window != UINT64_MAX)
		return to->window < s->out.viewing->window;
	return to->t_ns <= s->in.m.prev_ns && s->out.viewing->window;
}

/*
 * Returns whether this scan may be the last one: the last record comes at most two intervals later.
 * The end of a recording is found only when the model has begun the next interval, which is too
 * late for a snapshot of this one.
 */
static bool may_be_last(const struct session *s)
{
	const struct model *m = &s->in.m;

	return m->last_ns + 2 * m->host.interval_ns >= s->out.viewing->outline->span.end_ns;
}

/*
 * Shows how far the view is on its way, and handles keys. Returns false if there is a new goal. A
 * relative goal waits until the view has arrived.
 */
static bool show_way(struct session *s, const struct target *to)
{
	struct viewing *w = s->out.viewing;
	const struct moment_span *span = &w->outline->span;
	uint64_t end_ns =
		to->window == UINT64_MAX && to->t_ns < span->end_ns ? to->t_ns : span->end_ns;
	double all = end_ns > span->begin_ns ? end_ns - span->begin_ns : 1;

	/* an old snapshot must not be drawn: it points to stacks that the model may have dropped */
	w->tui.has_scanned = false;
	snprintf(w->tui.status, sizeof(w->tui.status), "reading the recording: %.0f %%",
		 100 * (s->in.m.last_ns > span->begin_ns ? s->in.m.last_ns - span->begin_ns : 0) /
			 all);
	viewing_draw(s);
	loop_once(&s->loop, 0);
	return !is_called_off(w) && !s->loop.done;
}

/* Reads up to the target. Returns 0, or -errno. */
static int go_to(struct session *s, const struct target *to)
{
	struct viewing *w = s->out.viewing;
	uint64_t told_ns = host_monotonic_ns();
	bool here = false, goes_on = true;
	int err = 0;

	if (is_before(s, to)) {
		err = start_anew(s);
		here = !err; /* the first interval is open */
	}
	while (!err && goes_on) {
		bool arrived = here && is_there(s, to);

		if (here && (arrived || may_be_last(s)))
			err = show_now(s);
		if (here)
			session_next_window(s);
		if (err || arrived || (!here && is_there(s, to)))
			break;
		err = take_one(s);
		here = !err;
		if (host_monotonic_ns() >= told_ns + PATIENT_NS) {
			told_ns = host_monotonic_ns();
			goes_on = show_way(s, to);
		}
	}
	if (here && !goes_on)
		session_next_window(s);
	if (err <= 1 && !w->shown && err >= 0)
		err = show_now(s);
	w->tui.has_scanned = true;
	return err == 1 ? 0 : err;
}

/* Returns the index of the `by`th mark from here, or of the last one on the way; -1: none. */
static ssize_t nth_mark(const struct outline *o, uint64_t t_ns, long by)
{
	ssize_t found = -1;

	for (long n = by < 0 ? -by : by; n > 0; n--) {
		ssize_t i = by > 0 ? outline_after(o, t_ns) : outline_before(o, t_ns);

		if (i < 0)
			break;
		found = i;
		t_ns = o->mark[i].t_ns;
	}
	return found;
}

/* Finds the next or previous mark, and reads the outline as far as this needs. */
static ssize_t find_mark(struct session *s, long by)
{
	struct viewing *w = s->out.viewing;
	struct outline *o = w->outline;
	uint64_t now_ns = s->in.m.last_ns, told_ns = host_monotonic_ns();

	while (!o->complete && !s->loop.done && (by > 0 || o->read_ns < now_ns) &&
	       (by < 0 || outline_after(o, now_ns) < 0)) {
		outline_step(o);
		if (host_monotonic_ns() < told_ns + PATIENT_NS)
			continue;
		told_ns = host_monotonic_ns();
		draw(s);
		loop_once(&s->loop, 0);
		if (is_called_off(w))
			return -1;
	}
	return nth_mark(o, now_ns, by);
}

/* Shows what opened at a mark, and moves the cursor to its process. */
static void show_mark(struct session *s, size_t i)
{
	const struct outline *o = s->out.viewing->outline;
	struct tui *t = &s->out.viewing->tui;
	size_t last = i;

	while (i && o->mark[i - 1].t_ns == o->mark[i].t_ns)
		i--;
	while (last + 1 < o->n && o->mark[last + 1].t_ns == o->mark[i].t_ns)
		last++;
	for (size_t k = i; k <= last; k++)
		if (o->mark[k].kind > o->mark[i].kind)
			i = k;
	session_message(s, o->what[i].text);
	if (t->where != TUI_TABLE || !o->what[i].subject.pid)
		return;
	t->chosen = o->what[i].subject;
	t->chosen_group = 0;
	t->follows = true;
}

static int go_to_mark(struct session *s, long by)
{
	ssize_t i = find_mark(s, by);
	const struct outline *o = s->out.viewing->outline;
	int err;

	if (i < 0) {
		if (!is_called_off(s->out.viewing))
			session_message(s, by > 0 ? "no finding opens after this time"
						  : "no finding opened before this time");
		return 0;
	}
	err = go_to(s, &(struct target){UINT64_MAX, o->mark[i].t_ns});
	if (!err && !is_called_off(s->out.viewing))
		show_mark(s, i);
	return err;
}

/* Returns a number that is moved by `by` units, but not below 0. */
static uint64_t moved(uint64_t from, long by, uint64_t unit)
{
	return by < 0 && -by * unit > from ? 0 : from + by * unit;
}

static int go(struct session *s)
{
	struct viewing *w = s->out.viewing;
	struct replay_goal goal = take_goal(w);
	struct target to = {UINT64_MAX, goal.t_ns};
	int err;

	if (goal.kind == GOAL_FINDINGS) {
		err = go_to_mark(s, goal.by);
	} else {
		if (goal.kind == GOAL_MINUTES)
			to.t_ns = moved(s->in.m.last_ns, goal.by, MINUTE_NS);
		else if (goal.kind != GOAL_TIME)
			to.window = moved(w->window, goal.kind == GOAL_SCANS ? goal.by : 1, 1);
		err = go_to(s, &to);
	}
	draw(s);
	return err;
}

void viewing_replay_key(struct session *s, uint32_t key)
{
	static const struct {
		uint32_t key;
		struct replay_goal goal;
	} goals[] = {
		{'.', {GOAL_SCANS, 1}},	       {',', {GOAL_SCANS, -1}},
		{'>', {GOAL_SCANS, LEAP}},     {'<', {GOAL_SCANS, -LEAP}},
		{']', {GOAL_FINDINGS, 1}},     {'[', {GOAL_FINDINGS, -1}},
		{'}', {GOAL_MINUTES, 1}},      {'{', {GOAL_MINUTES, -1}},
		{'0', {GOAL_TIME, .t_ns = 0}}, {'$', {GOAL_TIME, .t_ns = UINT64_MAX}},
	};

	struct viewing *w = s->out.viewing;

	for (size_t i = 0; !s->in.src->live && i < sizeof(goals) / sizeof(goals[0]); i++)
		if (goals[i].key == key)
			add_goal(w, goals[i].goal);
}

void viewing_replay_jump(struct session *s, const char *text)
{
	struct viewing *w = s->out.viewing;
	struct moment m;
	uint64_t t_ns;
	char say[160];

	if (moment_parse(text, &m)) {
		snprintf(say, sizeof(say),
			 "%.40s: expected a time, as 14:03, 14:03:20, +90s (from the beginning) or "
			 "-30s (from the end)",
			 text);
		session_message(s, say);
	} else if (moment_resolve(&m, &w->outline->span, &t_ns)) {
		session_message(s, "the recording has no clock time: type +90s or -30s");
	} else {
		add_goal(w, (struct replay_goal){GOAL_TIME, .t_ns = t_ns});
	}
}

/* Begins the outline. Returns 0 or -errno. */
static int begin_outline(struct session *s)
{
	struct outline *o = calloc(1, sizeof(*o));
	struct source *src;
	char error[512];
	int err;

	if (!o)
		return -ENOMEM;
	s->out.viewing->outline = o;
	err = session_replay_source(s, &src, error, sizeof(error));
	err = err ?: outline_begin(o, src, &s->in.filter, s->out.view.min_severity);
	if (!o->span.begin_ns) /* the file changed since the session opened it */
		o->span.begin_ns = s->in.m.last_ns;
	return err;
}

/* Opens an incident at its trigger. */
static void open_at(struct session *s)
{
	const struct incident_record *r = s->in.m.incident;
	char say[192];

	if (!s->plan.opens_at_ns)
		return;
	add_goal(s->out.viewing, (struct replay_goal){GOAL_TIME, .t_ns = s->plan.opens_at_ns});
	if (!r)
		return;
	snprintf(say, sizeof(say), "the trigger: %.160s", r->title);
	session_message(s, say);
	if (r->subject.pid) {
		s->out.viewing->tui.chosen = r->subject;
		s->out.viewing->tui.follows = true;
	}
}

int viewing_replay(struct session *s)
{
	int err = begin_outline(s);

	s->out.viewing->speed = !s->o->speed_given ? 1
				: s->o->speed > 0  ? s->o->speed
						   : VIEWING_SPEED_MOST;
	s->out.viewing->shown = true;
	/* loop_watch() fails if standard input is a file; keys have no effect in this case */
	loop_watch(&s->loop, STDIN_FILENO, viewing_on_keys);
	if (!err) {
		open_at(s);
		draw(s);
	}
	while (!s->loop.done && !err) {
		wait_for_scan(s);
		if (!s->loop.done)
			err = go(s);
		if (s->out.viewing->ended && !isatty(STDIN_FILENO))
			s->loop.done = true; /* without a terminal, no key can quit */
		if (s->o->count && ++s->out.frames >= s->o->count)
			s->loop.done = true;
	}
	return err ? err : s->out.viewing->damage;
}

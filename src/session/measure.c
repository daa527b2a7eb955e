// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "session/session.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "live/progress.h"
#include "model/resident.h"
#include "probe/host_facts.h"
#include "render/text/empty_renderer.h"
#include "session/limit_origins.h"
#include "resident/resident.h"
#include "session/live_view.h"
#include "session/session_lines.h"

#define BLOCKS_MOST 3 /* maximum number of processes shown as blocks, not as a table */

int session_begin(struct session *s, const struct run_plan *plan)
{
	int err;

	memset(s, 0, sizeof(*s));
	s->plan = *plan;
	s->o = plan->o;
	s->loop = (struct loop){LOOP_CLOSED};
	s->out.fd = s->in.part = -1;
	s->marks = PHASE_MARKS_CLOSED;
	s->out.file = s->out.junit = OUTPUT_NONE;
	s->out.settings = VIEW_SETTINGS_NONE;
	s->out.renderer = plan->renderer;
	if (model_init(&s->in.m)) {
		complain("out of memory");
		return EXIT_FAILED;
	}
	memcpy(s->in.m.assumed, s->o->assumed, sizeof(s->in.m.assumed));
	if (s->o->since && model_resident_since(&s->in.m, s->o->since * 1e9)) {
		complain("out of memory");
		return EXIT_FAILED;
	}
	s->in.collector.m = &s->in.m;
	s->in.filter = s->o->filter;
	s->in.collector.filter = &s->in.filter;
	s->in.collector.redaction = plan->redaction;
	s->in.collector.names.commands = true;
	err = session_open_output(s);
	if (err)
		return err;
	session_set_view(s);
	if (s->out.redraws)
		viewing_open_settings(s);
	err = gating_begin(s);
	return err ? err : session_open_recording(s);
}

static void choose_layout(struct session *s)
{
	bool targets = model_watches_targets(&s->in.m) || s->o->filter.pids;

	s->out.view.layout =
		targets && session_alive(s) <= BLOCKS_MOST ? LAYOUT_BLOCKS : LAYOUT_TABLE;
}

/* Renders the first scan, and opens the output before. Returns 0 or an exit status. */
static int render_scan(struct session *s)
{
	if (!s->out.opened) {
		choose_layout(s);
		if (s->out.redraws && viewing_begin(s))
			return session_fail(s, -ENOMEM);
	}
	session_settle_stacks(s);
	findings_judge(&s->in.findings, &s->in.m);
	if (!s->out.opened) {
		s->out.renderer->open(&s->out.text, &s->out.view);
		s->out.pending = model_has_pending_hooks(&s->in.m);
	}
	s->out.opened = true;
	session_report_attached(s);
	session_report_events(s);
	if (s->out.redraws || s->out.renderer != &text_renderer)
		session_render_frame(s);
	return 0;
}

/* Prints the first scan before all probes are attached. Returns 0 or an exit status. */
static int start_early(struct session *s)
{
	int err = render_scan(s);

	if (err)
		return err;
	session_flush(s);
	session_next_window(s);
	return 0;
}

int session_start(struct session *s)
{
	struct sink sink = session_sink(s);
	int err = session_first_scan(s, &sink);

	if (!err && s->in.src->live && model_has_pending_hooks(&s->in.m))
		err = start_early(s) ?: session_attach_rest(s, &sink);
	if (err)
		return err;
	/*
	 * --duration starts after the first scan; it includes the time of later scans, longer under
	 * load
	 */
	if (s->in.src->live && s->plan.duration)
		s->ends_ns = host_monotonic_ns() + s->plan.duration * 1e9;
	if (s->plan.after_first_scan)
		s->plan.after_first_scan(s);
	if (s->status)
		return s->status;
	err = render_scan(s);
	if (err)
		return err;
	if (s->plan.after_scan)
		s->plan.after_scan(s);
	session_flush(s);
	session_check_recording(s);
	if (s->in.src->live && s->plan.whom == WATCH_TARGETS && !session_alive(s))
		s->loop.done = true;
	else
		session_next_window(s);
	return 0;
}

static int on_urgent(void *ctx)
{
	struct session *s = ctx;
	struct sink sink = session_sink(s);
	int err = s->in.src->ops->drain(s->in.src, &sink);

	session_report_urgent(s);
	session_check_recording(s);
	return err;
}

static int scan_now(struct session *s)
{
	int err = session_take_window(s, true);

	s->scan_is_due = false;
	if (err)
		return err;
	if (s->o->count && s->out.frames >= s->o->count)
		s->loop.done = true;
	if (s->plan.whom == WATCH_TARGETS && !session_alive(s))
		s->loop.done = true;
	if (!s->loop.done)
		session_next_window(s);
	return 0;
}

/*
 * Scans, or lets the scan wait until the stacks that came before it have their source lines.
 * Readings of resident memory do not wait: the memory of a short command would be gone.
 */
static int on_tick(void *ctx)
{
	struct session *s = ctx;
	struct sink sink = session_sink(s);
	int err = s->in.src->ops->drain(s->in.src, &sink);

	if (err)
		return err;
	session_settle_stacks(s);
	s->scan_is_due = !s->plan.resident_each && session_lines_wait(s);
	return s->scan_is_due ? 0 : scan_now(s);
}

static int begin_loop(struct session *s)
{
	int err;

	s->loop.on_timer = on_tick;
	err = loop_every(&s->loop, s->plan.interval * 1e9);
	if (!err)
		err = loop_watch(&s->loop, s->in.src->ops->fd(s->in.src), on_urgent);
	if (!err)
		err = loop_watch(&s->loop, session_lines_fd(s), session_lines_work);
	if (!err)
		err = phase_marks_watch(s) ?: incident_watch_begin(s);
	if (!err && s->out.redraws && isatty(STDIN_FILENO))
		err = loop_watch(&s->loop, STDIN_FILENO, viewing_on_keys);
	return err;
}

/* Returns the milliseconds until the session ends or unwind tables can be made; -1: no limit. */
static int wait_time_ms(struct session *s)
{
	int tables_ms = session_unwind(s), end_ms = -1;
	uint64_t now = host_monotonic_ns();

	session_lines_work(s);
	session_report_held(s);
	if (s->ends_ns)
		end_ms = s->ends_ns > now ? (s->ends_ns - now) / 1000000 + 1 : 0;
	if (session_lines_wait(s) && (end_ms < 0 || end_ms > LINES_STEP_MS))
		end_ms = LINES_STEP_MS;
	if (tables_ms < 0 || (end_ms >= 0 && end_ms < tables_ms))
		return end_ms;
	return tables_ms;
}

/* Returns whether the command and all its descendants have ended. */
static bool run_is_over(struct session *s)
{
	if (!s->child.gone)
		return false;
	if (session_scan(s))
		return true;
	return !session_alive(s);
}

/* Starts a progress line, unless other output will appear on the terminal. */
static void begin_progress(const struct session *s, struct progress *p, const char *what)
{
	if (!s->o->quiet && !s->out.viewing && !s->child.pid &&
	    (s->out.renderer == &diagnosis_renderer || s->out.renderer == &silent_renderer ||
	     !isatty(s->out.fd)))
		progress_begin(p, what);
}

static int live_loop(struct session *s)
{
	struct progress progress = {};
	int err = begin_loop(s), n;

	if (err)
		return err;
	/* `record` has a progress line of its own */
	if (s->plan.duration && !s->plan.records_alone)
		begin_progress(s, &progress, "watching");
	while (!s->loop.done && !err) {
		bool was_gone = s->child.gone;

		n = loop_wait(&s->loop, wait_time_ms(s));
		if (n < 0)
			return n;
		if (s->ends_ns && host_monotonic_ns() >= s->ends_ns)
			break;
		err = loop_dispatch(&s->loop);
		if (!err && s->scan_is_due && !session_lines_wait(s))
			err = scan_now(s);
		if (s->child.gone && !was_gone && !s->in.src->plain)
			live_wake_at_exits(s->in.src); /* descendants of the command may go on */
		if (s->child.gone && (!was_gone || n > 0) && run_is_over(s))
			break;
		progress_at(&progress, (host_monotonic_ns() - progress.began_ns) / 1e9,
			    s->plan.duration);
	}
	progress_end(&progress);
	return err;
}

/*
 * Waits until the next interval of a recording is due. Returns at once if the plan has no replay
 * speed.
 */
static void wait_for_scan(const struct session *s)
{
	double seconds;

	if (s->plan.speed <= 0)
		return;
	seconds = model_window_seconds(&s->in.m) / s->plan.speed;
	nanosleep(&(struct timespec){seconds, fmod(seconds, 1) * 1e9}, NULL);
}

static int replay_loop(struct session *s)
{
	const struct replay_facts *facts = replay_facts(s->in.src);
	struct progress progress = {};
	int err = 0;

	if (s->plan.speed <= 0)
		begin_progress(s, &progress, "reading");
	while (!s->loop.done) {
		err = session_take_window(s, true);
		if (err)
			break;
		progress_at(&progress, facts->read_bytes, facts->bytes);
		wait_for_scan(s);
		if (s->o->count && s->out.frames >= s->o->count)
			break;
		session_next_window(s);
	}
	progress_end(&progress);
	return err;
}

/* Returns whether the output is text with one line per window, and not redrawn. */
static bool writes_lines(const struct session *s)
{
	return s->out.renderer == &text_renderer && !s->out.redraws && !s->out.view.tables;
}

int session_loop(struct session *s)
{
	int err;

	if (s->loop.done)
		return 0;
	if (s->in.src->live) {
		err = live_loop(s) ?: phase_marks_finish(s);
		/* Scan once more, so that the summary includes the time since the previous scan. */
		s->ending = true;
		if (!err && (!s->loop.done || s->stopped))
			err = session_take_window(s, s->out.renderer != &text_renderer ||
							     writes_lines(s));
	} else {
		err = s->out.viewing ? viewing_replay(s) : replay_loop(s);
		err = session_note_end(s, err);
	}
	if (err && err != 1)
		return session_fail(s, err);
	return s->status;
}

void session_measure(struct session *s, const struct run_plan *plan)
{
	int err = session_begin(s, plan);

	if (!err && plan->before_open)
		err = plan->before_open(s);
	if (!err)
		err = plan->replay ? session_open_replay(s) : session_open_live(s);
	if (!err)
		err = session_start(s);
	if (!err)
		session_loop(s);
	else
		s->status = err;
}

/*
 * Adds the origins of limits to all findings. For commands that print their findings only once, at
 * the end, prints them.
 */
static void tell_verdict(struct session *s)
{
	for (size_t i = 0; i < s->in.findings.n; i++) {
		/*
		 * in a recording, the origin of a limit may come after the last scan, so add it now
		 */
		origins_attach(s, &s->in.findings.f[i]);
		if (s->plan.view.verdict)
			s->out.renderer->finding(&s->out.text, &s->out.view, &s->in.findings.f[i]);
	}
}

/*
 * Reports how many records were redacted. `export` does not call this, because it skips such
 * records.
 */
static void tell_withheld(const struct session *s)
{
	__u64 n = s->in.collector.withholding.records;

	if (n && !s->o->quiet)
		complain(
			"%llu %s of processes that you may not trace: their addresses are shifted, "
			"file names replaced and stacks removed",
			(unsigned long long)n, as_words(n, "record{ is|s are}").s);
}

int session_end(struct session *s)
{
	viewing_end(s);
	if (s->out.redraws) {
		s->out.redraws = false;
		session_measure_view(s);
	}
	session_lines_finish(s);
	if (s->in.src && s->in.m.last_ns) {
		if (s->child.ending[0])
			s->out.view.ending = s->child.ending;
		if (findings_judge_rest(&s->in.findings, &s->in.m))
			session_report_events(s);
		gating_judge(s);
		if (s->plan.before_end)
			s->plan.before_end(s);
		tell_verdict(s);
		if (s->out.renderer != &text_renderer || !s->o->quiet)
			s->out.renderer->close(&s->out.text, &s->out.view);
		session_flush(s);
		gating_report(s);
		session_judge_gaps(s);
		tell_withheld(s);
	}
	phase_marks_close(&s->marks);
	incident_watch_close(s);
	event_log_close(s);
	session_end_recording(s);
	if (s->in.src && s->in.src->live)
		pressure_close(&s->in.pressure);
	session_lines_end(s);
	unwinder_free(s->in.unwinder);
	resident_free(s->in.resident);
	if (s->in.src)
		s->in.src->ops->close(s->in.src);
	if (s->in.part >= 0)
		close(s->in.part);
	session_end_output(s);
	output_file_end(&s->out.junit, -ECANCELED);
	loop_close(&s->loop);
	collector_free(&s->in.collector);
	findings_free(&s->in.findings);
	model_free(&s->in.m);
	view_settings_close(&s->out.settings);
	buf_free(&s->out.gaps);
	buf_free(&s->out.text);
	return s->status;
}

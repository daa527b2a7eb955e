// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One interval of a session: scan, evaluate, print. */
#include "session/session.h"

#include <time.h>

#include "probe/host_facts.h"
#include "session/limit_origins.h"
#include "session/live_view.h"
#include "session/session_lines.h"

#define SETTLE_NS      200000000ULL
#define SETTLE_STEP_NS 1000000L

void session_report_events(struct session *s)
{
	findings_judge_events(&s->in.findings, &s->in.m);
	for (; s->out.told < s->in.m.events; s->out.told++) {
		const union event *e = &s->in.m.event[s->out.told];
		/*
		 * skip events of processes that the filter excludes, but never skip kernel faults
		 */
		struct subject *subject = model_find(&s->in.m, &e->crossing.subject);

		if (!subject || !subject->hidden || e->h.kind == RECORD_KERNEL_FAULT)
			s->out.renderer->event(&s->out.text, &s->out.view, e);
	}
	for (size_t i = 0; i < s->in.findings.n; i++) {
		struct finding *f = &s->in.findings.f[i];

		/*
		 * Each evaluation of the rule sets the general commands again. origins_attach()
		 * replaces them by the commands for the limit of the finding.
		 */
		if (f->said)
			origins_attach(s, f);
		if (f->fresh && !f->told && !s->plan.view.verdict)
			s->out.renderer->finding(&s->out.text, &s->out.view, f);
		f->told = true;
	}
	event_log_look(s);
	incident_watch_look(s);
	if (s->plan.after_events)
		s->plan.after_events(s);
}

static bool stacks_wait(const struct session *s)
{
	return s->in.unwinder && unwinder_waits(s->in.unwinder);
}

void session_report_urgent(struct session *s)
{
	s->out.held = stacks_wait(s) || session_lines_wait(s);
	if (s->out.held)
		return;
	session_report_events(s);
	session_flush(s);
}

void session_report_held(struct session *s)
{
	if (s->out.held)
		session_report_urgent(s);
}

void session_settle_stacks(struct session *s)
{
	uint64_t until = host_monotonic_ns() + SETTLE_NS;
	int ms = 0;

	while (stacks_wait(s) && ms >= 0 && host_monotonic_ns() < until) {
		ms = session_unwind(s);
		if (ms > 0)
			nanosleep(&(struct timespec){0, SETTLE_STEP_NS}, NULL);
	}
}

void session_report_attached(struct session *s)
{
	if (!s->out.pending || model_has_pending_hooks(&s->in.m))
		return;
	s->out.pending = false;
	if (s->out.renderer->attached)
		s->out.renderer->attached(&s->out.text, &s->out.view);
}

void session_render_frame(struct session *s)
{
	if (s->out.last_lines)
		return;
	if (s->out.viewing)
		viewing_update(s);
	else
		s->out.renderer->frame(&s->out.text, &s->out.view);
	s->out.view.frames++;
}

/*
 * Gives the stacks of the last interval their source lines, because its findings are final. Most of
 * them come before the scan, so that a replay also has them when it judges the interval.
 */
static int finish_lines(struct session *s)
{
	struct sink sink = session_sink(s);
	int err = s->in.src->ops->drain(s->in.src, &sink);

	session_settle_stacks(s);
	session_lines_finish(s);
	return err;
}

int session_take_window(struct session *s, bool show)
{
	bool pending = s->out.pending;
	int err = s->ending ? finish_lines(s) : 0;

	err = err ?: session_scan(s);
	session_check_recording(s);
	if (err)
		return err;
	if (s->plan.before_output)
		s->plan.before_output(s);
	session_settle_stacks(s);
	if (s->ending)
		session_lines_finish(s);
	findings_judge(&s->in.findings, &s->in.m);
	s->out.held = false;
	session_report_attached(s);
	session_report_events(s);
	incident_watch_work(s);
	event_log_work(s);
	if (show) {
		session_render_frame(s);
		/* live output does not count the scan after the last probe was attached */
		s->out.frames += !pending || s->out.pending;
	}
	if (s->plan.after_scan)
		s->plan.after_scan(s);
	session_flush(s);
	return 0;
}

void session_next_window(struct session *s)
{
	/* a replay can go back, so check each interval only once */
	if (s->in.m.last_ns > s->out.gated_ns) {
		gates_check(&s->out.gates, &s->in.m);
		s->out.gated_ns = s->in.m.last_ns;
	}
	model_next_window(&s->in.m);
	findings_next_window(&s->in.findings);
	incident_watch_next_window(s);
	s->out.told = 0;
}

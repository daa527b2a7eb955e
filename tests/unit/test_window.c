// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what a session prints of an interval: which events, which findings and how often, the line
 * that says that all probes are attached, and frames. The model and the renderer are made here.
 */
#include <errno.h>

#include "fixture.h"
#include "session/session.h"
#include "tap.h"

static struct source src; /* a recording: no origins of limits are looked up */
static struct session s;
static struct options o;
static struct run_plan plan;
static unsigned int calls_after; /* calls of after_events() */

static void on_event(struct buf *b, const struct view *v, const union event *e)
{
	buf_printf(b, "event %u of %u%s; ", e->h.kind, e->crossing.subject.pid,
		   v == &s.out.view ? "" : " in another view");
}

static void on_finding(struct buf *b, const struct view *v, const struct finding *f)
{
	buf_printf(b, "finding %s%s; ", f->rule->id, v == &s.out.view ? "" : " in another view");
}

static void on_frame(struct buf *b, const struct view *v)
{
	buf_printf(b, "frame %u; ", (unsigned int)v->frames);
}

static void on_attached(struct buf *b, const struct view *v)
{
	buf_printf(b, "attached%s; ", v == &s.out.view ? "" : " in another view");
}

static const struct renderer with_attached = {.name = "noting",
					      .open = render_nothing,
					      .event = on_event,
					      .finding = on_finding,
					      .frame = on_frame,
					      .close = render_nothing,
					      .attached = on_attached};

static struct renderer renderer;

static void after_events(struct session *of)
{
	calls_after += of == &s;
}

/* Begins a session with the processes 10, 11 and 12, of which the second one is hidden. */
static void begin(void)
{
	plan_init(&plan, &o);
	memset(&s, 0, sizeof(s));
	renderer = with_attached;
	s.o = &o;
	s.in.src = &src;
	s.plan = plan;
	s.plan.after_events = after_events;
	s.out.renderer = &renderer;
	begin_model(&s.in.m, NULL);
	s.in.collector.m = &s.in.m;
	s.out.view = (struct view){.m = &s.in.m, .findings = &s.in.findings};
	for (uint32_t pid = 10; pid <= 12; pid++) {
		struct process_record p = process_record(pid, 1, 2 * SECOND);

		model_take(&s.in.m, &p.h);
		model_find(&s.in.m, &p.subject)->hidden = pid == 11;
	}
	calls_after = 0;
}

static void end(void)
{
	findings_free(&s.in.findings);
	collector_free(&s.in.collector);
	model_free(&s.in.m);
	buf_free(&s.out.text);
}

static void fail_call(uint32_t pid)
{
	struct refused_record r = refused_record(pid, CALL_MMAP, ENOMEM);

	r.map_count = 65530; /* vm.max_map_count */
	model_take(&s.in.m, &r.h);
}

static void printed_is(const char *want, const char *name)
{
	is_str(s.out.text.s ? s.out.text.s : "", want, name);
	buf_clear(&s.out.text);
}

/* Events of processes that the filter excludes are not printed, unless the kernel is at fault. */
static void test_events(void)
{
	struct kernel_fault_record fault = kernel_fault_record(11, 0xffffffff81000000, false);
	char want[256];

	begin();
	fail_call(10);
	fail_call(11);
	fail_call(13); /* a process that is not known */
	model_take(&s.in.m, &fault.h);
	renderer.finding = render_no_finding;
	session_report_events(&s);
	snprintf(want, sizeof(want), "event %u of 10; event %u of 13; event %u of 11; ",
		 RECORD_REFUSED, RECORD_REFUSED, RECORD_KERNEL_FAULT);
	printed_is(want, "events");
	is_u64(s.out.told, 4, "all of them are known");
	is_u64(calls_after, 1, "the callback");
	session_report_events(&s);
	printed_is("", "each is printed once");
	fail_call(12);
	session_report_events(&s);
	snprintf(want, sizeof(want), "event %u of 12; ", RECORD_REFUSED);
	printed_is(want, "a new one");
	is_u64(s.out.told, 5, "it is known");
	session_next_window(&s);
	is_u64(s.out.told, 0, "the next interval has none");
	session_report_events(&s);
	printed_is("", "and prints none");
	end();
}

/* A finding is printed once; a command that prints a verdict prints findings at its end. */
static void test_findings(void)
{
	const char *first;

	begin();
	fail_call(10);
	renderer.event = render_no_event;
	session_report_events(&s);
	ok(s.out.text.s && !strncmp(s.out.text.s, "finding ", 8) &&
		   !strstr(s.out.text.s, "another view"),
	   "a finding of an event");
	first = strchr(s.out.text.s, ';');
	ok(first && !strcmp(first, "; "), "it is the only one");
	ok(s.in.findings.n == 1 && s.in.findings.f[0].told, "it is reported");
	buf_clear(&s.out.text);
	session_report_events(&s);
	printed_is("", "it is printed once");
	s.in.findings.f[0].told = false;
	s.in.findings.f[0].fresh = false;
	session_report_events(&s);
	printed_is("", "an older one is not printed");
	end();
	begin();
	s.plan.view.verdict = true;
	renderer.event = render_no_event;
	fail_call(10);
	session_report_events(&s);
	printed_is("", "a verdict comes at the end");
	ok(s.in.findings.n == 1 && s.in.findings.f[0].told, "but the finding is known");
	end();
}

static void test_attached(void)
{
	struct hook_record late = hook_record("calls", HOOK_OFF);

	strcpy(late.mechanism, "tp_btf"); /* it will be attached by this type */
	begin();
	session_report_attached(&s);
	printed_is("", "all probes were attached at once");
	s.out.pending = true;
	model_take(&s.in.m, &late.h);
	session_report_attached(&s);
	printed_is("", "a probe is not attached yet");
	ok(s.out.pending, "it is waited for");
	late = hook_record("calls", HOOK_ON);
	model_take(&s.in.m, &late.h);
	session_report_attached(&s);
	printed_is("attached; ", "it is attached now");
	session_report_attached(&s);
	printed_is("", "this is said once");
	s.out.pending = true;
	renderer.attached = NULL;
	session_report_attached(&s);
	printed_is("", "a format that does not say so");
	ok(!s.out.pending, "nothing is waited for");
	end();
}

static void test_frames(void)
{
	begin();
	session_render_frame(&s);
	session_render_frame(&s);
	printed_is("frame 0; frame 1; ", "frames");
	is_u64(s.out.view.frames, 2, "their number");
	s.out.last_lines = true;
	session_render_frame(&s);
	printed_is("", "text of `run` has only a summary");
	is_u64(s.out.view.frames, 2, "it has no frames");
	end();
}

/* Each interval is checked once by --fail-on, although a replay can go back. */
static void test_gates(void)
{
	char error[256];

	begin();
	s.in.m.last_ns = 5;
	if (gates_parse(&s.out.gates, "minor_faults>=0", error, sizeof(error)))
		abort();
	session_next_window(&s);
	is_u64(s.out.gated_ns, 5, "an interval");
	s.in.m.last_ns = 4;
	session_next_window(&s);
	is_u64(s.out.gated_ns, 5, "an earlier one");
	s.in.m.last_ns = 6;
	session_next_window(&s);
	is_u64(s.out.gated_ns, 6, "a later one");
	end();
}

int main(void)
{
	test_events();
	test_findings();
	test_attached();
	test_frames();
	test_gates();
	return tap_done();
}

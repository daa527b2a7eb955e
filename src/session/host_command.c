// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* host: reports whether this machine is short of memory, which kind, and what uses it. */
#include "rules/shortage.h"
#include "session/commands.h"
#include "session/memory_readings.h"
#include "session/session.h"

#define TIERS_HOST    0x3u
#define WATCH_SECONDS 3.0

/* Makes host print one answer after WATCH_SECONDS, unless an interval is given. */
static void fill_plan(struct run_plan *p, const struct options *o)
{
	/* probes that `host` does not need, and that would slow down page faults */
	static const char *const unused[] = {"fault_begin", "fault_kernel", "map_area", "tlb",
					     NULL};

	plan_init(p, o);
	p->tiers = TIERS_HOST;
	p->unused = unused;
	if (o->resident)
		memory_readings_plan(p);
	p->scores = true;
	p->works_without_bpf = true;
	p->view.host = true;
	p->view.once = !o->interval;
	if (!o->interval && !o->duration && !o->replay)
		p->duration = WATCH_SECONDS;
	if (p->renderer == &text_renderer)
		p->renderer = &host_renderer;
}

static int answer_status(const struct session *s)
{
	enum severity least = s->o->min_severity_given ? s->o->min_severity : SEVERITY_WARNING;

	for (size_t i = 0; i < s->in.findings.n; i++) {
		const struct finding *f = &s->in.findings.f[i];

		if (f->open && f->severity >= least && shortage_is_about(f->rule))
			return EXIT_GATE;
	}
	return 0;
}

int command_host(const struct options *o)
{
	struct run_plan plan;
	struct session s;

	fill_plan(&plan, o);
	session_measure(&s, &plan);
	if (!s.status)
		s.status = answer_status(&s);
	return session_end(&s);
}

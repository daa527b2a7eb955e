// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* host: is this machine short of memory, what kind, who has it, how long. */
#include <string.h>

#include "probe/hooks.h"
#include "rules/shortage.h"
#include "session/session.h"

#define TIERS_HOST    0x3u
#define WATCH_SECONDS 3.0

static int open_live(struct session *s)
{
	/* of use to other commands alone, and paid for by each fault */
	static const char *const unused[] = {"fault_begin", "fault_kernel", "map_area"};
	struct live_options lo = session_live_options(s, true, TIERS_HOST);

	strcpy(s->mode, "all");
	s->pressure.scores = true;
	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++)
		if (!lo.forced[hook_find(unused[i])] && !s->o->tiers_given)
			lo.forced[hook_find(unused[i])] = "none";
	return session_open_live(s, &lo);
}

/* One answer, unless it is asked for again and again. */
static void set_defaults(struct options *o)
{
	if (!o->interval && !o->duration && !o->replay)
		o->duration = WATCH_SECONDS;
	if (!o->format || o->format == &text_renderer)
		o->format = &host_renderer;
}

static int answer_status(const struct session *s)
{
	enum severity least = s->o->min_severity_given ? s->o->min_severity : SEVERITY_WARNING;

	for (size_t i = 0; i < s->findings.n; i++) {
		const struct finding *f = &s->findings.f[i];

		if (f->open && f->severity >= least && shortage_is_about(f->rule))
			return EXIT_GATE;
	}
	return 0;
}

int command_host(const struct options *given)
{
	struct options o = *given;
	struct session s;

	set_defaults(&o);
	session_measure(&s, &o, open_live);
	if (!s.status)
		s.status = answer_status(&s);
	return session_end(&s);
}

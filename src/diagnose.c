// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* diagnose: a verdict on some processes: what they hold, what grows, what was refused, and why. */
#include <string.h>
#include <unistd.h>

#include "holders.h"
#include "targets.h"

#define WATCH_SECONDS 3.0

static int open_live(struct session *s)
{
	s->filter.children = true;
	s->attributes_all = true;
	s->after_first_look = holders_read;
	return targets_open_live(s, true);
}

static int check_arguments(struct options *o)
{
	if (!o->replay && !o->filter.pids) {
		complain("diagnose: of which process?\n"
			 "  try: sudo faultscope diagnose -p PID, or diagnose --replay FILE");
		return EXIT_USAGE;
	}
	if (!o->replay && !o->duration)
		o->duration = WATCH_SECONDS;
	if (!o->format || o->format == &text_renderer)
		o->format = &diagnosis_renderer;
	return 0;
}

/* Once at the end, by all that was found meanwhile. */
static int verdict_status(const struct session *s)
{
	enum severity least = s->o->min_severity_given ? s->o->min_severity : SEVERITY_WARNING;

	return s->findings.reached[least] ? EXIT_GATE : 0;
}

int command_diagnose(const struct options *given)
{
	struct options o = *given;
	struct session s;
	int err = check_arguments(&o), status;

	if (err)
		return err;
	session_measure(&s, &o, open_live);
	status = s.status ? 0 : verdict_status(&s);
	err = session_end(&s);
	return err ? err : status;
}

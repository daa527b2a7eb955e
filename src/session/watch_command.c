// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* watch and replay: print or show a live source or a recording, one interval after the other. */
#include "base/overhead.h"
#include "session/commands.h"
#include "session/memory_readings.h"
#include "session/session.h"

int command_watch(const struct options *o)
{
	struct run_plan plan;
	struct session s;

	plan_init(&plan, o);
	/*
	 * Without targets, every process of the host pays for each probe. Recordings and conditions
	 * need the failed calls.
	 */
	if (!o->record && !o->gates.n)
		plan.tiers = OVERHEAD_LOW;
	plan_targets(&plan);
	plan.prompt = plan.whom == WATCH_TARGETS && !o->resident;
	if (o->resident)
		memory_readings_plan(&plan);
	plan.may_redraw = true;
	plan.tells_overhead = true;
	session_measure(&s, &plan);
	return session_end(&s);
}

int command_replay(const struct options *o)
{
	return replay_at(o, o->argv[0], 0);
}

int replay_at(const struct options *o, const char *path, uint64_t at_ns)
{
	struct run_plan plan;
	struct session s;

	plan_init(&plan, o);
	plan.replay = path;
	plan.opens_at_ns = at_ns;
	plan.may_redraw = true;
	plan.speed = o->speed;
	session_measure(&s, &plan);
	return session_end(&s);
}

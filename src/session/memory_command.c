// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* memory: says which call stacks hold the resident memory of a process. */
#include "model/resident.h"
#include "render/completeness.h"
#include "session/commands.h"
#include "session/memory_readings.h"
#include "session/run_watched.h"
#include "session/targets.h"

#define WATCH_SECONDS 10.0
/* A command may end at any time. The last reading of its memory is at most so old. */
#define OFTEN_SECONDS 0.25

static int check_arguments(const struct options *o)
{
	if (o->replay || o->filter.pids || o->filter.cgroup[0] || o->argc)
		return 0;
	complain("memory: name a process, a cgroup, a command or a recording\n"
		 "  try: sudo faultscope memory -p PID, sudo faultscope memory --cgroup PATH,\n"
		 "       sudo faultscope memory -- CMD, or faultscope memory --replay FILE");
	return EXIT_USAGE;
}

/* Says if there was no reading at all. */
static void judge(struct session *s)
{
	if (!model_resident_each(&s->in.m, NULL))
		gap_add(&s->out.gaps,
			s->o->replay ? "not recorded: resident memory (record it with "
				       "faultscope memory --record)"
				     : "not read: resident memory (the processes ended before "
				       "the first reading, or could not be read)");
}

/* Also watches processes that were moved into the cgroup since the last reading. */
static void take_cgroup(struct session *s)
{
	targets_watch_cgroup(s);
	memory_readings_take(s);
}

static void fill_plan(struct run_plan *p, const struct options *o)
{
	/* probes of these levels that neither stacks nor pages need */
	static const char *const unused[] = {"fault_begin", "fault_kernel", "signal", "reclaim",
					     "map_area",    "log",	    "tlb",    NULL};

	plan_init(p, o);
	plan_targets(p);
	p->tiers = 0;
	memory_readings_plan(p);
	if (o->filter.cgroup[0] && !o->filter.pids && !o->replay) {
		p->whom = WATCH_TARGETS;
		p->mode = "targets";
		p->before_output = take_cgroup;
	}
	p->unused = unused;
	p->children = true;
	p->attributes_all = true;
	p->after_spawn = memory_readings_open_command;
	p->before_end = judge;
	if (o->argc)
		p->interval = OFTEN_SECONDS;
	p->view.command = true;
	if ((o->filter.pids || o->filter.cgroup[0]) && !o->duration && !o->replay)
		p->duration = WATCH_SECONDS;
	if (p->renderer == &text_renderer)
		p->renderer = &memory_renderer;
	if (p->renderer == &folded_renderer)
		p->renderer = &folded_memory_renderer;
}

int command_memory(const struct options *o)
{
	struct run_plan plan;
	struct session s;
	int err = check_arguments(o);

	if (err)
		return err;
	fill_plan(&plan, o);
	if (o->argc)
		return run_watched(&plan);
	session_measure(&s, &plan);
	return session_end(&s);
}

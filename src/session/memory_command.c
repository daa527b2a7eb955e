// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* memory: says which call stacks hold the resident memory of a process. */
#include <errno.h>
#include <string.h>

#include "model/resident.h"
#include "probe/host_facts.h"
#include "render/completeness.h"
#include "resident/resident.h"
#include "session/commands.h"
#include "session/run_watched.h"
#include "session/session.h"

#define WATCH_SECONDS 10.0
#define EACH	      64 /* one of this many pages is chosen at first */
/* A command may end at any time. The last reading of its memory is at most so old. */
#define OFTEN_SECONDS 0.25
/* levels 0, 1 and 3, which stacks need, and level 4, which chooses pages */
#define TIERS_MEMORY 0x1bu

static int check_arguments(const struct options *o)
{
	if (o->replay || o->filter.pids || o->argc)
		return 0;
	complain("memory: name a process, a command or a recording\n"
		 "  try: sudo faultscope memory -p PID, sudo faultscope memory -- CMD, or\n"
		 "       faultscope memory --replay FILE");
	return EXIT_USAGE;
}

/* Finds the process from which `s` may have inherited pages. */
static void fill_parent(const struct session *s, const struct subject *one,
			struct resident_process *ret)
{
	uint64_t suspended_ns = host_boottime_ns() - host_monotonic_ns();

	if (one->now.g.execs || !(one->now.g.flags & PROC_BORN))
		return;
	for (struct subject *p = model_each(&s->in.m, NULL); p; p = model_each(&s->in.m, p))
		if (p->id.pid == one->now.g.ppid && p->id.start_ns < one->id.start_ns)
			ret->parent = p->id;
	ret->forked_ns = one->id.start_ns - suspended_ns;
}

static struct resident_process process_of(const struct session *s, const struct subject *one)
{
	struct resident_process p = {.id = one->id, .pid = one->id.pid};

	p.born = one->now.g.flags & PROC_BORN;
	p.execs = one->now.g.execs;
	if (!resident_knows(s->in.resident, &one->id))
		fill_parent(s, one, &p);
	return p;
}

/* Reads all watched processes. Processes that ended meanwhile keep their last values. */
static void read_all(struct session *s)
{
	struct sink sink = session_sink(s);
	int err;

	if (!s->in.resident)
		return;
	err = resident_prepare(s->in.resident);
	for (struct subject *one = model_each(&s->in.m, NULL); one && !err;
	     one = model_each(&s->in.m, one)) {
		struct resident_process p = process_of(s, one);

		if (one->final || !(one->now.g.flags & PROC_WATCHED))
			continue;
		err = resident_read(s->in.resident, &p, &sink);
		if (err == -ESRCH)
			err = 0;
		if (err)
			gap_add(&s->out.gaps, "not read: the resident memory of process %u: %s",
				one->id.pid, strerror(-err));
		err = 0;
	}
	err = err ?: resident_finish(s->in.resident);
	if (err)
		gap_add(&s->out.gaps, "not read: resident memory: %s", strerror(-err));
}

static void begin(struct session *s)
{
	read_all(s);
}

/* Opens files of the processes while faultscope has the right to see numbers of page frames. */
static void open_all(struct session *s)
{
	if (!s->in.resident) {
		gap_add(&s->out.gaps, "not read: resident memory: the probe resident is off or "
				      "unavailable (see faultscope doctor)");
		return;
	}
	for (struct subject *one = model_each(&s->in.m, NULL); one;
	     one = model_each(&s->in.m, one)) {
		struct resident_process p = process_of(s, one);

		if (!one->final && one->now.g.flags & PROC_WATCHED)
			resident_open(s->in.resident, &p);
	}
}

/* Does the same for the command that was started. */
static void open_command(struct session *s)
{
	if (s->in.resident)
		resident_expect(s->in.resident, s->child.pid);
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

static void fill_plan(struct run_plan *p, const struct options *o)
{
	/* probes of these levels that neither stacks nor pages need */
	static const char *const unused[] = {"fault_begin", "fault_kernel", "signal", "reclaim",
					     "map_area",    "log",	    "tlb",    NULL};

	plan_init(p, o);
	plan_targets(p);
	p->tiers = TIERS_MEMORY;
	p->unused = unused;
	p->children = true;
	p->attributes_all = true;
	p->resident_each = EACH;
	p->before_drop = o->replay ? NULL : open_all;
	p->after_first_scan = o->replay ? NULL : begin;
	p->before_output = o->replay ? NULL : read_all;
	p->after_spawn = open_command;
	p->before_end = judge;
	if (o->argc)
		p->interval = OFTEN_SECONDS;
	p->view.command = true;
	if (o->filter.pids && !o->duration)
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

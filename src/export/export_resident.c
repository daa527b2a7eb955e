// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * --export.resident: which code holds the resident memory of selected workloads. The model of the
 * session contains the processes of these workloads alone.
 */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export/export.h"
#include "probe/host_facts.h"
#include "session/memory_readings.h"

#define PROCESSES 64 /* maximum number of processes that are read */
#define CPU_SHARE 20 /* readings use at most one of this many parts of the time of a CPU */
#define NS_PER_S  1e9

struct export_resident {
	regex_t pattern;
	struct resident_places places;
	uint64_t next_ns; /* earliest time of the next reading, CLOCK_MONOTONIC */
};

static bool shows(void *ctx, const char *workload)
{
	const struct export_resident *r = ctx;

	return !regexec(&r->pattern, workload, 0, NULL, 0);
}

static bool is_selected(const struct export *x, const char *workload)
{
	return shows(x->resident, workload);
}

int export_resident_open(struct export *x)
{
	const char *pattern = x->o->resident_pattern;
	struct export_resident *r = pattern ? calloc(1, sizeof(*r)) : NULL;
	char why[128];
	int err;

	if (!pattern)
		return 0;
	if (!r) {
		complain("out of memory");
		return EXIT_FAILED;
	}
	err = regcomp(&r->pattern, pattern, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, &r->pattern, why, sizeof(why));
		complain("--export.resident %s: invalid regular expression: %s", pattern, why);
		free(r);
		return EXIT_USAGE;
	}
	r->places.most = x->o->limit_resident;
	r->places.workloads = x->o->limit_workloads < RESIDENT_WORKLOADS_MAX
				      ? x->o->limit_workloads
				      : RESIDENT_WORKLOADS_MAX;
	x->resident = r;
	return 0;
}

void export_resident_plan(struct run_plan *p)
{
	if (!p->o->resident_pattern)
		return;
	memory_readings_plan(p);
	p->resident_most = PROCESSES;
	p->attributes_pages = true;
}

void export_resident_close(struct export *x)
{
	if (!x->resident)
		return;
	resident_places_free(&x->resident->places);
	regfree(&x->resident->pattern);
	free(x->resident);
	x->resident = NULL;
}

void export_resident_warn(const struct export *x)
{
	if (!x->resident || x->replay)
		return;
	if (!x->s.in.resident) {
		complain("--export.resident: the probe resident is off or unavailable (see "
			 "faultscope doctor): faultscope_resident_bytes is not exported");
		return;
	}
	if (!rights_keep(&x->s.in.rights, CAP_SYS_PTRACE))
		complain("--export.resident: without CAP_SYS_PTRACE, the memory of other users' "
			 "processes is not read");
}

/* Removes a process from the model. */
static int end_process(struct export *x, const struct process_key *of)
{
	const struct subject *s = model_find(&x->s.in.m, of);
	struct process_record last = {.h = {RECORD_PROCESS, sizeof(last), host_monotonic_ns()},
				      .subject = *of};

	memory_readings_forget(&x->s, of);
	if (!s || s->final)
		return 0;
	last.g = s->now.g;
	last.c = *facts_counters(&s->now);
	last.g.flags |= PROC_FINAL;
	return model_take(&x->s.in.m, &last.h);
}

int export_resident_take_process(struct export *x, const struct process_record *r,
				 const struct identity *id)
{
	if (!x->resident)
		return 0;
	if (r->g.flags & PROC_FINAL || !is_selected(x, id->name))
		return end_process(x, &r->subject);
	return collector_take(&x->s.in.collector, &r->h);
}

void export_resident_gone(struct export *x, const struct process_key *of)
{
	if (x->resident)
		end_process(x, of);
}

/* Chooses pages of a process whose workload is selected, before a scan finds the process. */
static void expect(struct export *x, const struct process_key *of, const char *workload)
{
	if (is_selected(x, workload))
		memory_readings_expect(&x->s, of);
}

static void take_exec(struct export *x, const struct exec_record *r)
{
	const char *file = r->path;
	char comm[COMM_LEN];

	for (const char *at = r->path; *at; at++)
		if (*at == '/')
			file = at + 1;
	array_copy(comm, sizeof(comm), file);
	expect(x, &r->subject, identity_of_event(x->ids, &r->subject, comm, r->h.t_ns)->name);
}

static void take_fork(struct export *x, const struct fork_record *r)
{
	const struct process_key parent = {.pid = r->parent};
	const struct census_workload *w = census_workload_of(&x->census, &parent);

	if (w)
		expect(x, &r->subject, w->id.name);
}

int export_resident_take(struct export *x, const struct record *h)
{
	if (!x->resident)
		return 0;
	switch (h->kind) {
	case RECORD_EXEC:
		take_exec(x, (const struct exec_record *)h);
		return 0;
	case RECORD_FORK:
		take_fork(x, (const struct fork_record *)h);
		return 0;
	case RECORD_STACK:
	case RECORD_WALK:
	case RECORD_PYTHON_CODE:
		return collector_take(&x->s.in.collector, h);
	}
	return 0;
}

void export_resident_read(struct export *x)
{
	struct export_resident *r = x->resident;
	uint64_t cpu, now = host_monotonic_ns();

	if (!r || !x->s.in.resident)
		return;
	model_resident_forget_ended(&x->s.in.m);
	if (now < r->next_ns)
		return;
	cpu = host_own_cpu_ns();
	memory_readings_take_until(&x->s, x->deadline_ns);
	cpu = host_own_cpu_ns() - cpu;
	r->places.read_s += cpu / NS_PER_S;
	r->next_ns = now + cpu * CPU_SHARE;
}

const struct resident_places *export_resident_places(struct export *x)
{
	const struct model *m = x->replay ? export_replay_model(x) : &x->s.in.m;
	struct export_resident *r = x->resident;

	if (!r || (x->replay ? !model_resident_each(m, NULL) : !x->s.in.resident))
		return NULL;
	resident_places_fill(&r->places, m, &x->census, shows, r);
	return &r->places;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/refusal_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/fields.h"
#include "rules/event_count.h"
#include "rules/growth_rules.h"
#include "rules/need.h"
#include "rules/pressure_rules.h"

/*
 * Stores in the finding which limit made the call fail, and the value that remedies suggest for it.
 * no value helps, stores this fact instead.
 */
static void take_need(const struct occasion *o, struct finding *f)
{
	struct need need;

	need_of(o->verdict, &o->m->tick.limits, &need);
	f->limit = need.limit;
	f->want = need.want;
	f->hopeless = need.never[0];
	if (f->hopeless)
		finding_remedy(f, REMEDY_FIX, "request less: no value of %s helps, because %s",
			       need.limit->name, need.never);
}

bool refusal_has_other_form(const struct refused_record *r, const struct verdict *v)
{
	bool asks = r->call == CALL_MMAP || r->call == CALL_MREMAP || r->call == CALL_BRK;

	return asks && strcmp(v->cause, "max_map_count") && strcmp(v->cause, "cgroup_memory");
}

void refusal_add_stack(const struct occasion *o, struct finding *f)
{
	for (size_t i = 0; i < f->nr_evidence; i++)
		if (!strcmp(f->evidence[i].field, "from"))
			return;
	stack_evidence(f, o->m, &o->refused->subject, o->refused->stack, "in");
}

void refusal_settle(const struct occasion *o, const struct finding *open, struct finding *f)
{
	bool retried = o->refused->facts & FACT_RETRIED;
	size_t end = strlen(f->title);

	if (!(retried || o->cut_short) || !refusal_has_other_form(o->refused, o->verdict))
		return;
	if (open && open->severity > SEVERITY_INFO) {
		*f = *open;
		return;
	}
	if (!retried) {
		if (f->severity == SEVERITY_CRITICAL)
			f->severity = SEVERITY_WARNING;
		snprintf(f->title + end, sizeof(f->title) - end,
			 "; it is not known what the program did next");
		return;
	}
	f->severity = SEVERITY_INFO;
	snprintf(f->title + end, sizeof(f->title) - end,
		 "; the program then succeeded with another request");
}

bool help_limit(const struct occasion *o, struct finding *f)
{
	char want[24] = "unlimited";
	struct remedy *r;

	if (f->hopeless)
		return true;
	if (!f->want || f->limit->kind == LIMIT_OF_CGROUP)
		return false;
	if (f->want != LIMIT_NONE)
		snprintf(want, sizeof(want), "%" PRIu64, f->want);
	if (f->limit->kind == LIMIT_OF_MACHINE) {
		r = finding_host_remedy(f, REMEDY_WORKAROUND, "raise the limit");
		remedy_command(r, "sysctl -w %s=%s", f->limit->name, want);
	} else {
		r = finding_remedy(f, REMEDY_WORKAROUND, "raise the limit of the process");
		remedy_command(r, "prlimit --pid %u --%s=%s", o->refused->subject.pid,
			       f->limit->word, want);
	}
	return true;
}

void help_limit_or_see(const struct occasion *o, struct finding *f)
{
	if (help_limit(o, f) || !f->limit)
		return;
	if (f->limit->kind == LIMIT_OF_MACHINE)
		remedy_command(finding_host_remedy(f, REMEDY_CHECK, "show the limit"), "sysctl %s",
			       f->limit->name);
	else if (f->limit->kind == LIMIT_OF_PROCESS)
		remedy_command(finding_remedy(f, REMEDY_CHECK, "show the limit of the process"),
			       "prlimit --pid %u --%s", o->refused->subject.pid, f->limit->word);
}

bool refusal_has_cause(const struct occasion *o, const char *cause)
{
	return !strcmp(o->verdict->cause, cause);
}

void refusal_say(const struct occasion *o, struct finding *f, const char *limit)
{
	const struct refused_record *r = o->refused;
	char number[16];

	f->severity = SEVERITY_CRITICAL;
	f->cause = o->verdict->cause;
	f->level = 1;
	take_need(o, f);
	finding_title(f, "%s failed%s%s: %s", call_name(r->call), r->error ? " with " : "",
		      r->error ? errno_name(r->error, number, sizeof(number)) : "", limit);
	finding_take_evidence(f, o->verdict);
	finding_number(f, REFUSED_CALLS, IN_COUNT, r->count);
	f->call = r->call;
	f->times = r->count;
	for (size_t i = 0; i < o->verdict->nr_next; i++)
		finding_text(f, "would_fail_next", "%s", o->verdict->next[i]);
}

bool refusal_is_fork(const struct occasion *o)
{
	return o->refused->call == CALL_CLONE;
}

/* Returns by how many bytes the commit limit is too low for the call. */
static uint64_t missing_commit(const struct occasion *o)
{
	const struct host_limits *l = &o->m->tick.limits;
	uint64_t want =
		o->verdict->need > l->committed_bytes ? o->verdict->need : l->committed_bytes;

	return want > l->commit_limit_bytes ? want - l->commit_limit_bytes : 0;
}

/*
 * Suggests a vm.overcommit_ratio with which the call succeeds. If it would be above 100 %, suggests
 * more swap.
 */
static void help_ratio(struct finding *f, const struct host_limits *l, uint64_t missing)
{
	uint64_t counted = l->commit_limit_bytes > l->swap_total_bytes
				   ? l->commit_limit_bytes - l->swap_total_bytes
				   : 0;
	uint64_t percent = l->mem_total_bytes ? (counted + missing) / (l->mem_total_bytes / 100) + 1
					      : UINT64_MAX;

	if (percent > 100) {
		finding_host_remedy(f, REMEDY_WORKAROUND,
				    "add swap (fallocate, mkswap, swapon), because its size raises "
				    "CommitLimit; no vm.overcommit_ratio up to 100 is enough");
		return;
	}
	remedy_command(finding_host_remedy(f, REMEDY_WORKAROUND,
					   "raise vm.overcommit_ratio, or add swap (fallocate, "
					   "mkswap, swapon): its size raises CommitLimit too"),
		       "sysctl -w vm.overcommit_ratio=%" PRIu64, percent);
}

bool refused_by_strict(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct host_limits *l = &o->m->tick.limits;

	if (refusal_is_fork(o) || !refusal_has_cause(o, "overcommit_strict"))
		return false;
	refusal_say(o, f, "CommitLimit reached (vm.overcommit_memory=2), host-wide");
	evidence_limit(finding_number(f, "committed", IN_BYTES, l->committed_bytes),
		       l->commit_limit_bytes);
	remedy_command(finding_host_remedy(f, REMEDY_CHECK,
					   "find the processes with the most virtual memory"),
		       "ps -eo pid,vsz,comm --sort=-vsz | head");
	/* the missing bytes may come from more swap, or from less memory in use */
	pressure_help_room(f, o->m, missing_commit(o), "swap");
	help_ratio(f, l, missing_commit(o));
	finding_advise(f);
	return true;
}

bool fork_refused(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!refusal_is_fork(o) || (!refusal_has_cause(o, "overcommit_strict") &&
				    !refusal_has_cause(o, "overcommit_heuristic")))
		return false;
	refusal_say(o, f, "overcommit does not allow a copy of the parent's memory");
	finding_advise(f);
	return true;
}

bool thread_refused(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!refusal_has_cause(o, "cgroup_pids"))
		return refused_by_row(o, open, f);
	refusal_say(o, f, "pids.max of its cgroup reached");
	if (f->want)
		remedy_with_scope(
			finding_remedy(
				f, REMEDY_WORKAROUND,
				"raise the limit: systemctl set-property UNIT TasksMax=%" PRIu64
				", docker update --pids-limit %" PRIu64
				" CONTAINER, or podPidsLimit of the kubelet",
				f->want, f->want),
			SCOPE_CGROUP);
	finding_remedy(f, REMEDY_FIX,
		       "use fewer threads: a thread pool instead of one thread for "
		       "each request");
	return true;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules for failed calls whose finding is a row of refusals.def. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/limit.h"
#include "rules/refusal_rules.h"

enum gain { GAIN_NONE, GAIN_VALUE, GAIN_OR_SEE, GAIN_OR_SEE_POOLS, GAIN_OR_UNLIMITED };

static const struct refusal {
	const char *rule, *cause;
	enum severity worst;
	enum gain gain;
	const char *words;
	struct remedy_row first, last;
} refusals[] = {
#define REFUSAL(rule, cause, worst, gain, ...)                                                     \
	{rule, cause, SEVERITY_##worst, GAIN_##gain, __VA_ARGS__},
#include "rules/refusals.def"
};

static const struct refusal *refusal_of(const struct occasion *o, const struct rule *rule)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (!strcmp(rule->id, refusals[i].rule) && refusal_has_cause(o, refusals[i].cause))
			return &refusals[i];
	return NULL;
}

/* Adds remedies for a call that failed although no limit explains it. */
static void help_unknown(const struct refused_record *r, struct finding *f)
{
	if (r->facts & FACT_FILTERED)
		finding_remedy(
			f, REMEDY_FIX,
			"allow the call in the seccomp filter: in the profile of the container "
			"(docker run --security-opt seccomp=), or in SystemCallFilter= of the "
			"unit");
	if (r->facts & FACT_PIDS_OVER)
		finding_remedy(f, REMEDY_FIX,
			       "change the program: after unshare(CLONE_NEWPID) the first child "
			       "is the init process of the namespace, and must live as long as "
			       "the namespace is used");
}

/*
 * Suggests to raise the limit in the user namespace: the namespace has a limit of its own, which
 * the host's setting does not raise.
 */
static void of_namespace(const struct refused_record *r, const char *sysctl, struct finding *f)
{
	snprintf(f->set_by, sizeof(f->set_by), "its user namespace, or one above: %s there",
		 sysctl);
	remedy_command(
		finding_remedy(f, REMEDY_WORKAROUND, "raise the limit in the user namespace"),
		"nsenter -t %u -U sysctl -w %s=%" PRIu64, r->subject.pid, sysctl, f->want);
}

static bool help_inotify(const struct occasion *o, struct finding *f)
{
	const struct host_limits *l = &o->m->tick.limits;
	const struct user_counts *u = &o->refused->user;

	if (refusal_has_cause(o, "inotify_watches") && u->inotify_watches != UINT64_MAX &&
	    u->inotify_watches_max < l->inotify_watches)
		of_namespace(o->refused, "user.max_inotify_watches", f);
	else if (refusal_has_cause(o, "inotify_instances") && u->inotify_instances != UINT64_MAX &&
		 u->inotify_instances_max < l->inotify_instances)
		of_namespace(o->refused, "user.max_inotify_instances", f);
	else
		return false;
	return true;
}

/* Adds a command that raises the limit, as the column `gain` of REFUSAL says. */
static void help_gain(const struct occasion *o, enum gain gain, struct finding *f)
{
	if (gain == GAIN_NONE || help_inotify(o, f))
		return;
	if (gain == GAIN_OR_SEE) {
		help_limit_or_see(o, f);
		return;
	}
	if (help_limit(o, f))
		return;
	if (gain == GAIN_OR_SEE_POOLS)
		remedy_command(finding_host_remedy(f, REMEDY_CHECK,
						   "show the free huge pages of each size"),
			       "grep . /sys/kernel/mm/hugepages/*/free_hugepages");
	else if (gain == GAIN_OR_UNLIMITED)
		remedy_command(
			finding_remedy(f, REMEDY_WORKAROUND, "raise the limit of the process"),
			"prlimit --pid %u --%s=unlimited", o->refused->subject.pid,
			limit_of_cause(o->verdict->cause)->word);
}

bool refused_by_row(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct refusal *r = refusal_of(o, f->rule);

	/* rule M17 fork-enomem reports forks that the overcommit heuristic rejects */
	if (!r || (refusal_is_fork(o) && !strcmp(r->cause, "overcommit_heuristic")))
		return false;
	refusal_say(o, f, r->words);
	f->severity = r->worst;
	if (r->first.text)
		finding_take_row(f, &r->first);
	help_gain(o, r->gain, f);
	if (r->last.text)
		finding_take_row(f, &r->last);
	return true;
}

bool refused_otherwise(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!refused_by_row(o, open, f))
		return false;
	if (o->refused->call == CALL_SETRLIMIT)
		f->severity = SEVERITY_INFO;
	if (refusal_has_cause(o, "unknown"))
		help_unknown(o->refused, f);
	finding_advise(f);
	return true;
}

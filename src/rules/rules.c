// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/fields.h"
#include "rules/diagnoses.h"
#include "rules/event_count.h"
#include "rules/growth_rules.h"
#include "rules/limits_rules.h"
#include "rules/refusal_rules.h"

static bool is_freeing(unsigned int call)
{
	return call != CALL_MMAP && call != CALL_BRK && call != CALL_SHMAT;
}

bool refused_by_map_count(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!refusal_has_cause(o, "max_map_count") || is_freeing(o->refused->call))
		return false;
	refusal_say(o, f, "vm.max_map_count reached");
	growth_evidence(f, o->m, &o->refused->subject, WHAT_MAPS);
	finding_advise(f);
	limit_help_map_count(f, o->m, o->refused->map_count);
	return true;
}

bool split_refused(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!refusal_has_cause(o, "max_map_count") || !is_freeing(o->refused->call))
		return false;
	refusal_say(o, f, "vm.max_map_count reached (the call splits a mapping)");
	finding_advise(f);
	limit_help_map_count(f, o->m, o->refused->map_count);
	return true;
}

bool refused_by_memlock(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!refusal_has_cause(o, "rlimit_memlock"))
		return false;
	refusal_say(o, f, "RLIMIT_MEMLOCK (ulimit -l) reached");
	/*
	 * Many programs lock memory and register buffers only if they can, and continue if that
	 * fails. Such a failure is at most a warning.
	 */
	if (o->refused->call != CALL_MMAP && o->refused->call != CALL_BRK &&
	    o->refused->call != CALL_MREMAP && o->refused->call != CALL_IO_URING)
		f->severity = SEVERITY_WARNING;
	if (!help_limit(o, f))
		limit_help_memlock(f, o->s, o->refused->subject.pid);
	return true;
}

bool refused_by_nofile(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!refusal_has_cause(o, "rlimit_nofile"))
		return false;
	refusal_say(o, f, "too many open files (RLIMIT_NOFILE reached)");
	growth_evidence(f, o->m, &o->refused->subject, WHAT_FDS);
	limit_help_descriptors(f, o->s);
	if (f->want > o->refused->fd_soft * 4 && f->want > 65536)
		help_limit(o, f);
	else
		limit_help_nofile(f, o->s, o->refused->fd_soft);
	return true;
}

bool descriptors_dropped(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!refusal_has_cause(o, "descriptors_dropped"))
		return false;
	refusal_say(o, f, "");
	finding_title(
		f, "%s returned success and dropped passed file descriptors: RLIMIT_NOFILE reached",
		call_name(o->refused->call));
	limit_help_descriptors(f, o->s);
	if (f->want > o->refused->fd_soft * 4 && f->want > 65536)
		help_limit(o, f);
	else
		limit_help_nofile(f, o->s, o->refused->fd_soft);
	return true;
}

bool bad_kernel_address(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct kernel_fault_record *r = o->kernel_fault;
	const struct symbol *sym = model_symbol(o->m, r->ip);

	if (r->nofault)
		/*
		 * copy_from_kernel_nofault() and similar functions recover from every fault: no
		 * finding
		 */
		return false;
	f->severity = SEVERITY_CRITICAL;
	f->level = 1;
	finding_title(f, "kernel fault at a bad address in %s%s%s%s",
		      sym ? sym->symbol : "code without a name", sym && sym->module[0] ? " [" : "",
		      sym ? sym->module : "", sym && sym->module[0] ? "]" : "");
	finding_number(f, KERNEL_FAULT_TIMES, IN_COUNT, r->count);
	f->times = r->count;
	finding_text(f, "access", "%s",
		     r->error_code & 16	 ? "exec"
		     : r->error_code & 2 ? "write"
					 : "read");
	finding_text(f, "address", "%s",
		     r->address >> 63 ? "kernel half"
				      : "user half, and the code is no user copy function");
	finding_advise(f);
	return true;
}

/*
 * ns; a signal counts as the result of a failed call if it comes at most this long after the call
 */
#define HEELS_NS 1000000000ULL

/*
 * Returns the latest open finding of a call that failed at vm.max_map_count: M01 for calls that
 * create a mapping, M02 for calls that split one. Returns NULL if no such finding is open, or if it
 * is too old.
 */
static const struct finding *refused_before(const struct occasion *o)
{
	const struct finding *map = finding_open(o->findings, "M01", &o->signal->subject);
	const struct finding *split = finding_open(o->findings, "M02", &o->signal->subject);

	if (!map || (split && split->seen_ns > map->seen_ns))
		map = split;
	return map && map->seen_ns <= o->t_ns && o->t_ns - map->seen_ns <= HEELS_NS ? map : NULL;
}

bool crash_after_refusal(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct finding *refused = refused_before(o);
	char name[24];

	if (!refused)
		return false;
	signal_name(o->signal->signal, name, sizeof(name));
	f->severity = SEVERITY_CRITICAL;
	f->cause = refused->cause;
	f->level = 1;
	finding_title(f, "%s %s after %.144s", name, as_duration(o->t_ns - refused->seen_ns).s,
		      refused->title);
	finding_text(f, "signal", "%s", name);
	finding_text(f, "si_code", "%d", o->signal->code);
	finding_real(f, "after_refusal", IN_SECONDS, (o->t_ns - refused->seen_ns) / 1e9);
	finding_remedy(
		f, REMEDY_FIX,
		"the failed call is the cause, not the function that crashed: see finding %s",
		refused->rule->id);
	return true;
}

#define RULE(id, trigger, needs, test, ...) {id, trigger, needs, test, ##__VA_ARGS__},

const struct rule rules[] = {
#include "rules/rules.def"
};

const size_t nr_rules = sizeof(rules) / sizeof(rules[0]);
_Static_assert(sizeof(rules) / sizeof(rules[0]) <= RULES_MAX, "room in lists of rules");

const struct rule *diagnosis_rule(const struct diagnosis *d)
{
	for (size_t i = 0; i < nr_rules; i++)
		if (!strcmp(rules[i].id, d->id))
			return &rules[i];
	return NULL;
}

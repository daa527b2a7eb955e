// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rule for calls that reached a limit of objects that the kernel counts: counted.def. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "rules/refusal_rules.h"
#include "rules/request.h"

#define SPARE 2 /* suggested limits are twice what the call needs */

/*
 * Returns a value of the limit with which the call and some later calls succeed, in the unit of the
 * limit; 0: not known.
 */
static uint64_t enough(const struct occasion *o)
{
	const struct counted_objects *c = &o->refused->counted;
	uint64_t need = o->verdict->need;

	if (!need || need == UINT64_MAX || c->limit == UINT64_MAX)
		return 0;
	if (need < c->limit)
		need = c->limit;
	return need * SPARE;
}

/* Namespaces that have a limit of their own, as options of nsenter; NULL: it is host-wide. */
static const char *namespace_of(const struct refused_record *r)
{
	switch (r->call) {
	case CALL_OPEN:
	case CALL_MSGSND:
		return r->counted.inside ? "-i" : NULL;
	case CALL_SETSOCKOPT:
		return "-n";
	case CALL_CLONE:
		return r->counted.inside ? "-p" : NULL;
	}
	return NULL;
}

static void raise_limit(const struct occasion *o, const struct counted_limit *l, struct finding *f)
{
	const struct refused_record *r = o->refused;
	const char *inside = namespace_of(r);
	uint64_t want = enough(o);
	struct remedy *fix;

	if (!l->limit)
		return;
	if (!want) {
		if (l->limit[0] != '-')
			remedy_command(finding_host_remedy(f, REMEDY_CHECK, "show the limit"),
				       "sysctl %s", l->limit);
		return;
	}
	if (l->limit[0] == '-') {
		fix = finding_remedy(f, REMEDY_WORKAROUND, "raise the limit of the process");
		remedy_command(fix, "prlimit --pid %u %s=%" PRIu64, r->subject.pid, l->limit, want);
	} else if (inside) {
		fix = finding_remedy(f, REMEDY_WORKAROUND,
				     "raise the limit in the namespace of the process");
		remedy_command(fix, "nsenter -t %u %s sysctl -w %s=%" PRIu64, r->subject.pid,
			       inside, l->limit, want);
	} else {
		fix = finding_host_remedy(f, REMEDY_WORKAROUND, "raise the limit");
		remedy_command(fix, "sysctl -w %s=%" PRIu64, l->limit, want);
	}
}

bool refused_by_counted(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct counted_limit *l = counted_limit_of(o->verdict->cause);

	if (!l || !l->words)
		return false;
	refusal_say(o, f, l->words);
	f->severity = SEVERITY_WARNING;
	if (l->check)
		remedy_command(finding_host_remedy(f, REMEDY_CHECK,
						   "show what counts towards the limit"),
			       "%s", l->check);
	raise_limit(o, l, f);
	finding_remedy(f, REMEDY_FIX, "%s", l->fix);
	return true;
}

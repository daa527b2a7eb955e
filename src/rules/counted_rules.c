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
 * A limit of a namespace or of a mount may be far below the host's, which a command must not lower.
 * The shell tests the value in the namespace in which it changes it.
 */
#define NEVER_LOWER                                                                                \
	"sh -c '[ $(sysctl -n %s) -ge %" PRIu64 " ] || sysctl -w %s=%" PRIu64 "'"

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
		fix = finding_remedy(f, REMEDY_WORKAROUND,
				     "raise the soft limit of the process, and the hard limit if "
				     "it is lower");
		remedy_command(fix, "prlimit --pid %u %s=%" PRIu64 ":", r->subject.pid, l->limit,
			       want);
	} else if (inside) {
		fix = finding_remedy(f, REMEDY_WORKAROUND,
				     "raise the limit in the namespace of the process");
		remedy_command(fix, "nsenter -t %u %s " NEVER_LOWER, r->subject.pid, inside,
			       l->limit, want, l->limit, want);
	} else {
		fix = finding_host_remedy(f, REMEDY_WORKAROUND, "raise the limit");
		remedy_command(fix, NEVER_LOWER, l->limit, want, l->limit, want);
	}
}

/* root has limits of its own for keys: key_payload_reserve() in security/keys/key.c. */
static struct counted_limit limit_of(const struct occasion *o, const struct counted_limit *l)
{
	const struct counted_objects *c = &o->refused->counted;
	struct counted_limit own = *l;

	if (c->owner == 0 && c->what == COUNTED_KEYS) {
		own.words = "kernel.keys.root_maxkeys reached";
		own.limit = "kernel.keys.root_maxkeys";
	} else if (c->owner == 0 && c->what == COUNTED_KEY_BYTES) {
		own.words = "kernel.keys.root_maxbytes reached";
		own.limit = "kernel.keys.root_maxbytes";
	}
	return own;
}

bool refused_by_counted(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct counted_limit *row = counted_limit_of(o->verdict->cause);
	struct counted_limit l;

	if (!row || !row->words)
		return false;
	l = limit_of(o, row);
	refusal_say(o, f, l.words);
	f->severity = SEVERITY_WARNING;
	if (l.check)
		remedy_command(finding_host_remedy(f, REMEDY_CHECK,
						   "show what counts towards the limit"),
			       "%s", l.check);
	raise_limit(o, &l, f);
	finding_remedy(f, REMEDY_FIX, "%s", l.fix);
	return true;
}

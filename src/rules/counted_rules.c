// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rule for calls that reached a limit of objects that the kernel counts: counted.def. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "rules/refusal_rules.h"
#include "rules/request.h"

#define SPARE 2 /* suggested limits are twice what the call needs */

/* The most that fs.mqueue.msg_max and msgsize_max can be set to: include/linux/ipc_namespace.h. */
#define QUEUE_MOST_MESSAGES	 65536
#define QUEUE_MOST_MESSAGE_BYTES (16UL << 20)

/*
 * A limit of a namespace or of a mount may be far below the host's, which a command must not lower.
 * The shell tests the value in the namespace in which it changes it.
 */
#define NEVER_LOWER                                                                                \
	"sh -c '[ $(sysctl -n %s) -ge %" PRIu64 " ] || sysctl -w %s=%" PRIu64 "'"

/* Returns the greatest value that the kernel accepts for the limit, or UINT64_MAX. */
static uint64_t most_of_setting(uint32_t what)
{
	switch (what) {
	case COUNTED_QUEUE_MESSAGES:
		return QUEUE_MOST_MESSAGES;
	case COUNTED_QUEUE_MESSAGE_BYTES:
		return QUEUE_MOST_MESSAGE_BYTES;
	}
	return UINT64_MAX;
}

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
	if (need * SPARE > most_of_setting(c->what))
		return most_of_setting(c->what);
	return need * SPARE;
}

/* The kind of namespaces that have a limit of their own, for lsns -t and nsenter. */
struct place {
	const char *kind, *option;
};

/* Returns the kind of namespaces that has the limit, or {NULL}: the limit is host-wide. */
static struct place place_of(const struct counted_objects *c)
{
	if (c->inside == COUNTED_BY_HOST)
		return (struct place){NULL};
	if (counted_per_user(c->what))
		return (struct place){"user", "-U --preserve-credentials"};
	switch (c->what) {
	case COUNTED_OPTION_BYTES:
	case COUNTED_MULTICAST_GROUPS:
	case COUNTED_MULTICAST_SOURCES:
		return (struct place){"net", "-n"};
	case COUNTED_PIDS:
		return (struct place){"pid", "-p"};
	case COUNTED_QUEUES:
	case COUNTED_QUEUE_MESSAGES:
	case COUNTED_QUEUE_MESSAGE_BYTES:
	case COUNTED_MESSAGE_BYTES:
		return (struct place){"ipc", "-i"};
	}
	return (struct place){NULL};
}

/* Raises a limit that a namespace has, which may be another one than that of the process. */
static void raise_inside(const struct occasion *o, const struct counted_limit *l, uint64_t want,
			 struct finding *f)
{
	const struct refused_record *r = o->refused;
	struct place at = place_of(&r->counted);
	struct remedy *fix;

	if (r->counted.inside == COUNTED_INSIDE) {
		fix = finding_remedy(f, REMEDY_WORKAROUND,
				     "raise the limit in the namespace of the process");
		remedy_command(fix, "nsenter -t %u %s " NEVER_LOWER, r->subject.pid, at.option,
			       l->limit, want, l->limit, want);
		return;
	}
	fix = finding_remedy(f, REMEDY_WORKAROUND,
			     "raise the limit in the namespace %s:[%u], which is not that of the "
			     "process. The command enters it by a process in it",
			     at.kind, r->counted.namespace);
	remedy_command(fix, "nsenter -t $(lsns -n -t %s -o NS,PID | awk '$1 == %u {print $2}') %s "
		       NEVER_LOWER, at.kind, r->counted.namespace, at.option, l->limit, want,
		       l->limit, want);
}

static void raise_limit(const struct occasion *o, const struct counted_limit *l, struct finding *f)
{
	const struct refused_record *r = o->refused;
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
	} else if (place_of(&r->counted).kind) {
		raise_inside(o, l, want, f);
	} else {
		fix = finding_host_remedy(f, REMEDY_WORKAROUND, "raise the limit");
		remedy_command(fix, NEVER_LOWER, l->limit, want, l->limit, want);
	}
}

/* A limit in the words of one failed call. */
struct own_limit {
	struct counted_limit l;
	char words[160];
};

/* Names each type of namespaces that may have reached its limit. */
static void name_types(struct own_limit *own, uint32_t types)
{
	size_t at = 0;

	for (uint32_t i = 0; i < 32 && types >> i; i++)
		if (types >> i & 1 && at < sizeof(own->words))
			at += (size_t)snprintf(own->words + at, sizeof(own->words) - at, "%s%s",
					       at ? " or " : "one of the limits ",
					       counted_limit_name(i));
	if (at < sizeof(own->words))
		snprintf(own->words + at, sizeof(own->words) - at, " reached");
	own->l.words = own->words;
}

/*
 * root has limits of its own for keys: key_payload_reserve() in security/keys/key.c. No setting
 * permits message queues above a limit that also applies with CAP_SYS_RESOURCE: mq_attr_ok().
 */
static void adapt_limit(const struct occasion *o, struct own_limit *own)
{
	const struct counted_objects *c = &o->refused->counted;
	bool hard = c->asked > most_of_setting(c->what);

	if (c->owner == 0 && c->what == COUNTED_KEYS) {
		own->l.words = "kernel.keys.root_maxkeys reached";
		own->l.limit = "kernel.keys.root_maxkeys";
	} else if (c->owner == 0 && c->what == COUNTED_KEY_BYTES) {
		own->l.words = "kernel.keys.root_maxbytes reached";
		own->l.limit = "kernel.keys.root_maxbytes";
	} else if (hard && c->what == COUNTED_QUEUE_MESSAGES) {
		own->l.words = "mq_maxmsg is above 65536, the most that the kernel permits";
		own->l.limit = NULL;
	} else if (hard && c->what == COUNTED_QUEUE_MESSAGE_BYTES) {
		own->l.words = "mq_msgsize is above 16 MiB, the most that the kernel permits";
		own->l.limit = NULL;
	} else if (c->what == COUNTED_NAMESPACES) {
		name_types(own, c->types);
	}
}

bool refused_by_counted(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct counted_limit *row = counted_limit_of(o->verdict->cause);
	struct own_limit own;

	if (!row || !row->words)
		return false;
	own.l = *row;
	adapt_limit(o, &own);
	refusal_say(o, f, own.l.words);
	f->severity = SEVERITY_WARNING;
	if (own.l.check)
		remedy_command(finding_host_remedy(f, REMEDY_CHECK,
						   "show what counts towards the limit"),
			       "%s", own.l.check);
	raise_limit(o, &own.l, f);
	finding_remedy(f, REMEDY_FIX, "%s", own.l.fix);
	return true;
}

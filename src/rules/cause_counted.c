// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Checks of objects that the kernel counts, such as namespaces, timers and keys. Kernel sources:
 * kernel/ucount.c, kernel/signal.c, fs/namespace.c, fs/aio.c, security/keys/key.c, ipc/mqueue.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "rules/request.h"

static const struct counted_limit rows[COUNTED_MAX] = {
#define COUNTED(kind, error, cause, unit, ...)                                                     \
	[COUNTED_##kind] = {error, cause, IN_##unit, __VA_ARGS__},
#include "rules/counted.def"
};

const struct counted_limit *counted_limit(const struct refused_record *r)
{
	const struct counted_limit *row = r->counted.what < COUNTED_MAX ? &rows[r->counted.what]
									: NULL;

	return row && row->cause && (row->error == ANY_ERROR || row->error == r->error) ? row
											 : NULL;
}

const struct counted_limit *counted_limit_of(const char *cause)
{
	for (size_t i = 0; i < COUNTED_MAX; i++)
		if (rows[i].cause && !strcmp(rows[i].cause, cause))
			return &rows[i];
	return NULL;
}

const char *counted_limit_name(uint32_t what)
{
	return what < COUNTED_MAX && rows[what].limit ? rows[what].limit : "";
}

bool counted_per_user(uint32_t what)
{
	return (what >= COUNTED_USER_NAMESPACES && what <= COUNTED_TIME_NAMESPACES) ||
	       what == COUNTED_FANOTIFY_MARKS;
}

static bool is_known(const struct counted_objects *c)
{
	return c->used != UINT64_MAX && c->limit != UINT64_MAX;
}

/*
 * Pids below this number are given only to the first processes of a namespace: RESERVED_PIDS of
 * kernel/pid.c. A namespace may therefore be full although its number of pids is below its limit.
 */
#define RESERVED_PIDS 300

/*
 * Returns whether the call failed at the limit, although the counts do not prove it. If the counts
 * are not known, the errno alone decides: the kernel returns it for no other reason. (clone()
 * returns EAGAIN for other reasons, too.)
 */
static bool is_likely(const struct request *q, const struct counted_limit *row)
{
	const struct counted_objects *c = &q->r->counted;

	if (has_fact(q, FACT_FILTERED))
		return false;
	if (c->what == COUNTED_PIDS)
		return is_known(c) && c->used + c->asked + RESERVED_PIDS > c->limit;
	/*
	 * Counts of keys and requests were read a little after the failure, and may have fallen
	 * since. A mount of a tree needs an unknown number of mounts.
	 */
	if (is_known(c))
		return c->what == COUNTED_KEY_BYTES || c->what == COUNTED_AIO_REQUESTS ||
		       (c->what == COUNTED_MOUNTS && c->used >= c->limit / 2);
	return row->error != ANY_ERROR;
}

/*
 * Returns how many objects there may be. For two limits, the kernel demands that the number stays
 * below: sock_kmalloc() and devpts_new_index().
 */
static uint64_t most_of(const struct counted_objects *c)
{
	bool below = c->what == COUNTED_OPTION_BYTES || c->what == COUNTED_PTYS;

	return c->limit && below ? c->limit - 1 : c->limit;
}

/* Returns whether the counts prove that it was this limit, which they exceed. */
static bool is_proof(const struct request *q)
{
	const struct counted_objects *c = &q->r->counted;

	/* an earlier type of namespaces, of which no count is known, may have been refused */
	if (c->types)
		return false;
	switch (c->what) {
	case COUNTED_KEYS:
		/* other calls may have changed only the bytes of a key */
		return q->r->call == CALL_ADD_KEY;
	case COUNTED_PTYS:
		/* whether terminals are reserved depends on the mount */
		return c->asked == 1;
	}
	return true;
}

/* Says who reached a limit of a user namespace. */
static void describe_user(const struct counted_objects *c, struct verdict *v)
{
	char text[96];

	switch (c->inside) {
	case COUNTED_BY_HOST:
		snprintf(text, sizeof(text), "uid %u in the initial user namespace", c->owner);
		break;
	case COUNTED_INSIDE:
		snprintf(text, sizeof(text), "uid %u in the user namespace of the process",
			 c->owner);
		break;
	default:
		snprintf(text, sizeof(text), "uid %u, %u user %.10s above", c->owner, c->level,
			 as_words(c->level, "namespace{|s}").s);
	}
	verdict_text(v, "user", text);
}

static bool past_counted(const struct request *q, struct verdict *v, bool *ret_sure)
{
	const struct counted_limit *row = counted_limit(q->r);
	const struct counted_objects *c = &q->r->counted;
	uint64_t unit = row->unit == IN_PAGES ? q->l->page_bytes : 1;
	uint64_t most = most_of(c);

	if (!is_known(c) || (c->used <= most && c->asked <= most - c->used)) {
		*ret_sure = c->what == COUNTED_BREAKPOINTS;
		return is_likely(q, row);
	}
	if (c->what == COUNTED_LOCKED_PAGES && has_fact(q, FACT_IPC_LOCK))
		return false;
	if (!is_proof(q))
		*ret_sure = false;
	verdict_need(v, c->used * unit, c->asked * unit);
	verdict_sum(v, row->field, row->unit, c->used, c->asked, c->limit);
	if (counted_per_user(c->what))
		describe_user(c, v);
	return true;
}

void cause_of_counted(struct request *q, struct verdict *v)
{
	const struct counted_limit *row = counted_limit(q->r);
	struct step step = {row ? row->cause : NULL, past_counted, ANY_ERROR};

	if (row)
		run_steps(q, &step, 1, v);
}

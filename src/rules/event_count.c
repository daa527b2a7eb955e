// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/event_count.h"

#include <string.h>

static const struct event_count *find(const struct findings *fs, enum trigger by,
				      const struct process_key *of, uint32_t call)
{
	for (size_t i = 0; i < fs->nr_counts && i < EVENT_COUNTS_MAX; i++)
		if (fs->count[i].by == by && fs->count[i].call == call &&
		    same_subject(&fs->count[i].of, of))
			return &fs->count[i];
	return NULL;
}

/*
 * Updates the row of this event's process and call. In a series of equal events, the count rises
 * from record to record. If the event is of another kind, or its count is not higher than before,
 * the row is marked as a mix of several kinds.
 */
static void take(struct findings *fs, const struct event_count *one)
{
	struct event_count *c = (struct event_count *)find(fs, one->by, &one->of, one->call);

	if (c) {
		c->mixed |= one->sort != c->sort || one->count <= c->count;
		c->count = one->count;
		return;
	}
	/*
	 * Overwrite the oldest row. If the first count of the new row is above 1, there were events
	 * without a record, which may have been of another kind.
	 */
	c = &fs->count[fs->nr_counts++ % EVENT_COUNTS_MAX];
	*c = *one;
	c->mixed = one->count != 1;
}

void event_count_refused(struct findings *fs, const struct refused_record *r)
{
	take(fs, &(struct event_count){.by = ON_REFUSED,
				       .of = r->subject,
				       .call = r->call,
				       .sort = r->error,
				       .count = r->count});
}

void event_count_kernel_fault(struct findings *fs, const struct kernel_fault_record *r)
{
	if (!r->nofault)
		take(fs, &(struct event_count){.by = ON_KERNEL_FAULT,
					       .of = r->subject,
					       .sort = r->ip,
					       .count = r->count});
}

/* Reads the counter of such events from the values of the process; false: there is none. */
static bool counter_of(const struct model *m, const struct finding *f, uint64_t *ret)
{
	const struct subject *s = model_find(m, &f->subject);
	const struct counters *c;

	if (!s || !s->now.c)
		return false;
	c = facts_counters(&s->now);
	if (f->rule->trigger == ON_KERNEL_FAULT)
		*ret = counted_or_0(c->kernel_bad);
	else if (f->call < CALL_FD_FIRST)
		*ret = c->map_call[f->call - CALL_MMAP].refused;
	else if (f->call < CALL_OTHER_FIRST)
		*ret = c->fd_call[f->call - CALL_FD_FIRST].refused;
	else
		return false;
	return true;
}

static struct evidence *evidence_of(struct finding *f)
{
	const char *field = f->rule->trigger == ON_REFUSED	  ? REFUSED_CALLS
			    : f->rule->trigger == ON_KERNEL_FAULT ? KERNEL_FAULT_TIMES
								  : NULL;

	for (size_t i = 0; field && i < f->nr_evidence; i++)
		if (!strcmp(f->evidence[i].field, field))
			return &f->evidence[i];
	return NULL;
}

/*
 * Sets the number of events in a finding. If all events were equal, the counter of the process is
 * exact. If the events differed, the count of the last record is a lower bound, and the evidence
 * says so. A single event is always counted exactly, because a second event would have a record
 * too.
 */
void event_count_complete(const struct findings *fs, const struct model *m, struct finding *f)
{
	struct evidence *e = evidence_of(f);
	const struct event_count *c;
	uint64_t counted = 0;

	if (!e)
		return;
	c = find(fs, f->rule->trigger, &f->subject, f->call);
	if (c && !c->mixed && !m->tick.losses.ring && counter_of(m, f, &counted) &&
	    counted >= f->times)
		e->value = counted;
	if (counted || (f->times == 1 && !m->tick.losses.ring && !(c && c->mixed)))
		return;
	e->value = f->times;
	e->at_least = true;
}

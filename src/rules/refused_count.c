// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/refused_count.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct refused_call *find(const struct findings *fs, const struct fs_subject *of,
				       uint32_t call)
{
	for (size_t i = 0; i < fs->nr_refused && i < REFUSED_CALLS_MAX; i++)
		if (fs->refused[i].call == call && same_subject(&fs->refused[i].of, of))
			return &fs->refused[i];
	return NULL;
}

/* Of equal refusals each record has a higher count: another errno or a lower count is of others. */
void refused_count_take(struct findings *fs, const struct fs_refused_record *r)
{
	struct refused_call *c = (struct refused_call *)find(fs, &r->subject, r->call);

	if (c) {
		c->mixed |= r->error != c->error || r->count <= c->count;
		c->count = r->count;
		return;
	}
	/* the oldest row makes room; one that begins in the middle does not know what was before */
	fs->refused[fs->nr_refused++ % REFUSED_CALLS_MAX] =
		(struct refused_call){.of = r->subject,
				      .call = r->call,
				      .error = r->error,
				      .mixed = r->count != 1,
				      .count = r->count};
}

/* What hooks counted of a call; false where no hook counts it. */
static bool counter_of(const struct model *m, const struct fs_subject *of, uint32_t call,
		       uint64_t *ret)
{
	const struct subject *s = model_find(m, of);
	const struct fs_counters *c;

	if (!s || !s->now.c || call >= FS_CALL_OTHER_FIRST)
		return false;
	c = facts_counters(&s->now);
	*ret = call < FS_CALL_FD_FIRST ? c->map_call[call - FS_CALL_MMAP].refused
				       : c->fd_call[call - FS_CALL_FD_FIRST].refused;
	return true;
}

static struct evidence *evidence_of(struct finding *f)
{
	for (size_t i = 0; i < f->nr_evidence; i++)
		if (!strcmp(f->evidence[i].field, REFUSED_CALLS))
			return &f->evidence[i];
	return NULL;
}

/*
 * Where all refusals of the call were equal, the counter is theirs alone. Else the last record is a
 * lower bound, and the text says so; one alone is exact, as the second has a record too.
 */
void refused_count_complete(const struct findings *fs, const struct model *m, struct finding *f)
{
	struct evidence *e = f->call ? evidence_of(f) : NULL;
	const struct refused_call *c;
	uint64_t counted = 0;

	if (!e)
		return;
	c = find(fs, &f->subject, f->call);
	if (c && !c->mixed && !m->tick.losses.ring &&
	    counter_of(m, &f->subject, f->call, &counted) && counted >= f->calls)
		snprintf(e->value, sizeof(e->value), "%" PRIu64, counted);
	else if (!counted && (f->calls > 1 || (c && c->mixed)))
		snprintf(e->value, sizeof(e->value), "%" PRIu64 " or more", f->calls);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/unsettled.h"

#include <string.h>

#include "rules/refusal_rules.h"

bool unsettled_is(const struct model *m, const union event *e)
{
	struct verdict v;

	if (e->h.kind != RECORD_REFUSED || e->refused.facts & FACT_RETRIED)
		return false;
	cause_of(&e->refused, &m->tick.limits, m->host.arch, &v);
	return refusal_has_other_form(&e->refused, &v);
}

static bool lives(const struct model *m, const struct refused_record *r)
{
	const struct subject *s = model_find(m, &r->subject);

	return s && !s->final;
}

static bool is_young(const struct model *m, const struct refused_record *r)
{
	return m->last_ns < r->h.t_ns + UNSETTLED_NS;
}

bool unsettled_keep(struct findings *fs, const struct model *m, const union event *e)
{
	if (fs->nr_unsettled == UNSETTLED_MAX || !unsettled_is(m, e) || !is_young(m, &e->refused) ||
	    !lives(m, &e->refused))
		return false;
	fs->unsettled[fs->nr_unsettled++] = e->refused;
	return true;
}

/*
 * Returns true if the same thread succeeded with another request in this interval. If it succeeded
 * in the interval of the failed call, the record of that call says so already.
 */
static bool is_answered(const struct model *m, const struct refused_record *r)
{
	for (size_t i = 0; i < m->retries; i++) {
		const struct retry_record *t = &m->retry[i];

		if (t->tid == r->tid && same_subject(&t->subject, &r->subject) &&
		    t->h.t_ns >= r->h.t_ns && t->h.t_ns <= r->h.t_ns + RETRY_NS)
			return true;
	}
	return false;
}

bool unsettled_next(struct findings *fs, const struct model *m, bool all, union event *ret)
{
	for (size_t i = 0; i < fs->nr_unsettled; i++) {
		struct refused_record *r = &fs->unsettled[i];
		bool answered = is_answered(m, r);

		if (!answered && !all && is_young(m, r) && lives(m, r))
			continue;
		ret->refused = *r;
		if (answered)
			ret->refused.facts |= FACT_RETRIED;
		fs->nr_unsettled--;
		memmove(r, r + 1, (fs->nr_unsettled - i) * sizeof(*r));
		return true;
	}
	return false;
}

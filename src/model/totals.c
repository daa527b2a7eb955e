// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/totals.h"

#include <stddef.h>
#include <string.h>

#include "model/most_faults.h"
#include "model/resources.h"

static void keep_peak(struct peak *p, const struct model *m, const struct subject *s, size_t i)
{
	struct use u;

	if (!resource_use(m, s, i, &u) || !u.high_limit ||
	    (p->limit && (double)u.high / u.high_limit <= (double)p->value / p->limit))
		return;
	p->value = u.high;
	p->limit = u.high_limit;
	p->pid = s->id.pid;
	memcpy(p->comm, s->now.g.comm, sizeof(p->comm));
}

#define IS_WITHIN(at, member)                                                                      \
	((at) >= offsetof(struct counters, member) &&                                              \
	 (at) < offsetof(struct counters, member) + sizeof(((struct counters *)0)->member))

bool counter_is_highest(size_t i)
{
	return IS_WITHIN(i * sizeof(uint64_t), latency_max_ns) ||
	       IS_WITHIN(i * sizeof(uint64_t), served_max_ns);
}

void counters_add(struct counters *ret, const struct counters *one)
{
	const uint64_t *from = (const uint64_t *)one;
	uint64_t *to = (uint64_t *)ret;

	for (size_t i = 0; i < sizeof(*ret) / sizeof(*to); i++) {
		if (from[i] == NOT_COUNTED)
			continue;
		if (!counter_is_highest(i))
			to[i] += from[i];
		else if (from[i] > to[i])
			to[i] = from[i];
	}
}

static void keep_rss(struct peak *p, const struct model *m, const struct subject *s)
{
	uint64_t bytes = s->rss_high_pages * m->tick.limits.page_bytes;

	if (bytes <= p->value)
		return;
	p->value = bytes;
	p->pid = s->id.pid;
	memcpy(p->comm, s->now.g.comm, sizeof(p->comm));
}

void totals_add(struct totals *t, const struct model *m, const struct subject *s)
{
	counters_add(&t->c, facts_counters(&s->now));
	keep_rss(&t->rss, m, s);
	fault_totals_add(&t->fault_totals_table, m, s);
	t->processes++;
	keep_peak(&t->maps, m, s, RESOURCE_MAPS);
	keep_peak(&t->fds, m, s, RESOURCE_FDS);
	t->min_flt += s->now.g.min_flt - s->base_min;
	t->maj_flt += s->now.g.maj_flt - s->base_maj;
}

void model_totals(const struct model *m, struct totals *ret)
{
	*ret = m->totals;
	for (struct subject *s = model_each(m, NULL); s; s = model_each(m, s))
		if (!s->hidden)
			totals_add(ret, m, s);
}

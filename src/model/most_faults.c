// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/most_faults.h"

#include <string.h>

#include "base/array.h"

static uint64_t weight(const struct fault_totals *t)
{
	return t->minor + 100 * t->major;
}

static bool weighs_more(const void *a, const void *b)
{
	return weight(a) > weight(b);
}

static struct fault_totals fault_totals_of(const struct model *m, const struct subject *s)
{
	const struct counters *c = facts_counters(&s->now);
	struct fault_totals t = {.pid = s->id.pid};

	memcpy(t.comm, s->now.g.comm, sizeof(t.comm));
	t.minor = s->now.g.min_flt - s->base_min;
	t.major = s->now.g.maj_flt - s->base_maj;
	t.stall_ns = c->stall_ns[END_MINOR] + c->stall_ns[END_MAJOR];
	t.cpu_ns = s->now.u.cpu_ns > s->base_cpu_ns ? s->now.u.cpu_ns - s->base_cpu_ns : 0;
	t.rss_high_bytes = s->rss_high_pages * m->tick.limits.page_bytes;
	t.map_high = s->now.g.map_high;
	t.fd_high = s->fds_high;
	return t;
}

void fault_totals_add(struct fault_totals_table *t, const struct model *m, const struct subject *s)
{
	struct fault_totals one = fault_totals_of(m, s);

	array_insert(t->fault_totals, &t->n, FAULT_TOTALS_MAX, sizeof(one), weighs_more, &one);
}

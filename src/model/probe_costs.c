// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/probe_costs.h"

#include <string.h>

#include "model/model.h"

void probe_costs_take(struct probe_costs *p, const struct probe_cost_record *r)
{
	struct probe_cost *c;
	size_t i = 0;

	while (i < p->n && strncmp(p->cost[i].name, r->name, sizeof(r->name)))
		i++;
	if (i == PROBE_COSTS_MAX)
		return;
	if (i == p->n)
		p->n++;
	c = &p->cost[i];
	memcpy(c->name, r->name, sizeof(c->name));
	c->name[sizeof(c->name) - 1] = 0;
	c->prev_runs = c->runs;
	c->prev_run_ns = c->run_ns;
	c->prev_ns = c->t_ns;
	c->runs = r->runs;
	c->run_ns = r->run_ns;
	c->t_ns = r->h.t_ns;
}

bool probe_rate(const struct model *m, const char *name, struct probe_rate *ret)
{
	const struct probe_costs *p = &m->probe_costs;

	for (size_t i = 0; i < p->n; i++) {
		const struct probe_cost *c = &p->cost[i];
		double seconds;
		uint64_t runs;

		if (strcmp(c->name, name))
			continue;
		/* the kernel may have stopped counting, or programs were loaded anew */
		if (c->t_ns != m->last_ns || !c->prev_ns || c->t_ns <= c->prev_ns ||
		    c->runs < c->prev_runs || c->run_ns < c->prev_run_ns)
			return false;
		seconds = (c->t_ns - c->prev_ns) / 1e9;
		runs = c->runs - c->prev_runs;
		ret->events = runs / seconds;
		ret->ns = runs ? (double)(c->run_ns - c->prev_run_ns) / runs : 0;
		ret->share = (c->run_ns - c->prev_run_ns) / 1e9 / seconds;
		return true;
	}
	return false;
}

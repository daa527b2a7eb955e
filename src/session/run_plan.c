// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/run_plan.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"

#define DEFAULT_INTERVAL 1.0
#define TIERS_TARGETS	 0xfu /* all overhead levels */
#define TIERS_EVERYONE	 0xbu /* all overhead levels except level 2, the latency of faults */

void plan_init(struct run_plan *p, const struct options *o)
{
	*p = (struct run_plan){.o = o,
			       .mode = "all",
			       .tiers = TIERS_EVERYONE,
			       .children = o->children,
			       .replay = o->replay,
			       .record = o->record,
			       .output = o->output,
			       .renderer = o->format ? o->format : &text_renderer,
			       .interval = o->interval ? o->interval : DEFAULT_INTERVAL,
			       .duration = o->duration};
}

/* Writes a description of the watched processes for users. */
static void describe(struct run_plan *p)
{
	const struct filter *f = &p->o->filter;
	char comm[32], path[64];
	size_t len = 0;

	if (f->pids == 1) {
		snprintf(path, sizeof(path), "/proc/%u/comm", f->pid[0]);
		io_read(AT_FDCWD, path, comm, sizeof(comm));
		comm[strcspn(comm, "\n")] = 0;
		snprintf(p->target, sizeof(p->target), "%s[%u]", comm, f->pid[0]);
		return;
	}
	for (size_t i = 0; i < f->pids && len + 12 < sizeof(p->target); i++)
		len += snprintf(p->target + len, sizeof(p->target) - len, "%s%u", i ? "," : "pids ",
				f->pid[i]);
	if (f->cgroup[0])
		len = snprintf(p->target, sizeof(p->target), "cgroup %.80s", f->cgroup);
	if (f->pattern && !f->pids)
		snprintf(p->target + len, sizeof(p->target) - len, "%scomm %.30s", len ? ", " : "",
			 f->pattern);
}

void plan_targets(struct run_plan *p)
{
	if (p->replay)
		return; /* a recording contains its own description of the watched processes */
	describe(p);
	if (!p->o->filter.pids)
		return;
	p->whom = WATCH_TARGETS;
	p->mode = "targets";
	p->tiers = TIERS_TARGETS;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/losses.h"

#include <string.h>

#include "model/pressure.h"
#include "model/slow.h"

static uint64_t places_lost(const struct model *m)
{
	uint64_t left_out = host_figure(m, HOST_LEFT_OUT);

	return (m->pressure ? m->pressure->lost : 0) + (left_out == FIGURE_UNKNOWN ? 0 : left_out);
}

size_t losses_of(const struct view *v, struct loss *ret)
{
	const struct losses *l = &v->m->tick.losses;
	const struct model *m = v->m;
	const struct loss all[] = {
		{"ring", "records", "records the ring had no room for", l->ring},
		{"map", "processes", "processes a map had no room for", l->map + m->subjects_lost},
		{"slot", "fault begins", "faults whose begin could not be kept", l->slot},
		{"missed", "events", "events that the kernel passed over", l->missed},
		{"stack", "user stacks", "user stacks that could not be read or had no room",
		 l->stack + m->frames_lost},
		{"growth", "changes", "changes of maps and fds without room in the growth table",
		 l->growth + m->growth_lost},
		{"events", "events of one look", "events of one look beyond what is kept",
		 m->events_lost},
		{"findings", "findings", "findings beyond what is kept", v->findings->lost},
		{"slow", "sorts of slow faults", "sorts of slow faults that made room for others",
		 m->slow ? m->slow->lost : 0},
		{"places", "cgroups and mounts", "cgroups and mounts beyond what is looked at",
		 places_lost(m)},
	};

	_Static_assert(sizeof(all) / sizeof(all[0]) == LOSSES_MAX, "all of them");
	memcpy(ret, all, sizeof(all));
	return LOSSES_MAX;
}

uint64_t losses_all(const struct view *v)
{
	struct loss l[LOSSES_MAX];
	size_t n = losses_of(v, l);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += l[i].n;
	return sum;
}

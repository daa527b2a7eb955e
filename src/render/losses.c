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
		{"ring", "record{|s}", "record{|s} lost because the ring buffer was full", l->ring},
		{"map", "process{|es}",
		 "process{|es} lost because a BPF map was full or busy, or the kernel freed "
		 "{its|their} counters",
		 l->map + m->subjects_lost},
		{"slot", "fault start{|s}",
		 "fault{|s} without latency because a BPF map was full or busy", l->slot},
		{"missed", "event{|s}", "event{|s} that the kernel skipped", l->missed},
		{"stack", "user stack{|s}", "user stack{|s} that could not be read or stored",
		 l->stack + m->frames_lost},
		{"growth", "change{|s}",
		 "change{|s} of maps and fds lost because the growth table was full",
		 l->growth + m->growth_lost},
		{"events", "event{|s} of one scan", "event{|s} of one scan beyond the maximum",
		 m->events_lost},
		{"findings", "finding{|s}",
		 "finding{|s} beyond the maximum, or without a part that memory was missing for",
		 v->findings->lost},
		{"slow", "group{|s} of slow faults", "group{|s} of slow faults replaced by others",
		 m->slow ? m->slow->lost : 0},
		{"places", "cgroup{ or mount|s and mounts}",
		 "cgroup{ or mount|s and mounts} beyond the maximum", places_lost(m)},
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

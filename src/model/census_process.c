// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/census_process.h"

struct pids census_processes(void)
{
	return (struct pids){.entry_bytes = sizeof(struct census_process),
			     .pid_at = offsetof(struct census_process, pid),
			     .most = CENSUS_PROCESSES_MAX};
}

void census_process_sweep(struct census *c)
{
	/*
	 * pids_remove() may move a later entry into the slot that was checked: check that slot
	 * again. An entry that was at the start of the table may be missed until the next sweep.
	 */
	for (uint32_t i = 0; i < c->processes.slots && c->ended;) {
		struct census_process *p = pids_at(&c->processes, i);

		if (p && p->ended) {
			c->ended--;
			p->w->refs--;
			pids_remove(&c->processes, p);
		} else {
			i++;
		}
	}
}

struct census_process *census_process_add(struct census *c, uint32_t pid)
{
	if (pids_is_full(&c->processes) && c->ended > c->processes.used / 4)
		census_process_sweep(c);
	return pids_add(&c->processes, pid);
}

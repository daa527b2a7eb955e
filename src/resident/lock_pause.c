// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "resident/lock_pause.h"

#include <time.h>

#include "probe/host_facts.h"

#define CALLS_NS 200000 /* calls that follow each other */
#define PAUSE_NS 50000	/* the kernel adds up to 50 us (timer slack) */

void lock_pause_if_due(struct lock_pause *p)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	uint64_t now = host_monotonic_ns();

	if (p->since_ns && now - p->since_ns < CALLS_NS)
		return;
	if (p->since_ns) {
		nanosleep(&pause, NULL);
		now = host_monotonic_ns();
	}
	p->since_ns = now;
}

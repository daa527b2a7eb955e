// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/process_ends.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "probe/host_facts.h"
#include "probe/live.h"

static uint64_t sum_of(const struct losses *l)
{
	return l->ring + l->map + l->missed;
}

void ends_begin(struct ends *e, const struct model *m, struct source *src)
{
	e->begin_ns = host_monotonic_ns();
	e->before = sum_of(&m->tick.losses);
	e->whole = e->foreign && (e->before != e->losses || !model_hook_on(m, "lifecycle"));
	if (e->foreign)
		live_scan_whole(src, e->whole);
}

bool ends_may_be_lost(struct ends *e, const struct model *m, const struct losses *now)
{
	uint64_t losses = sum_of(now);

	/*
	 * For pids of another namespace, a scan of all processes is needed, and none of its records
	 * may be lost. Without such a scan, a process without a record may still live: wait for the
	 * next scan.
	 */
	if (e->foreign ? !e->whole || losses != e->before
		       : losses == e->losses && model_hook_on(m, "lifecycle"))
		return false;
	e->losses = losses;
	return true;
}

/*
 * Returns whether a process is gone. Its pid becomes free only when the parent has waited for it,
 * long after the probe of its exit ran (release_task(), kernel/exit.c). The error EPERM of kill()
 * means that the process exists. /proc is not used, because hidepid= may hide processes.
 */
bool ends_is_gone(const struct ends *e, uint32_t pid, uint64_t told_ns)
{
	if (e->foreign)
		return e->whole && told_ns < e->begin_ns;
	return pid && kill((pid_t)pid, 0) && errno == ESRCH;
}

static bool is_gone(const struct ends *e, const struct model *m, const struct subject *s)
{
	return !s->final && !subject_changed(m, s) && ends_is_gone(e, s->id.pid, s->now.t_ns);
}

static int end(struct collector *c, const struct subject *s, uint64_t t_ns)
{
	struct process_record r = {
		.h = {RECORD_PROCESS, offsetof(struct process_record, c), t_ns},
		.subject = s->id,
		.g = s->now.g,
	};

	r.g.flags |= PROC_FINAL;
	return collector_take(c, &r.h);
}

int ends_find(const struct ends *e, struct collector *c, struct source *src,
	      const struct sink *sink)
{
	bool drained = false;
	int n = 0, err;

	for (struct subject *s = model_each(c->m, NULL); s; s = model_each(c->m, s)) {
		if (!is_gone(e, c->m, s))
			continue;
		if (!drained) {
			err = src->ops->drain(src, sink);
			if (err)
				return err;
			drained = true;
			if (s->final)
				continue;
		}
		err = end(c, s, e->begin_ns);
		if (err)
			return err;
		n++;
	}
	return n;
}

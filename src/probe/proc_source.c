// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/proc_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error_text.h"
#include "probe/host_facts.h"
#include "probe/limits.h"
#include "probe/proc_scan.h"

struct proc_source {
	struct source src;
	struct limits limits;
	struct proc_scan *proc;
};

static int no_records(struct source *src, const struct sink *sink)
{
	return 0;
}

static int no_fd(struct source *src)
{
	return -1;
}

static int proc_source_scan(struct source *src, const struct sink *sink)
{
	struct proc_source *p = (struct proc_source *)src;
	struct tick_record tick = {.h = {RECORD_TICK, sizeof(tick)}};
	unsigned long long begin = host_monotonic_ns();
	int err;

	limits_read(&p->limits, &tick.limits);
	err = proc_scan(&p->proc, true, NULL, sink);
	if (err) {
		snprintf(src->error, sizeof(src->error), "scanning the processes failed: %s",
			 as_error(err).s);
		return err;
	}
	tick.h.t_ns = host_monotonic_ns();
	tick.look_ns = tick.h.t_ns - begin;
	tick.wall_ns = host_wall_ns();
	tick.own_cpu_ns = host_own_cpu_ns();
	tick.own_rss_bytes = limits_own_rss_bytes(&p->limits);
	return sink->take(sink->ctx, &tick.h);
}

static void proc_source_close(struct source *src)
{
	struct proc_source *p = (struct proc_source *)src;

	proc_scan_free(p->proc);
	limits_close(&p->limits);
	free(p);
}

static const struct source_ops proc_ops = {
	.start = no_records,
	.look = proc_source_scan,
	.drain = no_records,
	.fd = no_fd,
	.close = proc_source_close,
};

int proc_open(struct source **ret)
{
	struct proc_source *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->src.ops = &proc_ops;
	p->src.live = 1;
	p->src.plain = 1;
	limits_open(&p->limits);
	*ret = &p->src;
	return 0;
}

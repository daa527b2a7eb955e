// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the source that reads /proc without probes: its scans, its errors and its tick records. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/host_facts.h"
#include "probe/proc_source.h"
#include "records/records.h"
#include "tap.h"

#define BUSY_NS 30000000ULL

static struct {
	unsigned int own, others, ticks;
	struct tick_record tick;
	struct process_record process; /* the last one of this process */
	bool after_tick;	       /* a record came after the tick record */
	int err;		       /* result of take() */
} seen;

static int take(void *ctx, const struct record *h)
{
	const struct process_record *p = (const struct process_record *)h;

	(void)ctx;
	seen.after_tick |= seen.ticks > 0;
	if (h->kind == RECORD_TICK) {
		seen.ticks++;
		memcpy(&seen.tick, h, sizeof(seen.tick));
	} else if (h->kind == RECORD_PROCESS && p->subject.pid == (uint32_t)getpid()) {
		seen.own++;
		seen.process = *p;
	} else {
		seen.others++;
	}
	return seen.err;
}

static const struct sink sink = {.take = take};

static int look(struct source *src)
{
	int err = seen.err;

	memset(&seen, 0, sizeof(seen));
	seen.err = err;
	return src->ops->look(src, &sink);
}

static struct source *opened(void)
{
	struct source *src = NULL;

	if (proc_open(&src))
		abort();
	return src;
}

static void test_scans(void)
{
	struct source *src = opened();
	uint64_t before = host_monotonic_ns(), wall = host_wall_ns(), cpu;

	ok(src->live && src->plain, "a live source without probes");
	is_u64(src->ops->start(src, &sink), 0, "it says nothing about probes");
	is_u64(src->ops->drain(src, &sink), 0, "and has no events");
	is_u64(seen.own + seen.others + seen.ticks, 0, "no record");
	ok(src->ops->fd(src) == -1, "nor waits for any");
	is_u64(look(src), 0, "a scan");
	is_u64(seen.own, 1, "this process");
	is_u64(seen.ticks, 1, "a tick record");
	ok(!seen.after_tick, "is the last one");
	is_u64(seen.tick.h.len, sizeof(seen.tick), "its length");
	ok(seen.tick.h.t_ns >= before && seen.tick.h.t_ns <= host_monotonic_ns(), "its time");
	ok(seen.tick.wall_ns >= wall && seen.tick.wall_ns <= host_wall_ns(), "its clock time");
	ok(seen.tick.look_ns && seen.tick.look_ns <= seen.tick.h.t_ns - before, "how long it took");
	ok(seen.tick.own_rss_bytes > 100000, "memory of this process");
	ok(seen.tick.limits.max_map_count && seen.tick.limits.mem_total_bytes, "limits");
	cpu = seen.tick.own_cpu_ns;
	for (uint64_t end = host_own_cpu_ns() + BUSY_NS; host_own_cpu_ns() < end;)
		continue;
	is_u64(look(src), 0, "another scan");
	ok(seen.tick.own_cpu_ns >= cpu + BUSY_NS, "CPU time of this process");
	src->ops->close(src);
}

static void test_errors(void)
{
	struct source *src = opened();

	seen.err = -EIO;
	ok(look(src) == -EIO, "an error of the receiver");
	is_str(src->error, "scanning the processes failed: Input/output error", "is explained");
	seen.err = 0;
	is_u64(look(src), 0, "the next scan works");
	is_u64(seen.own, 1, "this process");
	src->ops->close(src);
}

int main(void)
{
	test_scans();
	test_errors();
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * --replay: a recording's end, served as if it were a machine. With --jitter its counters go on and
 * its gauges waver, so that many of them make a fleet to test by.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export.h"
#include "probe/host.h"

#define JITTER_PERCENT 2
#define FAULTS_PER_S   50 /* at most, of a process */

struct export_replay {
	struct model m; /* as the recording left it */
	struct collector collector;
	uint64_t opened_ns;
	uint64_t dice; /* never 0 */
};

/* xorshift64: any sequence will do, another one for each exporter. */
static uint64_t roll(struct export_replay *r)
{
	r->dice ^= r->dice << 13;
	r->dice ^= r->dice >> 7;
	r->dice ^= r->dice << 17;
	return r->dice;
}

static uint32_t waver(struct export_replay *r, uint32_t v)
{
	uint64_t spread = (uint64_t)v * JITTER_PERCENT / 100;

	return spread ? v - spread + roll(r) % (2 * spread + 1) : v;
}

static int take(void *ctx, const struct fs_header *h)
{
	struct export_replay *r = ctx;

	return collector_take(&r->collector, h);
}

static void tell_host(struct export *x)
{
	const struct model *m = &x->replay->m;

	x->s.m.host = m->host;
	x->s.m.tick = m->tick;
	memcpy(x->s.m.hook, m->hook, sizeof(m->hook));
	x->s.m.hooks = m->hooks;
}

int export_replay_open(struct export *x)
{
	struct export_replay *r = calloc(1, sizeof(*r));
	struct sink sink = {.take = take, .ctx = r};
	int err;

	if (!r || model_init(&r->m)) {
		complain("out of memory");
		free(r);
		return EXIT_FAILED;
	}
	x->replay = r;
	r->collector.m = &r->m;
	r->opened_ns = host_boottime_ns();
	r->dice = r->opened_ns ^ (uint64_t)getpid() << 40 ^ 1;
	err = x->s.src->ops->start(x->s.src, &sink);
	while (!err) {
		err = x->s.src->ops->look(x->s.src, &sink);
		if (!err)
			model_next_window(&r->m);
	}
	if (err != 1) {
		complain("%s", x->s.src->error[0] ? x->s.src->error : strerror(-err));
		return EXIT_FAILED;
	}
	tell_host(x);
	return 0;
}

static void name_subject(const struct subject *s, struct identity *ret)
{
	struct identity_names names = {.comm = s->now.g.comm};
	struct workload w;

	workload_of(s->cgroup ? s->cgroup : "", &w);
	identity_make(&w, &names, COLLAPSE_DEFAULT, ret);
	ret->serial = s->id.start_ns << 20 ^ s->id.pid;
	label_copy(ret->cgroup, sizeof(ret->cgroup), s->cgroup ? s->cgroup : "");
}

void export_replay_look(struct export *x)
{
	struct export_replay *r = x->replay;
	uint64_t now = host_boottime_ns(), up_s = (now - r->opened_ns) / 1000000000;

	x->up = true;
	x->node.now_ns = now;
	for (struct subject *s = model_each(&r->m, NULL); s; s = model_each(&r->m, s)) {
		struct fs_process_record p = {.h = {FS_REC_PROCESS, sizeof(p), now},
					      .subject = s->id,
					      .g = s->now.g,
					      .c = *facts_counters(&s->now)};
		struct identity id;

		if (x->o->jitter) {
			p.g.map_count = waver(r, p.g.map_count);
			p.g.fds = waver(r, p.g.fds);
			p.g.min_flt += up_s * (s->id.pid % FAULTS_PER_S);
		}
		name_subject(s, &id);
		if (census_take(&x->census, &p, &id, now) || node_take(&x->node, &p, &id))
			x->up = false;
	}
}

void export_replay_close(struct export *x)
{
	if (!x->replay)
		return;
	collector_free(&x->replay->collector);
	model_free(&x->replay->m);
	free(x->replay);
	x->replay = NULL;
}

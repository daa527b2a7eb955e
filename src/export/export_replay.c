// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --replay: serves the end of a recording as if it were the present state of the machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/names/identity_cache.h"
#include "export/export.h"
#include "probe/host_facts.h"
#include "render/completeness.h"

struct export_replay {
	struct model m; /* state of all processes at the end of the recording */
	struct collector collector;
	regex_t pattern; /* compiled --workload.collapse */
	bool has_pattern;
};

static int take(void *ctx, const struct record *h)
{
	struct export_replay *r = ctx;

	return collector_take(&r->collector, h);
}

static void tell_host(struct export *x)
{
	const struct model *m = &x->replay->m;

	x->s.in.m.host = m->host;
	x->s.in.m.tick = m->tick;
	memcpy(x->s.in.m.hook, m->hook, sizeof(m->hook));
	x->s.in.m.hooks = m->hooks;
}

static void name_subject(const struct export *x, const struct subject *s, struct identity *ret)
{
	struct identity_names names = {.comm = s->now.g.comm};
	struct workload w;

	workload_of(s->cgroup ? s->cgroup : "", &w);
	identity_make(&w, &names, x->o->collapse, ret);
	label_copy(ret->cgroup, sizeof(ret->cgroup), s->cgroup ? s->cgroup : "");
	if (x->replay->has_pattern)
		identity_rename_by(&x->replay->pattern, ret);
	identity_seal(ret);
}

static struct process_record record_of(const struct subject *s, uint64_t now_ns)
{
	struct process_record p = {.h = {RECORD_PROCESS, sizeof(p), now_ns},
				   .subject = s->id,
				   .g = s->now.g,
				   .c = *facts_counters(&s->now)};

	if (s->final)
		p.g.flags |= PROC_FINAL;
	return p;
}

static int tell(struct export *x, const struct subject *s, const struct process_record *p)
{
	struct identity id;
	int err;

	name_subject(x, s, &id);
	err = census_take(&x->census, p, &id, p->h.t_ns);
	return err ? err : node_take(&x->node, p, &id);
}

static int by_birth(const void *a, const void *b)
{
	const struct subject *x = *(const struct subject *const *)a;
	const struct subject *y = *(const struct subject *const *)b;

	return x->id.start_ns < y->id.start_ns ? -1 : x->id.start_ns > y->id.start_ns;
}

/*
 * Adds the counters of all processes that changed in a scan, including ended ones. The processes
 * are sorted by start time, because the census ignores records of a process after it has seen a
 * later process with the same pid.
 */
static int tell_changed(struct export *x)
{
	struct model *m = &x->replay->m;
	const struct subject **all = calloc(m->subjects + 1, sizeof(*all));
	size_t n = 0;
	int err = all ? 0 : -ENOMEM;

	x->node.now_ns = host_boottime_ns();
	for (size_t i = 0; i < m->events; i++)
		if (m->event[i].h.kind == RECORD_REFUSED)
			export_take_refused(x, &m->event[i].refused);
	for (struct subject *s = model_each_changed(m, NULL); s && all;
	     s = model_each_changed(m, s))
		if (!s->hidden && n < m->subjects)
			all[n++] = s;
	if (n)
		qsort(all, n, sizeof(*all), by_birth);
	for (size_t i = 0; i < n && !err; i++) {
		struct process_record p = record_of(all[i], x->node.now_ns), first = p;

		/*
		 * A process may have several records in one scan of a recording. The first record
		 * of a process sets the values from which its counters are measured.
		 */
		first.g.min_flt = all[i]->base_min;
		first.g.maj_flt = all[i]->base_maj;
		first.g.flags &= ~(PROC_FINAL | PROC_BORN);
		err = tell(x, all[i], &first);
		if (!err)
			err = tell(x, all[i], &p);
	}
	free(all);
	return err;
}

/* Compiles --workload.collapse. Returns 0 or an exit status. */
static int take_pattern(struct export_replay *r, const char *pattern)
{
	char why[128];
	int err = pattern ? regcomp(&r->pattern, pattern, REG_EXTENDED) : 0;

	r->has_pattern = pattern && !err;
	if (!err)
		return 0;
	regerror(err, &r->pattern, why, sizeof(why));
	complain("--workload.collapse %s: invalid regular expression: %s", pattern, why);
	return EXIT_USAGE;
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
	r->collector.filter = &x->s.in.filter;
	err = take_pattern(r, x->o->collapse_pattern);
	if (err)
		return err;
	err = x->s.in.src->ops->start(x->s.in.src, &sink);
	while (!err) {
		err = x->s.in.src->ops->look(x->s.in.src, &sink);
		if (!err)
			err = tell_changed(x);
		if (!err)
			model_next_window(&r->m);
	}
	err = session_note_end(&x->s, err);
	if (err != 1) {
		complain("%s", x->s.in.src->error[0] ? x->s.in.src->error : strerror(-err));
		return EXIT_FAILED;
	}
	tell_host(x);
	return 0;
}

void export_replay_scan(struct export *x)
{
	struct export_replay *r = x->replay;
	uint64_t now = host_boottime_ns();

	x->up = true;
	x->node.now_ns = now;
	for (struct subject *s = model_each(&r->m, NULL); s; s = model_each(&r->m, s)) {
		struct process_record p = record_of(s, now);

		if (!s->hidden && tell(x, s, &p))
			x->up = false;
	}
}

const struct model *export_replay_model(const struct export *x)
{
	return &x->replay->m;
}

void export_replay_gaps(const struct export *x, struct buf *gaps)
{
	struct view v = x->s.out.view;

	v.m = &x->replay->m;
	gaps_of(gaps, &v);
}

void export_replay_close(struct export *x)
{
	if (!x->replay)
		return;
	collector_free(&x->replay->collector);
	model_free(&x->replay->m);
	if (x->replay->has_pattern)
		regfree(&x->replay->pattern);
	free(x->replay);
	x->replay = NULL;
}

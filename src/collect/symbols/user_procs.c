// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/symbols/user_procs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/files/target_file.h"

#define PERF_MAP_TABLE_BYTES (16u << 20)

struct user_proc *user_procs_find(struct user_symbols *us, const struct process_key *of)
{
	for (size_t i = 0; of->pid && i < USER_PROCS_MAX; i++) {
		struct user_proc *p = &us->procs->p[i];

		if (p->of.pid != of->pid || p->of.start_ns != of->start_ns)
			continue;
		p->used = ++us->clock;
		return p;
	}
	return NULL;
}

void user_proc_renew(struct user_proc *p)
{
	perf_map_close(&p->perf);
	p->perf_asked = false;
	p->astray = 0;
	p->nr_unknown = 0;
}

void user_proc_forget(struct user_proc *p)
{
	user_maps_free(&p->maps);
	if (p->of.pid)
		perf_map_close(&p->perf);
	memset(p, 0, sizeof(*p));
	p->perf.fd = -1;
}

static struct user_proc *make_place(struct user_symbols *us, const struct process_key *of)
{
	struct user_proc *oldest = &us->procs->p[0], *p = NULL;

	for (size_t i = 0; !p && i < USER_PROCS_MAX; i++) {
		if (!us->procs->p[i].of.pid)
			p = &us->procs->p[i];
		else if (us->procs->p[i].used < oldest->used)
			oldest = &us->procs->p[i];
	}
	us->lost.processes += !p;
	p = p ? p : oldest;
	user_proc_forget(p);
	p->of = *of;
	p->used = ++us->clock;
	return p;
}

int user_proc_learn(struct user_symbols *us, const struct process_key *of,
		    struct user_proc **ret_proc)
{
	struct user_proc *p = user_procs_find(us, of);
	struct user_maps maps = {};
	int err = user_maps_learn(us, of, p ? &p->maps : NULL, &maps);

	if (err)
		return err;
	p = p ? p : make_place(us, of);
	user_maps_free(&p->maps);
	p->maps = maps;
	p->perf_asked = p->perf.fd >= 0;
	*ret_proc = p;
	return 0;
}

/* Closes the least recently used perf maps, except that of `p`, until the limits are kept. */
static void keep_perf_maps_within(struct user_symbols *us, const struct user_proc *p)
{
	for (;;) {
		struct user_proc *oldest = NULL;
		size_t bytes = 0, n = 0;

		for (size_t i = 0; i < USER_PROCS_MAX; i++) {
			struct user_proc *other = &us->procs->p[i];

			if (!other->of.pid || other->perf.fd < 0)
				continue;
			bytes += other->perf.table.room * sizeof(*other->perf.table.e);
			n++;
			if (other != p && (!oldest || other->used < oldest->used))
				oldest = other;
		}
		if ((n <= USER_PERF_MAPS_MAX && bytes <= PERF_MAP_TABLE_BYTES) || !oldest)
			return;
		perf_map_close(&oldest->perf);
		us->lost.perf_maps++;
	}
}

static void open_perf_map(struct user_symbols *us, struct user_proc *p)
{
	int proc = target_open(&p->of);

	p->perf_asked = true;
	if (proc < 0)
		return;
	us->lost.perf_maps += perf_map_open(proc, &p->perf) == -EPERM;
	close(proc);
}

bool user_proc_jit(struct user_symbols *us, struct user_proc *p, __u64 ip, struct user_symbol *ret)
{
	__u64 cut = p->perf.table.cut;
	bool found;

	if (!p->perf_asked)
		open_perf_map(us, p);
	if (p->perf.fd < 0)
		return false;
	found = perf_map_find(&p->perf, ip, ret->name, sizeof(ret->name), &ret->offset);
	us->lost.perf_maps += !cut && p->perf.table.cut;
	keep_perf_maps_within(us, p);
	if (!found)
		return false;
	snprintf(ret->module, sizeof(ret->module), "[jit]");
	return true;
}

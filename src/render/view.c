// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "model/identity.h"
#include "render/render.h"

void view_write_part(const struct view *v, struct buf *b)
{
	if (v->write_part && b->len >= VIEW_PART_BYTES)
		v->write_part(v->write_ctx, b);
}

bool view_shows(const struct view *v, const struct process_key *id)
{
	return !v->only || same_subject(v->only, id);
}

void render_nothing(struct buf *b, const struct view *v)
{
}

void render_no_event(struct buf *b, const struct view *v, const union event *e)
{
}

void render_no_finding(struct buf *b, const struct view *v, const struct finding *f)
{
}

void finding_who(const struct finding *f, char *ret, size_t size)
{
	if (f->place[0])
		snprintf(ret, size, "%s %s",
			 f->rule->trigger == ON_CGROUP ? "cgroup" : "file system", f->place);
	else if (finding_has_process(f))
		snprintf(ret, size, "%s[%u]", f->comm, f->subject.pid);
	else
		snprintf(ret, size, "this host");
}

double view_seconds(const struct view *v, uint64_t t_ns)
{
	return t_ns > v->m->origin_ns ? (t_ns - v->m->origin_ns) / 1e9 : 0;
}

uint64_t view_wall_ns(const struct view *v, uint64_t t_ns)
{
	const struct tick_record *tick = &v->m->tick;
	const struct host_record *host = &v->m->host;

	if (tick->wall_ns)
		return tick->wall_ns + t_ns - tick->h.t_ns;
	return host->wall_ns ? host->wall_ns + t_ns - host->h.t_ns : 0;
}

size_t view_processes(const struct view *v)
{
	size_t n = 0;

	for (const struct subject *s = model_each(v->m, NULL); s; s = model_each(v->m, s))
		n += !s->hidden;
	return n;
}

struct workload_of_process workload_of_subject(const struct subject *s)
{
	return (struct workload_of_process){
		.cgroup = s->cgroup,
		.comm = s->now.g.comm,
		.kernel_thread = is_of_kthreadd(s->id.pid, s->now.g.ppid),
	};
}

void workload_name(const struct workload_of_process *p, char *ret, size_t size)
{
	const struct identity_names names = {.comm = p->comm, .kernel_thread = p->kernel_thread};
	struct workload w;
	struct identity id;

	workload_of(p->cgroup ? p->cgroup : "", &w);
	if (!*p->comm && !p->kernel_thread && workload_kind_of(&w) == KIND_COMM) {
		*ret = 0;
		return;
	}
	identity_make(&w, &names, COLLAPSE_DEFAULT, &id);
	snprintf(ret, size, "%s", id.name);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

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

void workload_name(const char *cgroup, const char *comm, char *ret, size_t size)
{
	const char *last = cgroup ? strrchr(cgroup, '/') : NULL;

	if (!last || !last[1]) {
		snprintf(ret, size, "%s", comm);
		return;
	}
	/* shorten a container id (32 or more hex digits) to the usual 12 */
	if (strspn(last + 1, "0123456789abcdef") >= 32)
		snprintf(ret, size, "%.12s", last + 1);
	else
		snprintf(ret, size, "%s", last + 1);
}

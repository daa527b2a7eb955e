// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/units.h"
#include "render/json/json_stack.h"
#include "render/json/line_rows.h"
#include "render/oom_pages.h"

#include "render/json/oom_lines.def"

void oom_page_json(struct buf *b, const struct view *v, const struct oom_page *p)
{
	const struct oom_record *r = &p->kill->first;
	const struct oom_scene_record *s = &p->kill->scene;
	bool by_cgroup = p->scope == OOM_SCOPE_CGROUP && s->cgroup[0];
	char name[24];

	put_line_oom_page(b, v, p, r, s, oom_kills_stack(v->m, r),
			  r->sent ? signal_name(r->sent, name, sizeof(name)) : NULL,
			  by_cgroup ? s->cgroup : NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/model_records.h"

#include <stdio.h>
#include <string.h>

#include "collect/symbols/frame_lister.h"
#include "model/frame_list.h"

#define NEW(type, kind) ((struct type){.h = {(kind), sizeof(struct type), m->last_ns}})

static int tell_host(const struct model *m, const struct sink *to)
{
	struct host_record r = m->host;

	r.h.t_ns = m->last_ns;
	r.wall_ns = m->tick.wall_ns;
	return to->take(to->ctx, &r.h);
}

static int tell_hooks(const struct model *m, const struct sink *to)
{
	int err = 0;

	for (size_t i = 0; i < m->hooks && !err; i++) {
		struct hook_record r = NEW(hook_record, RECORD_HOOK);
		const struct hook_view *h = &m->hook[i];

		r.tier = h->tier;
		r.state = h->state;
		r.lacks = h->lacks;
		memcpy(r.name, h->name, sizeof(r.name));
		memcpy(r.mechanism, h->mechanism, sizeof(r.mechanism));
		memcpy(r.why, h->why, sizeof(r.why));
		err = to->take(to->ctx, &r.h);
	}
	return err;
}

static int tell_symbols(const struct model *m, const struct sink *to)
{
	int err = 0;

	for (size_t i = 0; i < m->symbols && !err; i++) {
		struct symbol_record r = NEW(symbol_record, RECORD_SYMBOL);

		r.ip = m->symbol[i].ip;
		memcpy(r.symbol, m->symbol[i].symbol, sizeof(r.symbol));
		memcpy(r.module, m->symbol[i].module, sizeof(r.module));
		err = to->take(to->ctx, &r.h);
	}
	return err;
}

static int tell_process(const struct model *m, const struct sink *to, const struct subject *s)
{
	struct process_record r = NEW(process_record, RECORD_PROCESS);

	r.subject = s->id;
	r.g = s->now.g;
	r.g.flags = (r.g.flags & ~PROC_BORN) | PROC_RESUMED;
	r.u = s->now.u;
	if (s->now.c)
		sparse_read(s->now.c, &r.c);
	else
		r.h.len = offsetof(struct process_record, c);
	/* add `base`, which the model has subtracted from the counters */
	if (s->now.c && s->base)
		counters_add(&r.c, sparse_read(s->base, &(struct counters){}));
	return to->take(to->ctx, &r.h);
}

static int tell_names(const struct model *m, const struct sink *to, const struct subject *s)
{
	struct names_record r = NEW(names_record, RECORD_NAMES);

	if (!s->exe && !s->cgroup)
		return 0;
	r.subject = s->id;
	snprintf(r.exe, sizeof(r.exe), "%s", s->exe ? s->exe : "");
	snprintf(r.cgroup, sizeof(r.cgroup), "%s", s->cgroup ? s->cgroup : "");
	snprintf(r.command, sizeof(r.command), "%s", s->command ? s->command : "");
	snprintf(r.user, sizeof(r.user), "%s", s->user ? s->user : "");
	return to->take(to->ctx, &r.h);
}

static int tell_levels(const struct model *m, const struct sink *to, const struct subject *s)
{
	struct levels_record r = NEW(levels_record, RECORD_LEVELS);

	if (s->levels_window == UINT64_MAX)
		return 0;
	r.subject = s->id;
	r.memory = s->memory;
	r.pids = s->pids;
	return to->take(to->ctx, &r.h);
}

static int tell_held(const struct model *m, const struct sink *to, const struct subject *s)
{
	int err = 0;

	for (int what = 0; what <= WHAT_FDS; what++)
		for (size_t i = 0; i < s->held[what].n && !err; i++) {
			struct holding_record r = NEW(holding_record, RECORD_HOLDING);

			r.nth = i;
			r.g = s->held[what].sort[i];
			err = to->take(to->ctx, &r.h);
		}
	return err;
}

static int tell_subjects(const struct model *m, const struct sink *to)
{
	int err = 0;

	for (struct subject *s = model_each(m, NULL); s && !err; s = model_each(m, s)) {
		if (s->final)
			continue;
		err = tell_process(m, to, s);
		if (!err)
			err = tell_names(m, to, s);
		if (!err)
			err = tell_levels(m, to, s);
		if (!err)
			err = tell_held(m, to, s);
	}
	return err;
}

static int tell_frames(const struct model *m, const struct sink *to, const struct frames *f)
{
	struct frame_lister list;

	frame_lister_begin(&list, to, m->last_ns, &f->subject, f->stack);
	for (size_t i = 0; i < frame_list_count(f); i++) {
		const struct user_frame *one = frame_list_at(f, i);

		frame_lister_add(&list, &(struct listed_frame){.function = one->function,
							       .file = one->file,
							       .module = one->module,
							       .offset = one->offset,
							       .line = one->line,
							       .kind = one->kind,
							       .flags = one->flags});
	}
	return frame_lister_end(&list);
}

static int tell_stacks(const struct model *m, const struct sink *to)
{
	int err = 0;

	for (struct table_link *l = table_each(&m->frames, NULL); l && !err;
	     l = table_each(&m->frames, l)) {
		struct frames_record r = NEW(frames_record, RECORD_FRAMES);
		const struct frames *f = (const struct frames *)l;

		r.subject = f->subject;
		r.stack = f->stack;
		r.flags = f->flags;
		r.end = f->end;
		r.by_chain = f->by_chain;
		snprintf(r.user_line, sizeof(r.user_line), "%s", f->user_line);
		snprintf(r.text, sizeof(r.text), "%s", f->text);
		err = to->take(to->ctx, &r.h);
		if (!err && frame_list_count(f))
			err = tell_frames(m, to, f);
	}
	for (size_t i = 0; i < m->growths && !err; i++) {
		struct growth_record r = NEW(growth_record, RECORD_GROWTH);

		r.place = i;
		r.g = m->growth[i];
		err = to->take(to->ctx, &r.h);
	}
	return err;
}

static int tell_origins(const struct model *m, const struct sink *to)
{
	int err = 0;

	for (size_t i = 0; i < m->origins && !err; i++)
		err = to->take(to->ctx, &m->origin[i].h);
	return err;
}

int retell(const struct model *m, const struct sink *to)
{
	static int (*const parts[])(const struct model *m, const struct sink *to) = {
		tell_host, tell_hooks, tell_symbols, tell_subjects, tell_stacks, tell_origins};
	int err = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !err; i++)
		err = parts[i](m, to);
	/* the tick record ends this artificial scan: later records are of real scans */
	return err ? err : to->take(to->ctx, &m->tick.h);
}

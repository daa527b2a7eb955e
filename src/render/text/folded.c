// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Folded stacks for flame graphs: "comm;outermost;…;innermost;[maps] name count" for growth, and
 * "comm;outermost;…;innermost;[heap] bytes" for the resident memory of the command memory.
 */
#include <inttypes.h>
#include <string.h>

#include "model/frames.h"
#include "model/growers.h"
#include "model/resident.h"
#include "render/memory_rows.h"
#include "render/render.h"

/* Appends a frame's name, safe for a terminal. `;` separates frames and therefore becomes `:`. */
static void put_name(struct buf *b, const char *s, size_t n)
{
	char name[512];

	n = n < sizeof(name) - 1 ? n : sizeof(name) - 1;
	memcpy(name, s, n);
	name[n] = 0;
	for (char *c = name; *c; c++)
		if (*c == ';')
			*c = ':';
	buf_safe(b, name, true);
}

/* Appends the frames of a stack, outermost first. */
static void put_frames(struct buf *b, const struct frames *f)
{
	char text[FRAME_TEXT_BYTES];

	for (size_t i = f ? frames_count(f) : 0; i-- > 0;) {
		frames_show(f, i, text, sizeof(text));
		buf_putc(b, ';');
		put_name(b, text, strlen(text));
	}
}

static void folded_close(struct buf *b, const struct view *v)
{
	char name[GROWER_NAME];

	for (size_t i = 0; i < v->m->growths; i++) {
		const struct growth *g = &v->m->growth[i];
		const struct subject *s = model_find(v->m, &g->subject);
		const char *comm = s ? s->now.g.comm : "process";

		if (g->added <= g->removed)
			continue;
		put_name(b, comm, strnlen(comm, COMM_LEN));
		put_frames(b, model_frames(v->m, &g->subject, g->stack));
		growth_name(g, name, sizeof(name));
		buf_puts(b, g->what == WHAT_MAPS ? ";[maps] " : ";[fds] ");
		put_name(b, name, strlen(name));
		buf_printf(b, " %" PRIu64 "\n", (uint64_t)(g->added - g->removed));
	}
}

const struct renderer folded_renderer = {
	.name = "folded",
	.help = "user stacks of what grew, for flame graphs",
	.open = render_nothing,
	.event = render_no_event,
	.finding = render_no_finding,
	.frame = render_nothing,
	.close = folded_close,
};

static void put_memory_of(struct buf *b, const struct view *v, const struct resident_of *of)
{
	const struct subject *s = model_find(v->m, &of->id);
	const struct resident_list *list = resident_shown(of, !s || s->final);

	for (size_t i = 0; i < list->n; i++) {
		const struct resident_record *r = &list->row[i];
		const struct frames *f = model_frames(v->m, &r->toucher, r->stack);
		const struct memory_kind kind = memory_kind(r);

		if (!resident_bytes(r))
			continue;
		put_name(b, of->comm, strnlen(of->comm, COMM_LEN));
		put_frames(b, f);
		if (!f || !frames_count(f)) {
			buf_putc(b, ';');
			put_name(b, resident_no_stack(r->by), strlen(resident_no_stack(r->by)));
		}
		buf_puts(b, ";[");
		put_name(b, kind.s, strlen(kind.s));
		buf_printf(b, "] %" PRIu64 "\n", resident_bytes(r));
	}
}

static void folded_memory_close(struct buf *b, const struct view *v)
{
	for (const struct resident_of *of = model_resident_each(v->m, NULL); of;
	     of = model_resident_each(v->m, of))
		if (view_shows(v, &of->id))
			put_memory_of(b, v, of);
}

const struct renderer folded_memory_renderer = {
	.name = "folded",
	.help = "user stacks that hold resident memory, for flame graphs",
	.open = render_nothing,
	.event = render_no_event,
	.finding = render_no_finding,
	.frame = render_nothing,
	.close = folded_memory_close,
};

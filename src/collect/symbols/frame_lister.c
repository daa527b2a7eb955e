// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/symbols/frame_lister.h"

#include <stdio.h>
#include <string.h>

#define LISTED_TEXT_BYTES 512

void frame_lister_begin(struct frame_lister *l, const struct sink *sink, __u64 t_ns,
			const struct process_key *subject, __s32 stack)
{
	memset(l, 0, sizeof(*l));
	l->sink = sink;
	l->r.h = (struct record){.kind = RECORD_FRAME_LIST, .len = sizeof(l->r), .t_ns = t_ns};
	l->r.subject = *subject;
	l->r.stack = stack;
}

static void send(struct frame_lister *l)
{
	if (!l->err)
		l->err = l->sink->take(l->sink->ctx, &l->r.h);
	l->sent += l->r.n;
	l->r.first = l->sent;
	l->r.n = 0;
	l->used = 0;
	l->lines = 0;
	memset(l->r.frame, 0, sizeof(l->r.frame));
	memset(l->r.texts, 0, sizeof(l->r.texts));
}

/* Returns the number of the line with this text, or 0. */
static __u16 find_text(const struct frame_lister *l, const char *text, size_t len)
{
	const char *line = l->r.texts;

	for (__u16 i = 1; i <= l->lines; i++) {
		size_t n = strcspn(line, "\n");

		if (n == len && !memcmp(line, text, len))
			return i;
		line += n + 1;
	}
	return 0;
}

/* Finds or adds a text, for which there is room. Returns its number; 0: the text is not known. */
static __u16 add_text(struct frame_lister *l, const char *s)
{
	char text[LISTED_TEXT_BYTES];
	size_t len;
	__u16 found;

	if (!s || !*s)
		return 0;
	len = snprintf(text, sizeof(text), "%s", s);
	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = '?'; /* a newline in a name would begin a new text */
	found = find_text(l, text, len);
	if (found)
		return found;
	memcpy(l->r.texts + l->used, text, len);
	l->r.texts[l->used + len] = '\n';
	l->used += len + 1;
	return ++l->lines;
}

void frame_lister_add(struct frame_lister *l, const struct listed_frame *f)
{
	struct frame_facts *to;

	_Static_assert(sizeof(l->r.texts) > 3 * LISTED_TEXT_BYTES, "room for the texts of a frame");
	if (l->r.n == LISTED_FRAMES ||
	    sizeof(l->r.texts) - l->used <= 3 * (size_t)LISTED_TEXT_BYTES)
		send(l);
	to = &l->r.frame[l->r.n++];
	to->offset = f->offset;
	to->line = f->line;
	to->kind = f->kind;
	to->flags = f->flags;
	to->function = add_text(l, f->function);
	to->file = add_text(l, f->file);
	to->module = add_text(l, f->module);
}

void frame_lister_add_symbol(struct frame_lister *l, const struct user_symbol *s)
{
	struct listed_frame f = {.function = s->name, .module = s->module, .offset = s->address};

	if (!strcmp(s->module, "[jit]"))
		f.kind = FRAME_JIT;
	else if (s->module[0])
		f.kind = FRAME_NATIVE;
	if (s->code.serial && l->nr_code < WALK_FRAMES)
		l->code[l->nr_code++] =
			(struct frame_code){.index = l->sent + l->r.n, .code = s->code};
	frame_lister_add(l, &f);
}

int frame_lister_end(struct frame_lister *l)
{
	if (l->r.n || !l->sent)
		send(l);
	return l->err;
}

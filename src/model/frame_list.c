// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/frame_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define FRAME_TEXTS_MAX	 (sizeof(((struct frame_list_record *)0)->texts) - 1)
#define STACK_FRAMES_MAX 2048 /* maximum number of frames of a stack, with inlined functions */

/* The texts of a record. Each text ends with a NUL. */
struct frame_texts {
	struct frame_texts *next;
	char s[];
};

struct frame_list {
	struct user_frame *frame; /* array, owned */
	size_t n, room;
	struct frame_texts *texts; /* list of the texts of all frames, owned */
};

void frame_list_free(struct frame_list *l)
{
	if (!l)
		return;
	for (struct frame_texts *t = l->texts, *next; t; t = next) {
		next = t->next;
		free(t);
	}
	free(l->frame);
	free(l);
}

/* Copies the texts of a record, and ends each with a NUL. Returns NULL if memory is short. */
static struct frame_texts *copy_texts(struct frame_list *l, const struct frame_list_record *r,
				      size_t len)
{
	struct frame_texts *t;

	if (len > FRAME_TEXTS_MAX)
		return NULL;
	t = malloc(sizeof(*t) + len + 1);
	if (!t)
		return NULL;
	memcpy(t->s, r->texts, len);
	t->s[len] = 0;
	for (char *c = t->s; *c; c++)
		if (*c == '\n')
			*c = 0;
	t->next = l->texts;
	l->texts = t;
	return t;
}

/* Returns the text with a number, or NULL. `end` is the end of all texts. */
static const char *text_at(const char *s, const char *end, uint16_t number)
{
	for (; number > 1 && s < end; number--)
		s += strlen(s) + 1;
	return number && s < end && *s ? s : NULL;
}

static int add_frames(struct frame_list *l, const struct frame_list_record *r)
{
	size_t len = strnlen(r->texts, FRAME_TEXTS_MAX);
	const struct frame_texts *t = copy_texts(l, r, len);

	if (!t)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->n && i < LISTED_FRAMES && l->n < STACK_FRAMES_MAX; i++) {
		const struct frame_facts *from = &r->frame[i];
		struct user_frame *more =
			array_grow(l->frame, l->n, &l->room, STACK_FRAMES_MAX, sizeof(*more));

		if (!more)
			return -ENOMEM;
		l->frame = more;
		l->frame[l->n++] = (struct user_frame){
			.function = text_at(t->s, t->s + len, from->function),
			.file = text_at(t->s, t->s + len, from->file),
			.module = text_at(t->s, t->s + len, from->module),
			.offset = from->offset,
			.line = from->line,
			.kind = from->kind < NR_FRAME_KINDS ? from->kind : FRAME_UNKNOWN,
			.flags = from->flags};
	}
	return 0;
}

int frame_list_take(struct model *m, const struct frame_list_record *r)
{
	struct frames *f = (struct frames *)model_frames(m, &r->subject, r->stack);

	if (!f)
		return 0;
	if (!r->first) {
		frame_list_free(f->list);
		f->list = calloc(1, sizeof(*f->list));
		if (!f->list)
			return -ENOMEM;
	}
	/* a record was lost, or a hostile recording has an odd index */
	if (!f->list || r->first != f->list->n)
		return 0;
	return add_frames(f->list, r);
}

size_t frame_list_count(const struct frames *f)
{
	return f && f->list ? f->list->n : 0;
}

const struct user_frame *frame_list_at(const struct frames *f, size_t i)
{
	return &f->list->frame[i];
}

const char *frame_kind_name(const struct user_frame *f)
{
	static const char *const name[] = {
#define X(id, name) [FRAME_##id] = name,
		FRAME_KINDS(X)
#undef X
	};

	return name[f->kind];
}

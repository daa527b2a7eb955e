// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/ended.h"

#include <errno.h>
#include <stdlib.h>

int model_keep_ended(struct model *m, size_t most)
{
	if (!m->ended)
		m->ended = calloc(1, sizeof(*m->ended));
	if (!m->ended)
		return -ENOMEM;
	m->ended->most = most;
	return 0;
}

struct subject *ended_pop(struct ended *e)
{
	struct subject *s = e->first;

	if (!s)
		return NULL;
	e->first = s->next_changed;
	if (!e->first)
		e->last = NULL;
	e->n--;
	return s;
}

struct subject *ended_add(struct ended *e, struct subject *s)
{
	s->next_changed = NULL;
	*(e->last ? &e->last->next_changed : &e->first) = s;
	e->last = s;
	if (++e->n <= e->most)
		return NULL;
	e->dropped++;
	return ended_pop(e);
}

const struct subject *model_each_ended(const struct model *m, const struct subject *after)
{
	if (after)
		return after->next_changed;
	return m->ended ? m->ended->first : NULL;
}

const struct subject *model_find_any(const struct model *m, const struct process_key *id)
{
	const struct subject *s = model_find(m, id);

	if (s)
		return s;
	while ((s = model_each_ended(m, s)))
		if (same_subject(&s->id, id))
			return s;
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/growth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Takes out what the kernel side left where digits were. */
static void close_up(char *name)
{
	char *to = name;

	for (; *name; name++)
		if (*name != FS_NAME_FILLER)
			*to++ = *name;
	*to = 0;
}

int growth_take(struct model *m, const struct fs_growth_record *r)
{
	struct subject *s = model_find(m, &r->g.subject);

	if (r->place >= FS_GROWTH_MAX)
		return 0; /* of a hostile file */
	if (!m->growth)
		m->growth = calloc(FS_GROWTH_MAX, sizeof(*m->growth));
	if (!m->growth)
		return -ENOMEM;
	if (s && r->g.what <= FS_WHAT_FDS)
		s->grew[r->g.what] = true;
	m->growth[r->place] = r->g;
	close_up(m->growth[r->place].name);
	if (r->place >= m->growths)
		m->growths = r->place + 1;
	return 0;
}

const struct frames *model_frames(const struct model *m, const struct fs_subject *id, int32_t stack)
{
	const struct frames *f;

	if (stack < 0 || stack >= FS_STACKS || !m->frames)
		return NULL;
	for (f = m->frames[stack]; f; f = f->next)
		if (same_subject(&f->subject, id))
			return f;
	return NULL;
}

static void join_alike(struct model *m, struct frames *f)
{
	struct frames **chain = &m->alike[f->hash % FS_STACKS];

	f->alike = f->stack;
	if (strstr(f->text, "[unknown]"))
		return; /* places that have no name are not one place */
	for (const struct frames *one = *chain; one; one = one->next_alike)
		if (one->hash == f->hash && same_subject(&one->subject, &f->subject) &&
		    !strcmp(one->text, f->text))
			f->alike = one->alike;
	f->next_alike = *chain;
	*chain = f;
}

int growth_take_frames(struct model *m, const struct fs_frames_record *r)
{
	size_t len = strlen(r->text);
	struct frames *f;

	if (r->stack < 0 || r->stack >= FS_STACKS || m->nr_frames == MODEL_FRAMES_MAX ||
	    model_frames(m, &r->subject, r->stack))
		return 0;
	if (!m->frames)
		m->frames = calloc(FS_STACKS, sizeof(*m->frames));
	if (!m->alike)
		m->alike = calloc(FS_STACKS, sizeof(*m->alike));
	f = malloc(sizeof(*f) + len + 1);
	if (!m->frames || !m->alike || !f) {
		free(f);
		return -ENOMEM;
	}
	f->subject = r->subject;
	f->stack = r->stack;
	f->flags = r->flags;
	memcpy(f->text, r->text, len + 1);
	f->next = m->frames[r->stack];
	m->frames[r->stack] = f;
	f->hash = hash_text(HASH_BEGIN, f->text);
	join_alike(m, f);
	m->nr_frames++;
	return 0;
}

const struct fs_origin_record *model_origin(const struct model *m, const struct fs_subject *id,
					    uint32_t limit)
{
	for (size_t i = 0; i < m->origins; i++) {
		const struct fs_origin_record *r = &m->origin[i];

		if (r->limit == limit && same_subject(&r->subject, id))
			return r;
	}
	return NULL;
}

/* The first that is told of a limit stands: later ones find it known. */
int growth_take_origin(struct model *m, const struct fs_origin_record *r)
{
	if (m->origins == MODEL_ORIGINS_MAX || model_origin(m, &r->subject, r->limit))
		return 0;
	if (!m->origin)
		m->origin = calloc(MODEL_ORIGINS_MAX, sizeof(*m->origin));
	if (!m->origin)
		return -ENOMEM;
	m->origin[m->origins++] = *r;
	return 0;
}

void growth_free(struct model *m)
{
	for (size_t i = 0; m->frames && i < FS_STACKS; i++)
		while (m->frames[i]) {
			struct frames *next = m->frames[i]->next;

			free(m->frames[i]);
			m->frames[i] = next;
		}
	free(m->frames);
	free(m->alike);
	free(m->growth);
	free(m->origin);
}

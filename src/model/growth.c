// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/growth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "model/frame_list.h"
#include "model/growth_archive.h"

#define FRAMES_TEXT_MAX (sizeof(((struct frames_record *)0)->text) - 1)

/* Removes the filler bytes that the kernel side wrote in place of digits. */
static void close_up(char *name)
{
	char *to = name;

	for (; *name; name++)
		if (*name != NAME_FILLER)
			*to++ = *name;
	*to = 0;
}

/*
 * The kernel side reuses entries of its table. If the new row of an entry is of another process, or
 * has another first_ns, archives the old row.
 */
static int keep_former(struct model *m, uint32_t place, const struct growth *row)
{
	const struct growth former = m->growth[place]; /* copied, as growth_archive() moves rows */

	if (!former.first_ns ||
	    (former.first_ns == row->first_ns && same_subject(&former.subject, &row->subject)))
		return 0;
	return growth_archive(m, &former);
}

int growth_take(struct model *m, const struct growth_record *r)
{
	struct subject *s = model_find(m, &r->g.subject);
	struct growth row = r->g;
	int err;

	if (r->place >= MODEL_GROWTH_MAX)
		return 0; /* only a hostile recording has a larger row number */
	close_up(row.name);
	if (!m->growth)
		m->growth = calloc(GROWTH_MAX, sizeof(*m->growth));
	if (!m->growth)
		return -ENOMEM;
	if (s && row.what <= WHAT_FDS)
		s->grew[row.what] = true;
	/* rows from GROWTH_MAX on are archived ones, which a recording has at its start */
	if (r->place >= GROWTH_MAX)
		return growth_archive(m, &row);
	err = r->place < m->growths ? keep_former(m, r->place, &row) : 0;
	if (err)
		return err;
	m->growth[r->place] = row;
	if (r->place >= m->growths)
		m->growths = r->place + 1;
	return 0;
}

const struct frames *model_frames(const struct model *m, const struct process_key *id,
				  int32_t stack)
{
	const struct frames *f = stack < 0 ? NULL : table_find(&m->frames, stack);

	while (f && !same_subject(&f->subject, id))
		f = table_next(&f->link, stack);
	return f;
}

static struct frames *of_alike(struct table_link *l)
{
	return (struct frames *)((char *)l - offsetof(struct frames, alike_link));
}

static void join_alike(struct model *m, struct frames *f)
{
	uint64_t hash = 1ULL << 32 | hash_text(HASH_BEGIN, f->text); /* never 0: 0 means no entry */

	f->alike = f->stack;
	if (strstr(f->text, "[unknown]"))
		return; /* "[unknown]" may stand for different functions */
	for (struct table_link *l = table_find(&m->alike, hash); l; l = table_next(l, hash)) {
		const struct frames *one = of_alike(l);

		if (same_subject(&one->subject, &f->subject) && !strcmp(one->text, f->text))
			f->alike = one->alike;
	}
	table_add(&m->alike, &f->alike_link, hash);
}

static void remove_frames(struct model *m, struct frames *f)
{
	if (f->alike_link.hash)
		table_remove(&m->alike, &f->alike_link);
	table_remove(&m->frames, &f->link);
	frame_list_free(f->list);
	free(f);
	m->nr_frames--;
}

/* Drops the stacks of exited processes. Returns false if no stack was dropped. */
static bool drop_frames(struct model *m)
{
	size_t before = m->nr_frames;

	if (m->frames_dropped_at == m->totals.ended)
		return false;
	m->frames_dropped_at = m->totals.ended;
	for (struct table_link *l = table_each(&m->frames, NULL), *next; l; l = next) {
		struct frames *f = (struct frames *)l;
		const struct subject *s = model_find(m, &f->subject);

		next = table_each(&m->frames, l);
		if (s && !s->final)
			continue;
		remove_frames(m, f);
	}
	return m->nr_frames < before;
}

int growth_take_frames(struct model *m, const struct frames_record *r)
{
	size_t len = strnlen(r->text, FRAMES_TEXT_MAX);
	struct frames *f = (struct frames *)model_frames(m, &r->subject, r->stack);

	if (r->stack < 0 || (f && f->end != STACK_END_MISSING))
		return 0;
	if (f) /* the unwind table is made now, and the copied stack was walked again */
		remove_frames(m, f);
	if (m->nr_frames == MODEL_FRAMES_MAX && !drop_frames(m)) {
		m->frames_lost++;
		return 0;
	}
	if (table_make(&m->frames, STACKS_MAX) || table_make(&m->alike, STACKS_MAX))
		return -ENOMEM;
	f = malloc(sizeof(*f) + len + 1); /* there are at most MODEL_FRAMES_MAX allocations */
	if (!f)
		return -ENOMEM;
	f->alike_link.hash = 0; /* hash 0: the stack is not in the table `alike` */
	f->subject = r->subject;
	f->stack = r->stack;
	f->flags = r->flags;
	f->list = NULL;
	f->end = r->end;
	f->by_chain = r->by_chain;
	array_copy(f->user_line, sizeof(f->user_line), r->user_line);
	memcpy(f->text, r->text, len);
	f->text[len] = 0;
	table_add(&m->frames, &f->link, r->stack);
	join_alike(m, f);
	m->nr_frames++;
	return 0;
}

static struct origin_record *find_origin(const struct model *m, const struct process_key *id,
					 uint32_t limit)
{
	for (size_t i = 0; i < m->origins; i++)
		if (m->origin[i].limit == limit && same_subject(&m->origin[i].subject, id))
			return &m->origin[i];
	return NULL;
}

const struct origin_record *model_origin(const struct model *m, const struct process_key *id,
					 uint32_t limit)
{
	return find_origin(m, id, limit);
}

/* Replaces an earlier record of a limit: commands in the last record cover the largest request. */
int growth_take_origin(struct model *m, const struct origin_record *r)
{
	struct origin_record *known = find_origin(m, &r->subject, r->limit);

	if (known)
		*known = *r;
	if (known || m->origins == MODEL_ORIGINS_MAX)
		return 0;
	if (!m->origin)
		m->origin = calloc(MODEL_ORIGINS_MAX, sizeof(*m->origin));
	if (!m->origin)
		return -ENOMEM;
	m->origin[m->origins++] = *r;
	return 0;
}

static void drop(struct table_link *frames)
{
	frame_list_free(((struct frames *)frames)->list);
	free(frames);
}

void growth_free(struct model *m)
{
	table_free(&m->frames, drop);
	table_free(&m->alike, NULL);
	free(m->growth);
	free(m->growth_index);
	free(m->origin);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/holdings.h"
#include "model/pressure.h"
#include "model/resources.h"

#define SNAPSHOT_BYTES_MAX (1ULL << 30)

/* Rounds a size up to the alignment of objects in the buffer. */
static size_t rounded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static size_t series_bytes(struct series *const *set)
{
	size_t n = 0;

	if (!set)
		return 0;
	for (size_t i = 0; i < NR_RESOURCES; i++)
		n += set[i] ? rounded(sizeof(*set[i])) : 0;
	return n + RESOURCES_MAX * sizeof(*set);
}

static size_t string_bytes(const char *text)
{
	return text ? rounded(strlen(text) + 1) : 0;
}

static size_t counters_bytes(const struct sparse_counters *c)
{
	return c ? sparse_bytes(c) : 0;
}

static size_t earlier_bytes(const struct earlier *e)
{
	return e ? rounded(sizeof(*e)) + rounded(counters_bytes(e->prev.c)) : 0;
}

static size_t subject_bytes(const struct subject *s)
{
	size_t n = rounded(sizeof(*s));

	n += rounded(counters_bytes(s->now.c)) + earlier_bytes(s->earlier);
	for (int what = 0; what <= WHAT_FDS; what++)
		n += s->held[what].sort ? rounded(s->held[what].n * sizeof(*s->held[what].sort))
					: 0;
	return n + series_bytes(s->series) + string_bytes(s->exe) + string_bytes(s->cgroup) +
	       string_bytes(s->command) + string_bytes(s->user);
}

/*
 * Returns the buffer size for a copy of the model, with room for the mappings and fds of one
 * process. These may be read after the copy is made.
 */
static size_t model_bytes(const struct model *m)
{
	size_t n = 2 * HOLDINGS_MAX * sizeof(struct holding) +
		   MODEL_CHAINS * sizeof(*m->subject.chain) +
		   rounded(m->events * sizeof(*m->event)) +
		   rounded(m->growths * sizeof(*m->growth)) + series_bytes(m->series) +
		   rounded(sizeof(*m->pressure));

	for (struct subject *s = model_each(m, NULL); s; s = model_each(m, s))
		n += subject_bytes(s);
	return n;
}

static int make_room(struct snapshot *s, size_t bytes)
{
	s->used = 0;
	if (bytes <= s->size)
		return 0;
	if (bytes > SNAPSHOT_BYTES_MAX)
		return -E2BIG;
	bytes += bytes / 4; /* 25 % more, so that not every new process needs malloc() */
	free(s->room);
	s->size = 0;
	s->room = malloc(bytes); /* room is at most 1.25 * SNAPSHOT_BYTES_MAX */
	if (!s->room)
		return -ENOMEM;
	s->size = bytes;
	return 0;
}

/* Copies bytes to the buffer, which must have room for them. Returns NULL if `what` is NULL. */
static void *put(struct snapshot *s, const void *what, size_t bytes)
{
	void *at = s->room + s->used;

	if (!what)
		return NULL;
	memcpy(at, what, bytes);
	s->used += rounded(bytes);
	return at;
}

static struct series **put_series(struct snapshot *s, struct series *const *set)
{
	struct series **copy = put(s, set, RESOURCES_MAX * sizeof(*set));

	for (size_t i = 0; copy && i < NR_RESOURCES; i++)
		copy[i] = put(s, copy[i], sizeof(*copy[i]));
	return copy;
}

static char *put_string(struct snapshot *s, const char *text)
{
	return put(s, text, text ? strlen(text) + 1 : 0);
}

static struct subject *put_subject(struct snapshot *s, const struct subject *one)
{
	struct subject *copy = put(s, one, sizeof(*one));

	copy->now.c = put(s, one->now.c, counters_bytes(one->now.c));
	copy->earlier = put(s, one->earlier, sizeof(*one->earlier));
	if (copy->earlier)
		copy->earlier->prev.c =
			put(s, one->earlier->prev.c, counters_bytes(one->earlier->prev.c));
	copy->base = NULL;
	copy->exe = put_string(s, one->exe);
	copy->cgroup = put_string(s, one->cgroup);
	copy->command = put_string(s, one->command);
	copy->user = put_string(s, one->user);
	for (int what = 0; what <= WHAT_FDS; what++)
		copy->held[what].sort = put(s, one->held[what].sort,
					    one->held[what].n * sizeof(*one->held[what].sort));
	copy->series = put_series(s, one->series);
	return copy;
}

static void put_subjects(struct snapshot *s, const struct model *m)
{
	struct table_link **link;
	struct subject **next;

	s->m.subject.chain = put(s, m->subject.chain, MODEL_CHAINS * sizeof(*link));
	for (size_t i = 0; i < MODEL_CHAINS; i++)
		for (link = &s->m.subject.chain[i]; *link; link = &(*link)->next)
			*link = &put_subject(s, (const struct subject *)*link)->link;
	next = &s->m.changed;
	for (const struct subject *one = m->changed; one; one = one->next_changed) {
		*next = model_find(&s->m, &one->id);
		next = &(*next)->next_changed;
	}
	*next = NULL;
}

int snapshot_take(struct snapshot *s, const struct model *m)
{
	int err = make_room(s, model_bytes(m));

	memset(&s->m, 0, sizeof(s->m));
	if (err)
		return err;
	s->m = *m;
	put_subjects(s, m);
	s->m.series = put_series(s, m->series);
	s->m.event = put(s, m->event, m->events * sizeof(*m->event));
	s->m.events_room = m->events;
	s->m.pressure = put(s, m->pressure, sizeof(*m->pressure));
	s->m.growth_index = NULL;
	s->m.ooms = NULL; /* the live view does not show past kills */
	s->m.growth = put(s, m->growth, m->growths * sizeof(*m->growth));
	return 0;
}

int snapshot_hold(struct snapshot *s, const struct model *m, const struct process_key *id)
{
	const struct subject *from = model_find(m, id);
	struct subject *to = model_find(&s->m, id);

	for (int what = 0; from && to && what <= WHAT_FDS; what++) {
		const struct holdings *h = &from->held[what];
		size_t bytes = h->n * sizeof(*h->sort);

		if (s->used + rounded(bytes) > s->size)
			return -ENOSPC;
		to->held[what] = (struct holdings){put(s, h->sort, bytes), h->n};
	}
	return 0;
}

void snapshot_free(struct snapshot *s)
{
	free(s->room);
	memset(s, 0, sizeof(*s));
}

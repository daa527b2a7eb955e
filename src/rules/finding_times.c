// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/finding_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static struct finding_life *find(const struct finding_times *t, const struct finding *f)
{
	for (size_t i = t->n; i--;) {
		struct finding_life *l = &t->life[i];

		if (l->rule == f->rule && same_subject(&l->subject, &f->subject) &&
		    l->since_ns == f->since_ns)
			return l;
	}
	return NULL;
}

const struct finding_life *finding_times_of(const struct finding_times *t, const struct finding *f)
{
	return find(t, f);
}

static void add_change(struct finding_life *l, const struct finding *f)
{
	struct finding_change *last;

	/* the last change is always kept, so that the end of a finding is known */
	if (l->n == FINDING_CHANGES_MAX) {
		l->n--;
		l->lost++;
	}
	last = &l->change[l->n];
	*last = (struct finding_change){
		.t_ns = l->n ? f->seen_ns : f->since_ns, .severity = f->severity, .open = f->open};
	l->n++;
}

static int add(struct finding_times *t, const struct finding *f)
{
	struct finding_life *l = find(t, f), *more;
	const struct finding_change *last;

	if (!l && t->n == FINDING_TIMES_MAX) {
		t->lost++;
		return 0;
	}
	if (!l) {
		more = array_grow(t->life, t->n, &t->room, FINDING_TIMES_MAX, sizeof(*more));
		if (!more)
			return -ENOMEM;
		t->life = more;
		l = &t->life[t->n++];
		memset(l, 0, sizeof(*l));
		l->rule = f->rule;
		l->subject = f->subject;
		l->since_ns = f->since_ns;
		array_copy(l->comm, sizeof(l->comm), f->comm);
		array_copy(l->place, sizeof(l->place), f->place);
	}
	last = l->n ? &l->change[l->n - 1] : NULL;
	if (!last || last->severity != f->severity || last->open != f->open)
		add_change(l, f);
	return 0;
}

int finding_times_add(struct finding_times *t, const struct findings *fs)
{
	for (size_t i = 0; i < fs->n; i++)
		if (fs->f[i].fresh && add(t, &fs->f[i]))
			return -ENOMEM;
	return 0;
}

void finding_times_free(struct finding_times *t)
{
	free(t->life);
	memset(t, 0, sizeof(*t));
}

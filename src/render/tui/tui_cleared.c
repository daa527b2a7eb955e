// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps findings that cleared, so that they can be opened later. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "render/tui/tui_parts.h"

const struct finding *tui_find_in(const struct findings *fs, const struct rule *rule,
				  const struct process_key *id)
{
	for (size_t i = 0; i < fs->n; i++)
		if (fs->f[i].rule == rule && same_subject(&fs->f[i].subject, id))
			return &fs->f[i];
	return NULL;
}

bool tui_is_open(const struct view *v, const struct finding *f)
{
	const struct finding *now = tui_find_in(v->findings, f->rule, &f->subject);

	return now && now->open;
}

static void drop(struct findings *fs, size_t i)
{
	fs->n--;
	memmove(&fs->f[i], &fs->f[i + 1], (fs->n - i) * sizeof(*fs->f));
}

/* Removes the finding that matters least: the least severe one, and of these the oldest one. */
static void drop_least(struct findings *fs)
{
	size_t least = 0;

	for (size_t i = 1; i < fs->n; i++)
		if (fs->f[i].worst < fs->f[least].worst)
			least = i;
	drop(fs, least);
}

/* Removes a finding about the same process that was cleared earlier. */
static void drop_earlier(struct findings *fs, const struct finding *f)
{
	const struct finding *was = tui_find_in(fs, f->rule, &f->subject);

	if (was)
		drop(fs, was - fs->f);
}

static int keep(struct findings *fs, const struct finding *f)
{
	struct finding *room;

	drop_earlier(fs, f);
	if (fs->n == TUI_CLEARED)
		drop_least(fs);
	room = array_grow(fs->f, fs->n, &fs->room, TUI_CLEARED, sizeof(*fs->f));
	if (!room)
		return -ENOMEM;
	fs->f = room;
	fs->f[fs->n++] = *f;
	return 0;
}

int tui_keep_cleared(struct tui *t, const struct findings *now)
{
	int err = 0;

	for (size_t i = 0; i < now->n && !err; i++)
		if (now->f[i].fresh && !now->f[i].open)
			err = keep(&t->cleared, &now->f[i]);
	return err;
}

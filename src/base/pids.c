// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/pids.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_LEAST 256

/* Linear probing needs free slots: a quarter of the slots stays free. */
#define ROOM(slots) ((slots) / 4 * 3)

static void *slot_at(const struct pids *t, uint32_t slot)
{
	return t->entry + slot * t->entry_bytes;
}

static uint32_t pid_in(const struct pids *t, const void *entry)
{
	uint32_t pid;

	memcpy(&pid, (const unsigned char *)entry + t->pid_at, sizeof(pid));
	return pid;
}

static uint32_t home_of(const struct pids *t, uint32_t pid)
{
	return (pid * 0x9e3779b97f4a7c15ULL >> 32) & (t->slots - 1);
}

/* Returns the slot of the pid, or the free slot where the pid would be inserted. */
static void *place_of(const struct pids *t, uint32_t pid)
{
	uint32_t i = home_of(t, pid), there;

	while ((there = pid_in(t, slot_at(t, i))) && there != pid)
		i = (i + 1) & (t->slots - 1);
	return slot_at(t, i);
}

void pids_free(struct pids *t)
{
	free(t->entry);
	t->entry = NULL;
	t->slots = t->used = 0;
}

void *pids_at(const struct pids *t, uint32_t slot)
{
	void *entry = slot_at(t, slot);

	return pid_in(t, entry) ? entry : NULL;
}

void *pids_find(const struct pids *t, uint32_t pid)
{
	void *entry = t->slots ? place_of(t, pid) : NULL;

	return entry && pid_in(t, entry) ? entry : NULL;
}

bool pids_is_full(const struct pids *t)
{
	return t->used >= ROOM(t->slots);
}

static int grow(struct pids *t)
{
	struct pids grown = *t;

	grown.slots = t->slots ? t->slots * 2 : SLOTS_LEAST;
	if (grown.slots > t->most)
		return -1;
	grown.entry = calloc(grown.slots, t->entry_bytes);
	if (!grown.entry)
		return -1;
	for (uint32_t i = 0; i < t->slots; i++) {
		const void *entry = pids_at(t, i);

		if (entry)
			memcpy(place_of(&grown, pid_in(t, entry)), entry, t->entry_bytes);
	}
	free(t->entry);
	*t = grown;
	return 0;
}

void *pids_add(struct pids *t, uint32_t pid)
{
	unsigned char *entry;

	if (pids_is_full(t) && grow(t))
		return NULL;
	entry = place_of(t, pid);
	memset(entry, 0, t->entry_bytes);
	memcpy(entry + t->pid_at, &pid, sizeof(pid));
	t->used++;
	return entry;
}

/*
 * Moves up entries behind the removed entry: a search ends at a free slot, and would not find them.
 */
void pids_remove(struct pids *t, void *entry)
{
	uint32_t hole = ((unsigned char *)entry - t->entry) / t->entry_bytes, i = hole, pid;

	while ((pid = pid_in(t, slot_at(t, i = (i + 1) & (t->slots - 1))))) {
		uint32_t home = home_of(t, pid);

		if (((i - home) & (t->slots - 1)) < ((i - hole) & (t->slots - 1)))
			continue;
		memcpy(slot_at(t, hole), slot_at(t, i), t->entry_bytes);
		hole = i;
	}
	memset(slot_at(t, hole), 0, t->entry_bytes);
	t->used--;
}

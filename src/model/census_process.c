// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/census_process.h"

#include <stdlib.h>

#define SLOTS_LEAST 256

/* Linear probing wants a quarter free. */
#define ROOM(slots) ((slots) / 4 * 3)

static uint32_t slot_of(const struct census *c, uint32_t pid)
{
	return pid * 2654435761u >> 8 & (c->slots - 1);
}

static uint32_t next_of(const struct census *c, uint32_t slot)
{
	return (slot + 1) & (c->slots - 1);
}

struct census_process *census_process_find(const struct census *c, uint32_t pid)
{
	if (!c->slots)
		return NULL;
	for (uint32_t i = slot_of(c, pid); c->process[i].w; i = next_of(c, i))
		if (c->process[i].pid == pid)
			return &c->process[i];
	return NULL;
}

/* Moves up what would not be found behind a hole. */
static void take_out(struct census *c, uint32_t hole)
{
	c->process[hole].w->refs--;
	c->process[hole].w = NULL;
	c->used--;
	for (uint32_t i = next_of(c, hole); c->process[i].w; i = next_of(c, i)) {
		uint32_t home = slot_of(c, c->process[i].pid);

		if (((i - home) & (c->slots - 1)) < ((i - hole) & (c->slots - 1)))
			continue;
		c->process[hole] = c->process[i];
		c->process[i].w = NULL;
		hole = i;
	}
}

void census_process_sweep(struct census *c)
{
	/* what moves into a slot is looked at too; what wraps around may be left for the next time
	 */
	for (uint32_t i = 0; i < c->slots && c->ended;) {
		if (c->process[i].w && c->process[i].ended) {
			c->ended--;
			take_out(c, i);
		} else {
			i++;
		}
	}
}

static struct census_process *free_slot(struct census *c, uint32_t pid)
{
	uint32_t i = slot_of(c, pid);

	while (c->process[i].w)
		i = next_of(c, i);
	return &c->process[i];
}

static int grow(struct census *c, uint32_t slots)
{
	struct census_process *old = c->process;
	uint32_t old_slots = c->slots;

	if (slots > CENSUS_PROCESSES_MAX)
		return -1;
	c->process = calloc(slots, sizeof(*c->process));
	if (!c->process) {
		c->process = old;
		return -1;
	}
	c->slots = slots;
	for (uint32_t i = 0; i < old_slots; i++)
		if (old[i].w)
			*free_slot(c, old[i].pid) = old[i];
	free(old);
	return 0;
}

struct census_process *census_process_add(struct census *c, uint32_t pid)
{
	struct census_process *p;
	uint32_t slots;

	if (c->used >= ROOM(c->slots) && c->ended > c->used / 4)
		census_process_sweep(c);
	if (c->used >= ROOM(c->slots)) {
		slots = c->slots ? c->slots * 2 : SLOTS_LEAST;
		if (grow(c, slots))
			return NULL;
	}
	p = free_slot(c, pid);
	*p = (struct census_process){.pid = pid};
	c->used++;
	return p;
}

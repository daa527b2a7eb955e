/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: a hash table of entries by a non-zero number such as a pid. The table grows up to a
 * maximum. The space of removed entries is reused at once (open addressing, backward-shift
 * deletion).
 */
#ifndef FS_BASE_PIDS_H
#define FS_BASE_PIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pids {
	size_t entry_bytes;
	size_t pid_at;	      /* offset of the uint32_t key in an entry; key 0: the slot is free */
	uint32_t most;	      /* maximum number of slots, a power of two; a quarter stays free */
	unsigned char *entry; /* the slots; owned by the table */
	uint32_t slots, used;
};

void pids_free(struct pids *t);

/* Returns the entry of the pid, or NULL. */
void *pids_find(const struct pids *t, uint32_t pid);

/*
 * Adds an entry of zeros for a key that is not in the table. Pointers to other entries become
 * invalid. Returns NULL when the table is full.
 */
void *pids_add(struct pids *t, uint32_t pid);

/*
 * Removes an entry. Pointers to other entries become invalid, because following entries may move
 * up.
 */
void pids_remove(struct pids *t, void *entry);

/* Returns the entry of a slot below `slots`, or NULL if it is free. */
void *pids_at(const struct pids *t, uint32_t slot);

/*
 * Returns whether the next pids_add() makes the table grow. If so, the caller should first remove
 * ended processes.
 */
bool pids_is_full(const struct pids *t);

#endif

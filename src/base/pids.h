/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: a table of entries by a number that is never 0, as a pid is. It has room for those that are
 * in it, up to a cap, and not for all that ever were: open addressing, a gap is closed at once.
 */
#ifndef FS_BASE_PIDS_H
#define FS_BASE_PIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pids {
	size_t entry_bytes;
	size_t pid_at;	      /* where in an entry its uint32_t is; 0 there: the slot is free */
	uint32_t most;	      /* slots, a power of two; a quarter of them stays free */
	unsigned char *entry; /* owned */
	uint32_t slots, used;
};

void pids_free(struct pids *t);

/* NULL: it is not there. */
void *pids_find(const struct pids *t, uint32_t pid);

/* An entry of zeros for one that is not there; pointers to others are void. NULL: no room. */
void *pids_add(struct pids *t, uint32_t pid);

/* Pointers to others are void: what follows may have moved up, into this one's slot too. */
void pids_remove(struct pids *t, void *entry);

/* That of a slot, below `slots`; NULL: it is free. */
void *pids_at(const struct pids *t, uint32_t slot);

/* Whether one more makes it grow: then is the time to take out what has ended. */
bool pids_is_full(const struct pids *t);

#endif

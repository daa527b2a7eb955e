/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resident: a sorted copy of the map in which BPF programs note who made pages resident. See
 * bpf/wire_resident.h.
 */
#ifndef FS_RESIDENT_OWNERS_H
#define FS_RESIDENT_OWNERS_H

#include <stdbool.h>
#include <stddef.h>

#include "wire_resident.h"

struct owner_entry {
	struct fs_resident_key key;
	struct fs_resident is;
	bool seen; /* the page was found in memory or in swap */
};

struct owners {
	int map;		   /* the BPF map */
	struct owner_entry *entry; /* sorted by pid, unit and number; owned */
	size_t n, room;
};

/* Copies the map. Returns 0 or -errno. */
int owners_read(struct owners *o);
void owners_free(struct owners *o);

/* A process whose pages are looked up, and the time at which it had them. */
struct owner_process {
	__u32 pid;
	__u64 start_ns; /* start time of the process */
	__u64 at_ns;	/* CLOCK_MONOTONIC; OWNER_NOW: now */
};
#define OWNER_NOW UINT64_MAX

/* Returns the entry of a unit of a process, or NULL. */
struct owner_entry *owners_find(const struct owners *o, const struct owner_process *of, __u32 unit,
				__u64 number);

/*
 * Reads the entry of a unit again, in case a fault made it after the map was copied. Returns
 * whether there is one.
 */
bool owners_read_one(const struct owners *o, const struct owner_process *of, __u32 unit,
		     __u64 number, struct owner_entry *ret);

/*
 * Returns the entry of a process for the page that is nearest to `page`, within the same range of 2
 * MiB, or NULL.
 */
struct owner_entry *owners_nearest(const struct owners *o, const struct owner_process *of,
				   __u64 page);

/*
 * Returns whether the process has an entry for a page of a range of 2 MiB that is later than
 * `since_ns`: the range is then not one huge page, or was not one when it was first touched.
 */
bool owners_within(const struct owners *o, const struct owner_process *of, __u64 huge,
		   __u64 since_ns);

/* Writes a changed entry to the map, unless a fault changed it there. */
void owners_change(const struct owners *o, const struct owner_entry *e);

/*
 * Removes an entry from the map, unless a fault changed it after `before_ns` (CLOCK_MONOTONIC).
 */
void owners_drop(const struct owners *o, const struct owner_entry *e, __u64 before_ns);

#endif

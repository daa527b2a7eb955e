/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: keeps the free parts of an array. A part that is freed is not taken again for a while,
 * because the BPF program may still read it. No part crosses a border.
 */
#ifndef FS_UNWIND_EXTENTS_H
#define FS_UNWIND_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#define EXTENTS_MAX	65536
#define EXTENTS_REST_NS 1000000000ULL

struct extent {
	__u32 first;
	__u32 n;
	__u64 given_ns; /* time at which the part was freed; 0: it was never taken */
};

struct extents {
	struct extent *e; /* free parts, sorted; owned */
	size_t n, room;
	__u32 border; /* no part crosses a multiple of this number of elements */
	__u32 taken;
	/* number of elements that are lost, because memory was short when they were freed */
	__u32 lost;
};

/*
 * Marks all elements up to `limit` as free. `border`: 0 if there are no borders. Returns 0 or
 * -ENOMEM.
 */
int extents_init(struct extents *x, __u32 limit, __u32 border);
void extents_free(struct extents *x);

/* Takes the first free part that has room for n elements. Returns false if there is none. */
bool extents_take(struct extents *x, __u32 n, __u64 now_ns, __u32 *ret_first);

void extents_give(struct extents *x, __u32 first, __u32 n, __u64 now_ns);

/* Returns whether the n elements from `first` on are free and have rested. */
bool extents_are_free(struct extents *x, __u32 first, __u32 n, __u64 now_ns);

#endif

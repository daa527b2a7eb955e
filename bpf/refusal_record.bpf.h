/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that fill parts of the record of a failed call. Each part has a global function
 * read_x(). The verifier checks a global function once, not once per path that calls it.
 */
#ifndef FS_REFUSAL_RECORD_BPF_H
#define FS_REFUSAL_RECORD_BPF_H

#include "claim.bpf.h"
#include "maps.bpf.h"

#ifdef FS_HASH

/*
 * A record that is being filled. Before 5.12, global functions take only numbers. They therefore
 * get the index `at` instead of a pointer.
 */
struct draft {
	struct refused_record r; /* must be first: pointers to `r` are cast to struct draft */
	__u32 users;
	__u32 at; /* index of this element in `drafts` */
};

#define DRAFTS 4 /* number of drafts per CPU */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DRAFTS);
	__type(key, __u32);
	__type(value, struct draft);
} drafts SEC(".maps");

define_claim(drafts, struct draft, DRAFTS);

#define draft_of(record) ((struct draft *)(record))

/*
 * Returns a record that the caller owns until draft_send(), or NULL if all records are in use.
 * draft_begin() is not inlined, because its callers have no stack space left.
 */
static __noinline struct refused_record *draft_begin(void)
{
	__u32 at = claim_drafts(0);
	struct draft *d = at < DRAFTS ? bpf_map_lookup_elem(&drafts, &at) : NULL;

	if (!d)
		return NULL;
	d->at = at;
	return &d->r;
}

static __always_inline long draft_send(struct refused_record *r)
{
	long err = bpf_ringbuf_output(&ring, r, sizeof(*r), BPF_RB_FORCE_WAKEUP);

	unclaim(&draft_of(r)->users);
	return err;
}

#define part_entry(name)                                                                           \
	__noinline int name##_once(__u32 at, __u32 with)                                           \
	{                                                                                          \
		struct draft *d = bpf_map_lookup_elem(&drafts, &at);                               \
                                                                                                   \
		barrier_var(with); /* clang drops unused arguments */                              \
		if (d)                                                                             \
			name##_of(&d->r, with);                                                    \
		return 0;                                                                          \
	}                                                                                          \
	static __always_inline void name(struct refused_record *r, __u32 with)                     \
	{                                                                                          \
		name##_once(draft_of(r)->at, with);                                                \
	}

#else

static __always_inline struct refused_record *draft_begin(void)
{
	return bpf_ringbuf_reserve(&ring, sizeof(struct refused_record), 0);
}

static __always_inline long draft_send(struct refused_record *r)
{
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	return 0;
}

#define part_entry(name)                                                                           \
	__noinline int name(struct refused_record *r, __u32 with)                                  \
	{                                                                                          \
		barrier_var(with);                                                                 \
		if (r)                                                                             \
			name##_of(r, with);                                                        \
		return 0;                                                                          \
	}

#endif

static __always_inline void count_as(struct refused_record *r, __u32 what, __u64 used, __u64 asked,
				     __u64 limit)
{
	r->counted.what = what;
	r->counted.used = used;
	r->counted.asked = asked;
	r->counted.limit = limit;
}

/* record_part(read_x) { … } defines read_x(r, with), which fills a part of the record `r`. */
#define record_part(name)                                                                          \
	static __always_inline void name##_of(struct refused_record *r, __u32 with);               \
	part_entry(name) static __always_inline void name##_of(struct refused_record *r, __u32 with)

#endif

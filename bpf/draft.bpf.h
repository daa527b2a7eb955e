/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of a record of a refusal, each filled by a global function: the verifier goes through these
 * once, and not on each path that leads to them.
 */
#ifndef FS_DRAFT_BPF_H
#define FS_DRAFT_BPF_H

#include "maps.bpf.h"

#ifdef FS_HASH

/* Before 5.12 a global function takes numbers alone: so each finds the record here. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct fs_refused_record);
} drafts SEC(".maps");

static __always_inline struct fs_refused_record *draft_begin(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&drafts, &zero);
}

static __always_inline long draft_send(struct fs_refused_record *r)
{
	return bpf_ringbuf_output(&ring, r, sizeof(*r), BPF_RB_FORCE_WAKEUP);
}

#define part_entry(name)                                                                           \
	__noinline int name##_once(__u32 with)                                                     \
	{                                                                                          \
		struct fs_refused_record *r = draft_begin();                                       \
                                                                                                   \
		barrier_var(with); /* else clang passes nothing where it is not used */            \
		if (r)                                                                             \
			name##_of(r, with);                                                        \
		return 0;                                                                          \
	}                                                                                          \
	static __always_inline void name(struct fs_refused_record *r, __u32 with)                  \
	{                                                                                          \
		name##_once(with);                                                                 \
	}

#else

static __always_inline struct fs_refused_record *draft_begin(void)
{
	return bpf_ringbuf_reserve(&ring, sizeof(struct fs_refused_record), 0);
}

static __always_inline long draft_send(struct fs_refused_record *r)
{
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	return 0;
}

#define part_entry(name)                                                                           \
	__noinline int name(struct fs_refused_record *r, __u32 with)                               \
	{                                                                                          \
		barrier_var(with);                                                                 \
		if (r)                                                                             \
			name##_of(r, with);                                                        \
		return 0;                                                                          \
	}

#endif

/* record_part(read_x) { … } defines read_x(record, number), its body with `r` and `with`. */
#define record_part(name)                                                                          \
	static __always_inline void name##_of(struct fs_refused_record *r, __u32 with);            \
	part_entry(name) static __always_inline void name##_of(struct fs_refused_record *r,        \
							       __u32 with)

#endif

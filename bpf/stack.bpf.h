/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User stacks: kept by the kernel as addresses; user space is told of each once, by files, while
 * these are still mapped.
 */
#ifndef FS_STACK_BPF_H
#define FS_STACK_BPF_H

#include "store.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, FS_STACKS);
	__uint(key_size, 4);
	__uint(value_size, FS_STACK_FRAMES * 8);
} stacks SEC(".maps");

/* Stacks that user space was told of. */
struct told_key {
	struct fs_subject subject;
	__u64 stack;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct told_key);
	__type(value, __u32);
} told SEC(".maps");

static __always_inline void emit_stack(void *ctx, const struct told_key *key)
{
	struct fs_stack_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	long bytes;

	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	bytes = bpf_get_stack(ctx, r->frame, sizeof(r->frame),
			      BPF_F_USER_STACK | BPF_F_USER_BUILD_ID);
	if (bytes <= 0) {
		bump(shared.losses.stack);
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		return;
	}
	fill_header(&r->h, FS_REC_STACK, sizeof(*r));
	r->subject = key->subject;
	r->stack = key->stack;
	r->frames = bytes / sizeof(r->frame[0]);
	/* at once: its process may soon be gone, and with it the names */
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
}

/* The user stack of the current call; < 0 where there is none. User space is told of new ones. */
static __always_inline __s32 stack_of(void *ctx, const struct fs_subject *s)
{
	struct told_key key = {.subject = *s};
	long id = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);
	__u32 one = 1;

	if (id < 0) {
		bump(shared.losses.stack);
		return -1;
	}
	key.stack = id;
	if (!bpf_map_update_elem(&told, &key, &one, BPF_NOEXIST))
		emit_stack(ctx, &key);
	return id;
}

#endif

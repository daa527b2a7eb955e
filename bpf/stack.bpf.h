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

/*
 * Stacks that user space was told of, and the number of each. The wrappers of system calls make no
 * frame, so that the chain of frames lacks who called them: the word at the stack pointer.
 */
struct told_key {
	struct fs_subject subject;
	__u64 caller;
	__u64 stack;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FS_STACKS);
	__type(key, struct told_key);
	__type(value, __u32);
} told SEC(".maps");

static __always_inline void emit_stack(void *ctx, const struct told_key *key, __u32 number)
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
	r->stack = number;
	r->caller = key->caller;
	r->frames = bytes / sizeof(r->frame[0]);
	/* at once: its process may soon be gone, and with it the names */
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
}

/*
 * The number of the user stack of the current call, `caller` being who called its wrapper; < 0
 * where there is none. User space is told of new ones.
 */
static __always_inline __s32 stack_of(void *ctx, const struct fs_subject *s, __u64 caller)
{
	struct told_key key = {.subject = *s, .caller = caller};
	long id = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);
	__u32 *known, number;

	if (id < 0)
		goto lost;
	key.stack = id;
	known = bpf_map_lookup_elem(&told, &key);
	if (known)
		return *known;
	if (shared.stacks_used >= FS_STACKS)
		goto lost;
	number = add_fetch(&shared.stacks_used, 1) - 1;
	if (bpf_map_update_elem(&told, &key, &number, BPF_NOEXIST)) {
		known = bpf_map_lookup_elem(&told, &key); /* another thread was first */
		return known ? (__s32)*known : -1;
	}
	emit_stack(ctx, &key, number);
	return number;
lost:
	bump(shared.losses.stack);
	return -1;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Working memory beside the stack, of which verifiers allow 512 bytes in all. Programs at
 * tracepoints can be preempted since 7.0, and one program can fire the tracepoint of another: so
 * what is kept by CPU may be in use when a program begins. Who uses a part of it claims it first.
 */
#ifndef FS_SCRATCH_BPF_H
#define FS_SCRATCH_BPF_H

#include "area.bpf.h"
#include "maps.bpf.h"

/*
 * A chain of frames as the kernel follows it. The wrappers of system calls make no frame, so that
 * it lacks who called them: the word at the stack pointer.
 */
struct chain {
	__u64 ip[FS_STACK_FRAMES];
	__u64 caller; /* 0: not known */
	__u64 frames;
	struct area at; /* what is mapped there: of the frame that is looked at */
};

struct scratch {
	union {
		struct chain chain;
		struct fs_growth growth; /* what is being attributed */
	};
	__u32 claimed;
	__u32 pad;
};

#define SCRATCHES 8 /* of a CPU: two for each program that is under way there */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCHES);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* A part that nobody uses: its number; < 0 where all are in use. `any`: of no meaning. */
once_verified int claim_scratch(__u32 any)
{
	barrier_var(any); /* a global function without arguments would be folded into its callers */
	for (__u32 i = 0; i < SCRATCHES; i++) {
		__u32 at = i;
		struct scratch *s = bpf_map_lookup_elem(&scratches, &at);

		if (s && !swap(&s->claimed, 1))
			return at;
	}
	return -1;
}

static __always_inline struct scratch *scratch_begin(void)
{
	__u32 at = claim_scratch(0);

	return at < SCRATCHES ? bpf_map_lookup_elem(&scratches, &at) : NULL;
}

/* To be called on each way out; the program stays on its CPU until then. */
static __always_inline void scratch_end(struct scratch *s)
{
	swap(&s->claimed, 0);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Working memory of BPF programs, in addition to the stack of 512 bytes. */
#ifndef FS_SCRATCH_BPF_H
#define FS_SCRATCH_BPF_H

#include "vma.bpf.h"
#include "claim.bpf.h"
#include "maps.bpf.h"

struct chain_key {
	struct process_key subject;
	__u64 hash; /* hash of the whole frame pointer chain */
};

/*
 * A frame pointer chain, as the kernel walks it. The chain lacks the caller of the system call
 * wrapper, because the wrapper creates no frame. The return address into that caller is at the
 * stack pointer.
 */
struct chain {
	__u64 ip[STACK_FRAMES];
	__u64 caller; /* caller of the system call wrapper; 0: not known */
	__u64 frames;
	__u32 end;  /* why the unwind tables gave no stack: enum stack_end */
	__s32 copy; /* number of the stack that was copied to user space; < 0: none */
	__u32 is_new; /* nonzero: the chain must be sent to user space; set by number_chain() */
	__u32 pad;
	struct area at; /* mapping of the frame that is being examined */
	struct chain_key key;
	__u64 cut_hash; /* hash of the chain after it was cut; set by number_chain() */
};

struct scratch {
	union {
		struct chain chain;
		struct growth growth; /* growth caused by the current call */
	};
	__u32 users;
	__u32 pad;
};

#define SCRATCHES 8 /* elements per CPU: two for each program that may be active */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCHES);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

define_claim(scratches, struct scratch, SCRATCHES);

/* Returns memory that the caller owns until scratch_end(), or NULL if all elements are in use. */
static __always_inline struct scratch *scratch_begin(void)
{
	__u32 at = claim_scratches(0);

	return at < SCRATCHES ? bpf_map_lookup_elem(&scratches, &at) : NULL;
}

static __always_inline void scratch_end(struct scratch *s)
{
	unclaim(&s->users);
}

#endif

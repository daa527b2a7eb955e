/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies the registers and the stack of the current thread to user space, if an unwind table is not
 * ready yet. User space walks the copy as soon as it has the table. The copy goes through the ring
 * buffer of all records, so copies are limited by number, and are made only while there is room.
 */
#ifndef FS_STACK_COPY_BPF_H
#define FS_STACK_COPY_BPF_H

#include "unwind_process.bpf.h"

#ifndef FS_HASH

#include "unwind.bpf.h"

/*
 * Maximum number of copies per second: of all processes, and of one process, whose dynamic linker
 * alone makes about 8 calls before main().
 */
#define COPIES_A_SECOND	  64
#define COPIES_OF_PROCESS 16
/*
 * Factor of both for `memory`: a program may touch most of its memory in the milliseconds after
 * exec, before the tables are ready.
 */
#define COPIES_FACTOR 16
/* A copy may be sent while at least this part of the ring buffer is free: three quarters. */
#define COPY_RING_PART 4
#define NS_A_SECOND    1000000000UL

/* One program at a time fills this memory. It is too large for per-CPU memory. */
struct copy_scratch {
	struct stack_copy_record r;
	__u32 users;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct copy_scratch);
} copy_scratch SEC(".maps");

_Static_assert(sizeof(struct unwind_registers) <=
		       sizeof(((struct stack_copy_record *)0)->registers),
	       "the record holds all registers");

/* Counts a copy in a second. Returns whether there may be one more. */
static __always_inline bool count_copy(__u32 *second, __u32 *copies, __u32 most)
{
	__u32 now = bpf_ktime_get_ns() / NS_A_SECOND;

	if (*second != now) {
		*second = now;
		*copies = 0;
	}
	return add_fetch(copies, 1) <= most;
}

static __always_inline bool may_copy(struct fs_unwind_epoch *e)
{
	__u32 factor = config.resident.on ? COPIES_FACTOR : 1;

	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) <
		       config.ring_bytes / COPY_RING_PART &&
	       (!e || count_copy(&e->copy_s, &e->copies, factor * COPIES_OF_PROCESS)) &&
	       count_copy(&shared.copy_s, &shared.copies, factor * COPIES_A_SECOND);
}

/*
 * Copies pages of the stack up to the first that cannot be read. A read that fails takes 12 µs, so
 * there is at most one. Returns the number of bytes from the start of the first page.
 */
static __noinline __u32 copy_pages(struct stack_copy_record *r, __u64 sp)
{
	__u32 into = sp & (UNWIND_PAGE - 8), i;

	r->base = sp & ~(__u64)(UNWIND_PAGE - 1);
	if (bpf_probe_read_user(r->data + into, UNWIND_PAGE - into, (void *)(r->base + into)))
		return 0;
#pragma clang loop unroll(full)
	for (i = 1; i < STACK_COPY_BYTES / UNWIND_PAGE; i++)
		if (bpf_probe_read_user(r->data + i * UNWIND_PAGE, UNWIND_PAGE,
					(void *)(r->base + i * UNWIND_PAGE)))
			break;
	return i * UNWIND_PAGE;
}

static __always_inline bool fill_copy(struct stack_copy_record *r, const struct process_key *s,
				      const struct unwind_registers *regs, __u32 number)
{
	const struct fs_unwind_epoch *e = code_epoch(s->pid);

	r->subject = *s;
	r->stack = number;
	r->valid_ns = e ? e->valid_ns : 0;
	r->mapped = e ? e->mapped : 0;
	bpf_probe_read_kernel(r->registers, sizeof(*regs), regs);
	r->bytes = copy_pages(r, regs->sp);
	return r->bytes;
}

/*
 * Sends a copy of the current thread's stack under this number. Returns false if it cannot be sent
 * now.
 */
static __noinline bool send_copy(const struct process_key *s, const struct unwind_registers *regs,
				 __u32 number)
{
	__u32 zero = 0, bytes;
	struct copy_scratch *c = bpf_map_lookup_elem(&copy_scratch, &zero);
	bool sent = false;

	if (!c || !claim(&c->users))
		return false;
	if (fill_copy(&c->r, s, regs, number)) {
		bytes = c->r.bytes & (2 * STACK_COPY_BYTES - 1);
		if (bytes > STACK_COPY_BYTES)
			bytes = STACK_COPY_BYTES;
		bytes += offsetof(struct stack_copy_record, data);
		fill_header(&c->r.h, RECORD_STACK_COPY, bytes);
		sent = !bpf_ringbuf_output(&ring, &c->r, bytes, BPF_RB_FORCE_WAKEUP);
		if (!sent)
			bump(shared.losses.ring);
	}
	unclaim(&c->users);
	return sent;
}

/*
 * Copies the stack of the current thread. Returns the number that the stack gets, which no other
 * stack has, because frame pointers may show equal frames for different stacks. Returns < 0 if no
 * copy is made. This is a global function so that the verifier checks it only once per program.
 */
once_verified int copy_stack(const struct process_key *s, const struct unwind_registers *regs)
{
	__u32 number;

	if (!s || !regs || shared.stacks_used >= shared.stacks_for_all ||
	    !may_copy(code_epoch(s->pid)))
		return -1;
	number = add_fetch(&shared.stacks_used, 1) - 1;
	return send_copy(s, regs, number) ? (__s32)number : -1;
}

#endif

#endif

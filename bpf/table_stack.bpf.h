/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks user stacks with unwind tables (unwind.bpf.h), numbers them, and sends them to user space.
 */
#ifndef FS_TABLE_STACK_BPF_H
#define FS_TABLE_STACK_BPF_H

#include "scratch.bpf.h"
#include "stack_copy.bpf.h"

#ifndef FS_HASH

#include "python.bpf.h"
#include "unwind.bpf.h"

/*
 * Working memory of one walk. It is large, so that there are fewer of these than of other scratch
 * memory.
 */
struct walk_scratch {
	struct unwind_walk walk;
	struct python_walk python;
	struct process_key subject; /* here because the deep chain of calls has no room for it */
	__u32 users;
	__u32 pad;
};

#define WALK_SCRATCHES 3 /* maximum number of walks that can be active on one CPU at a time */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WALK_SCRATCHES);
	__type(key, __u32);
	__type(value, struct walk_scratch);
} walk_scratches SEC(".maps");

define_claim(walk_scratches, struct walk_scratch, WALK_SCRATCHES);

static __always_inline struct walk_scratch *walk_scratch_begin(void)
{
	__u32 at = claim_walk_scratches(0);

	return at < WALK_SCRATCHES ? bpf_map_lookup_elem(&walk_scratches, &at) : NULL;
}

/*
 * Returns whether frame pointers may give a longer stack than this walk, which ended at code
 * without an unwind table. If the walk found two frames or more, these frames are kept.
 */
static __always_inline bool lacks_tables(const struct unwind_walk *w)
{
	return w->end == STACK_END_UNREADABLE || w->end == STACK_END_NO_ROOM ||
	       (w->end == STACK_END_MISSING && w->n <= 1);
}

/*
 * Prepares a walk of the current thread's user stack: fills in the thread's registers at kernel
 * entry, and the mappings of its process. Returns false and sets w->end if user space has not read
 * these mappings yet.
 */
static __noinline bool walk_begin(struct unwind_walk *w, const struct pt_regs *regs,
				  struct task_struct *leader)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct fs_unwind_proc *proc = code_find(tgid);
	struct process_key s;

	w->end = STACK_END_MISSING;
	w->n = 0;
	w->copy = -1;
	if (bpf_probe_read_kernel(&w->m.regs, sizeof(w->m.regs), regs)) {
		w->m.regs = (struct unwind_registers){};
	} else if (!proc) {
		fill_subject(&s, leader);
		code_ask(&s);
	} else {
		w->proc = *proc;
		if (code_is_known(&w->proc, tgid))
			return true;
	}
	bump(shared.walk_ends[STACK_END_MISSING]);
	return false;
}

/*
 * Copies a stack to user space whose tables are not ready. A separate function, so that the deep
 * chain of calls has less on the stack.
 */
static __noinline int copy_walk(struct unwind_walk *w, struct task_struct *leader)
{
	struct process_key s;

	fill_subject(&s, leader);
	w->copy = copy_stack(&s, &w->m.regs);
	return 0;
}

/*
 * Asks user space to read the mappings of the process again, because the walk met an address
 * outside of the known mappings. Either the process has new mappings, or no event reported the
 * change: for example, a mapping was moved, or was made before faultscope watched the process.
 */
static __always_inline void ask_again(const struct process_key *s, struct unwind_walk *w)
{
	struct fs_unwind_proc *proc = code_find(s->pid);

	if (!proc)
		return;
	if (proc->changed || proc->generation != w->proc.generation)
		w->end = STACK_END_MISSING;
	code_changed(s, proc);
}

/*
 * Walks the CPython frames of the current thread, if its process runs CPython. This is a global
 * function so that the verifier checks it only once per program. The return value has no meaning.
 */
once_verified int walk_python(const struct unwind_walk *w, struct python_walk *p)
{
	struct fs_python *of;
	__u32 at;

	if (!w || !p)
		return 0;
	at = w->proc.python;
	of = at ? bpf_map_lookup_elem(&unwind_pythons, &at) : NULL;
	p->n = p->cut = 0;
	p->hash = 0;
	if (!of)
		return 0;
	p->of = *of;
	python_frames(p);
	return 0;
}

/*
 * Sends a stack in a record with room for this many frames. The size of a record must be a
 * constant, so there are a few sizes. Returns false if the ring is full.
 */
static __always_inline bool send_walk_in(const struct process_key *s, const struct unwind_walk *w,
					 const struct python_walk *p, __u32 number, __u32 frames,
					 __u32 pythons)
{
	const __u32 addresses = frames * sizeof(__u64);
	const __u32 python = pythons * sizeof(struct python_frame);
	const __u32 len = sizeof(struct fs_packed_walk) + 2 * addresses + python;
	struct fs_packed_walk *r = bpf_ringbuf_reserve(&ring, len, 0);

	if (!r)
		return false;
	fill_header(&r->h, RECORD_PACKED_WALK, len);
	r->subject = *s;
	r->stack = number;
	r->frames = w->n;
	r->end = w->end;
	r->by_chain = w->by_chain;
	r->generation = w->proc.generation;
	r->pad = 0;
	__builtin_memcpy(r->interrupted, w->interrupted, sizeof(r->interrupted));
	r->pythons = p->n;
	r->python_cut = p->cut;
	r->room = frames;
	r->python_room = pythons;
	bpf_probe_read_kernel(r->data, addresses, w->pc);
	bpf_probe_read_kernel(r->data + addresses, addresses, w->sp);
	if (python)
		bpf_probe_read_kernel(r->data + 2 * addresses, python, p->frame);
	/* wake user space now, before the process exits and its mappings disappear */
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	return true;
}

#define WALK_SHORT	   24
#define WALK_MIDDLE	   64
#define WALK_PYTHON_MIDDLE 24

#define send_walk_of(frames)                                                                       \
	(!p->n			      ? send_walk_in(s, w, p, number, frames, 0)                   \
	 : p->n <= WALK_PYTHON_MIDDLE ? send_walk_in(s, w, p, number, frames, WALK_PYTHON_MIDDLE)  \
				      : send_walk_in(s, w, p, number, frames, WALK_PYTHON))

static __always_inline bool send_walk(const struct process_key *s, const struct unwind_walk *w,
				      const struct python_walk *p, __u32 number)
{
	bool sent = w->n <= WALK_SHORT	  ? send_walk_of(WALK_SHORT)
		    : w->n <= WALK_MIDDLE ? send_walk_of(WALK_MIDDLE)
					  : send_walk_of(WALK_FRAMES);

	if (!sent)
		bump(shared.losses.ring);
	return sent;
}

#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers user stacks. User space gets each stack once, while the files of its frames are still
 * mapped. Stacks are walked with unwind tables if user space has made them, or else by frame
 * pointers.
 */
#ifndef FS_STACK_BPF_H
#define FS_STACK_BPF_H

#include "mix.h"
#include "scratch.bpf.h"
#include "process_state.bpf.h"
#include "table_stack.bpf.h"

/*
 * Frame pointer chains that were sent, and their stack numbers. When the table is full, the least
 * recently used chain is dropped; if it appears again, it is sent with a new number.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, STACKS_MAX);
	__type(key, struct chain_key);
	__type(value, __u32);
} told SEC(".maps");

/* Maps a frame pointer chain before cut_chain() to the stack number of the cut chain. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, STACKS_MAX);
	__type(key, struct chain_key);
	__type(value, __u32);
} astray SEC(".maps");

once_verified __u64 hash_chain(struct chain *c)
{
	__u64 hash;

	if (!c)
		return 0;
	hash = c->caller;
	for (__u32 i = 0; i < STACK_FRAMES; i++) {
		if (i >= c->frames)
			break;
		hash = mix(hash, c->ip[i]);
	}
	return hash;
}

#define VM_EXEC 0x4

static __always_inline bool is_code(struct chain *c, __u64 address)
{
	struct vm_area_struct *vma;

	if (config.areas_foreign)
		/* If the layout of mappings is not known, assume that the address is in code. */
		return true;
	find_area(&c->at, address);
	vma = (struct vm_area_struct *)c->at.vma;
	return vma && BPF_CORE_READ(vma, vm_flags) & VM_EXEC;
}

/* A context for bpf_loop(), whose callbacks take only a pointer to memory on the stack. */
struct chain_walk {
	struct chain *c;
};

static long next_frame(__u32 i, struct chain_walk *w)
{
	if (i >= STACK_FRAMES || i >= w->c->frames)
		return 1;
	/* The innermost frame is always in code. */
	if (!i || is_code(w->c, w->c->ip[i]))
		return 0;
	w->c->frames = i;
	return 1;
}

/*
 * Cuts a frame pointer chain at the first address that is not in code. Code without frame pointers
 * keeps data in the register, so that the rest of the chain is random and differs at each stack
 * walk. Returns 0 if mappings changed during the walk.
 */
once_verified int cut_chain(struct chain *c)
{
	struct mm_struct *mm = BPF_CORE_READ(current_task(), mm);
	struct chain_walk w = {.c = c};
	__u64 before;

	if (!c || !mm)
		return 0;
	c->at.mm = (__u64)mm;
	before = mm_changes(mm);
	if (c->caller && !is_code(c, c->caller))
		c->caller = 0;
	repeat(STACK_FRAMES, next_frame, &w);
	return before != ~0UL && before == mm_changes(mm);
}

#define FRAME_ADDRESS 2 /* value of BPF_STACK_BUILD_ID_IP */

/*
 * Sends only the addresses of a stack; user space searches the mappings for their files.
 * bpf_get_stack() searches mappings under mmap_lock. With interrupts disabled, the kernel releases
 * mmap_lock by the CPU's only irq_work. A tracepoint of mmap_lock can therefore fire within a stack
 * walk of bpf_get_stack(). If a program started a second stack walk in such a tracepoint, the
 * irq_work would be used twice, and mmap_lock would never be released (kernel/bpf/stackmap.c,
 * kernel/bpf/mmap_unlock_work.h). tests/shape/walks.py checks the objects for such programs.
 */
once_verified int fill_addresses(struct stack_record *r, const struct chain *c)
{
	if (!r || !c)
		return 0;
	for (__u32 i = 0; i < STACK_FRAMES; i++)
		r->frame[i] = (struct stack_frame){.status = FRAME_ADDRESS, .offset = c->ip[i]};
	return sizeof(r->frame);
}

/* Returns false if the stack could not be sent. */
static __always_inline bool emit_chain(void *ctx, const struct process_key *s,
				       const struct chain *c, __u32 number, bool named)
{
	struct stack_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	long bytes;

	if (!r) {
		bump(shared.losses.ring);
		return false;
	}
	bytes = named ? bpf_get_stack(ctx, r->frame, sizeof(r->frame),
				      BPF_F_USER_STACK | BPF_F_USER_BUILD_ID)
		      : fill_addresses(r, c);
	if (bytes <= 0) {
		bump(shared.losses.stack);
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		return false;
	}
	fill_header(&r->h, RECORD_STACK, sizeof(*r));
	r->subject = *s;
	r->stack = number;
	r->caller = c->caller;
	r->end = c->end;
	r->pad = 0;
	r->frames = bytes / sizeof(r->frame[0]);
	if (r->frames > c->frames)
		r->frames = c->frames;
	/* Wakes user space at once: the process may soon exit, and its mappings then vanish. */
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	return true;
}

/*
 * Returns a number for a new stack, or a negative number if none is left until the next scan. For
 * stacks of sampled faults (`sampled`), fewer numbers are available. *ret_new: the caller must send
 * the stack.
 */
static __always_inline __s32 new_number(const struct chain_key *key, bool sampled, bool *ret_new)
{
	__u32 number, *known;

	if (shared.stacks_used >= (sampled ? shared.stacks_for_samples : shared.stacks_for_all))
		return -1;
	number = add_fetch(&shared.stacks_used, 1) - 1;
	if (bpf_map_update_elem(&told, key, &number, BPF_NOEXIST)) {
		known = bpf_map_lookup_elem(&told, key); /* added by another thread */
		return known ? (__s32)*known : -1;
	}
	*ret_new = true;
	return number;
}

/*
 * Returns the number of a frame pointer chain that was sent before, or < 0. Sets c->key.hash. Keys
 * of maps are on the stack: older verifiers take no key from the argument of a global function.
 */
once_verified int find_chain(struct chain *c)
{
	struct chain_key key;
	__u32 *known;

	if (!c)
		return -1;
	c->key.hash = hash_chain(c);
	key = c->key;
	known = bpf_map_lookup_elem(&told, &key);
	if (!known)
		known = bpf_map_lookup_elem(&astray, &key);
	return known ? (__s32)*known : -1;
}

/*
 * Returns the number of a frame pointer chain, or < 0. c->key.hash is the hash that the chain had
 * before cut_chain(), which returned `sure`. Sets c->is_new if the caller must send the chain.
 */
once_verified int number_chain(struct chain *c, bool sampled, bool sure)
{
	struct chain_key key;
	bool is_new = false;
	__u32 *known;
	__s32 number;

	if (!c)
		return -1;
	key = c->key;
	key.hash = hash_chain(c);
	known = bpf_map_lookup_elem(&told, &key);
	number = known ? (__s32)*known : new_number(&key, sampled, &is_new);
	c->is_new = is_new;
	c->cut_hash = key.hash;
	if (number >= 0 && sure && key.hash != c->key.hash) {
		key.hash = c->key.hash;
		bpf_map_update_elem(&astray, &key, &number, BPF_ANY);
	}
	return number;
}

/* Forgets a chain that could not be sent, so that it is sent when it appears again. */
once_verified int forget_chain(const struct chain *c)
{
	struct chain_key key;

	if (!c)
		return 0;
	key = c->key;
	bpf_map_delete_elem(&astray, &key);
	key.hash = c->cut_hash;
	bpf_map_delete_elem(&told, &key);
	return 0;
}

/*
 * Returns the number of the current thread's frame pointer chain, or < 0. The steps are functions
 * that are called one after the other, so that the deepest of them, cut_chain(), has room on the
 * stack.
 */
static __always_inline __s32 number_of_chain(void *ctx, struct task_struct *leader, struct chain *c,
					     bool sampled, bool named)
{
	__s32 number = c->copy;
	long bytes;
	bool sure;

	bytes = bpf_get_stack(ctx, c->ip, sizeof(c->ip), BPF_F_USER_STACK);
	if (bytes <= 0)
		return number;
	c->frames = bytes / sizeof(c->ip[0]);
	fill_subject(&c->key.subject, leader);
	if (c->copy < 0) {
		number = find_chain(c);
		if (number >= 0)
			return number;
	}
	c->is_new = 1;
	sure = cut_chain(c);
	if (c->copy < 0)
		number = number_chain(c, sampled, sure);
	if (c->is_new && !emit_chain(ctx, &c->key.subject, c, number, named) && c->copy < 0) {
		forget_chain(c);
		return -1;
	}
	return number;
}

/*
 * These are two functions so that programs at mmap_lock tracepoints do not contain the one that
 * searches the mappings for files.
 */
static __noinline __s32 number_of_named_chain(void *ctx, struct task_struct *leader,
					      struct chain *c, bool sampled)
{
	return number_of_chain(ctx, leader, c, sampled, true);
}

static __noinline __s32 number_of_bare_chain(void *ctx, struct task_struct *leader, struct chain *c,
					     bool sampled)
{
	return number_of_chain(ctx, leader, c, sampled, false);
}

#ifndef FS_HASH
/*
 * Asks for tables that a walk lacks, or copies its stack. Returns whether the walk has frames that
 * are worth sending.
 */
once_verified int settle_walk(const struct process_key *s, struct unwind_walk *w,
			      const struct python_walk *p, bool sampled)
{
	if (!s || !w || !p)
		return 0;
	if (w->end == STACK_END_MISSING || w->end == STACK_END_OUTSIDE)
		ask_again(s, w);
	bump(shared.walk_ends[w->end & (STACK_ENDS_MAX - 1)]);
	/* a copied stack has no Python frames, which tell more than the missing native frames */
	if (w->end == STACK_END_MISSING && !sampled && !p->n)
		w->copy = copy_stack(s, &w->m.regs);
	return p->n || !lacks_tables(w);
}

static __always_inline struct chain_key key_of_walk(const struct process_key *s,
						    const struct unwind_walk *w,
						    const struct python_walk *p)
{
	struct chain_key key = {.subject = *s};

	key.hash = mix(w->hash, p->hash);
	return key;
}

#define NOT_SENT (-2) /* the stack has a number, but the ring was full */

/*
 * Returns the number of a stack that was walked with unwind tables, or < 0. This is a global
 * function so that the verifier checks it only once per program.
 */
once_verified int number_of_walk(const struct process_key *s, struct unwind_walk *w,
				 struct python_walk *p, bool sampled)
{
	struct chain_key key;
	bool is_new = false;
	__s32 number;
	__u32 *known;

	if (!s || !w || !p)
		return -1;
	key = key_of_walk(s, w, p);
	known = w->copy < 0 ? bpf_map_lookup_elem(&told, &key) : NULL;
	if (known)
		return *known;
	number = w->copy;
	is_new = number >= 0;
	if (!is_new)
		number = new_number(&key, sampled, &is_new);
	if (is_new) {
		if (p->n)
			tell_codes(p, &key.subject, false);
		if (!send_walk(&key.subject, w, p, number))
			return NOT_SENT;
	}
	return number;
}

/* Forgets a stack that could not be sent, so that it is sent when it appears again. */
once_verified int forget_walk(const struct process_key *s, const struct unwind_walk *w,
			      const struct python_walk *p)
{
	struct chain_key key;

	if (!s || !w || !p)
		return 0;
	key = key_of_walk(s, w, p);
	bpf_map_delete_elem(&told, &key);
	return 0;
}
#endif

#ifndef FS_HASH
/*
 * Sends the user stack of the current thread in a context where interrupts are disabled. No map is
 * updated there, so the stack gets a new number, and user space is not asked for tables. Returns
 * the number plus 1; 0: the process has no unwind tables.
 */
static __noinline __u32 send_stack_apart(struct task_struct *leader, const struct pt_regs *regs)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct fs_unwind_proc *proc = code_find(tgid);
	struct walk_scratch *w =
		proc && code_is_known(proc, tgid) ? walk_scratch_begin() : NULL;
	struct process_key s;
	__u32 number = 0;

	if (!w)
		return 0;
	w->walk.proc = *proc;
	if (shared.stacks_used < shared.stacks_for_all &&
	    !bpf_probe_read_kernel(&w->walk.m.regs, sizeof(w->walk.m.regs), regs)) {
		unwind_from_registers(&w->walk);
		walk_python(&w->walk, &w->python);
		bump(shared.walk_ends[w->walk.end & (STACK_ENDS_MAX - 1)]);
		number = add_fetch(&shared.stacks_used, 1);
		fill_subject(&s, leader);
		if (w->python.n)
			tell_codes(&w->python, &s, true);
		if (!send_walk(&s, &w->walk, &w->python, number - 1))
			number = 0;
		else if (w->walk.end == STACK_END_MISSING && may_copy(NULL))
			send_copy(&s, &w->walk.m.regs, number - 1);
	}
	unclaim(&w->users);
	return number;
}
#endif

/*
 * Returns the number of the current thread's user stack, or < 0. New stacks are sent to user space.
 * `regs` are the thread's registers at kernel entry. `caller` is the caller of the system call
 * wrapper, for a frame pointer chain. `sampled`: the stack is for a sampled fault. `named`: the
 * files of a frame pointer chain may be looked up. The steps are called one after the other, so
 * that none of them uses kernel stack during the walk.
 */
static __always_inline __s32 stack_of(void *ctx, struct task_struct *leader,
				      const struct pt_regs *regs, __u64 caller, bool sampled,
				      bool named)
{
	__u32 end = STACK_END_GOES_ON;
	struct scratch *scratch;
	__s32 copy = -1;
	__s32 number = -1;
	bool known = false;

#ifndef FS_HASH
	struct walk_scratch *w = walk_scratch_begin();

	if (w) {
		if (walk_begin(&w->walk, regs, leader)) {
			unwind_from_registers(&w->walk);
			walk_python(&w->walk, &w->python);
			fill_subject(&w->subject, leader);
			known = settle_walk(&w->subject, &w->walk, &w->python, sampled);
			if (known)
				number = number_of_walk(&w->subject, &w->walk, &w->python, sampled);
			if (number == NOT_SENT && w->walk.copy < 0)
				forget_walk(&w->subject, &w->walk, &w->python);
			else if (number == NOT_SENT)
				number = w->walk.copy;
		} else if (!sampled) {
			copy_walk(&w->walk, leader);
		}
		end = w->walk.end;
		copy = w->walk.copy;
		unclaim(&w->users);
	}
#endif
	scratch = known ? NULL : scratch_begin();
	if (scratch) {
		scratch->chain.end = end;
		scratch->chain.copy = copy;
		scratch->chain.caller = caller;
		number = named ? number_of_named_chain(ctx, leader, &scratch->chain, sampled)
			       : number_of_bare_chain(ctx, leader, &scratch->chain, sampled);
		scratch_end(scratch);
	}
	if (number < 0)
		bump(shared.losses.stack);
	return number;
}

#endif

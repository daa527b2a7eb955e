/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A refused call: its state at that moment, equal ones coalesced. */
#ifndef FS_REFUSAL_BPF_H
#define FS_REFUSAL_BPF_H

#include "asked.bpf.h"
#include "stack.bpf.h"

/* A system call at its end. */
struct call {
	struct task_struct *task;
	struct task_struct *leader;
	struct pt_regs *regs;
	void *ctx; /* of the program */
	long ret;
	__u8 call;  /* enum fs_call */
	__u8 shape; /* enum fs_shape */
	bool compat;
	__u32 nr; /* of the table that `compat` says */
};

#define call_arg(c, n) regs_arg((c)->regs, n, (c)->compat)

#define NOT_REFUSED (-1)

/* What a thread was told in the call that it is in. */
struct note {
	__u64 area_bytes; /* no free range of that length was found */
	__u32 facts;	  /* FS_FACT_SAID_* */
	__u32 pad;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32); /* pid of the thread */
	__type(value, struct note);
} notes SEC(".maps");

static __always_inline void note_down(struct fs_state *st, struct task_struct *task,
				      __u64 area_bytes, __u32 facts)
{
	struct note fresh = {.area_bytes = area_bytes, .facts = facts}, *old;
	__u32 tid = get(task, pid);

	old = bpf_map_lookup_elem(&notes, &tid);
	if (old) {
		if (area_bytes)
			old->area_bytes = area_bytes;
		old->facts |= facts;
	} else if (!bpf_map_update_elem(&notes, &tid, &fresh, BPF_ANY)) {
		__sync_fetch_and_add(&st->noted, 1);
	}
}

/* A search that failed was repeated elsewhere, and found room. */
static __always_inline void forget_area(struct fs_state *st, struct task_struct *task)
{
	__u32 tid = get(task, pid);
	struct note *old;

	if (!st->noted)
		return;
	old = bpf_map_lookup_elem(&notes, &tid);
	if (old)
		old->area_bytes = 0;
}

/* Takes the note of a thread at the end of its call, whatever came of that. */
static __always_inline struct note take_note(struct fs_state *st, struct task_struct *task)
{
	__u32 tid = get(task, pid);
	struct note *old, note = {};

	if (!st->noted)
		return note;
	old = bpf_map_lookup_elem(&notes, &tid);
	if (!old)
		return note;
	note = *old;
	bpf_map_delete_elem(&notes, &tid);
	__sync_fetch_and_add(&st->noted, -1);
	return note;
}

static __always_inline void read_memory(struct fs_refused_record *r, struct mm_struct *mm)
{
	r->total_vm_pages = get(mm, total_vm);
	r->data_vm_pages = get(mm, data_vm);
	r->locked_vm_pages = get(mm, locked_vm);
	r->map_count = map_count_of(mm);
	r->heap_bytes = get(mm, brk) - get(mm, start_brk) + get(mm, end_data) - get(mm, start_data);
	r->task_size_bytes = get(mm, task_size);
}

static __always_inline void read_limits(struct fs_refused_record *r, struct signal_struct *sig)
{
	r->as_limit_bytes = soft_limit(sig, RLIMIT_AS);
	r->data_limit_bytes = soft_limit(sig, RLIMIT_DATA);
	r->memlock_limit_bytes = soft_limit(sig, RLIMIT_MEMLOCK);
	r->stack_limit_bytes = soft_limit(sig, RLIMIT_STACK);
	r->nproc_limit = soft_limit(sig, RLIMIT_NPROC);
	r->fd_soft = soft_limit(sig, RLIMIT_NOFILE);
}

/* The descriptor that a call names besides those it makes; < 0: none. */
static __always_inline long fd_of(const struct fs_refused_record *r)
{
	switch (r->call) {
	case FS_CALL_MMAP:
		return r->args[3] & MAP_ANONYMOUS ? -1 : (long)(__u32)r->args[4];
	case FS_CALL_DUP:
	case FS_CALL_PIPE_SIZE:
		return (__u32)r->args[0];
	}
	return -1;
}

#define fill_zero(what) __builtin_memset(&(what), 0, sizeof(what))

/*
 * Refusals of one call and errno may have several causes: those that ask for about as much, in the
 * same way, at the same map count as far as that matters, are equal.
 */
static __always_inline __u64 group_of(const struct call *c, struct mm_struct *mm, __u32 facts)
{
	__u64 group = facts;

	if (c->call >= FS_CALL_FD_FIRST)
		return group;
	group |= (__u64)log2_of(call_arg(c, 1)) << 32;
	if (mm && map_count_of(mm) + 4 > shared.max_map_count)
		group |= 1UL << 38;
	if (c->shape == FS_SHAPE_MMAP)
		group |= (call_arg(c, 2) & 7) << 40 | (call_arg(c, 3) & 0x1fffff) << 43;
	return group;
}

static __always_inline void emit_refusal(struct fs_state *st, const struct call *c, __u16 error)
{
	struct task_struct *task = c->task;
	struct mm_struct *mm = get(task, mm);
	struct note note = take_note(st, task);
	__u32 facts = facts_of(task, mm) | note.facts;
	struct fs_refused_record *r;
	struct fs_subject s;
	__u64 count;
	__s32 stack = -1;
	long fd;

	if (note.area_bytes)
		facts |= FS_FACT_NO_AREA;
	if (c->compat)
		facts |= FS_FACT_COMPAT;
	facts |= is_filtered(task, c->nr, c->compat) * FS_FACT_FILTERED;
	facts |= is_namespace_over(task) * FS_FACT_PIDS_OVER;
	fill_subject(&s, c->leader);
	count = coalesce(&s, (__u64)c->call << 16 | error, group_of(c, mm, facts));
	if (!count)
		return;
	if (config.attribute)
		stack = stack_of(c->ctx, &s, regs_caller(c->regs), FS_STACKS);
	r = draft_begin();
	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	fill_header(&r->h, FS_REC_REFUSED, sizeof(*r));
	r->subject = s;
	r->tid = get(task, pid);
	r->call = c->call;
	r->error = error;
	r->count = count;
	r->args[0] = call_arg(c, 0);
	r->args[1] = call_arg(c, 1);
	r->args[2] = call_arg(c, 2);
	r->args[3] = call_arg(c, 3);
	r->args[4] = call_arg(c, 4);
	r->args[5] = call_arg(c, 5);
	r->ret = c->ret;
	r->facts = facts;
	r->area_bytes = note.area_bytes;
	r->stack = stack;
	r->total_vm_pages = r->data_vm_pages = r->locked_vm_pages = r->heap_bytes = 0;
	r->task_size_bytes = 0;
	r->map_count = 0;
	if (mm)
		read_memory(r, mm);
	read_limits(r, get(task, signal));
	fill_zero(r->file);
	fill_zero(r->memory);
	fill_zero(r->pids);
	fill_zero(r->range);
	r->range.hole = NOT_KNOWN;
	fill_zero(r->asked);
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), task->comm);
	read_range(r, 0);
	read_asked(r, c->shape);
	fd = fd_of(r);
	if (fd >= 0)
		read_named(r, fd);
	read_levels(r, 0);
	read_user(r, 0);
	read_variables(r, 0);
	/* F_DUPFD names the lowest number it takes */
	read_fds(r, c->shape == FS_SHAPE_FCNTL && error == EMFILE ? r->args[2] : 0);
	if (r->fds != ~0U)
		saw_fds(st, c->leader, r->fds, r->fd_soft);
	if (draft_send(r))
		bump(shared.losses.ring);
}

#endif

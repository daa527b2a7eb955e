/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts failed calls, combines equal ones, and sends their records. */
#ifndef FS_REFUSAL_BPF_H
#define FS_REFUSAL_BPF_H

#include "counted.bpf.h"
#include "stack.bpf.h"

/* A system call that is returning. */
struct call {
	struct task_struct *task;
	struct task_struct *leader; /* task storage accepts it; see leader_of() */
	struct pt_regs *regs;
	void *ctx; /* context of the BPF program */
	long ret;
	__u8 call;  /* kind of call: enum call_id */
	__u8 shape; /* form of arguments and result: enum fs_shape */
	bool compat;
	__u32 nr; /* system call number in the table that `compat` selects */
	/* The members below describe growth that the call caused, for growth.bpf.h. */
	__u32 added;   /* number of mappings added, or of fds created */
	__u32 removed; /* number of mappings removed */
	__u16 fds;     /* number of fds in `fd`; 0 for mapping calls */
	__u16 weight;  /* number of fds that each of them counts for: see weight_of_open() */
	__u32 fd[2];
	__s32 stack; /* number of the user stack, set by find_stack(); -1: not known */
};

/* The leader, for loads: the verifier checks loads through an untrusted pointer faster. */
#define leader_of(c) as_task((c)->leader)

#define call_arg(c, n) regs_arg((c)->regs, n, (c)->compat)

#define NOT_REFUSED (-1)

/*
 * Stores data about the thread's current call until the call ends. st->noted counts the threads
 * with such data. If st->noted is 0, no lookup is needed.
 */
static __always_inline void note_down(struct fs_state *st, __u64 area_bytes, __u32 facts)
{
	struct fs_fault_slot *slot = slot_make(current_task(), st);

	if (!slot) {
		bump(shared.losses.slot);
		return;
	}
	if (!slot->noted)
		atomic_add(&st->noted, 1);
	slot->noted = 1;
	if (area_bytes)
		slot->no_area_bytes = area_bytes;
	slot->said |= facts;
}

static __always_inline struct fs_fault_slot *noted_slot(struct fs_state *st)
{
	struct fs_fault_slot *slot = st->noted ? slot_find(current_task()) : NULL;

	return slot && slot->noted ? slot : NULL;
}

/*
 * Forgets a failed search for a free address range. Called if a later search in the same call
 * succeeded.
 */
static __always_inline void forget_area(struct fs_state *st)
{
	struct fs_fault_slot *slot = noted_slot(st);

	if (slot)
		slot->no_area_bytes = 0;
}

struct note {
	__u64 area_bytes; /* length of the free range that was not found */
	__u32 facts;	  /* FACT_SAID_* bits of log lines in the call */
};

/*
 * Returns and removes the data that was stored about the thread's call. Called at the end of the
 * call.
 */
static __always_inline struct note take_note(struct fs_state *st)
{
	struct fs_fault_slot *slot = noted_slot(st);
	struct note note = {};

	if (!slot)
		return note;
	note.area_bytes = slot->no_area_bytes;
	note.facts = slot->said;
	slot->no_area_bytes = 0;
	slot->said = slot->noted = 0;
	atomic_add(&st->noted, -1);
	return note;
}

static __always_inline void read_memory(struct refused_record *r, struct mm_struct *mm)
{
	r->total_vm_pages = get(mm, total_vm);
	r->data_vm_pages = get(mm, data_vm);
	r->locked_vm_pages = get(mm, locked_vm);
	r->map_count = map_count_of(mm);
	r->heap_bytes = get(mm, brk) - get(mm, start_brk) + get(mm, end_data) - get(mm, start_data);
	r->task_size_bytes = get(mm, task_size);
}

static __always_inline void read_limits(struct refused_record *r, struct signal_struct *sig)
{
	r->as_limit_bytes = soft_limit(sig, RLIMIT_AS);
	r->data_limit_bytes = soft_limit(sig, RLIMIT_DATA);
	r->memlock_limit_bytes = soft_limit(sig, RLIMIT_MEMLOCK);
	r->stack_limit_bytes = soft_limit(sig, RLIMIT_STACK);
	r->nproc_limit = soft_limit(sig, RLIMIT_NPROC);
	r->fd_soft = soft_limit(sig, RLIMIT_NOFILE);
}

/*
 * Returns the fd argument of a call, not an fd that it creates. Returns a negative number if there
 * is none.
 */
static __always_inline long fd_of(const struct refused_record *r, __u32 shape)
{
	if (shape == FS_SHAPE_SPACE2)
		return (__u32)r->args[2];
	switch (r->call) {
	case CALL_MMAP:
		return r->args[3] & MAP_ANONYMOUS ? -1 : (long)(__u32)r->args[4];
	case CALL_DUP:
	case CALL_PIPE_SIZE:
	case CALL_FALLOCATE:
	case CALL_WRITE:
	case CALL_IOCTL:
	case CALL_FTRUNCATE:
		return (__u32)r->args[0];
	}
	return -1;
}

#define fill_zero(what) __builtin_memset(&(what), 0, sizeof(what))

/*
 * Returns a key for failed calls that probably have one cause. Such calls have a similar size and
 * equal mmap flags. Their map counts are either all near vm.max_map_count, or all not near it.
 * Calls with equal keys are combined.
 */
static __always_inline __u64 group_of(const struct call *c, struct mm_struct *mm, __u32 facts)
{
	__u64 group = facts;

	if (c->call == CALL_IOCTL)
		return group | call_arg(c, 1) << 32; /* the number of the request */
	if (c->call >= CALL_FD_FIRST)
		return group;
	group |= (__u64)log2_of(call_arg(c, 1)) << 32;
	if (mm && map_count_of(mm) + 4 > shared.max_map_count)
		group |= 1UL << 38;
	if (c->shape == FS_SHAPE_MMAP)
		group |= (call_arg(c, 2) & 7) << 40 | (call_arg(c, 3) & 0x1fffff) << 43;
	return group;
}

/* Returns the additional bytes that a mapping call requests, or 0 if it requests none. */
static __always_inline __u64 bytes_asked(const struct call *c)
{
	if (c->shape == FS_SHAPE_BRK)
		return call_arg(c, 0) - c->ret;
	if (c->call == CALL_MREMAP)
		return call_arg(c, 2);
	return c->call == CALL_MMAP ? call_arg(c, 1) : 0;
}

/*
 * Stores the thread's last failed request for memory. settle_request() compares later requests with
 * it.
 */
static __always_inline void note_request(struct fs_state *st, const struct call *c)
{
	__u64 bytes = bytes_asked(c);

	if (!bytes)
		return;
	st->refused_bytes = bytes;
	st->refused_tid = get(c->task, pid);
	st->refused_ns = bpf_ktime_get_ns();
}

/*
 * Called when a mapping call succeeds. Sends a record if the call requests a size similar to that
 * of the thread's last failed request.
 */
static __always_inline void settle_request(struct fs_state *st, const struct call *c)
{
	__u32 tid = get(c->task, pid);
	struct retry_record *r;
	__u64 bytes;

	if (st->refused_tid != tid || c->shape == FS_SHAPE_BRK)
		return;
	bytes = bytes_asked(c);
	if (!bytes || bytes < st->refused_bytes / 2)
		return;
	if (bpf_ktime_get_ns() - st->refused_ns > RETRY_NS) {
		st->refused_ns = 0;
		return;
	}
	st->refused_ns = 0;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	fill_header(&r->h, RECORD_RETRY, sizeof(*r));
	fill_subject(&r->subject, leader_of(c));
	r->tid = tid;
	r->call = c->call;
	r->pad = 0;
	r->bytes = bytes;
	bpf_ringbuf_submit(r, wake_when_filling());
}

/*
 * The functions from find_stack() on make a deep chain of calls. They are not inlined, so that the
 * end of a system call has only `struct call` and `struct refusal` on the stack.
 */
returns_unread int find_stack(struct call *c)
{
	c->stack = stack_of(c->ctx, leader_of(c), c->regs, regs_caller(c->regs), false, true);
	return 0;
}

/* Values of a failed call's record that are not in struct call. */
struct refusal {
	__u64 count;
	__u64 area_bytes;
	__u32 facts;
	__u32 error;
};

/*
 * Counts a failed call. Returns false if no record should be sent, because equal calls failed
 * before.
 */
static __noinline bool count_refusal(struct fs_state *st, const struct call *c, struct refusal *f)
{
	struct task_struct *task = c->task;
	struct mm_struct *mm = get(task, mm);
	struct note note = take_note(st);
	__u32 facts = facts_of(task, mm) | note.facts;
	struct process_key s;

	if (note.area_bytes)
		facts |= FACT_NO_AREA;
	if (c->compat)
		facts |= FACT_COMPAT;
	facts |= is_filtered(task, c->nr, c->compat) * FACT_FILTERED;
	facts |= (c->shape == FS_SHAPE_QUEUE) * FACT_QUEUE;
	facts |= is_namespace_over(task) * FACT_PIDS_OVER;
	fill_subject(&s, leader_of(c));
	f->area_bytes = note.area_bytes;
	f->facts = facts;
	f->count = coalesce(&s, (__u64)c->call << 16 | f->error, group_of(c, mm, facts));
	if (!f->count)
		return false;
	note_request(st, c);
	return true;
}

/* Fills all members that need no walk through lists, and sets the others to zero or unknown. */
returns_unread int fill_refusal(struct refused_record *r, const struct call *c,
				const struct refusal *f)
{
	struct task_struct *task = c->task;
	struct mm_struct *mm = get(task, mm);

	fill_header(&r->h, RECORD_REFUSED, sizeof(*r));
	fill_subject(&r->subject, leader_of(c));
	r->tid = get(task, pid);
	r->call = c->call;
	r->error = f->error;
	r->count = f->count;
	r->args[0] = call_arg(c, 0);
	r->args[1] = call_arg(c, 1);
	r->args[2] = call_arg(c, 2);
	r->args[3] = call_arg(c, 3);
	r->args[4] = call_arg(c, 4);
	r->args[5] = call_arg(c, 5);
	r->ret = c->ret;
	r->facts = f->facts;
	r->area_bytes = f->area_bytes;
	r->stack = c->stack;
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
	fill_zero(r->space);
	fill_zero(r->ipc);
	fill_zero(r->device);
	fill_zero(r->counted);
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), task->comm);
	return 0;
}

static __always_inline void emit_refusal(struct fs_state *st, struct call *c, __u16 error)
{
	struct refusal f = {.error = error};
	struct refused_record *r;
	long fd;

	if (!count_refusal(st, c, &f))
		return;
	if (config.attribute)
		find_stack(c);
	r = draft_begin();
	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	fill_refusal(r, c, &f);
	read_range(r, 0);
	read_request_size(r, c->shape);
	read_counted(r, c->shape);
	fd = fd_of(r, c->shape);
	if (fd >= 0)
		read_named(r, fd);
	read_levels(r, 0);
	read_user(r, 0);
	read_variables(r, 0);
	/* F_DUPFD searches for a free fd number that is at least its argument. */
	read_fds(r, c->shape == FS_SHAPE_FCNTL && error == EMFILE ? r->args[2] : 0);
	if (r->fds != ~0U)
		saw_fds(st, leader_of(c), r->fds, r->fd_soft);
	if (draft_send(r))
		bump(shared.losses.ring);
}

#endif

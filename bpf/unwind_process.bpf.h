/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracks which processes have mappings for stack walks with unwind tables. If the executable
 * mappings of a process change, the BPF program sends one code_record. User space then reads the
 * mappings; further changes send no record until it begins to read.
 */
#ifndef FS_UNWIND_PROCESS_BPF_H
#define FS_UNWIND_PROCESS_BPF_H

#include "process_state.bpf.h"

#define PROT_EXEC 4

#ifndef FS_HASH

#include "unwind.bpf.h"

static __always_inline void send_code(const struct process_key *s)
{
	struct code_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	fill_header(&r->h, RECORD_CODE, sizeof(*r));
	r->subject = *s;
	/*
	 * wake user space now: until it has read the mappings, stacks of this process are walked by
	 * frame pointers
	 */
	bpf_ringbuf_submit(r, wake_once());
}

static __always_inline struct fs_unwind_proc *code_find(__u32 tgid)
{
	return bpf_map_lookup_elem(&unwind_procs, &tgid);
}

static __always_inline struct fs_unwind_epoch *code_epoch(__u32 tgid)
{
	return bpf_map_lookup_elem(&unwind_epochs, &tgid);
}

/* Returns whether user space has read the mappings of a process, and the list is still valid. */
static __always_inline bool code_is_known(const struct fs_unwind_proc *proc, __u32 tgid)
{
	struct fs_unwind_epoch *e = proc->areas ? code_epoch(tgid) : NULL;

	return e && e->valid_ns == proc->valid_ns;
}

/* Begins the time of a new program, or of a process that was not known. */
static __noinline void code_begin(__u32 tgid, __u64 flags)
{
	struct fs_unwind_epoch e = {.valid_ns = bpf_ktime_get_ns()};

	bpf_map_update_elem(&unwind_epochs, &tgid, &e, flags);
}

/* Asks user space to read the mappings of a process that has none yet. */
static __always_inline void code_ask(const struct process_key *s)
{
	struct fs_unwind_proc none = {.changed = 1};
	__u32 tgid = s->pid;

	code_begin(tgid, BPF_NOEXIST);
	if (!bpf_map_update_elem(&unwind_procs, &tgid, &none, BPF_NOEXIST))
		send_code(s);
}

/* Tells user space that the executable mappings of a process changed. */
static __always_inline void code_changed(const struct process_key *s, struct fs_unwind_proc *proc)
{
	if (!swap(&proc->changed, 1))
		send_code(s);
}

/*
 * Copies the mappings of a parent to its forked child, so that the child's stacks are whole from
 * its first system call on.
 */
static __always_inline void code_forked(__u32 parent, __u32 child)
{
	struct fs_unwind_proc *of = code_find(parent), copy;
	struct fs_unwind_epoch *epoch = code_epoch(parent);

	if (!config.attribute || !of || !of->areas || !epoch)
		return;
	copy = *of;
	copy.changed = 0;
	bpf_map_update_elem(&unwind_epochs, &child, epoch, BPF_ANY);
	bpf_map_update_elem(&unwind_procs, &child, &copy, BPF_ANY);
}

static __always_inline void code_exited(__u32 tgid)
{
	if (!config.attribute)
		return;
	bpf_map_delete_elem(&unwind_procs, &tgid);
	bpf_map_delete_elem(&unwind_epochs, &tgid);
}

/*
 * After an exec, asks for the mappings of the new program at once, if the process is watched by its
 * pid.
 */
static __always_inline void code_execed(struct task_struct *leader)
{
	struct process_key s;

	code_exited(get(leader, tgid));
	if (!config.attribute || config.watch_all)
		return;
	fill_subject(&s, leader);
	code_begin(s.pid, BPF_ANY);
	code_ask(&s);
}

/*
 * Handles a call of the current process that mapped executable memory. `replaced`: a file may have
 * replaced a mapping that user space knows, and the old rules do not fit the new file. The process
 * then has no mappings for walks until user space has read them again.
 */
static __noinline int code_mapped(struct task_struct *leader, __u64 address, bool replaced)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct fs_unwind_proc *proc = code_find(tgid);
	struct fs_unwind_epoch *e = code_epoch(tgid);
	struct process_key s;

	if (!proc || !e)
		return 0;
	e->mapped_at[(add_fetch(&e->mapped, 1) - 1) & (FS_UNWIND_MAPPED - 1)] = address;
	if (unwind_has_area(proc, address)) {
		if (!replaced)
			/* JIT compilers change memory outside of the known mappings all the time */
			return 0;
		e->valid_ns = bpf_ktime_get_ns();
	}
	fill_subject(&s, leader);
	code_changed(&s, proc);
	return 0;
}

#else

static __always_inline void code_forked(__u32 parent, __u32 child)
{
}

static __always_inline void code_exited(__u32 tgid)
{
}

static __always_inline void code_execed(struct task_struct *leader)
{
}

static __always_inline int code_mapped(struct task_struct *leader, __u64 address, bool replaced)
{
	return 0;
}

#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A refused call: its state at that moment, equal ones coalesced. */
#ifndef FS_REFUSAL_BPF_H
#define FS_REFUSAL_BPF_H

#include "state.bpf.h"

/* A system call at its end. */
struct call {
	struct task_struct *task;
	struct task_struct *leader;
	struct pt_regs *regs;
	long ret;
	__u8 call;  /* enum fs_call */
	__u8 shape; /* enum fs_shape */
	bool compat;
};

#define call_arg(c, n) regs_arg((c)->regs, n, (c)->compat)

static __always_inline void emit_refusal(struct fs_state *st, const struct call *c, __u16 error,
					 bool want_fds)
{
	struct task_struct *task = c->task, *leader = c->leader;
	struct signal_struct *sig = get(task, signal);
	struct mm_struct *mm = get(task, mm);
	struct fs_refused_record *r;
	struct fs_subject s;
	__u32 fds = ~0U;
	__u64 count;

	fill_subject(&s, leader);
	count = coalesce(&s, (__u64)c->call << 32 | error);
	if (!count)
		return;
	if (want_fds && count_fds(task, &fds))
		saw_fds(st, leader, fds, soft_limit(sig, RLIMIT_NOFILE));
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
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
	r->total_vm_pages = r->data_vm_pages = r->locked_vm_pages = r->heap_bytes = 0;
	r->map_count = r->def_flags_locked = 0;
	if (mm) {
		r->total_vm_pages = get(mm, total_vm);
		r->data_vm_pages = get(mm, data_vm);
		r->locked_vm_pages = get(mm, locked_vm);
		r->map_count = map_count_of(mm);
		r->heap_bytes = get(mm, brk) - get(mm, start_brk) + get(mm, end_data) -
				get(mm, start_data);
		r->def_flags_locked = !!(get(mm, def_flags) & VM_LOCKED);
	}
	r->as_limit_bytes = soft_limit(sig, RLIMIT_AS);
	r->data_limit_bytes = soft_limit(sig, RLIMIT_DATA);
	r->memlock_limit_bytes = soft_limit(sig, RLIMIT_MEMLOCK);
	r->fd_soft = soft_limit(sig, RLIMIT_NOFILE);
	r->fds = fds;
	r->cap_ipc_lock = has_capability(task, CAP_IPC_LOCK);
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), task->comm);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
}

#endif

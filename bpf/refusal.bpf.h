/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A refused call: its state at that moment, equal ones coalesced. */
#ifndef FS_REFUSAL_BPF_H
#define FS_REFUSAL_BPF_H

#include "state.bpf.h"

static __always_inline void emit_refusal(struct fs_state *st, struct task_struct *task,
					 struct pt_regs *regs, __u32 call, long ret, __u16 error,
					 bool want_fds)
{
	struct task_struct *leader = task->group_leader;
	struct mm_struct *mm = task->mm;
	struct fs_refused_record *r;
	struct fs_subject s;
	__u32 fds = ~0U;
	__u64 count;

	fill_subject(&s, leader);
	count = coalesce(&s, (__u64)call << 32 | error);
	if (!count)
		return;
	if (want_fds && count_fds(task, &fds))
		saw_fds(st, leader, fds, soft_limit(leader, RLIMIT_NOFILE));
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		bump(losses.ring);
		return;
	}
	fill_header(&r->h, FS_REC_REFUSED, sizeof(*r));
	r->subject = s;
	r->tid = task->pid;
	r->call = call;
	r->error = error;
	r->count = count;
	r->args[0] = regs->di;
	r->args[1] = regs->si;
	r->args[2] = regs->dx;
	r->args[3] = regs->r10;
	r->args[4] = regs->r8;
	r->args[5] = regs->r9;
	r->ret = ret;
	r->total_vm_pages = r->data_vm_pages = r->locked_vm_pages = r->heap_bytes = 0;
	r->map_count = r->def_flags_locked = 0;
	if (mm) {
		r->total_vm_pages = mm->total_vm;
		r->data_vm_pages = mm->data_vm;
		r->locked_vm_pages = mm->locked_vm;
		r->map_count = mm->map_count;
		r->heap_bytes = mm->brk - mm->start_brk + mm->end_data - mm->start_data;
		r->def_flags_locked = !!(mm->def_flags & VM_LOCKED);
	}
	r->as_limit_bytes = soft_limit(leader, RLIMIT_AS);
	r->data_limit_bytes = soft_limit(leader, RLIMIT_DATA);
	r->memlock_limit_bytes = soft_limit(leader, RLIMIT_MEMLOCK);
	r->fd_soft = soft_limit(leader, RLIMIT_NOFILE);
	r->fds = fds;
	r->cap_ipc_lock = BPF_CORE_READ(task, cred, cap_effective.val) >> CAP_IPC_LOCK & 1;
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), task->comm);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
}

#endif

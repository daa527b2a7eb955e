/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel side as one object: rooms share maps, and a tracepoint has one program. */
#include "task.bpf.c"
#include "fault.bpf.c"
#include "mapping.bpf.c"
#include "fd.bpf.c"

/* The end of a system call: pt_regs still hold the arguments, and ret is the answer. */
static __always_inline int end_call(struct pt_regs *regs, __u64 nr, long ret)
{
	struct fs_syscall sc;
	struct task_struct *task;
	struct fs_state *st;

	if (nr >= FS_SYSCALL_MAX)
		return 0;
	sc.shape = syscalls[nr].shape;
	if (!sc.shape)
		return 0;
	sc.call = syscalls[nr].call;
	task = bpf_get_current_task_btf();
	if (task->thread_info.status & compat_bits)
		return 0; /* a 32-bit call: other numbers */
	st = proc_of(task);
	if (!st)
		return 0;
	if (sc.call < FS_CALL_FD_FIRST)
		on_map_call(st, task, regs, sc, ret);
	else
		on_fd_call(st, task, regs, sc, ret);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long ret)
{
	return end_call(regs, regs->orig_ax, ret);
}

/* Attached to the classic exit tracepoint of each call of interest: the others pay less. */
SEC("tp")
int on_call_exit(struct syscall_trace_exit *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return end_call((struct pt_regs *)bpf_task_pt_regs(task), ctx->nr, ctx->ret);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

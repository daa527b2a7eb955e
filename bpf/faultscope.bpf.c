/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel side as one object: rooms share maps, and a tracepoint has one program. */
#include "task.bpf.c"
#include "fault.bpf.c"
#include "mapping.bpf.c"
#include "fd.bpf.c"

/* The end of a system call: at it pt_regs still hold the arguments, and ret the answer. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long ret)
{
	__u64 nr = regs->orig_ax;
	struct fs_syscall sc;
	struct task_struct *task;
	struct proc_state *st;

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

char LICENSE[] SEC("license") = "Dual BSD/GPL";

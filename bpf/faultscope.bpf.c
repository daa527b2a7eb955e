/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Combines all BPF programs into one object. The programs share maps, and each tracepoint has only
 * one program.
 */
#include "task.bpf.c"
#include "fault.bpf.c"
#include "signal.bpf.c"
#include "memory.bpf.c"
#include "contention.bpf.c"
#include "mapping.bpf.c"
#include "fd.bpf.c"
#include "failed_call.bpf.c"
#include "cgroup.bpf.h"
#include "freed_state.bpf.h"
#include "held_lock.bpf.h"
#include "pressure.bpf.h"
#include "resident.bpf.h"
#include "resident_move.bpf.h"
#include "resident_read.bpf.h"

/* Replaces the call id if fcntl() was called with F_SETPIPE_SZ, which is counted separately. */
static __always_inline void name_fcntl(struct call *c)
{
	if (c->shape == FS_SHAPE_FCNTL && call_arg(c, 1) == F_SETPIPE_SZ)
		c->call = CALL_PIPE_SIZE;
}

/*
 * Called at the end of a system call. `regs` still hold its arguments. NULL: the program runs only
 * at calls that are in the tables, and asks for the registers only if the process is watched.
 */
static __always_inline int end_call(void *ctx, struct task_struct *task, struct pt_regs *regs,
				    __u64 nr, long ret)
{
	struct call c = {.task = task, .regs = regs, .ctx = ctx, .ret = ret, .nr = nr, .stack = -1};
	struct fs_state *st;
	int refused;

	if (nr >= FS_SYSCALL_MAX)
		return 0;
	/*
	 * Most system calls are in no table. For them, the program ends before it reads the task.
	 */
	if (regs && !(config.syscalls[nr].shape | config.compat_syscalls[nr].shape))
		return 0;
	/* 32-bit calls return an int, and no such call returns more than MAX_RW_COUNT. */
	if (config.failures_only[nr] && (int)ret >= 0)
		return 0;
	c.leader = get(task, group_leader);
	st = proc_of(c.leader);
	if (!st)
		return 0;
#ifndef FS_HASH
	if (!regs)
		c.regs = (struct pt_regs *)bpf_task_pt_regs(task);
#endif
	c.compat = is_compat_call(task);
	c.call = c.compat ? config.compat_syscalls[nr].call : config.syscalls[nr].call;
	c.shape = c.compat ? config.compat_syscalls[nr].shape : config.syscalls[nr].shape;
	if (!c.shape)
		return 0;
	if (c.compat)
		c.ret = (int)ret;
	end_hold(ctx, st);
	/*
	 * The code below uses the results of as_task() and leader_of(). For each load through a
	 * trusted pointer, the verifier would search all types of the kernel, which takes time.
	 */
	c.task = as_task(task);
	name_fcntl(&c);
	if (c.call < CALL_FD_FIRST)
		refused = on_map_call(st, &c);
	else if (c.call < CALL_OTHER_FIRST)
		refused = on_fd_call(st, &c);
	else
		refused = on_other_call(st, &c);
#ifndef FS_HASH
	if (c.call == CALL_MREMAP)
		note_move(&c);
#endif
	forget_value(refused);
	forget_growth(&c);
	attribute(st, &c);
	if (refused != NOT_REFUSED)
		emit_refusal(st, &c, refused);
	else if (st->noted)
		/* The call succeeded: delete the notes about its steps that failed. */
		take_note(st);
	if (refused == NOT_REFUSED && st->refused_ns && c.call < CALL_FD_FIRST)
		settle_request(st, &c);
	if (refused != NOT_REFUSED && makes_task(c.shape))
		proc_clone_failed(c.task, c.leader, st);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long ret)
{
	return end_call(ctx, current_task(), regs, regs_number(regs), ret);
}

#ifdef FS_HASH
SEC("raw_tp/sys_exit")
int raw_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx->args[0];

	return end_call(ctx, current_task(), regs, regs_number(regs), ctx->args[1]);
}

#else
/* Attached to the exit tracepoint of each system call in the tables: other calls cost nothing. */
SEC("tp")
int on_call_exit(struct syscall_trace_exit *ctx)
{
	return end_call(ctx, current_task(), NULL, (__u32)ctx->nr, ctx->ret);
}

/*
 * Attached to the returns of the functions of system calls. For a call that a seccomp filter
 * answers, the kernel calls no such function. Therefore also attached to __secure_computing(), with
 * a cookie that is not 0. This function returns -1 after the filter has set the call's result.
 */
SEC("kretprobe.multi")
int on_call_return(struct pt_regs *ctx)
{
	struct task_struct *task = current_task();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	long ret = PT_REGS_RC(ctx);

	if (bpf_get_attach_cookie(ctx)) {
		if ((int)ret != -1)
			return 0;
		ret = regs_result(regs);
	}
	return end_call(ctx, task, regs, regs_number(regs), ret);
}
#endif

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds system calls that hold mmap_lock while other threads of the process wait. The tracepoints
 * of contended locks fire only in the threads that wait. So the first thread that waits notes which
 * thread holds mmap_lock. When the call of this thread ends, the call is reported with its stack.
 */
#ifndef FS_HELD_LOCK_BPF_H
#define FS_HELD_LOCK_BPF_H

#include "slow_fault.bpf.h"

/* The hash-table build reports no slow events, so that it needs no holders either. */
#ifndef FS_HASH

/*
 * Returns the registers with which a thread entered the kernel. They are at the same place of the
 * kernel stacks of all threads (task_pt_regs(), arch/x86/include/asm/processor.h and
 * arch/arm64/include/asm/processor.h). The verifier allows no arithmetic with the pointer of a
 * helper, so the pointer is read from memory as a number.
 */
static __always_inline struct pt_regs *regs_of_other(struct task_struct *other)
{
	struct task_struct *current = current_task();
	long own = bpf_task_pt_regs(current);
	__u64 place = 0;

	bpf_probe_read_kernel(&place, sizeof(place), &own);
	place -= (__u64)BPF_CORE_READ(current, stack);
	return (struct pt_regs *)((__u64)BPF_CORE_READ(other, stack) + place);
}

/* Returns whether a thread is in a system call at whose end end_hold() is called. */
static __always_inline bool is_in_mapping_call(struct task_struct *holder)
{
	__u64 nr = number_in(regs_of_other(holder)); /* -1: the thread is in no system call */
	bool compat = is_compat_call(holder);

	if (nr >= FS_SYSCALL_MAX)
		return false;
	if (!(compat ? config.compat_syscalls[nr].shape : config.syscalls[nr].shape))
		return false;
	return (compat ? config.compat_syscalls[nr].call : config.syscalls[nr].call) <
	       CALL_FD_FIRST;
}

/* Called when the current thread begins to wait for mmap_lock, which `holder` holds. */
static __always_inline void begin_hold(struct fs_state *st, struct task_struct *holder)
{
	__u32 tid = BPF_CORE_READ(holder, pid);

	if (!~config.slow_ns || st->holder_tid == tid || !is_in_mapping_call(holder))
		return;
	st->holds_us = bpf_ktime_get_ns() / 1000;
	st->holder_tid = tid;
}

/* Called at the end of a system call of the current thread, if a thread of its process holds. */
static __noinline int end_known_hold(void *ctx, struct fs_state *st)
{
	struct task_struct *task = current_task();
	struct fs_fault_slot *slot;
	__u64 ns;

	if (st->holder_tid != (__u32)bpf_get_current_pid_tgid())
		return 0;
	ns = (__u32)(bpf_ktime_get_ns() / 1000 - st->holds_us) * 1000ULL;
	st->holder_tid = 0;
	slot = slot_make(task, st);
	if (slot && ns >= LOCK_WAIT_NS)
		note_outside(ctx, as_task(task), st, slot, CLASS_HOLDER, ns);
	return 0;
}

/* Called at the end of a system call of the current thread. */
static __always_inline void end_hold(void *ctx, struct fs_state *st)
{
	if (st->holder_tid)
		end_known_hold(ctx, st);
}

#else
#define begin_hold(st, holder)
#define end_hold(ctx, st)
#endif

#endif

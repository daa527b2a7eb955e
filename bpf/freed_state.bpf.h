/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernels that free the state of a living process: saves the state, or counts the process as lost.
 *
 * If a clone() fails, free_task() frees the task storage of the task that was not created, whose
 * pointer is still a copy of the caller's. The kernel does this later, in an RCU callback
 * (delayed_free_task(), kernel/fork.c). Since b0fd1852bf21 ("bpf: Fix UAF in task local storage",
 * 6.4 and stable kernels of that time). Until "bpf,fork: wipe ->bpf_storage before bailouts that
 * access it" (7.2 and stable kernels of 2026), which clears the pointer in dup_task_struct().
 */
#ifndef FS_FREED_STATE_BPF_H
#define FS_FREED_STATE_BPF_H

#include "process_state.bpf.h"

#ifndef FS_HASH

/*
 * Called at the end of a clone() that failed, in the thread that called it. If this thread is the
 * leader, moves the state of the process to `orphans`. If `orphans` is full, the state stays, and
 * may be lost. On a kernel without this bug, moved state is only read more slowly.
 */
static __always_inline void proc_clone_failed(struct task_struct *task, struct task_struct *leader,
					      struct fs_state *st)
{
	if (config.clones_free_storage && get(task, pid) == get(task, tgid) &&
	    !(st->flags & PROC_ORPHAN))
		proc_leader_left(leader, st);
}

/*
 * Counts a process as lost whose state the kernel freed, which happens if the probe `calls` is off.
 * `is_new`: the process has no state, or state that neither its fork nor a scan has seen. After the
 * first scan, this is true of no process unless its state was freed.
 */
static __always_inline void count_freed_state(bool is_new)
{
	if (config.clones_free_storage && config.watch_all && is_new && shared.scanned)
		bump(shared.losses.map);
}

/*
 * Called by a scan for a process that has begun to exit. If the first scan finds such a process,
 * no probe has seen it before, and its exit must not count it as lost. Therefore creates its state.
 * If it had none, no event was counted, and no record will be sent. The kernel sets exit_state
 * after the tracepoint of the exit (do_exit(), kernel/exit.c).
 */
returns_unread int proc_was_ending(struct task_struct *leader)
{
	struct fs_state *st;

	if (!config.clones_free_storage || !config.watch_all || shared.scanned ||
	    get(leader, exit_state))
		return 0;
	st = bpf_task_storage_get(&procs, leader, NULL, 0);
	if (!st) {
		st = storage_make(&procs, leader, NULL);
		if (!st)
			return 0;
		st->flags = PROC_FINAL;
	}
	st->start_ns = get(leader, start_boottime);
	st->pid = get(leader, tgid);
	return 0;
}

#else /* FS_HASH: the kernel frees no entries of hash tables */

static __always_inline void proc_clone_failed(struct task_struct *task, struct task_struct *leader,
					      struct fs_state *st)
{
}

static __always_inline void count_freed_state(bool is_new)
{
}

#endif

#endif

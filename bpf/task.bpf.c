/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The life of processes, and the look over all of them. */
#include "state.bpf.h"

static __always_inline void rebase_maps(struct fs_state *st, struct task_struct *task)
{
	struct mm_struct *mm = task->mm;

	st->last_map_count = mm ? mm->map_count : 0;
	if (st->last_map_count > st->map_high)
		st->map_high = st->last_map_count;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct fs_state *st, *from;
	__u32 flags = FS_PROC_BORN;

	if (child->pid != child->tgid)
		return 0; /* a thread: its process has its state already */
	from = bpf_task_storage_get(&procs, parent->group_leader, NULL, 0);
	if (knobs.run_parent && (__u32)parent->tgid == knobs.run_parent)
		flags |= FS_PROC_WATCHED | FS_PROC_FOLLOW | FS_PROC_COMMAND;
	else if (from && (from->flags & FS_PROC_FOLLOW))
		flags |= FS_PROC_WATCHED | FS_PROC_FOLLOW;
	else if (!watch_all)
		return 0;
	st = bpf_task_storage_get(&procs, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!st) {
		bump(losses.map);
		return 0;
	}
	if (child->mm && child->mm == parent->mm)
		flags |= FS_PROC_SHARES_MM;
	st->flags = flags;
	if (count_fds(child, &st->fd_base))
		st->fds = st->fd_high = st->fd_base;
	rebase_maps(st, child);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, pid_t old_pid)
{
	struct fs_state *st = bpf_task_storage_get(&procs, task, NULL, 0);

	if (!st && old_pid != task->pid) {
		struct fs_subject s;
		struct fs_state *kept;

		fill_subject(&s, task);
		kept = bpf_map_lookup_elem(&handoff, &s);
		if (kept) {
			st = bpf_task_storage_get(&procs, task, NULL,
						  BPF_LOCAL_STORAGE_GET_F_CREATE);
			if (st)
				bpf_probe_read_kernel(st, sizeof(*st), kept);
			else
				bump(losses.map);
			bpf_map_delete_elem(&handoff, &s);
		}
	}
	if (!st)
		return 0;
	if (st->flags & FS_PROC_SHARES_MM) {
		__sync_fetch_and_and(&st->flags, ~FS_PROC_SHARES_MM);
		st->map_high = 0; /* what it saw so far were its parent's mappings */
	}
	if (st->flags & FS_PROC_COMMAND && !st->execs && count_fds(task, &st->fd_base))
		st->fds = st->fd_high = st->fd_base; /* ours, inherited up to here, are closed */
	st->execs++;
	st->marks[FS_WHAT_MAPS] = 0;
	rebase_maps(st, task);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	struct fs_state *st = bpf_task_storage_get(&procs, leader, NULL, 0);
	struct fs_gauges g = {};
	struct fs_subject s;

	if (!st)
		return 0;
	if (BPF_CORE_READ(task, signal, live.counter)) {
		if (task->pid == task->tgid) {
			fill_subject(&s, task);
			bpf_map_update_elem(&handoff, &s, st, BPF_ANY);
		}
		return 0;
	}
	/* two threads that exit at once may both be here with none alive: one record is the last */
	if (__sync_fetch_and_or(&st->flags, FS_PROC_FINAL) & FS_PROC_FINAL)
		return 0;
	read_gauges(st, leader, task, &g);
	if (!emit_process(st, leader, &g, true, wake_when_filling()))
		bump(losses.ring);
	return 0;
}

/* A sum that moves when any counter does, and one that moves when any figure shown does. */
__noinline __u64 counter_sum(struct fs_counters *c)
{
	const __u64 *v = (const __u64 *)c;
	__u64 sum = 0;

	if (!c)
		return 0;
	for (__u32 i = 0; i < __builtin_offsetof(struct fs_counters, map_size) / 8; i++)
		sum += v[i];
	return sum + c->stall_ns[0] + c->stall_ns[1];
}

__noinline __u64 gauge_signature(struct fs_gauges *g)
{
	__u64 sig;

	if (!g)
		return 0;
	sig = g->min_flt * 3 + g->maj_flt * 5 + g->total_vm_pages * 7 + g->data_vm_pages * 11 +
	      g->locked_vm_pages * 13 + g->fd_soft * 17 + g->fd_hard * 19;
	sig += g->map_count * 23UL + g->map_high * 29UL + g->fds * 31UL + g->fd_high * 37UL +
	       g->ppid * 41UL + g->uid * 43UL + g->threads * 47UL + g->flags * 53UL +
	       g->execs * 59UL;
	sig += (g->rss_file_pages + g->rss_anon_pages * 3 + g->rss_shmem_pages * 5) * 61 +
	       g->swap_pages * 67 + g->cgroup_id * 71;
	return sig + *(__u64 *)g->comm * 73 + *(__u64 *)(g->comm + 8) * 79;
}

/*
 * Emits a process if it changed since the last look. False where the ring was full. A call of its
 * own, so that nothing of it is left when the verifier comes round the loop of the look again.
 */
static __noinline bool look_at(struct task_struct *leader)
{
	struct fs_state *st;
	struct fs_gauges g = {};
	__u64 sum, sig;
	bool counted;

	if (leader->pid != leader->tgid || (leader->flags & PF_KTHREAD))
		return true;
	st = bpf_task_storage_get(&procs, leader, NULL,
				  watch_all ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	if (!st) {
		if (watch_all)
			bump(losses.map);
		return true;
	}
	if (st->epoch == knobs.epoch)
		return true; /* emitted before the ring filled up */
	if (BPF_CORE_READ(leader, signal, live.counter) == 0) {
		st->epoch = knobs.epoch;
		return true; /* a zombie: its last record has been sent */
	}
	read_gauges(st, leader, leader, &g);
	sum = counter_sum(&st->c);
	sig = gauge_signature(&g);
	counted = sum != st->counted;
	if (counted || sig != st->signature) {
		if (!emit_process(st, leader, &g, counted, BPF_RB_NO_WAKEUP))
			return false;
		st->counted = sum;
		st->signature = sig;
	}
	st->epoch = knobs.epoch;
	return true;
}

/* The look, best: the open-coded iterator (6.7, c68a78ffe2cb) visits processes, not threads. */
SEC("syscall")
int look_syscall(void *ctx)
{
	struct bpf_iter_task it;
	struct task_struct *task;

	look_more = 0;
	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, NULL, BPF_TASK_ITER_ALL_PROCS);
	while ((task = bpf_iter_task_next(&it))) {
		if (!look_at(task)) {
			look_more = 1;
			break;
		}
	}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The life of processes, and the look over all of them. */
#include "state.bpf.h"

static __always_inline void rebase_maps(struct fs_state *st, struct task_struct *task)
{
	struct mm_struct *mm = get(task, mm);

	st->last_map_count = mm ? map_count_of(mm) : 0;
	if (st->last_map_count > st->map_high)
		st->map_high = st->last_map_count;
}

static __always_inline void tell_fork(struct task_struct *parent, struct task_struct *child)
{
	struct fs_fork_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	fill_header(&r->h, FS_REC_FORK, sizeof(*r));
	fill_subject(&r->subject, child);
	r->cgroup_id = cgroup_id_of(child);
	r->parent = get(parent, tgid);
	r->pad = 0;
	bpf_ringbuf_submit(r, wake_when_filling());
}

/* Names are sent, not looked up: of others' /proc/PID/exe only CAP_SYS_PTRACE may read. */
static __always_inline void tell_exec(struct fs_state *st, struct task_struct *task,
				      struct linux_binprm *bprm)
{
	struct fs_exec_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	fill_header(&r->h, FS_REC_EXEC, sizeof(*r));
	fill_subject(&r->subject, task);
	r->cgroup_id = cgroup_id_of(task);
	r->execs = st->execs;
	r->pad = 0;
	if (bpf_probe_read_kernel_str(r->path, sizeof(r->path), get(bprm, interp)) < 0)
		r->path[0] = 0;
	bpf_ringbuf_submit(r, wake_when_filling());
}

static __always_inline int forked(struct task_struct *forking, struct task_struct *born)
{
	struct task_struct *parent = as_task(forking), *child = as_task(born);
	struct fs_state *st, *from;
	__u32 flags = FS_PROC_BORN;

	if (get(child, pid) != get(child, tgid))
		return 0; /* a thread: its process has its state already */
	from = proc_find(get(forking, group_leader));
	if (shared.run_parent && (__u32)get(parent, tgid) == shared.run_parent)
		flags |= FS_PROC_WATCHED | FS_PROC_FOLLOW | FS_PROC_COMMAND;
	else if (from && (from->flags & FS_PROC_FOLLOW))
		flags |= FS_PROC_WATCHED | FS_PROC_FOLLOW;
	else if (!config.watch_all)
		return 0;
	st = proc_make_fresh(born);
	if (!st)
		return 0;
	if (get(child, mm) && get(child, mm) == get(parent, mm))
		flags |= FS_PROC_SHARES_MM;
	st->flags = flags;
	st->start_ns = get(child, start_boottime);
	st->pid = get(child, tgid);
	if (count_fds(child, &st->fd_base))
		st->fds = st->fd_high = st->fd_base;
	rebase_maps(st, child);
	tell_fork(parent, child);
	return 0;
}

static __always_inline int execed(struct task_struct *execing, pid_t old_pid,
				  struct linux_binprm *bprm)
{
	struct task_struct *task = as_task(execing);
	struct fs_state *st = proc_find(execing);

	if (!st && old_pid != get(task, pid))
		st = proc_succeed(execing);
	if (!st)
		return 0;
	if (st->flags & FS_PROC_SHARES_MM) {
		clear_bits(&st->flags, FS_PROC_SHARES_MM);
		st->map_high = 0; /* what it saw so far were its parent's mappings */
	}
	if (st->flags & FS_PROC_COMMAND && !st->execs && count_fds(task, &st->fd_base))
		st->fds = st->fd_high = st->fd_base; /* ours, inherited up to here, are closed */
	st->execs++;
	st->marks[FS_WHAT_MAPS] = 0;
	rebase_maps(st, task);
	tell_exec(st, task, bprm);
	return 0;
}

static __always_inline int exited(struct task_struct *exiting)
{
	struct task_struct *first = get(exiting, group_leader);
	struct task_struct *task = as_task(exiting), *leader = as_task(first);
	struct fs_state *st = proc_find(first);
	struct signal_struct *sig = get(task, signal);
	struct fs_fault_slot *slot;
	struct fs_gauges g = {};

	if (!st) {
		slot_drop(exiting);
		return 0;
	}
	slot = get(task, pid) == get(task, tgid) ? &st->slot : thread_slot(exiting);
	if (slot) {
		add_latency(st, slot);
		if (slot->begin_ns)
			tally(st, fault_killed, 1);
	}
	slot_drop(exiting);
	if (get(sig, live.counter)) {
		if (get(task, pid) == get(task, tgid))
			proc_leader_left(exiting, st);
		return 0;
	}
	if (!proc_ends(first, st))
		return 0;
	st->threads = 0; /* what it ends with is summed up */
	read_gauges(st, leader, task, sig, &g);
	if (!tell_pressure(st, leader) || !emit_process(st, leader, &g, true, wake_when_filling()))
		bump(shared.losses.ring);
	proc_drop(first);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	return forked(parent, child);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	return execed(task, old_pid, bprm);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	return exited(task);
}

#ifdef FS_HASH
SEC("raw_tp/sched_process_fork")
int raw_fork(struct bpf_raw_tracepoint_args *ctx)
{
	return forked((struct task_struct *)ctx->args[0], (struct task_struct *)ctx->args[1]);
}

SEC("raw_tp/sched_process_exec")
int raw_exec(struct bpf_raw_tracepoint_args *ctx)
{
	return execed((struct task_struct *)ctx->args[0], ctx->args[1],
		      (struct linux_binprm *)ctx->args[2]);
}

SEC("raw_tp/sched_process_exit")
int raw_exit(struct bpf_raw_tracepoint_args *ctx)
{
	return exited((struct task_struct *)ctx->args[0]);
}
#endif

/* Run by user space, never attached: who it is, where its own pid is of another namespace. */
SEC("raw_tp")
int own_pid(void *ctx)
{
	shared.own_pid = bpf_get_current_pid_tgid() >> 32;
	return 0;
}

/* A sum that moves when any figure shown does. */
once_verified __u64 gauge_signature(struct fs_gauges *g)
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

/* Residence changes without the process: reclaim takes it away. */
static __always_inline __s64 rss_figure(struct mm_struct *mm)
{
	return rss_pages(mm, 0) + rss_pages(mm, 1) * 3 + rss_pages(mm, 2) * 5 +
	       rss_pages(mm, 3) * 7;
}

/*
 * Whether nothing of a process can have changed since the last look: its only thread has not run,
 * and nobody took memory from it. Spares the cold cache lines of mm, files, limits and cgroup.
 */
static __always_inline bool is_unchanged(struct fs_state *st, struct task_struct *leader)
{
	struct mm_struct *mm = get(leader, mm);
	__u64 ran_ns = get(leader, se.sum_exec_runtime);
	bool still = !runs_now(leader) && !(st->flags & FS_PROC_SHARES_MM);
	__s64 rss = mm ? rss_figure(mm) : 0;

	if (still && st->threads == 1 && ran_ns == st->ran_ns && rss == st->rss_pages &&
	    !st->counted)
		return true;
	/* read before the figures: what runs meanwhile is looked at again */
	st->ran_ns = still ? ran_ns : 0;
	st->rss_pages = rss;
	return false;
}

/*
 * Emits a process if it changed since the last look. False where the ring was full. A call of its
 * own, so that nothing of it is left when the verifier comes round the loop of the look again.
 */
static __noinline bool look_at(struct task_struct *task)
{
	struct task_struct *leader = as_task(task);
	struct fs_state *st;
	struct fs_gauges g = {};
	struct signal_struct *sig;
	__u64 signature;
	bool counted;

	if (get(leader, pid) != get(leader, tgid) || (get(leader, flags) & PF_KTHREAD))
		return true;
	sig = get(leader, signal);
	if (get(sig, live.counter) == 0)
		return true; /* a zombie: its last record has been sent */
	st = config.watch_all ? proc_make(task) : proc_find(task);
	if (!st)
		return true;
	if (st->start_ns != get(leader, start_boottime)) {
		if (st->start_ns)
			st = proc_make_fresh(task); /* its pid was another's */
		if (!st)
			return true;
		st->start_ns = get(leader, start_boottime);
		st->pid = get(leader, tgid);
	}
	if (st->epoch == shared.epoch)
		return true; /* emitted before the ring filled up */
	if (is_unchanged(st, leader) && !shared.look_whole) {
		st->epoch = shared.epoch;
		return true;
	}
	read_gauges(st, leader, leader, sig, &g);
	st->threads = g.threads;
	signature = gauge_signature(&g);
	counted = st->counted;
	st->counted = 0; /* before they are read: what moves meanwhile is for the next look */
	if (counted || shared.look_whole || signature != st->signature) {
		if (!tell_pressure(st, leader) ||
		    !emit_process(st, leader, &g, counted, BPF_RB_NO_WAKEUP)) {
			st->counted |= counted;
			st->ran_ns = 0;
			return false;
		}
		st->signature = signature;
	}
	st->epoch = shared.epoch;
	return true;
}

#if !defined(FS_HASH) && !defined(FS_PLAIN)
extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;
extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task,
			     unsigned int flags) __ksym;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym;

/* The look, best: the open-coded iterator (c68a78ffe2cb, 6.7) visits processes, not threads. */
SEC("syscall")
int look_syscall(void *ctx)
{
	struct bpf_iter_task it;
	struct task_struct *task;

	shared.look_more = 0;
	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, NULL, BPF_TASK_ITER_ALL_PROCS);
	while ((task = bpf_iter_task_next(&it))) {
		if (!look_at(task)) {
			shared.look_more = 1;
			break;
		}
	}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	return 0;
}
#endif

/* The same by an iterator that user space reads: it visits threads too, which are passed over. */
SEC("iter/task")
int look_iter(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && !shared.look_more && !look_at(task))
		shared.look_more = 1;
	return 0;
}

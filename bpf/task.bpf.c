/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Handles fork, exec and exit of processes, and scans all processes. */
#include "changes.h"
#include "freed_state.bpf.h"
#include "process_record.bpf.h"
#include "resident_wanted.bpf.h"
#include "unwind_process.bpf.h"

static __always_inline void rebase_maps(struct fs_state *st, struct task_struct *task)
{
	struct mm_struct *mm = get(task, mm);

	st->last_map_count = mm ? map_count_of(mm) : 0;
	if (st->last_map_count > st->map_high)
		st->map_high = st->last_map_count;
}

static __always_inline void send_fork(struct task_struct *parent, struct task_struct *child)
{
	struct fork_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	fill_header(&r->h, RECORD_FORK, sizeof(*r));
	fill_subject(&r->subject, child);
	r->cgroup_id = cgroup_id_of(child);
	r->parent = get(parent, tgid);
	r->pad = 0;
	bpf_ringbuf_submit(r, wake_when_filling());
}

/* Sends the program's path, because reading another user's /proc/PID/exe needs CAP_SYS_PTRACE. */
static __always_inline void send_exec(struct fs_state *st, struct task_struct *task,
				      struct linux_binprm *bprm)
{
	struct exec_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	fill_header(&r->h, RECORD_EXEC, sizeof(*r));
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
	__u32 flags = PROC_BORN;

	if (get(child, pid) != get(child, tgid))
		return 0; /* a new thread: its process already has state */
	from = proc_find(get(forking, group_leader));
	if (shared.run_parent && (__u32)get(parent, tgid) == shared.run_parent)
		flags |= PROC_WATCHED | PROC_FOLLOW | PROC_COMMAND;
	else if (from && (from->flags & PROC_FOLLOW))
		flags |= PROC_WATCHED | PROC_FOLLOW;
	else if (!config.watch_all)
		return 0;
	st = proc_make_fresh(born);
	if (!st)
		return 0;
	if (get(child, mm) && get(child, mm) == get(parent, mm))
		flags |= PROC_SHARES_MM;
	st->start_ns = get(child, start_boottime);
	st->pid = get(child, tgid);
	if (count_fds(child, &st->fd_base))
		st->fds = st->fd_high = st->fd_base;
	st->fd_limit = soft_limit(get(child, signal), RLIMIT_NOFILE);
	st->flags = flags; /* flags are set last, because a scan that sees PROC_BORN uses fd_base */
	rebase_maps(st, child);
	code_forked(get(parent, tgid), get(child, tgid));
	want_child(get(parent, tgid), get(child, tgid));
	send_fork(parent, child);
	return 0;
}

/*
 * Called at the first exec of a new process. The open fds and mappings of its parent must not count
 * in the peaks of the new program. For example, the parent of the command that `faultscope run`
 * starts is faultscope itself.
 */
static __always_inline void forget_parent(struct fs_state *st, struct task_struct *task)
{
	__u32 fds;

	st->map_high = 0;
	if (!count_fds(task, &fds))
		return;
	st->fds = st->fd_high = fds;
	if (st->flags & PROC_COMMAND)
		st->fd_base = fds;
}

/*
 * Returns whether a process is the command of `faultscope run` before exec, with faultscope's fds.
 */
static __always_inline bool is_still_ours(const struct fs_state *st)
{
	return (st->flags & PROC_COMMAND) && !st->execs;
}

static __always_inline int execed(struct task_struct *execing, pid_t old_pid,
				  struct linux_binprm *bprm)
{
	struct task_struct *task = as_task(execing);
	struct fs_state *st = proc_succeed(execing);
	struct fs_fault_slot *slot;

	if (!st)
		return 0;
	if (old_pid != get(task, pid)) {
		/* From now on, the slot of the leader holds the thread's faults. */
		slot = former_slot(execing, old_pid);
		if (slot)
			add_latency(st, slot);
		former_slot_drop(old_pid);
	}
	if (st->flags & PROC_SHARES_MM) {
		clear_bits(&st->flags, PROC_SHARES_MM);
		st->map_high = 0; /* before the exec, the peak was that of the parent's mappings */
	}
	if (st->flags & PROC_BORN && !st->execs)
		forget_parent(st, task);
	st->execs++;
	st->marks[WHAT_MAPS] = 0;
	rebase_maps(st, task);
	send_exec(st, task, bprm);
	code_execed(task);
	return 0;
}

#define SIGNAL_GROUP_EXIT 4 /* value from include/linux/sched/signal.h */

/* Returns whether threads may outlive the leader; a group exit ends all threads. */
static __always_inline bool goes_on(struct signal_struct *sig)
{
	return !(get(sig, flags) & SIGNAL_GROUP_EXIT);
}

/*
 * Sends the last record of a process. Called in the last thread of the process. `first` and
 * `leader` are the same task.
 */
static __always_inline void tell_end(struct fs_state *st, struct task_struct *first,
				     struct task_struct *leader, struct task_struct *last,
				     struct signal_struct *sig)
{
	struct process_draft *r;

	count_holdings(st, leader, last, sig);
	r = send_pressure(st, leader) ? last_record_begin() : NULL;
	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	st->threads = 0; /* a sum of the last scan must not be reused */
	process_record_of(r)->g.fd_base = st->fd_base;
	read_gauges(st, leader, last, sig, &process_record_of(r)->g);
	read_usage(st, leader, &process_record_of(r)->u);
	if (!last_record_send(r, st, first, leader))
		bump(shared.losses.ring);
}

static __always_inline int exited(struct task_struct *exiting)
{
	struct task_struct *first = get(exiting, group_leader);
	struct task_struct *task = as_task(exiting), *leader = as_task(first);
	struct fs_state *st = proc_find(first);
	struct signal_struct *sig = get(task, signal);
	struct fs_fault_slot *slot;

	if (!st) {
		slot_drop(exiting);
		count_freed_state(!get(sig, live.counter) && !(get(task, flags) & PF_KTHREAD));
		return 0;
	}
	slot = slot_of(exiting, st);
	if (slot) {
		add_latency(st, slot);
		if (slot->begin_ns)
			tally(st, fault_killed, 1);
	}
	slot_drop(exiting);
	if (get(sig, live.counter)) {
		if (get(task, pid) == get(task, tgid) && goes_on(sig))
			proc_leader_left(exiting, st);
		return 0;
	}
	code_exited(get(task, tgid));
	unwant(get(task, tgid));
	st = proc_ends(first, st);
	if (!st)
		return 0;
	count_freed_state(!st->start_ns);
	tell_end(st, first, leader, task, sig);
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

/* Sets faultscope's pid in the initial namespace. User space runs this program. */
SEC("raw_tp")
int own_pid(void *ctx)
{
	shared.own_pid = bpf_get_current_pid_tgid() >> 32;
	return 0;
}

once_verified __u64 gauge_signature(struct gauges *g)
{
	return g ? hash_gauges(g) : 0;
}

/* Returns a number that changes with resident or swapped pages, for example after reclaim. */
static __always_inline __s64 rss_figure(struct mm_struct *mm)
{
	return rss_pages(mm, 0) + rss_pages(mm, 1) * 3 + rss_pages(mm, 2) * 5 +
	       rss_pages(mm, 3) * 7;
}

/* The process that is being scanned, and the values read from it. Only one scan runs at a time. */
static struct {
	__u64 leader;
	__u64 alive; /* address of a thread of `leader` that has mm and files */
	__u64 cgroups, parent; /* addresses, as numbers */
	__u64 signature;
	__u32 counted; /* true: the counters are sent */
	__u32 pad;
#ifdef FS_HASH
	struct gauges g;
#else
	struct process_draft draft;
#endif
} scanned SEC(".data.looked");

#define MIX(hash, value) (((hash) ^ (__u64)(value)) * 0x9e3779b97f4a7c15UL)

/*
 * Hashes values that others may change while a process sleeps: its limits (prlimit), its cgroups,
 * and its parent, which may exit. Processes whose cgroups are equal in each hierarchy share a
 * css_set.
 */
static __always_inline __u64 hash_from_outside(struct task_struct *leader,
					       struct signal_struct *sig)
{
	__u64 hash;

#ifdef FS_ADDRESSES
	/* The verifier allows no arithmetic on pointers, but on numbers that were in memory. */
	*(volatile __u64 *)&scanned.cgroups = (__u64)get(leader, cgroups);
	*(volatile __u64 *)&scanned.parent = (__u64)get(leader, real_parent);
	hash = MIX(*(volatile __u64 *)&scanned.cgroups, *(volatile __u64 *)&scanned.parent);
#else
	hash = MIX((__u64)BPF_CORE_READ(leader, cgroups),
		   (__u64)BPF_CORE_READ(leader, real_parent));
#endif
	hash = MIX(hash, soft_limit(sig, RLIMIT_NOFILE));
	hash = MIX(hash, get(sig, rlim[RLIMIT_NOFILE].rlim_max));
	hash = MIX(hash, soft_limit(sig, RLIMIT_AS));
	hash = MIX(hash, soft_limit(sig, RLIMIT_DATA));
	hash = MIX(hash, soft_limit(sig, RLIMIT_NPROC));
	return MIX(hash, soft_limit(sig, RLIMIT_MEMLOCK));
}

/*
 * Returns whether a process cannot have changed since the last scan. Its only thread has not run,
 * no memory was taken away, and nobody changed its limits or cgroups. For unchanged processes, no
 * cold cache lines of mm and files are read.
 */
static __always_inline bool is_unchanged(struct fs_state *st, struct task_struct *leader,
					 struct signal_struct *sig)
{
	struct mm_struct *mm = get(leader, mm);
	__u64 from_outside = hash_from_outside(leader, sig);
	__u64 ran_ns = get(leader, se.sum_exec_runtime);
	bool still = !runs_now(leader) && !(st->flags & PROC_SHARES_MM);
	__s64 rss = mm ? rss_figure(mm) : 0;

	if (still && st->threads == 1 && ran_ns == st->ran_ns && rss == st->rss_pages &&
	    !st->counted && from_outside == st->from_outside)
		return true;
	/*
	 * ran_ns is read before the other values: if the thread runs meanwhile, the next scan sees
	 * another ran_ns, and reads all values again.
	 */
	st->from_outside = from_outside;
	st->ran_ns = still ? ran_ns : 0;
	st->rss_pages = rss;
	return false;
}

/* Returns whether a counter changed since the last scan. */
static __always_inline bool take_counted(struct fs_state *st)
{
#ifdef FS_HASH
	return take_flag_by_adding(&st->counted);
#else
	return take_flag(&st->counted);
#endif
}

enum told { TOLD, NO_ROOM, NOT_WHOLE };

#ifdef FS_HASH

#define scanned_gauges (&scanned.g)

/* Sends the values of a process. If the leader exits meanwhile, the next scan sends the values. */
static __always_inline enum told send_scanned(struct fs_state *st, struct task_struct *leader)
{
	__u32 bytes = __builtin_offsetof(struct process_record, c);
	struct process_record *r = NULL;

	if (!send_pressure(st, leader))
		return NO_ROOM;
	if (scanned.counted) {
		bytes = sizeof(*r);
		r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
		if (!r)
			return NO_ROOM;
		copy_counters(&r->c, st);
	} else {
		r = bpf_ringbuf_reserve(&ring, __builtin_offsetof(struct process_record, c), 0);
		if (!r)
			return NO_ROOM;
	}
	fill_header(&r->h, RECORD_PROCESS, bytes);
	fill_subject(&r->subject, leader);
	r->g = scanned.g;
	read_usage(st, leader, &r->u);
	if (!proc_was_whole(st, leader)) {
		bpf_ringbuf_discard(r, 0);
		return NOT_WHOLE;
	}
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return TOLD;
}

static __always_inline bool pack_scanned(struct fs_state *st, struct task_struct *leader)
{
	return true;
}

#else

#define scanned_gauges (&scanned.draft.r.g)

static __always_inline enum told send_scanned(struct fs_state *st, struct task_struct *leader)
{
	if (!send_pressure(st, leader))
		return NO_ROOM;
	read_usage(st, leader, &scanned.draft.r.u);
	if (!proc_was_whole(st, leader))
		return NOT_WHOLE;
	return send_draft(&scanned.draft, leader, scanned.counted, BPF_RB_NO_WAKEUP) ? TOLD
										     : NO_ROOM;
}

static __always_inline bool pack_scanned(struct fs_state *st, struct task_struct *leader)
{
	return pack_counters(&scanned.draft, st, leader);
}

#endif

/*
 * Reads the values of a process into `scanned`. Returns whether they must be sent, because they
 * changed since the last scan.
 */
static __always_inline bool read_scanned(struct fs_state *st, struct task_struct *leader,
					 struct task_struct *alive)
{
	struct signal_struct *sig = get(leader, signal);

	if (is_still_ours(st) || (is_unchanged(st, leader, sig) && !shared.scan_whole))
		return false;
	/*
	 * fd_base is read before fds are counted. If an exec happens in between, a later record
	 * shows it.
	 */
	scanned_gauges->fd_base = st->fd_base;
	count_holdings(st, leader, alive, sig);
	read_gauges(st, leader, alive, sig, scanned_gauges);
	st->threads = scanned_gauges->threads;
	/* A move within cgroup v1 changes no gauge: user space reads the cgroup names again. */
	scanned.signature = gauge_signature(scanned_gauges) ^ st->from_outside;
	scanned.counted = take_counted(st);
	return scanned.counted || shared.scan_whole || scanned.signature != st->signature;
}

/*
 * Returns whether a scan may send a record. A quarter of the ring stays free for events during the
 * scan: they are lost if the ring is full, but the scan continues later.
 */
static __always_inline bool scan_has_room(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) <
	       config.ring_bytes - config.ring_bytes / 4;
}

/* Sends the values in `scanned`. Returns false if the ring has no room for a scan. */
static __always_inline bool tell_scanned(struct fs_state *st, struct task_struct *leader,
					 bool whole)
{
	enum told told = !whole ? NOT_WHOLE : scan_has_room() ? send_scanned(st, leader) : NO_ROOM;

	if (told != TOLD) {
		if (scanned.counted)
			st->counted = 1;
		st->ran_ns = 0;
		return told == NOT_WHOLE;
	}
	st->signature = scanned.signature;
	st->epoch = shared.epoch;
	return true;
}

#ifdef FS_ADDRESSES
/*
 * Global functions, whose tasks are in `scanned`, because they cannot be arguments. The verifier
 * checks a global function once. Without them, the verifier checked the whole scan of a process in
 * each state of the loop over processes, which took 240 MiB of kernel memory.
 */
__noinline int read_scanned_once(struct fs_state *st)
{
	return st ? read_scanned(st, as_task(scanned.leader), as_task(scanned.alive)) : false;
}

__noinline int tell_scanned_once(struct fs_state *st, bool whole)
{
	return st ? tell_scanned(st, as_task(scanned.leader), whole) : true;
}
#else
#define read_scanned_once(st)	     read_scanned(st, leader, alive)
#define tell_scanned_once(st, whole) tell_scanned(st, leader, whole)
#endif

/*
 * Sends a process if it changed since the last scan. `task` and `leader` are the same task. Returns
 * false if the ring has no room for a scan.
 */
static __always_inline bool scan_state(struct fs_state *st, struct task_struct *task,
				       struct task_struct *leader, struct task_struct *alive)
{
	scanned.leader = (__u64)leader;
	scanned.alive = (__u64)alive;
	if (!read_scanned_once(st)) {
		st->epoch = shared.epoch;
		return true;
	}
	return tell_scanned_once(st, !scanned.counted || pack_scanned(st, task));
}

/* Returns whether all threads of a process have begun to exit: its last record was sent. */
static __always_inline bool has_ended(struct task_struct *leader)
{
	return !get(get(leader, signal), live.counter);
}

#ifdef FS_HASH

/* Returns the state of a process, or NULL if it is not scanned. */
static __always_inline struct fs_state *state_to_scan(struct task_struct *task,
						      struct task_struct *leader)
{
	__u64 start_ns = get(leader, start_boottime);
	struct fs_state *st;

	if (has_ended(leader))
		return NULL;
	st = config.watch_all ? proc_make(task) : proc_find(task);
	if (!st || st->start_ns == start_ns)
		return st;
	if (st->start_ns)
		st = proc_make_fresh(task); /* the pid was reused */
	if (!st)
		return NULL;
	st->start_ns = start_ns;
	st->pid = get(leader, tgid);
	return st;
}

#else

/*
 * Returns the state of a process, or NULL if it is not scanned. The kernel frees the state with its
 * task, so a known state belongs to this process. PROC_FINAL is set before the last record is sent.
 * So most processes need no memory of signal_struct here, which is in no cache.
 */
static __always_inline struct fs_state *state_to_scan(struct task_struct *task,
						      struct task_struct *leader)
{
	struct fs_state *st = proc_find(task);
	bool is_new;

	if (st && st->start_ns)
		return st->flags & PROC_FINAL ? NULL : st;
	if (has_ended(leader)) {
		proc_was_ending(task);
		return NULL;
	}
	is_new = fork_goes_on(leader); /* read before the state, which the fork creates */
	if (config.watch_all)
		st = proc_make(task);
	if (!st)
		return NULL;
	count_freed_state(!st->start_ns && !is_new);
	st->start_ns = get(leader, start_boottime);
	st->pid = get(leader, tgid);
	return st;
}

#endif

/*
 * Scans a process; `alive` is a thread that has mm and files. Returns false if the ring has no room
 * for a scan.
 */
static __always_inline bool look_at(struct task_struct *task, struct task_struct *alive)
{
	struct task_struct *leader = as_task(task);
	struct fs_state *st;

	if (get(leader, pid) != get(leader, tgid) || (get(leader, flags) & PF_KTHREAD))
		return true;
	st = state_to_scan(task, leader);
	if (!st)
		return true;
	if (get(leader, exit_state) && goes_on(get(leader, signal)))
		st = proc_without_leader(task, st);
	if (st->epoch == shared.epoch)
		return true; /* this scan sent the process before it stopped */
	return scan_state(st, task, leader, alive);
}

#if !defined(FS_HASH) && !defined(FS_PLAIN)
static void (*const rcu_lock)(void) = (void *)NUMBER_OF_bpf_rcu_read_lock;
static void (*const rcu_unlock)(void) = (void *)NUMBER_OF_bpf_rcu_read_unlock;
static int (*const iter_task_new)(struct bpf_iter_task *it, struct task_struct *task,
				  unsigned int flags) = (void *)NUMBER_OF_bpf_iter_task_new;
static struct task_struct *(*const iter_task_next)(struct bpf_iter_task *it) =
	(void *)NUMBER_OF_bpf_iter_task_next;
static void (*const iter_task_destroy)(struct bpf_iter_task *it) =
	(void *)NUMBER_OF_bpf_iter_task_destroy;

#define MOST_DEAD_THREADS 1024 /* maximum number of exited threads to skip */

struct alive_walk {
	void *head, *node;
	struct task_struct *alive;
};

static long is_alive(__u32 i, struct alive_walk *w)
{
	struct task_struct *t;

	if (!w->node || w->node == w->head)
		return 1;
	t = as_task(w->node - bpf_core_field_offset(struct task_struct, thread_node));
	w->node = get_cast(t, thread_node.next);
	if (!get_cast(t, mm))
		return 0;
	w->alive = t;
	return 1;
}

/* Scans a process. If the leader has exited, a thread that has mm and files is used instead. */
static __noinline bool scan_thread_group(struct task_struct *task)
{
	struct task_struct *leader = as_task(task);
	struct signal_struct *sig;
	struct alive_walk w = {};

	if (!get(leader, exit_state))
		return look_at(task, leader);
	sig = get(leader, signal);
	w.head = (void *)sig + bpf_core_field_offset(struct signal_struct, thread_head);
	w.node = BPF_CORE_READ(sig, thread_head.next);
	bpf_loop(MOST_DEAD_THREADS, is_alive, &w, 0);
	return w.alive ? look_at(task, as_task(w.alive)) : true;
}

/* Loads a value that is not used. */
#define load_early(value)                                                                          \
	do {                                                                                       \
		__u64 unused__ = (__u64)(value);                                                   \
                                                                                                   \
		barrier_var(unused__);                                                             \
	} while (0)

/*
 * Loads what the scan will read of the next process in the list of tasks. The memory of most
 * processes is in no cache, and the CPU waits for these loads while it scans the current process.
 * At the end of the list, this is memory of the kernel's first task.
 */
static __always_inline void load_next(struct task_struct *current)
{
	struct task_struct *next = as_task((void *)get(as_task(current), tasks.next) -
					   bpf_core_field_offset(struct task_struct, tasks));

	load_early(get(next, tasks.next));
	load_early(get(next, bpf_storage));
	load_early(get(next, exit_state));
	load_early(get(next, flags));
	load_early(get(next, se.sum_exec_runtime));
	load_early(get(next, real_parent));
	load_early(get(next, signal));
	load_early(get(next, cgroups));
}

/* The preferred scan: an open-coded iterator (c68a78ffe2cb, 6.7), which visits only leaders. */
SEC("syscall")
int look_syscall(void *ctx)
{
	struct bpf_iter_task it;
	struct task_struct *task;

	shared.scan_again = 0;
	rcu_lock();
	iter_task_new(&it, NULL, BPF_TASK_ITER_ALL_PROCS);
	while ((task = iter_task_next(&it))) {
		load_next(task);
		if (!scan_thread_group(task)) {
			shared.scan_again = 1;
			break;
		}
	}
	iter_task_destroy(&it);
	rcu_unlock();
	return 0;
}
#endif

/*
 * A scan by a task iterator that user space reads. The iterator visits all threads. Normally only
 * the leader is used. If the leader has exited, it has neither mm nor files, so another thread is
 * used.
 */
SEC("iter/task")
int look_iter(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task, *leader;

	if (!task || shared.scan_again)
		return 0;
	leader = get(task, group_leader);
	if (get(leader, exit_state) ? !get(task, mm) : get(task, pid) != get(task, tgid))
		return 0;
	if (!look_at(leader, task))
		shared.scan_again = 1;
	return 0;
}

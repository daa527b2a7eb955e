/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the kernel's values of a process and sends its record, for scans, events and exits. */
#ifndef FS_STATE_BPF_H
#define FS_STATE_BPF_H

#include "process_state.bpf.h"

/* Number of 2^-30 s in 1 ns, times 2^24. In these units, bucket limits are 2^n seconds. */
#define UNITS_PER_NS 18014399ULL

static __always_inline __u32 latency_bucket(__u64 ns)
{
	__u64 scaled = config.in_seconds && ns < 1000000000000ULL ? ns * UNITS_PER_NS >> 24 : ns;
	__u32 bucket = log2_of(scaled >> LATENCY_SHIFT);

	return bucket < NR_LATENCY ? bucket : NR_LATENCY - 1;
}

#define add(counter, n) atomic_add(&(counter), n)

/* Counts a fault in its class. */
static __always_inline void add_class(struct event_counters *events, struct stall_counters *stalls,
				      struct class_counters *classes,
				      const struct fs_fault_slot *slot, __u32 end, __u32 bucket)
{
	__u32 class = slot->as[end], band = bucket / BAND_STEP;

	if (class >= NR_CLASSES)
		return;
	if (band >= NR_BANDS)
		band = NR_BANDS - 1;
	add(classes->served[class].band[band], 1);
	add(classes->served[class].stall_ns, slot->ended_ns);
	if (slot->ended_ns > classes->served_max_ns[class])
		classes->served_max_ns[class] = slot->ended_ns;
	if (end == END_MAJOR)
		add(events->fault_read_bytes, slot->read_bytes);
	for (int i = 0; i < NR_WAITS; i++)
		if (slot->waited_ns[i])
			add(stalls->wait[i].in_faults_ns, slot->waited_ns[i]);
}

/* Counts a fault that has ended. */
static __always_inline void add_fault(struct stall_counters *stalls,
				      const struct fs_fault_slot *slot, __u32 end, __u32 bucket)
{
	add(stalls->latency[end][bucket], 1);
	add(stalls->stall_ns[end], slot->ended_ns);
	if (slot->ended_ns > stalls->latency_max_ns[end])
		stalls->latency_max_ns[end] = slot->ended_ns;
}

#define end_of(slot)	((slot)->end & 1)
#define bucket_of(slot) (latency_bucket((slot)->ended_ns) & (NR_LATENCY - 1))

/*
 * This function is global, because the verifier checks a global function once per program. The
 * bucket is computed before the branches, and its value forgotten, so that the verifier checks the
 * computation on one path only.
 */
once_verified int add_ended(struct fs_state *st, struct fs_fault_slot *slot)
{
	struct fs_classes *classes = NULL;
	struct task_struct *leader;
	struct fs_stalls *stalls;
	__u32 bucket, end;

	if (!st || !slot)
		return 0;
	leader = own_leader();
	bucket = bucket_of(slot);
	end = slot->end;
	forget_value(bucket);
	forget_value(end);
	bucket &= NR_LATENCY - 1;
	end &= 1;
	stalls = make_stalls(st, leader);
	if (!stalls)
		goto counted;
	add_fault(&stalls->c, slot, end, bucket);
	if (config.classify)
		classes = make_classes(st, leader);
	if (classes)
		add_class(&st->events.c, &stalls->c, &classes->c, slot, end, bucket);
counted:
	st->counted = 1;
	slot->ended_ns = 0;
	return 0;
}

/*
 * Adds the current thread's last fault to the counters of its process. Class and outcome of a fault
 * are known only some time after its end. For this reason, add_latency() is called at the thread's
 * next fault or exit.
 */
static __always_inline void add_latency(struct fs_state *st, struct fs_fault_slot *slot)
{
	if (slot->ended_ns)
		add_ended(st, slot);
}

/* Counts a fault whose begin is not known, so that it is not timed. */
static __always_inline void lose_begin(struct fs_state *st)
{
	bump(shared.losses.slot);
	tally(st, slots_lost, 1);
}

/*
 * Returns the slot of a thread, in which a fault begins. Adds the fault before to the counters. If
 * there is no room, counts that and returns NULL.
 */
static __always_inline struct fs_fault_slot *open_slot(struct task_struct *task,
						       struct fs_state *st)
{
	struct fs_fault_slot *slot = slot_make(task, st);

	if (!slot) {
		lose_begin(st);
		return NULL;
	}
	add_latency(st, slot);
	slot->end = END_MINOR;
	return slot;
}

/* Counts a wait of the current thread, which may be part of a fault. */
static __always_inline void count_wait(struct fs_state *st, struct fs_fault_slot *slot, __u32 wait,
				       __u64 ns)
{
	struct fs_stalls *stalls = make_stalls(st, own_leader());

	tally_part(st, stalls, wait[wait].count, 1);
	tally_part(st, stalls, wait[wait].ns, ns);
	if (slot->begin_ns)
		slot->waited_ns[wait] += ns;
}

#define RLIMIT_DATA	 2
#define RLIMIT_NPROC	 6
#define RLIMIT_NOFILE	 7
#define RLIMIT_MEMLOCK	 8
#define RLIMIT_AS	 9
#define CAP_IPC_LOCK	 14
#define CAP_SYS_ADMIN	 21
#define CAP_SYS_RESOURCE 24
#define VM_WRITE	 0x2
#define VM_SHARED	 0x8
#define VM_LOCKED_BIT	 13
#define VM_LOCKED	 (1 << VM_LOCKED_BIT)
#define NOT_KNOWN	 (~0ULL)

/*
 * Returns a soft limit from a signal_struct. Callers load the pointer to the signal_struct once,
 * because at each load through a task the verifier searches the kernel's types by name.
 */
static __always_inline __u64 soft_limit(struct signal_struct *sig, int which)
{
	return get(sig, rlim[which].rlim_cur);
}

/* Returns the pid in the task's own pid namespace: __task_pid_nr_ns(), kernel/pid.c. */
static __always_inline __u32 pid_inside(struct task_struct *leader)
{
	struct pid *pid = BPF_CORE_READ(leader, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid *at = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
			  level * bpf_core_type_size(struct upid);

	return BPF_CORE_READ(at, nr);
}

static __always_inline __u64 word_at(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (void *)address);
	return word;
}

/* Returns the address of the struct file of a task's fd, or 0. */
static __always_inline __u64 file_of_fd(struct task_struct *task, __u32 fd)
{
	struct fdtable *fdt = get_cast(task, files, fdt);

	if (!fdt || fd >= get_cast(fdt, max_fds))
		return 0;
	return word_at((__u64)get_cast(fdt, fd) + fd * sizeof(__u64));
}

static __always_inline __u32 popcount(__u64 v)
{
	v = v - ((v >> 1) & 0x5555555555555555UL);
	v = (v & 0x3333333333333333UL) + ((v >> 2) & 0x3333333333333333UL);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fUL;
	return (v * 0x0101010101010101UL) >> 56;
}

#ifdef FS_HASH

/* The verifier accepts a loop over 2^16 fds; with more fds, the count is a lower bound. */
#define FD_WORDS (1 << 10)

/*
 * This function is global, because the verifier checks a global function once, not at each loop
 * step.
 */
__noinline __u32 count_word(__u64 at)
{
	return popcount(word_at(at));
}

/* Counts the set bits in the first `words` words of an fd bitmap. */
__noinline __u32 count_bits(__u64 bits, __u32 words)
{
	__u32 count = 0;

	for (__u32 i = 0; i < FD_WORDS && i < words; i++)
		count += count_word(bits + i * sizeof(__u64));
	return count;
}

#else

#define FD_CHUNK_WORDS 4
#define FD_CHUNKS      (1 << 16) /* enough for 2^24 fds; above, counts are lower bounds */

struct fd_walk {
	unsigned long *bits;
	__u32 left;
	__u32 count;
};

/* count_chunk() is not inlined: otherwise its array would be on the stack twice. */
static __noinline long count_chunk(__u32 i, struct fd_walk *w)
{
	__u64 n = w->left < FD_CHUNK_WORDS ? w->left : FD_CHUNK_WORDS;
	__u64 words[FD_CHUNK_WORDS] = {};

	/* Without the barrier, clang 19 omits the comparison, which verifiers need. */
	barrier_var(n);
	if (n > FD_CHUNK_WORDS)
		return 1;
	if (!n || bpf_probe_read_kernel(words, n * 8, w->bits + i * FD_CHUNK_WORDS))
		return 1;
	for (int j = 0; j < FD_CHUNK_WORDS; j++)
		w->count += popcount(words[j]);
	w->left -= n;
	return 0;
}

/* Counts the set bits in the first `words` words of an fd bitmap. */
__noinline __u32 count_bits(__u64 bits, __u32 words)
{
	struct fd_walk w = {.bits = (unsigned long *)bits, .left = words};

	if (words <= FD_CHUNK_WORDS) /* most processes have at most 256 fds */
		count_chunk(0, &w);
	else
		bpf_loop(FD_CHUNKS, count_chunk, &w, 0);
	return w.count;
}

#endif

/*
 * Counts the open fds of a task as /proc/PID/fd lists them: the set bits of the bitmap. Returns
 * false if the task has no file table.
 */
static __always_inline bool count_fds(struct task_struct *task, __u32 *ret_fds)
{
	struct files_struct *files = get(task, files);
	struct fdtable *fdt;

	if (!files)
		return false;
	fdt = get(files, fdt);
	*ret_fds = count_bits((__u64)BPF_CORE_READ(fdt, open_fds), get(fdt, max_fds) / 64);
	return true;
}

/*
 * Compares a value with the next threshold of its limit. If the threshold is crossed, sends a
 * record.
 */
static __always_inline void test_marks(struct fs_state *st, struct task_struct *leader, __u32 what,
				       __u64 value, __u64 limit)
{
	__u32 mark = st->marks[what & 1];
	struct crossing_record *r;

	if (mark >= FS_NR_MARKS || !limit || value * 100 < limit * config.mark_percent[mark])
		return;
	/* Only the thread that advances the mark sends the record. */
	if (!swap_if(&st->marks[what & 1], mark, mark + 1))
		return;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	fill_header(&r->h, RECORD_CROSSING, sizeof(*r));
	fill_subject(&r->subject, leader);
	r->what = what;
	r->percent = config.mark_percent[mark];
	r->value = value;
	r->limit = limit;
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), leader->comm);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
}

/*
 * Re-arms thresholds that are at least five percentage points above the value. rearm_marks() is a
 * global function, which the verifier checks once, not once per path.
 */
once_verified int rearm_marks(struct fs_state *st, __u32 what, __u64 value, __u64 limit)
{
	if (!st)
		return 0;
	for (__u32 i = 0; i < FS_NR_MARKS; i++)
		if (st->marks[what & 1] > i && value * 100 < limit * (config.mark_percent[i] - 5))
			st->marks[what & 1] = i;
	return 0;
}

static __always_inline void saw_map_count(struct fs_state *st, struct task_struct *leader,
					  __u32 count)
{
	st->map_count = count;
	if (count > st->map_high)
		st->map_high = count;
	test_marks(st, leader, WHAT_MAPS, count, shared.max_map_count);
}

static __always_inline void saw_fds(struct fs_state *st, struct task_struct *leader, __u32 fds,
				    __u64 limit)
{
	st->fds = fds;
	/* An earlier peak is not valid for a limit that was lowered. */
	if ((__u32)limit < st->fd_limit)
		st->fd_high = 0;
	st->fd_limit = limit;
	if (fds > st->fd_high)
		st->fd_high = fds;
	test_marks(st, leader, WHAT_FDS, fds, limit);
}

#define MOST_THREADS	  (1 << 16) /* maximum of summed threads; with more, sums are too low */
#define MOST_THREADS_HASH (1 << 9)  /* the verifier accepts no longer bounded loop */

#ifdef FS_HASH

/*
 * Sums one member over the list signal->thread_head. Each call sums only one member, because the
 * verifier checks the loop of a global function once.
 */
__noinline __u64 sum_of_threads(__u64 head, __u32 member)
{
	__u64 node = word_at(head), sum = 0;

	member -= bpf_core_field_offset(struct task_struct, thread_node);
	for (__u32 i = 0; i < MOST_THREADS_HASH && node && node != head; i++) {
		sum += word_at(node + (int)member);
		node = word_at(node);
	}
	return sum;
}

#define thread_sum(head, field)                                                                    \
	sum_of_threads(head, bpf_core_field_offset(struct task_struct, field))

static __always_inline void walk_threads(struct fs_state *st, struct signal_struct *sig,
					 struct gauges *g)
{
	__u64 head = (__u64)sig + bpf_core_field_offset(struct signal_struct, thread_head);

	g->min_flt += thread_sum(head, min_flt);
	g->maj_flt += thread_sum(head, maj_flt);
	st->cpu_ns = BPF_CORE_READ(sig, sum_sched_runtime) + thread_sum(head, se.sum_exec_runtime);
}

#else

/*
 * State of a walk along signal->thread_head, which begins at both ends and stops where they meet.
 * The memory of most threads is in no cache, and two threads are read in the time of one.
 */
struct thread_walk {
	void *head, *next, *prev;
	__u64 min_flt, maj_flt, ran_ns;
};

#define thread_at(node)                                                                            \
	as_task((node)-bpf_core_field_offset(struct task_struct, thread_node))

static __always_inline void add_thread(struct thread_walk *w, struct task_struct *t)
{
	w->min_flt += get_cast(t, min_flt);
	w->maj_flt += get_cast(t, maj_flt);
	w->ran_ns += get_cast(t, se.sum_exec_runtime);
}

/*
 * If a thread leaves the list meanwhile, the two ends may pass each other. Then threads are read
 * twice until the number of steps is reached, and sum_once() repeats the walk.
 */
static long add_threads(__u32 i, struct thread_walk *w)
{
	void *next = w->next, *prev = w->prev, *after, *before;
	struct task_struct *first, *last;

	if (!next || !prev || next == w->head || prev == w->head)
		return 1;
	first = thread_at(next);
	last = thread_at(prev);
	after = get_cast(first, thread_node.next);
	before = get_cast(last, thread_node.prev);
	add_thread(w, first);
	if (next == prev)
		return 1;
	add_thread(w, last);
	w->next = after;
	w->prev = before;
	return after == prev;
}

static __always_inline void walk_threads(struct fs_state *st, struct signal_struct *sig,
					 struct gauges *g)
{
	struct thread_walk w = {
		.head = (void *)sig + bpf_core_field_offset(struct signal_struct, thread_head),
		.next = BPF_CORE_READ(sig, thread_head.next),
		.prev = BPF_CORE_READ(sig, thread_head.prev),
	};

	__u32 pairs = (g->threads + 1) / 2;

	bpf_loop(pairs < MOST_THREADS / 2 ? pairs : MOST_THREADS / 2, add_threads, &w, 0);
	g->min_flt += w.min_flt;
	g->maj_flt += w.maj_flt;
	st->cpu_ns = BPF_CORE_READ(sig, sum_sched_runtime) + w.ran_ns;
}

#endif

/*
 * Sums faults and CPU time of all threads, dead and alive. Returns 0 if the sums may miss a thread.
 * A dying thread's numbers are added to signal->min_flt by __exit_signal() under stats_lock. If the
 * lock's sequence number changed during the walk, a thread may be missing.
 */
once_verified int sum_once(struct fs_state *st, struct gauges *g, __u64 of_signal)
{
	struct signal_struct *sig = (struct signal_struct *)of_signal;
	__u32 before;

	if (!st || !g)
		return 1;
	before = BPF_CORE_READ(sig, stats_lock.seqcount.seqcount.sequence);
	g->min_flt = BPF_CORE_READ(sig, min_flt);
	g->maj_flt = BPF_CORE_READ(sig, maj_flt);
	walk_threads(st, sig, g);
	return !(before & 1) && before == BPF_CORE_READ(sig, stats_lock.seqcount.seqcount.sequence);
}

/*
 * Repeats sum_once() if it failed, since two CPUs may end threads of one process at the same time.
 * The repetition is not a loop, because before 6.2 a loop may contain no call ("back-edge").
 */
static __always_inline void sum_threads(struct fs_state *st, struct gauges *g, __u64 of_signal)
{
	if (!sum_once(st, g, of_signal) && !sum_once(st, g, of_signal) &&
	    !sum_once(st, g, of_signal))
		sum_once(st, g, of_signal);
}

#define MANY_THREADS 256
#define SUM_EACH     16 /* maximum number of scans that reuse a sum; a power of two */

/*
 * Returns whether the sums over all threads of the last scan can be reused. A new sum takes 0.1 us
 * per thread, mostly for cold cache lines. There are two cases. If no fault was counted since the
 * last scan, the old sums lack only faults that began before both scans, and faults that no probe
 * sees. If faults were counted, new sums are made every n-th scan, where n is the number of threads
 * divided by 256.
 */
static __always_inline bool sums_do(struct fs_state *st, __u32 threads)
{
	bool stirred = st->counted || st->stirred;
	__u32 each = stirred ? threads / MANY_THREADS : SUM_EACH;

	st->stirred = st->counted;
	if (!config.sums_spared || st->threads < 2 || !each)
		return false;
	if (each > SUM_EACH)
		each = SUM_EACH;
	return (shared.epoch + st->pid) % each;
}

static __always_inline void read_threads(struct fs_state *st, struct task_struct *leader,
					 struct signal_struct *sig, struct gauges *g)
{
	if (g->threads == 1) {
		g->min_flt = get(sig, min_flt) + get(leader, min_flt);
		g->maj_flt = get(sig, maj_flt) + get(leader, maj_flt);
		st->cpu_ns = get(sig, sum_sched_runtime) + get(leader, se.sum_exec_runtime);
		return;
	}
	if (sums_do(st, g->threads)) {
		g->min_flt = st->min_flt;
		g->maj_flt = st->maj_flt;
		return;
	}
	sum_threads(st, g, (__u64)BPF_CORE_READ(leader, signal));
	st->min_flt = g->min_flt;
	st->maj_flt = g->maj_flt;
}

static __always_inline void read_memory_gauges(struct mm_struct *mm, struct gauges *g)
{
	g->total_vm_pages = get(mm, total_vm);
	g->data_vm_pages = get(mm, data_vm);
	g->locked_vm_pages = get(mm, locked_vm);
	g->rss_file_pages = rss_pages(mm, 0);
	g->rss_anon_pages = rss_pages(mm, 1);
	g->swap_pages = rss_pages(mm, 2);
	g->rss_shmem_pages = rss_pages(mm, 3);
}

/* Returns the id of the task's cgroup in the default hierarchy (v2). */
static __always_inline __u64 cgroup_id_of(struct task_struct *task)
{
	return get(task, cgroups, dfl_cgrp, kn, id);
}

/*
 * Counts mappings and fds of a process. Crossed thresholds are sent before the record that contains
 * the counts. `alive` is a thread that still has mm and files.
 */
static __always_inline void count_holdings(struct fs_state *st, struct task_struct *leader,
					   struct task_struct *alive, struct signal_struct *sig)
{
	struct mm_struct *mm = get(alive, mm);
	__u64 fd_soft = soft_limit(sig, RLIMIT_NOFILE);
	__u32 count, fds;

	if (mm) {
		count = map_count_of(mm);
		saw_map_count(st, leader, count);
		if (!st->last_map_count)
			st->last_map_count = count;
	}
	rearm_marks(st, WHAT_MAPS, st->map_count, shared.max_map_count);
	if (count_fds(alive, &fds)) {
		saw_fds(st, leader, fds, fd_soft);
		rearm_marks(st, WHAT_FDS, fds, fd_soft);
	}
}

/*
 * Fills all gauges except `fd_base`. Call read_gauges() after count_holdings(). Gauges do not fit
 * on the stack. An exit therefore fills the gauges in its record, and a scan fills `scanned`.
 */
static __always_inline void read_gauges(struct fs_state *st, struct task_struct *leader,
					struct task_struct *alive, struct signal_struct *sig,
					struct gauges *g)
{
	struct mm_struct *mm = get(alive, mm);

	g->flags = (st->flags & ~PROC_KEPT) | (mm ? 0 : PROC_NO_MM);
	g->total_vm_pages = g->data_vm_pages = g->locked_vm_pages = 0;
	g->rss_file_pages = g->rss_anon_pages = g->swap_pages = g->rss_shmem_pages = 0;
	if (mm)
		read_memory_gauges(mm, g);
	g->map_count = st->map_count;
	g->map_high = st->map_high;
	g->fds = st->fds;
	g->fd_high = st->fd_high;
	g->fd_soft = soft_limit(sig, RLIMIT_NOFILE);
	g->fd_hard = get(sig, rlim[RLIMIT_NOFILE].rlim_max);
	g->as_limit_bytes = soft_limit(sig, RLIMIT_AS);
	g->data_limit_bytes = soft_limit(sig, RLIMIT_DATA);
	g->memlock_limit_bytes = soft_limit(sig, RLIMIT_MEMLOCK);

	/*
	 * Cgroup and user are read from a living thread, because an exited leader keeps its old
	 * ones.
	 */
	g->cgroup_id = cgroup_id_of(alive);
	g->ppid = get(leader, real_parent, tgid);
	g->uid = get(alive, cred, uid.val);
	g->threads = get(sig, nr_threads);
	g->execs = st->execs;
	bpf_probe_read_kernel(g->comm, sizeof(g->comm), leader->comm);
	read_threads(st, leader, sig, g);
}

#define BEYOND_NPROC (1UL << CAP_SYS_ADMIN | 1UL << CAP_SYS_RESOURCE)

/*
 * Reads the number of threads that RLIMIT_NPROC limits, and RLIMIT_NPROC itself. This limit does
 * not apply to root, and not to processes with some capabilities: copy_process() in kernel/fork.c.
 * With watch_all, these values are not read, since this would be the most expensive part of a scan.
 * Arguments: addresses of a struct cred and a struct signal_struct.
 */
once_verified int read_user_threads(struct usage *u, __u64 of_cred, __u64 of_signal)
{
	const struct cred *cred = (const struct cred *)of_cred;
	struct signal_struct *sig = (struct signal_struct *)of_signal;

	if (!u)
		return 0;
	u->user_threads = u->user_threads_limit = NOT_KNOWN;
	if (config.watch_all)
		return 0;
	u->user_threads = processes_of(cred);
	if (BPF_CORE_READ(cred, uid.val) && !(host_capabilities_of(cred) & BEYOND_NPROC))
		u->user_threads_limit = BPF_CORE_READ(sig, rlim[RLIMIT_NPROC].rlim_cur);
	return 0;
}

/* Sends memory waits. Returns false if the ring is full; the next call sends the values. */
static __always_inline bool send_pressure(struct fs_state *st, struct task_struct *leader)
{
	__u64 reclaim_ns = st->reclaim_ns, swap_ins = st->swap_ins;
	struct memory_wait_record *r;

	if (!reclaim_ns && !swap_ins)
		return true;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r)
		return false;
	fill_header(&r->h, RECORD_PRESSURE, sizeof(*r));
	fill_subject(&r->subject, leader);
	r->reclaim_ns = reclaim_ns;
	r->swap_ins = swap_ins;
	atomic_add(&st->reclaim_ns, -reclaim_ns);
	atomic_add(&st->swap_ins, -swap_ins);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return true;
}

#endif

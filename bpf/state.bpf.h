/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading what the kernel knows of a process, and emitting it: shared by looks, hooks and exits. */
#ifndef FS_STATE_BPF_H
#define FS_STATE_BPF_H

#include "maps.bpf.h"

extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task,
			     unsigned int flags) __weak __ksym;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __weak __ksym;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __weak __ksym;
extern struct task_struct *bpf_task_acquire(struct task_struct *p) __weak __ksym;
extern void bpf_task_release(struct task_struct *p) __weak __ksym;
extern void bpf_rcu_read_lock(void) __weak __ksym;
extern void bpf_rcu_read_unlock(void) __weak __ksym;

#define RLIMIT_DATA    2
#define RLIMIT_NOFILE  7
#define RLIMIT_MEMLOCK 8
#define RLIMIT_AS      9
#define CAP_IPC_LOCK   14
#define VM_LOCKED      0x2000

static __always_inline __u64 soft_limit(struct task_struct *task, int which)
{
	return BPF_CORE_READ(task, signal, rlim[which].rlim_cur);
}

static __always_inline __u32 popcount(__u64 v)
{
	v = v - ((v >> 1) & 0x5555555555555555UL);
	v = (v & 0x3333333333333333UL) + ((v >> 2) & 0x3333333333333333UL);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fUL;
	return (v * 0x0101010101010101UL) >> 56;
}

#define FD_CHUNK_WORDS 8
/* 2^24 descriptors; beyond that the count is a lower bound. */
#define FD_CHUNKS (1 << 15)

struct fd_walk {
	unsigned long *bits;
	__u32 left;
	__u32 count;
};

static long count_chunk(__u32 i, struct fd_walk *w)
{
	__u32 n = w->left < FD_CHUNK_WORDS ? w->left : FD_CHUNK_WORDS;
	__u64 words[FD_CHUNK_WORDS] = {};

	if (!n || bpf_probe_read_kernel(words, n * 8, w->bits + i * FD_CHUNK_WORDS))
		return 1;
	for (int j = 0; j < FD_CHUNK_WORDS; j++)
		w->count += popcount(words[j]);
	w->left -= n;
	return 0;
}

/* Open descriptors of a task: the bits set in its descriptor bitmap, as /proc/PID/fd lists them. */
static __always_inline bool count_fds(struct task_struct *task, __u32 *ret_fds)
{
	struct files_struct *files = task->files;
	struct fd_walk w = {};
	struct fdtable *fdt;

	if (!files)
		return false;
	fdt = BPF_CORE_READ(files, fdt);
	w.bits = BPF_CORE_READ(fdt, open_fds);
	w.left = BPF_CORE_READ(fdt, max_fds) / 64;
	bpf_loop(FD_CHUNKS, count_chunk, &w, 0);
	*ret_fds = w.count;
	return true;
}

/* Tests a value against the next threshold of its limit; emits a crossing when it is passed. */
static __always_inline void test_marks(struct fs_state *st, struct task_struct *leader, __u32 what,
				       __u64 value, __u64 limit)
{
	__u32 mark = st->marks[what & 1];
	struct fs_crossing_record *r;

	if (mark >= FS_NR_MARKS || !limit || value * 100 < limit * mark_percent[mark])
		return;
	/* The one thread that moves the mark emits. */
	if (__sync_val_compare_and_swap(&st->marks[what & 1], mark, mark + 1) != mark)
		return;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		bump(losses.ring);
		return;
	}
	fill_header(&r->h, FS_REC_CROSSING, sizeof(*r));
	fill_subject(&r->subject, leader);
	r->what = what;
	r->percent = mark_percent[mark];
	r->value = value;
	r->limit = limit;
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), leader->comm);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
}

/*
 * A value that fell five points below a threshold arms it again. Global, as other functions here
 * that take no kernel pointer: so the verifier goes through it once, not on each path to it.
 */
__noinline int rearm_marks(struct fs_state *st, __u32 what, __u64 value, __u64 limit)
{
	if (!st)
		return 0;
	for (__u32 i = 0; i < FS_NR_MARKS; i++)
		if (st->marks[what & 1] > i && value * 100 < limit * (mark_percent[i] - 5))
			st->marks[what & 1] = i;
	return 0;
}

static __always_inline void saw_map_count(struct fs_state *st, struct task_struct *leader,
					  __u32 count)
{
	st->map_count = count;
	if (count > st->map_high)
		st->map_high = count;
	test_marks(st, leader, FS_WHAT_MAPS, count, knobs.max_map_count);
}

static __always_inline void saw_fds(struct fs_state *st, struct task_struct *leader, __u32 fds,
				    __u64 limit)
{
	st->fds = fds;
	if (fds > st->fd_high)
		st->fd_high = fds;
	test_marks(st, leader, FS_WHAT_FDS, fds, limit);
}

/*
 * Faults of all threads, dead and alive: __exit_signal() folds a dying thread's into
 * signal->min_flt under stats_lock, so a sum during which that sequence moved is taken again.
 */
static __always_inline void sum_thread_faults(struct task_struct *leader, struct fs_gauges *g)
{
	struct signal_struct *sig = leader->signal;

	for (int try = 0; try < 2; try++) {
		__u32 before = BPF_CORE_READ(sig, stats_lock.seqcount.seqcount.sequence);
		struct bpf_iter_task it;
		struct task_struct *t;

		g->min_flt = BPF_CORE_READ(sig, min_flt);
		g->maj_flt = BPF_CORE_READ(sig, maj_flt);
		bpf_iter_task_new(&it, leader, BPF_TASK_ITER_PROC_THREADS);
		while ((t = bpf_iter_task_next(&it))) {
			g->min_flt += t->min_flt;
			g->maj_flt += t->maj_flt;
		}
		bpf_iter_task_destroy(&it);
		if (!(before & 1) &&
		    before == BPF_CORE_READ(sig, stats_lock.seqcount.seqcount.sequence))
			break;
	}
}

static __always_inline void read_faults(struct task_struct *leader, struct fs_gauges *g)
{
	struct task_struct *trusted;

	if (g->threads == 1) {
		g->min_flt = BPF_CORE_READ(leader, signal, min_flt) + leader->min_flt;
		g->maj_flt = BPF_CORE_READ(leader, signal, maj_flt) + leader->maj_flt;
		return;
	}
	trusted = bpf_task_acquire(leader); /* the iterator wants a counted reference */
	if (trusted) {
		sum_thread_faults(trusted, g);
		bpf_task_release(trusted);
	}
}

/* Memory figures; `task` is a thread that still has its mm. False where it has none. */
static __always_inline bool read_mm(struct task_struct *task, struct fs_gauges *g)
{
	struct mm_struct *mm = task->mm;

	if (!mm)
		return false;
	g->map_count = mm->map_count;
	g->total_vm_pages = mm->total_vm;
	g->data_vm_pages = mm->data_vm;
	g->locked_vm_pages = mm->locked_vm;
	g->rss_file_pages = BPF_CORE_READ(mm, rss_stat[0].count);
	g->rss_anon_pages = BPF_CORE_READ(mm, rss_stat[1].count);
	g->swap_pages = BPF_CORE_READ(mm, rss_stat[2].count);
	g->rss_shmem_pages = BPF_CORE_READ(mm, rss_stat[3].count);
	return true;
}

/* Fills the gauges of a process, `alive` being a thread of it that still has mm and files. */
static __always_inline void read_gauges(struct fs_state *st, struct task_struct *leader,
					struct task_struct *alive, struct fs_gauges *g)
{
	__u32 fds;

	g->flags = st->flags;
	if (read_mm(alive, g)) {
		saw_map_count(st, leader, g->map_count);
		if (!st->last_map_count)
			st->last_map_count = g->map_count;
	} else {
		g->flags |= FS_PROC_NO_MM;
		g->map_count = st->map_count;
	}
	rearm_marks(st, FS_WHAT_MAPS, g->map_count, knobs.max_map_count);
	g->map_high = st->map_high;

	g->fd_soft = soft_limit(leader, RLIMIT_NOFILE);
	g->fd_hard = BPF_CORE_READ(leader, signal, rlim[RLIMIT_NOFILE].rlim_max);
	if (count_fds(alive, &fds)) {
		saw_fds(st, leader, fds, g->fd_soft);
		rearm_marks(st, FS_WHAT_FDS, fds, g->fd_soft);
	}
	g->fds = st->fds;
	g->fd_high = st->fd_high;
	g->as_limit_bytes = soft_limit(leader, RLIMIT_AS);
	g->data_limit_bytes = soft_limit(leader, RLIMIT_DATA);
	g->memlock_limit_bytes = soft_limit(leader, RLIMIT_MEMLOCK);

	g->cgroup_id = BPF_CORE_READ(leader, cgroups, dfl_cgrp, kn, id);
	g->ppid = BPF_CORE_READ(leader, real_parent, tgid);
	g->uid = BPF_CORE_READ(leader, cred, uid.val);
	g->threads = BPF_CORE_READ(leader, signal, nr_threads);
	g->execs = st->execs;
	g->fd_base = st->fd_base;
	bpf_probe_read_kernel(g->comm, sizeof(g->comm), leader->comm);
	read_faults(leader, g);
}

/* Writes a whole process record to the ring; false where it had no room. */
static __always_inline bool emit_process(struct fs_state *st, struct task_struct *leader,
					 const struct fs_gauges *g, bool counters, __u64 wake)
{
	struct proc_scratch *sc;
	__u32 zero = 0;
	long len;

	sc = bpf_map_lookup_elem(&scratch, &zero);
	if (!sc)
		return false;
	len = counters ? sizeof(sc->record) : __builtin_offsetof(struct fs_process_record, c);
	fill_header(&sc->record.h, FS_REC_PROCESS, len);
	fill_subject(&sc->record.subject, leader);
	bpf_probe_read_kernel(&sc->record.g, sizeof(*g), g);
	if (counters) {
		bpf_probe_read_kernel(&sc->record.c, sizeof(sc->record.c), &st->c);
		return !bpf_ringbuf_output(&ring, &sc->record, sizeof(sc->record), wake);
	}
	return !bpf_ringbuf_output(&ring, &sc->record,
				   __builtin_offsetof(struct fs_process_record, c), wake);
}

#endif

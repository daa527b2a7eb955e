/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records victims of the OOM killer. In the thread that requested memory, the kernel logs a line,
 * sends the signal, and marks the victim, in this order. Values of the log line and the signal are
 * kept until the victim is marked.
 */
#ifndef FS_OOM_BPF_H
#define FS_OOM_BPF_H

#include "evidence.bpf.h"

struct oom {
	__u64 victim; /* address of the victim's task */
	__u32 constraint;
	__u32 known; /* true if `r` describes the victim */
	struct oom_record r;
};

#ifndef FS_HASH

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct oom);
} ooms SEC(".maps");

/* Returns the entry of the thread that requested memory, or NULL. */
static __always_inline struct oom *oom_find(struct task_struct *task)
{
	return bpf_task_storage_get(&ooms, task, NULL, 0);
}

static __always_inline struct oom *oom_of(struct task_struct *task)
{
	struct oom *o = storage_make(&ooms, task, NULL);

	if (!o)
		bump(shared.losses.map);
	return o;
}

static __always_inline void oom_drop(struct task_struct *task)
{
	bpf_task_storage_delete(&ooms, task);
}

#else

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	/* default value; the loader increases it on machines with many CPUs */
	__uint(max_entries, 64);
	__type(key, __u32); /* pid of the thread that requested memory */
	__type(value, struct oom);
} ooms SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct oom); /* initial value of an entry; read-only */
} no_oom SEC(".maps");

static __always_inline struct oom *oom_find(struct task_struct *task)
{
	__u32 tid = get(task, pid);

	return bpf_map_lookup_elem(&ooms, &tid);
}

static __always_inline struct oom *oom_of(struct task_struct *task)
{
	__u32 tid = get(task, pid), zero = 0;
	struct oom *o = bpf_map_lookup_elem(&ooms, &tid), *none;

	if (o)
		return o;
	none = bpf_map_lookup_elem(&no_oom, &zero);
	if (!none || bpf_map_update_elem(&ooms, &tid, none, BPF_ANY))
		return NULL;
	return bpf_map_lookup_elem(&ooms, &tid);
}

static __always_inline void oom_drop(struct task_struct *task)
{
	__u32 tid = get(task, pid);

	bpf_map_delete_elem(&ooms, &tid);
}

#endif

#define OOM_LINE_CONSTRAINT 31 /* bytes of "oom-kill:constraint=CONSTRAINT_" */

/*
 * Reads the constraint from the log line of dump_oom_summary(), since ef8444ea01d7 (5.0). The
 * kernel rate-limits the line "oom-kill:constraint=".
 */
static __always_inline void oom_line(const char *text, unsigned long len)
{
	struct oom *o;
	char word[4] = {};

	if (len < OOM_LINE_CONSTRAINT + sizeof(word))
		return;
	bpf_probe_read_kernel(word, sizeof(word), text + OOM_LINE_CONSTRAINT);
	o = oom_of(current_task());
	if (o)
		o->constraint = word[0] == 'N'	 ? OOM_NONE
				: word[0] == 'C' ? OOM_CPUSET
				: word[3] == 'C' ? OOM_MEMCG
						 : OOM_POLICY;
}

static __always_inline void oom_signal(struct task_struct *target, struct task_struct *leader)
{
	struct mm_struct *mm = get(as_task(target), mm);
	struct oom *o = oom_of(current_task());
	struct oom_record *r;

	if (!o || !mm)
		return;
	r = &o->r;
	o->victim = (__u64)target;
	o->known = 1;
	fill_subject(&r->subject, leader);
	r->score_adj = get(get(as_task(target), signal), oom_score_adj);
	r->total_vm_pages = get(mm, total_vm);
	r->rss_file_pages = rss_pages(mm, 0);
	r->rss_anon_pages = rss_pages(mm, 1);
	r->swap_pages = rss_pages(mm, 2);
	r->rss_shmem_pages = rss_pages(mm, 3);
	__builtin_memset(&r->memory, 0, sizeof(r->memory));
	read_memory_levels(target, &r->memory);
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), target->comm);
}

/* Returns the number of pages of the requesting process that are not reclaimable. */
static __always_inline __u32 kept_pages_of(struct task_struct *task)
{
	struct mm_struct *mm = get(as_task(task), mm);
	__s64 pages = mm ? rss_pages(mm, 1) + rss_pages(mm, 2) + rss_pages(mm, 3) : 0;

	return pages > 0 ? pages : 0;
}

/* `victim` is the address of the task since 72ba14deb40a (6.8), earlier the pid. */
static __always_inline int oom_marked(__u64 victim)
{
	struct task_struct *task = current_task();
	struct oom *o = oom_find(task);
	struct oom_record *r;

	if (!o)
		return 0;
	if (!o->known || (victim != o->victim && victim != o->r.subject.pid))
		goto out; /* the victim is already exiting, or is not watched */
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		bump(shared.losses.ring);
		goto out;
	}
	*r = o->r;
	fill_header(&r->h, RECORD_OOM, sizeof(*r));
	r->constraint = o->constraint;
	r->by = get(task, tgid);
	r->by_kept_pages = kept_pages_of(task);
	bpf_probe_read_kernel(r->by_comm, sizeof(r->by_comm), task->comm);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
out:
	oom_drop(task);
	return 0;
}

/* Reads the tracepoint's argument as a number, since its type depends on the kernel. */
SEC("raw_tp/mark_victim")
int on_oom_victim(struct bpf_raw_tracepoint_args *ctx)
{
	return oom_marked(ctx->args[0]);
}

#endif

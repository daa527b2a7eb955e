/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records victims of the OOM killer. In the thread that requested memory, the kernel logs a line,
 * sends the signal, and marks the victim, in this order. Values of the log line and the signal are
 * kept until the victim is marked.
 */
#ifndef FS_OOM_BPF_H
#define FS_OOM_BPF_H

#include "evidence.bpf.h"
#include "stack.bpf.h"

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

/* A context for repeat(): a walk from the victim's memory cgroup to the root. */
struct oom_walk {
	void *at; /* the page counter of the level, of struct mem_cgroup */
	struct oom_record *r;
	__u64 room;    /* pages that the level with the least room had left */
	__u32 without; /* number of levels below the first one that has the controller */
};

static __always_inline __u64 room_of(struct page_counter *counter)
{
	__u64 used = BPF_CORE_READ(counter, usage.counter), max = BPF_CORE_READ(counter, max);

	return max >= NO_PAGE_LIMIT ? NOT_KNOWN : max > used ? max - used : 0;
}

static __always_inline void take_oom_level(struct oom_record *r, struct mem_cgroup *level)
{
	__u64 limit = BPF_CORE_READ(level, swap.max);

	r->memory.used = BPF_CORE_READ(level, memory.usage.counter);
	r->memory.limit = BPF_CORE_READ(level, memory.max);
	r->cgroup_id = BPF_CORE_READ(level, css.cgroup, kn, id);
	r->swap_used = BPF_CORE_READ(level, swap.usage.counter);
	r->swap_limit = limit >= NO_PAGE_LIMIT ? NOT_KNOWN : limit;
	if (r->version == 1 && bpf_core_field_exists(level->kmem))
		r->kmem_pages = BPF_CORE_READ(level, kmem.usage.counter);
}

/*
 * Takes the level if it has less room than the levels below it. In cgroup v1, the limit of memory
 * and swap together may be reached before the limit of memory.
 */
static long next_oom_level(__u32 up, struct oom_walk *w)
{
	struct page_counter *counter = w->at;
	struct mem_cgroup *level;
	__u64 room, both;

	if (!counter)
		return 1;
	level = (void *)counter - bpf_core_field_offset(struct mem_cgroup, memory);
	if (BPF_CORE_READ(level, oom_group))
		w->r->group = 1;
	room = room_of(counter);
	both = w->r->version == 1
		       ? room_of((void *)level + bpf_core_field_offset(struct mem_cgroup, swap))
		       : NOT_KNOWN;
	if (both < room)
		room = both;
	if (room < w->room) {
		w->room = room;
		w->r->memory.up = up + w->without;
		take_oom_level(w->r, level);
	}
	w->at = BPF_CORE_READ(counter, parent);
	return 0;
}

/*
 * Walks the levels up to the root. 5.10 rejects a loop that begins behind a call ("back-edge"),
 * which clang would make here; so the FS_HASH build has no loop.
 */
static __always_inline void each_oom_level(struct oom_walk *w)
{
#ifdef FS_HASH
#pragma clang loop unroll(full)
	for (__u32 up = 0; up < MOST_LEVELS; up++)
		if (next_oom_level(up, w))
			break;
#else
	repeat(MOST_LEVELS, next_oom_level, w);
#endif
}

/* Finds the level with the least room at the moment of the kill, and reads its page counters. */
static __always_inline void read_oom_levels(struct task_struct *task, struct oom_record *r)
{
	struct oom_walk w = {.r = r, .room = NOT_KNOWN};
	struct cgroup_subsys_state *css;

	r->memory.limit = r->swap_used = r->swap_limit = r->kmem_pages = NOT_KNOWN;
	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		return;
	css = css_of(task, bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id));
	if (!css)
		return;
	r->memory.known = 1;
	r->version = BPF_CORE_READ(css, cgroup, root, hierarchy_id) ? 1 : 2;
	w.without = levels_without(task, css);
	w.at = (void *)css - bpf_core_field_offset(struct mem_cgroup, css) +
	       bpf_core_field_offset(struct mem_cgroup, memory);
	each_oom_level(&w);
}

/* Describes the victim. `r` must be zeroed. */
static __always_inline void describe_victim(struct oom_record *r, struct task_struct *target,
					    struct task_struct *leader, struct mm_struct *mm)
{
	fill_subject(&r->subject, leader);
	r->score_adj = get(get(as_task(target), signal), oom_score_adj);
	r->total_vm_pages = get(mm, total_vm);
	r->rss_file_pages = rss_pages(mm, 0);
	r->rss_anon_pages = rss_pages(mm, 1);
	r->swap_pages = rss_pages(mm, 2);
	r->rss_shmem_pages = rss_pages(mm, 3);
	r->page_table_bytes = get(mm, pgtables_bytes.counter);
	r->pid_inside = pid_inside(leader);
	read_oom_levels(target, r);
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), target->comm);
}

static __always_inline void oom_signal(struct task_struct *target, struct task_struct *leader)
{
	struct mm_struct *mm = get(as_task(target), mm);
	struct oom *o = oom_of(current_task());

	if (!o || !mm)
		return;
	o->victim = (__u64)target;
	o->known = 1;
	__builtin_memset(&o->r, 0, sizeof(o->r));
	describe_victim(&o->r, target, leader, mm);
}

/* Returns the number of pages of the requesting process that are not reclaimable. */
static __always_inline __u32 kept_pages_of(struct task_struct *task)
{
	struct mm_struct *mm = get(as_task(task), mm);
	__s64 pages = mm ? rss_pages(mm, 1) + rss_pages(mm, 2) + rss_pages(mm, 3) : 0;

	return pages > 0 ? pages : 0;
}

/* Describes the current process, whose allocation or signal led to the kill. */
static __always_inline void describe_killer(struct oom_record *r, struct task_struct *task)
{
	r->by = get(task, tgid);
	r->by_kept_pages = kept_pages_of(task);
	bpf_probe_read_kernel(r->by_comm, sizeof(r->by_comm), task->comm);
}

#define KILLER_WORDS 2
#define WORD8(a, b, c, d, e, f, g, h)                                                              \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |   \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)

/* Returns whether a program kills processes when memory is short, by its name. */
static __always_inline bool is_oom_daemon(struct task_struct *task)
{
	union {
		char text[COMM_LEN];
		__u64 word[KILLER_WORDS];
	} comm = {};

	bpf_probe_read_kernel(comm.text, sizeof(comm.text), task->comm);
	switch (comm.word[0]) {
	case WORD8('s', 'y', 's', 't', 'e', 'm', 'd', '-'):
		return (__u32)comm.word[1] == (__u32)WORD8('o', 'o', 'm', 'd', 0, 0, 0, 0);
	case WORD8('e', 'a', 'r', 'l', 'y', 'o', 'o', 'm'):
	case WORD8('n', 'o', 'h', 'a', 'n', 'g', 0, 0):
	case WORD8('o', 'o', 'm', 'd', 0, 0, 0, 0):
		return true;
	}
	return false;
}

/*
 * Called for SIGKILL and SIGTERM from a process. Reports the target if the sender is a program that
 * kills when memory is short: no tracepoint of the kernel tells such kills from others.
 */
static __always_inline void oom_sent(int sig, struct task_struct *target)
{
	struct task_struct *task = current_task(), *leader = get(target, group_leader);
	struct mm_struct *mm = get(as_task(target), mm);
	struct oom_record *r;

	if (!mm || !is_oom_daemon(task) || !proc_find(leader))
		return;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	__builtin_memset(r, 0, sizeof(*r));
	fill_header(&r->h, RECORD_OOM, sizeof(*r));
	describe_victim(r, target, leader, mm);
	describe_killer(r, task);
	r->sent = sig;
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
}

/*
 * Sends the user stack of the thread that requested memory, before the record of the kill. Returns
 * the stack's number plus 1; 0: no stack.
 */
static __always_inline __u32 oom_stack(struct task_struct *task)
{
#ifndef FS_HASH
	if (config.attribute && !(get(task, flags) & PF_KTHREAD))
		return send_stack_apart(get(task, group_leader), (void *)bpf_task_pt_regs(task));
#endif
	return 0;
}

/* `victim` is the address of the task since 72ba14deb40a (6.8), earlier the pid. */
static __always_inline int oom_marked(__u64 victim)
{
	struct task_struct *task = current_task();
	struct oom *o = oom_find(task);
	struct oom_record *r;
	__u32 stack;

	if (!o)
		return 0;
	if (!o->known || (victim != o->victim && victim != o->r.subject.pid))
		goto out; /* the victim is already exiting, or is not watched */
	stack = oom_stack(task);
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		bump(shared.losses.ring);
		goto out;
	}
	*r = o->r;
	fill_header(&r->h, RECORD_OOM, sizeof(*r));
	r->constraint = o->constraint;
	r->stack = stack;
	describe_killer(r, task);
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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends the values of a process. Most counters of most processes are 0, and a record is sent
 * without these. FS_HASH sends all counters, because the verifiers of its kernels cannot check
 * pack_words() once for all callers.
 */
#ifndef FS_PROCESS_RECORD_BPF_H
#define FS_PROCESS_RECORD_BPF_H

#include "claim.bpf.h"
#include "state.bpf.h"

/* Fills CPU time and number of user threads. Call read_usage() after read_gauges(). */
static __always_inline void read_usage(struct fs_state *st, struct task_struct *leader,
				       struct usage *u)
{
	u->cpu_ns = st->cpu_ns;
	read_user_threads(u, (__u64)BPF_CORE_READ(leader, cred),
			  (__u64)BPF_CORE_READ(leader, signal));
}

/*
 * Returns how the last record of a process wakes user space. The values are shown at the next scan,
 * and a wake-up takes longer than the rest of an exit. Only `faultscope run` waits for exits, after
 * its command has ended.
 */
static __always_inline __u64 wake_at_exit(void)
{
	return shared.exits_wake ? BPF_RB_FORCE_WAKEUP : wake_when_filling();
}

#ifndef FS_HASH

/* A record that is being made. */
struct process_draft {
	struct fs_packed_process r;
	struct fs_pending pending;
	__u32 words; /* number of words in r.word */
	__u32 users;
};

/* Last records of processes. On a CPU, only one program runs at an exit. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct process_draft);
} last_records SEC(".maps");

/* Adds a chunk of counters to a record, without those that are 0. */
__noinline int pack_words(struct process_draft *d, const struct fs_words *from, __u32 chunk)
{
	__u32 n, mask = 0;

	if (!d || !from)
		return 0;
	n = d->words;
#pragma clang loop unroll(full)
	for (int i = 0; i < FS_CHUNK; i++) {
		__u64 word = from->word[i];
		__u32 counts;

		barrier_var(word);
		d->r.word[n & (FS_PACKED_WORDS - 1)] = word;
		counts = is_not_zero(word);
		mask |= counts << i;
		n += counts;
	}
	d->words = n;
	d->r.mask[chunk & (FS_PACKED_MASKS - 1)] = mask;
	return 0;
}

static __always_inline void pack_chunks(struct process_draft *d, const struct fs_words *chunk,
					__u32 chunks, __u32 at)
{
#pragma clang loop unroll(full)
	for (__u32 i = 0; i < chunks; i++)
		pack_words(d, chunk + i, at + i);
}

/*
 * Copies what is needed of the leader's last fault, so that the fault is reported in time even if
 * the leader then sleeps. The counters of the process stay unchanged until add_latency().
 */
once_verified int read_pending(struct fs_pending *p, const struct fs_fault_slot *slot)
{
	if (!p || !slot)
		return 0;
	__builtin_memset(p, 0, sizeof(*p));
	if (!slot->ended_ns)
		return 0;
	p->ns = slot->ended_ns;
	p->end = end_of(slot);
	p->bucket = bucket_of(slot);
	p->class = config.classify ? slot->as[end_of(slot)] : NR_CLASSES;
	p->read_bytes = slot->read_bytes;
	for (int i = 0; i < NR_WAITS; i++)
		p->waited_ns[i] = slot->waited_ns[i];
	return 0;
}

/*
 * Adds all counters of a process to a record. Returns false if the state of the process is just
 * being moved: at an exec, proc_take_back() may delete the entry in `orphans` while its parts are
 * read, and the rest of the parts are then not found.
 */
static __always_inline bool pack_counters(struct process_draft *d, struct fs_state *st,
					  struct task_struct *leader)
{
	struct fs_fault_slot *slot = thread_slot(leader);
	__u32 at = FS_CHUNKS_OF(struct event_counters);
	bool is_orphan = st->flags & PROC_ORPHAN;

	d->words = 0;
	__builtin_memset(d->r.mask, 0, sizeof(d->r.mask));
	pack_chunks(d, st->events.chunk, at, 0);
#define X(part, PART, group)                                                                       \
	{                                                                                          \
		struct fs_##part *part = find_##part(st, leader);                                  \
                                                                                                   \
		if (part)                                                                          \
			pack_chunks(d, part->chunk, FS_CHUNKS_OF(group), at);                      \
		at += FS_CHUNKS_OF(group);                                                         \
	}
	FS_PARTS(X)
#undef X
	if (slot) {
		read_pending(&d->pending, slot);
		pack_words(d, (struct fs_words *)&d->pending, at);
	}
	return !is_orphan || orphan_of(leader);
}

/* Sends a record. Returns false if the ring is full. */
static __always_inline bool send_draft(struct process_draft *d, struct task_struct *leader,
				       bool counters, __u64 flags)
{
	__u32 bytes = __builtin_offsetof(struct fs_packed_process, mask), words;

	if (counters) {
		words = d->words;
		barrier_var(words);
		bytes = __builtin_offsetof(struct fs_packed_process, word) +
			(words & (FS_PACKED_WORDS - 1)) * sizeof(__u64);
	}
	fill_header(&d->r.h, counters ? RECORD_PACKED_PROCESS : RECORD_PROCESS, bytes);
	fill_subject(&d->r.subject, leader);
	return !bpf_ringbuf_output(&ring, &d->r, bytes, flags);
}

#define process_record_of(draft) (&(draft)->r)

static __always_inline struct process_draft *last_record_begin(void)
{
	__u32 zero = 0;
	struct process_draft *d = bpf_map_lookup_elem(&last_records, &zero);

	return d && claim(&d->users) ? d : NULL;
}

/* `leader` and `task` are the same task: the verifier forbids some uses of each. */
static __always_inline bool last_record_send(struct process_draft *d, struct fs_state *st,
					     struct task_struct *leader, struct task_struct *task)
{
	bool sent = pack_counters(d, st, leader) && send_draft(d, task, true, wake_at_exit());

	unclaim(&d->users);
	return sent;
}

#else

#define process_draft		 process_record
#define process_record_of(draft) (draft)

/* Copies all counters of a process. Adds the leader's last fault, as read_pending() does. */
static __always_inline void copy_counters(struct counters *c, struct fs_state *st)
{
	const struct fs_fault_slot *slot = &whole_of(st)->slot;

	bpf_probe_read_kernel(c, sizeof(struct event_counters), &st->events);
	bpf_probe_read_kernel(&c->map_call, sizeof(struct mapping_counters),
			      &whole_of(st)->mappings);
	bpf_probe_read_kernel(&c->fd_call, sizeof(struct descriptor_counters),
			      &whole_of(st)->descriptors);
	bpf_probe_read_kernel(&c->stall_ns, sizeof(struct stall_counters), &whole_of(st)->stalls);
	bpf_probe_read_kernel(&c->served_max_ns, sizeof(struct class_counters),
			      &whole_of(st)->classes);
	if (!slot->ended_ns)
		return;
	add_fault((struct stall_counters *)&c->stall_ns, slot, end_of(slot), bucket_of(slot));
	if (config.classify)
		add_class((struct event_counters *)c, (struct stall_counters *)&c->stall_ns,
			  (struct class_counters *)&c->served_max_ns, slot, end_of(slot),
			  bucket_of(slot));
}

static __always_inline struct process_record *last_record_begin(void)
{
	return bpf_ringbuf_reserve(&ring, sizeof(struct process_record), 0);
}

static __always_inline bool last_record_send(struct process_record *r, struct fs_state *st,
					     struct task_struct *leader, struct task_struct *task)
{
	copy_counters(&r->c, st);
	fill_header(&r->h, RECORD_PROCESS, sizeof(*r));
	fill_subject(&r->subject, task);
	bpf_ringbuf_submit(r, wake_at_exit());
	return true;
}

#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Storage for the state of processes and threads. Default: task storage. With FS_HASH: hash tables
 * by pid, whose entries the fork and exit probes create and delete.
 */
#ifndef FS_PROCESS_STATE_BPF_H
#define FS_PROCESS_STATE_BPF_H

#include "maps.bpf.h"

static __always_inline void fill_subject(struct process_key *s, struct task_struct *leader)
{
	s->start_ns = get(leader, start_boottime);
	s->pid = get(leader, tgid);
	s->pad = 0;
}

/* Initial values of new entries, which are too large for the stack: 0: all zero; 1: for `orphans`.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct fs_whole_state);
} blank SEC(".maps");

#ifndef FS_HASH

/*
 * Returns the element of a task, and creates a missing one. If another thread creates the element,
 * or any first element of the task, at the same time, the kernel refuses the creation with EEXIST
 * or EAGAIN (bpf_local_storage_update(), kernel/bpf/bpf_local_storage.c). A second try then finds
 * the element or creates it.
 */
#define storage_make(map, task, value)                                                             \
	(bpf_task_storage_get(map, task, value, BPF_LOCAL_STORAGE_GET_F_CREATE)                    \
		 ?: bpf_task_storage_get(map, task, value, BPF_LOCAL_STORAGE_GET_F_CREATE))

/* The state of a process is kept with its leader, in parts: see wire_state.h. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct fs_state);
} procs SEC(".maps");

#define X(part, PART, group)                                                                       \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_TASK_STORAGE);                                           \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                              \
		__type(key, int);                                                                  \
		__type(value, struct fs_##part);                                                   \
	} part_##part SEC(".maps");
FS_PARTS(X)
#undef X

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct fs_fault_slot);
} slots SEC(".maps");

/*
 * State of processes whose leader has exited while other threads continue. A thread that calls
 * execve takes over the leader's pid and start time. The kernel then frees the leader's task with
 * its storage (de_thread(), fs/exec.c), so state must be kept elsewhere. Also state of processes
 * in which a clone() failed: see freed_state.bpf.h. Before 6.1, entries of hash tables must exist
 * in advance.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
#ifdef FS_ADDRESSES
	__uint(map_flags, BPF_F_NO_PREALLOC);
#endif
	__uint(max_entries, 512);
	__type(key, struct process_key);
	__type(value, struct fs_whole_state);
} orphans SEC(".maps");

static __noinline struct fs_whole_state *orphan_of(struct task_struct *leader)
{
	struct process_key s;

	fill_subject(&s, as_task(leader));
	return bpf_map_lookup_elem(&orphans, &s);
}

/* Counts an element of task storage that belongs to a process. */
static __always_inline void count_stored(struct fs_state *st, enum fs_stored what)
{
	if (!(__sync_fetch_and_or(&st->stored, 1U << what) & 1U << what))
		bump(shared.stored[what]);
}

/* Called when the elements of a process will soon be freed with its leader. */
returns_unread int forget_stored(struct fs_state *st)
{
	__u32 stored = swap(&st->stored, 0);

#pragma clang loop unroll(full)
	for (__u32 i = 0; i < FS_STORED_SLOT; i++)
		if (stored & 1U << i)
			atomic_add(&shared.stored[i], -1);
	return 0;
}

/*
 * find_PART() returns a part of the state of a process, or NULL if nothing in it was counted yet.
 * make_PART() creates a missing part of the current process. It returns NULL if there is no room,
 * which is counted as lost, or after the last record of the process. `leader` is a pointer that
 * own_leader() returned. A program calls own_leader() rarely, since the verifier searches the
 * kernel's types for it (see compat.bpf.h).
 */
#define own_leader() get(current_task(), group_leader)

#define X(part, PART, group)                                                                       \
	static __always_inline struct fs_##part *find_##part(const struct fs_state *st,            \
							     struct task_struct *leader)           \
	{                                                                                          \
		struct fs_whole_state *whole;                                                      \
                                                                                                   \
		if (!(st->flags & PROC_ORPHAN))                                                    \
			return bpf_task_storage_get(&part_##part, leader, NULL, 0);                \
		whole = orphan_of(leader);                                                         \
		if (!whole)                                                                        \
			return NULL;                                                               \
		barrier_var(whole); /* the verifier permits no arithmetic before the NULL test */  \
		return &whole->part;                                                               \
	}                                                                                          \
	static __noinline struct fs_##part *create_##part(struct fs_state *st,                     \
							  struct task_struct *leader)              \
	{                                                                                          \
		struct fs_##part *p;                                                               \
                                                                                                   \
		if (st->flags & (PROC_FINAL | PROC_ORPHAN))                                        \
			return NULL;                                                               \
		p = storage_make(&part_##part, leader, NULL);                                      \
		if (!p) {                                                                          \
			bump(shared.losses.map);                                                   \
			return NULL;                                                               \
		}                                                                                  \
		count_stored(st, FS_STORED_##PART);                                                \
		return p;                                                                          \
	}                                                                                          \
	static __always_inline struct fs_##part *make_##part(struct fs_state *st,                  \
							     struct task_struct *leader)           \
	{                                                                                          \
		struct fs_##part *p = find_##part(st, leader);                                     \
                                                                                                   \
		return p ? p : create_##part(st, leader);                                          \
	}
FS_PARTS(X)
#undef X

/*
 * Counters that are moved together. Each counter is moved in one atomic step, so that no count is
 * lost or doubled if other threads add to the source or also move it. For a maximum, the greater
 * one stays.
 */
struct move {
	struct fs_words *from, *to;
	__u64 maxima; /* bit i: word i is a maximum */
};

/* The callback of bpf_loop() is checked once by the verifier, not once per step. */
static long move_word(__u32 i, struct move *m)
{
	__u64 n;

	if (i >= FS_CHUNK)
		return 1;
	n = m->from->word[i] ? swap(&m->from->word[i], 0) : 0;
	if (!n)
		return 0;
	if (!(m->maxima >> i & 1))
		atomic_add(&m->to->word[i], n);
	else if (n > m->to->word[i])
		m->to->word[i] = n;
	return 0;
}

/* A function for all groups, since the verifier checks it once in each of the many programs. */
once_verified int move_words(struct fs_words *from, struct fs_words *to, __u64 maxima)
{
	struct move m = {from, to, maxima};

	if (from && to)
		bpf_loop(FS_CHUNK, move_word, &m, 0);
	return 0;
}

/* Returns the bits of move.maxima of a chunk, if the words from `first` to `end` - 1 are maxima. */
static __always_inline __u64 maxima_of(__u32 chunk, __u32 first, __u32 end)
{
	__u64 bits = 0;

	for (__u32 i = 0; i < FS_CHUNK; i++)
		if (chunk * FS_CHUNK + i >= first && chunk * FS_CHUNK + i < end)
			bits |= 1UL << i;
	return bits;
}
#define word_of(type, member) (__builtin_offsetof(type, member) / sizeof(__u64))
#define end_of_words(type, member)                                                                 \
	((__builtin_offsetof(type, member) + sizeof(((type *)0)->member)) / sizeof(__u64))
#define maxima_of_events(k)	 0
#define maxima_of_mappings(k)	 0
#define maxima_of_descriptors(k) 0
#define maxima_of_stalls(k)                                                                        \
	maxima_of(k, word_of(struct stall_counters, latency_max_ns),                               \
		  end_of_words(struct stall_counters, latency_max_ns))
#define maxima_of_classes(k)                                                                       \
	maxima_of(k, word_of(struct class_counters, served_max_ns),                                \
		  end_of_words(struct class_counters, served_max_ns))

#define X(part, PART, group)                                                                       \
	static __always_inline void move_##part(struct fs_##part *from, struct fs_##part *to)      \
	{                                                                                          \
		_Pragma("clang loop unroll(full)") for (__u32 k = 0; k < FS_CHUNKS_OF(group); k++) \
			move_words(&from->chunk[k], &to->chunk[k], maxima_of_##part(k));           \
	}
FS_PARTS(X)
X(events, EVENTS, struct event_counters)
#undef X

/*
 * Moves all counters of a process to its entry in `orphans`. `from->counted` is cleared first: a
 * later addition sets `counted` again, and the next reader of the flag moves the rest.
 */
static __always_inline void move_counters(struct task_struct *leader, struct fs_state *from,
					  struct fs_whole_state *to)
{
	from->counted = 0;
	move_events(&from->events, &to->st.events);
#define X(part, PART, group)                                                                       \
	{                                                                                          \
		struct fs_##part *p = bpf_task_storage_get(&part_##part, leader, NULL, 0);         \
                                                                                                   \
		if (p)                                                                             \
			move_##part(p, &to->part);                                                 \
	}
	FS_PARTS(X)
#undef X
	atomic_add(&to->st.reclaim_ns, swap(&from->reclaim_ns, 0));
	atomic_add(&to->st.swap_ins, swap(&from->swap_ins, 0));
	to->st.counted = 1;
}

/*
 * Returns the state of a process from `orphans`, where it is if the leader has exited. If it is not
 * there, returns `left`.
 */
static __noinline struct fs_state *proc_find_orphan(struct task_struct *leader,
						    struct fs_state *left)
{
	struct fs_whole_state *whole = orphan_of(leader);

	if (!whole)
		return left;
	if (left && left->counted)
		move_counters(leader, left, whole);
	return &whole->st;
}

/*
 * Returns whether a task may have state. The kernel allocates task->bpf_storage with the task's
 * first storage (kernel/bpf/bpf_task_storage.c), so one load decides for the processes that are not
 * watched, without a function call.
 */
static __always_inline bool may_have_state(struct task_struct *task)
{
	return config.watch_all || get(untrusted(task), bpf_storage);
}

/* Returns the state of a process, given its leader, or NULL. */
static __always_inline struct fs_state *proc_find(struct task_struct *leader)
{
	struct fs_state *st = NULL;

	if (may_have_state(leader))
		st = bpf_task_storage_get(&procs, leader, NULL, 0);
	if (st && !(st->flags & PROC_LEFT))
		return st;
	return shared.orphans ? proc_find_orphan(leader, st) : st;
}

#define PF_EXITING 0x4 /* value from include/linux/sched.h */

/*
 * Returns whether the current thread belongs to a process whose leader has exited. False if this
 * thread exits too, because the entry in `orphans` might then be created after the process ended.
 */
static __always_inline bool leader_is_gone(struct task_struct *leader)
{
	struct task_struct *task = as_task(current_task()), *first = as_task(leader);

	return get(first, flags) & PF_EXITING && !(get(task, flags) & PF_EXITING) &&
	       get(task, tgid) == get(first, tgid);
}

/* Creates state in `orphans`. Returns NULL if there is no room. */
static __noinline struct fs_state *proc_create_orphan(struct task_struct *leader)
{
	struct fs_whole_state *whole;
	struct process_key s;
	__u32 one = 1;

	fill_subject(&s, as_task(leader));
	whole = bpf_map_lookup_elem(&blank, &one);
	if (!whole)
		return NULL;
	whole->st.flags = PROC_ORPHAN;
	if (!bpf_map_update_elem(&orphans, &s, whole, BPF_NOEXIST))
		bump(shared.orphans);
	whole = bpf_map_lookup_elem(&orphans, &s);
	if (!whole)
		return NULL;
	whole->st.start_ns = s.start_ns;
	whole->st.pid = s.pid;
	return &whole->st;
}

/*
 * Creates the state of a process. If its leader exited before the process was watched, it is
 * created in `orphans`, because the kernel frees the storage of the leader at the next exec.
 */
static __noinline struct fs_state *proc_create(struct task_struct *leader)
{
	struct fs_state *st = leader_is_gone(leader) ? proc_create_orphan(leader) : NULL;

	if (st)
		return st;
	st = storage_make(&procs, leader, NULL);
	if (st)
		count_stored(st, FS_STORED_STATE);
	else
		bump(shared.losses.map);
	return st;
}

/*
 * Returns the state of a process, given its leader. Creates missing state. Returns NULL if there is
 * no room.
 */
static __always_inline struct fs_state *proc_make(struct task_struct *leader)
{
	return proc_find(leader) ?: proc_create(leader);
}

static __always_inline struct fs_state *proc_make_fresh(struct task_struct *leader)
{
	return proc_make(leader);
}

static __always_inline void drop_orphan(const struct process_key *s)
{
	if (!bpf_map_delete_elem(&orphans, s))
		atomic_add(&shared.orphans, -1);
}

static __always_inline void proc_drop(struct task_struct *leader)
{
	struct process_key s;

	if (!shared.orphans)
		return;
	fill_subject(&s, leader);
	drop_orphan(&s);
}

#define EEXIST 17

/*
 * Called when the leader exits before its process: moves the state to `orphans`. The new state is
 * created before the old state is marked PROC_LEFT, and nothing is sent before all counters are
 * moved. PROC_LEFT and PROC_FINAL are bits of one word, so that either proc_leader_left() or
 * proc_ends() is first.
 */
returns_unread int proc_leader_left(struct task_struct *leader, struct fs_state *st)
{
	struct fs_whole_state *empty, *orphan = NULL;
	__u32 zero = 0;
	struct process_key s;
	long err;

	fill_subject(&s, as_task(leader));
	empty = bpf_map_lookup_elem(&blank, &zero);
	if (!empty)
		return 0;
	err = bpf_map_update_elem(&orphans, &s, empty, BPF_NOEXIST);
	if (!err)
		orphan = bpf_map_lookup_elem(&orphans, &s);
	if (!orphan) {
		if (err != -EEXIST)
			bump(shared.losses.map);
		return 0;
	}
	bump(shared.orphans);
	st->start_ns = s.start_ns;
	st->pid = s.pid;
	forget_stored(st);
	bpf_probe_read_kernel(&orphan->st, __builtin_offsetof(struct fs_state, events), st);
	orphan->st.flags |= PROC_HALF | PROC_ORPHAN;
	orphan->st.reclaim_ns = orphan->st.swap_ins = 0;
	if (__sync_fetch_and_or(&st->flags, PROC_LEFT) & PROC_FINAL) {
		drop_orphan(&s);
		return 0;
	}
	move_counters(leader, st, orphan);
	clear_bits(&orphan->st.flags, PROC_HALF);
	return 0;
}

/*
 * Returns the state of a process whose leader exited before the process was watched. Moves the
 * state to `orphans` first.
 */
static __always_inline struct fs_state *proc_without_leader(struct task_struct *leader,
							    struct fs_state *st)
{
	struct fs_state *own = bpf_task_storage_get(&procs, leader, NULL, 0);

	if (own && !(own->flags & PROC_LEFT))
		proc_leader_left(leader, own);
	return proc_find(leader) ?: st;
}

/* Maximum steps for which proc_ends() waits for proc_leader_left(), which takes about 10 us. */
#define MOST_WAITED 4096

struct awaited {
	struct fs_state *st;
};

static long is_whole(__u32 i, struct awaited *a)
{
	return !(__sync_fetch_and_or(&a->st->flags, 0) & PROC_HALF);
}

once_verified int await_whole(struct fs_state *st)
{
	struct awaited a = {.st = st};

	if (!st)
		return 0;
	if (bpf_loop(MOST_WAITED, is_whole, &a, 0) == MOST_WAITED &&
	    __sync_fetch_and_or(&st->flags, 0) & PROC_HALF)
		bump(shared.losses.map);
	return 0;
}

/*
 * Returns the state for the last record of a process. Returns NULL if another thread sends this
 * record. If two threads of a process exit at the same time, both may see no other live thread.
 */
static __always_inline struct fs_state *proc_ends(struct task_struct *leader, struct fs_state *st)
{
	struct fs_state *own = bpf_task_storage_get(&procs, leader, NULL, 0);
	__u32 before;

	if (!own)
		own = st;
	before = __sync_fetch_and_or(&own->flags, PROC_FINAL);
	if (before & PROC_FINAL)
		return NULL;
	forget_stored(own);
	if (!(before & PROC_LEFT))
		return own;
	own = proc_find_orphan(leader, own);
	if (!own)
		return NULL;
	__sync_fetch_and_or(&own->flags, PROC_FINAL);
	await_whole(own);
	return own;
}

/*
 * Returns whether a copied state was complete, and belonged to this process, during the copy. While
 * state is copied, the leader may exit, and another thread may take over its pid.
 */
static __always_inline bool proc_was_whole(struct fs_state *st, struct task_struct *leader)
{
	return !(__sync_fetch_and_or(&st->flags, 0) & (PROC_LEFT | PROC_HALF)) &&
	       st->start_ns == get(leader, start_boottime) && get(leader, pid) == get(leader, tgid);
}

/*
 * Moves the state of a process from `orphans` to the storage of its new leader. A scan reads the
 * counters from `orphans` until PROC_ORPHAN is cleared.
 */
returns_unread int proc_take_back(struct task_struct *leader)
{
	struct fs_whole_state *kept;
	struct fs_state *own;
	struct process_key s;

	fill_subject(&s, leader);
	kept = bpf_map_lookup_elem(&orphans, &s);
	if (!kept)
		return 0;
	kept->st.flags ^= PROC_MOVED;
#define X(part, PART, group)                                                                       \
	if (!storage_make(&part_##part, leader, &kept->part)) {                                    \
		bump(shared.losses.map);                                                           \
		return 0;                                                                          \
	}
	FS_PARTS(X)
#undef X
	own = storage_make(&procs, leader, &kept->st);
	if (!own) {
		bump(shared.losses.map);
		return 0;
	}
#define X(part, PART, group) count_stored(own, FS_STORED_##PART);
	FS_PARTS(X)
#undef X
	count_stored(own, FS_STORED_STATE);
	clear_bits(&own->flags, PROC_ORPHAN);
	drop_orphan(&s);
	return 0;
}

/* Called after a thread took over the leader's pid. Returns the state of the process, or NULL. */
static __always_inline struct fs_state *proc_succeed(struct task_struct *leader)
{
	struct fs_state *own = bpf_task_storage_get(&procs, leader, NULL, 0);

	if (!shared.orphans)
		return own;
	if (own)
		return proc_find(leader); /* the kernel has not yet freed the moved state */
	proc_take_back(leader);
	return bpf_task_storage_get(&procs, leader, NULL, 0);
}

static __always_inline struct fs_fault_slot *thread_slot(struct task_struct *task)
{
	return may_have_state(task) ? bpf_task_storage_get(&slots, task, NULL, 0) : NULL;
}

static __always_inline struct fs_fault_slot *thread_slot_make(struct task_struct *task)
{
	struct fs_fault_slot *slot = thread_slot(task);

	if (slot)
		return slot;
	slot = storage_make(&slots, task, NULL);
	if (slot && !(get(task, flags) & PF_EXITING)) {
		slot->stored = 1;
		bump(shared.stored[FS_STORED_SLOT]);
	}
	return slot;
}

/* Returns the slot of a thread that had another pid before it called execve. */
static __always_inline struct fs_fault_slot *former_slot(struct task_struct *task, __u32 old_pid)
{
	return thread_slot(task);
}

/* Called when a thread exits. The kernel frees the slot with the thread. */
static __always_inline void slot_drop(struct task_struct *task)
{
	struct fs_fault_slot *slot = thread_slot(task);

	if (slot && slot->stored) {
		slot->stored = 0;
		atomic_add(&shared.stored[FS_STORED_SLOT], -1);
	}
}

static __always_inline void former_slot_drop(__u32 old_pid)
{
}

/* Returns the fault slot of a thread of the process `st`. */
static __always_inline struct fs_fault_slot *slot_of(struct task_struct *task, struct fs_state *st)
{
	return thread_slot(task);
}

static __always_inline struct fs_fault_slot *slot_find(struct task_struct *task)
{
	return thread_slot(task);
}

static __always_inline struct fs_fault_slot *slot_make(struct task_struct *task,
						       struct fs_state *st)
{
	return thread_slot_make(task);
}

#else /* FS_HASH is defined */

#define whole_of(st) ((struct fs_whole_state *)(st))
#define own_leader() ((struct task_struct *)NULL) /* the state of a process is in one place */

#define X(part, PART, group)                                                                       \
	static __always_inline struct fs_##part *make_##part(struct fs_state *st,                  \
							     struct task_struct *leader)           \
	{                                                                                          \
		return &whole_of(st)->part;                                                        \
	}
FS_PARTS(X)
#undef X

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192); /* default; the loader sets the number of processes */
	__type(key, __u32);	   /* pid of the process (tgid) */
	__type(value, struct fs_whole_state);
} procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32); /* pid of the thread */
	__type(value, struct fs_fault_slot);
} slots SEC(".maps");

/*
 * The counter of the entries of `procs` for pids that share their low bits. It is incremented
 * before an entry is inserted and decremented after it is deleted, so 0 means that no entry exists.
 * Reading this word costs less than a lookup in a hash table.
 */
#define entries_near(pid) (&shared.entries_near[(pid) & (FS_ENTRIES_NEAR - 1)])

static __always_inline struct fs_state *proc_find(struct task_struct *leader)
{
	__u32 pid = get(leader, tgid);

	if (!config.watch_all && !*entries_near(pid))
		return NULL;
	return bpf_map_lookup_elem(&procs, &pid);
}

static __always_inline void proc_drop(struct task_struct *leader)
{
	__u32 pid = get(leader, tgid);

	if (!bpf_map_delete_elem(&procs, &pid))
		atomic_add(entries_near(pid), -1);
}

static __always_inline struct fs_state *proc_make(struct task_struct *leader)
{
	__u32 pid = get(leader, tgid), zero = 0;
	struct fs_state *st = bpf_map_lookup_elem(&procs, &pid);
	struct fs_whole_state *empty;

	if (st)
		return st;
	/* An exiting process must not create new state after its last record. */
	empty = bpf_map_lookup_elem(&blank, &zero);
	if (!empty || !get(leader, signal, live.counter))
		return NULL;
	atomic_add(entries_near(pid), 1);
	if (bpf_map_update_elem(&procs, &pid, empty, BPF_NOEXIST))
		atomic_add(entries_near(pid), -1);
	st = bpf_map_lookup_elem(&procs, &pid);
	if (!st)
		bump(shared.losses.map);
	return st;
}

/* Processes whose last record a thread is sending. No other thread may send this record too. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct process_key);
	__type(value, __u32);
} ending SEC(".maps");

static __always_inline struct fs_state *proc_ends(struct task_struct *leader, struct fs_state *st)
{
	struct process_key s;
	__u32 one = 1;

	fill_subject(&s, leader);
	st->flags |= PROC_FINAL;
	return bpf_map_update_elem(&ending, &s, &one, BPF_NOEXIST) ? NULL : st;
}

/* Creates new state for a process with a reused pid; nothing of the previous process is kept. */
static __always_inline struct fs_state *proc_make_fresh(struct task_struct *leader)
{
	proc_drop(leader);
	return proc_make(leader);
}

/*
 * Clears only the leader's open fault, which ended with its thread. The process state is stored by
 * pid, and stays valid.
 */
static __always_inline int proc_leader_left(struct task_struct *leader, struct fs_state *st)
{
	__builtin_memset(&whole_of(st)->slot, 0, sizeof(whole_of(st)->slot));
	return 0;
}

static __always_inline struct fs_state *proc_without_leader(struct task_struct *leader,
							    struct fs_state *st)
{
	return st;
}

static __always_inline bool proc_was_whole(struct fs_state *st, struct task_struct *leader)
{
	return get(leader, pid) == get(leader, tgid);
}

static __always_inline struct fs_state *proc_succeed(struct task_struct *leader)
{
	return proc_find(leader);
}

static __always_inline struct fs_fault_slot *thread_slot(struct task_struct *task)
{
	__u32 pid = get(task, pid);

	return bpf_map_lookup_elem(&slots, &pid);
}

static __always_inline struct fs_fault_slot *thread_slot_make(struct task_struct *task)
{
	struct fs_fault_slot *slot;
	__u32 pid = get(task, pid), zero = 0;
	struct fs_whole_state *empty;

	slot = bpf_map_lookup_elem(&slots, &pid);
	if (slot)
		return slot;
	empty = bpf_map_lookup_elem(&blank, &zero);
	if (!empty)
		return NULL;
	bpf_map_update_elem(&slots, &pid, &empty->slot, BPF_NOEXIST);
	return bpf_map_lookup_elem(&slots, &pid);
}

/* Returns the slot of a thread that had another pid before it called execve. */
static __always_inline struct fs_fault_slot *former_slot(struct task_struct *task, __u32 old_pid)
{
	return bpf_map_lookup_elem(&slots, &old_pid);
}

static __always_inline void slot_drop(struct task_struct *task)
{
	__u32 pid = get(task, pid);

	bpf_map_delete_elem(&slots, &pid);
}

static __always_inline void former_slot_drop(__u32 old_pid)
{
	bpf_map_delete_elem(&slots, &old_pid);
}

/*
 * Returns the fault slot of a thread of the process `st`. The leader's is part of the process
 * state.
 */
static __always_inline struct fs_fault_slot *slot_of(struct task_struct *task, struct fs_state *st)
{
	return get(task, pid) == get(task, tgid) ? &whole_of(st)->slot : thread_slot(task);
}

static __always_inline struct fs_fault_slot *slot_find(struct task_struct *task)
{
	struct fs_state *st;

	if (get(task, pid) != get(task, tgid))
		return thread_slot(task);
	st = proc_find(task);
	if (!st)
		return NULL;
	barrier_var(st); /* the verifier permits no arithmetic before the NULL test */
	return &whole_of(st)->slot;
}

static __always_inline struct fs_fault_slot *slot_make(struct task_struct *task,
						       struct fs_state *st)
{
	return get(task, pid) == get(task, tgid) ? &whole_of(st)->slot : thread_slot_make(task);
}

#endif

/* Returns the state of a process, given its leader, or NULL if the process is not watched. */
static __always_inline struct fs_state *proc_of(struct task_struct *leader)
{
	return config.watch_all ? proc_make(leader) : proc_find(leader);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Measures waits of threads: for reclaim, compaction, mmap_lock and disk I/O. */
#include "class.bpf.h"
#include "state.bpf.h"

static __always_inline struct fs_fault_slot *waiting_slot(struct task_struct *task,
							  struct fs_state **ret_st)
{
	if (get(task, flags) & PF_KTHREAD)
		return NULL; /* kernel threads such as kswapd work for other tasks */
	*ret_st = proc_of(get(task, group_leader));
	return *ret_st ? slot_make(task, *ret_st) : NULL;
}

static __always_inline int begin_wait(void)
{
	struct fs_fault_slot *slot;
	struct fs_state *st;

	slot = waiting_slot(current_task(), &st);
	if (!slot)
		return 0;
	other_wait_begins(current_task(), slot);
	slot->wait_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int end_wait(__u32 wait)
{
	struct fs_fault_slot *slot;
	struct fs_state *st;
	__u64 ns;

	slot = waiting_slot(current_task(), &st);
	if (!slot || !slot->wait_ns)
		return 0;
	ns = ns_since(slot->wait_ns);
	slot->wait_ns = 0;
	other_wait_ends(current_task(), slot);
	count_wait(st, slot, wait, ns);
	return 0;
}

/* The tracepoint's arguments are not used, because they differ between kernels. */
SEC("raw_tp/mm_compaction_begin")
int on_compaction_begin(void *ctx)
{
	return begin_wait();
}

SEC("raw_tp/mm_compaction_end")
int on_compaction_end(void *ctx)
{
	return end_wait(WAIT_COMPACTION);
}

#define TLB_REMOTE_SEND_IPI 4 /* value of enum tlb_flush_reason, include/linux/mm_types.h */

static __always_inline int count_shootdown(void)
{
	struct task_struct *task = current_task();
	struct fs_state *st;

	if (get(task, flags) & PF_KTHREAD)
		return 0;
	st = proc_of(get(task, group_leader));
	if (st)
		tally(st, tlb_shootdowns, 1);
	return 0;
}

/* The requesting CPU calls this function once per flush: arch/x86/mm/tlb.c. */
SEC("fentry/native_flush_tlb_multi")
int on_tlb_shootdown(void *ctx)
{
	return count_shootdown();
}

/*
 * Counts only TLB_REMOTE_SEND_IPI, which native_flush_tlb_multi() reports. The tracepoint also
 * fires at each switch to another process.
 */
SEC("raw_tp/tlb_flush")
int on_tlb_flush(struct bpf_raw_tracepoint_args *ctx)
{
	return ctx->args[0] == TLB_REMOTE_SEND_IPI ? count_shootdown() : 0;
}

/* Returns in_iowait, which is set from before a thread sleeps for I/O until after it wakes. */
static __always_inline bool waits_for_disk(struct task_struct *task)
{
#ifdef FS_HASH
	return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait);
#else
	return BPF_CORE_READ_BITFIELD(task, in_iowait);
#endif
}

/*
 * Called when the current thread goes to sleep. If the thread is already in another wait, the sleep
 * is counted as a part of that wait.
 */
static __always_inline int sleeps(bool preempt, struct task_struct *task)
{
	struct fs_fault_slot *slot;

	if (preempt || !waits_for_disk(task))
		return 0;
	slot = slot_find(task);
	if (slot && may_wait_for_disk(slot))
		slot->disk_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * Called when another thread wakes the task. The wait ends now, and not when the task gets a CPU.
 * The kernel's delay accounting does the same.
 */
static __always_inline int wakes(struct task_struct *task)
{
	struct fs_fault_slot *slot;

	if (!waits_for_disk(task))
		return 0;
	slot = slot_find(task);
	if (!slot || !slot->disk_ns)
		return 0;
	slot->waited_ns[WAIT_DISK] += ns_since(slot->disk_ns);
	slot->disk_ns = 0;
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev)
{
	return sleeps(preempt, prev);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	return wakes(task);
}

#ifdef FS_HASH
SEC("raw_tp/sched_switch")
int raw_switch(struct bpf_raw_tracepoint_args *ctx)
{
	return sleeps(ctx->args[0], (struct task_struct *)ctx->args[1]);
}

SEC("raw_tp/sched_waking")
int raw_waking(struct bpf_raw_tracepoint_args *ctx)
{
	return wakes((struct task_struct *)ctx->args[0]);
}
#endif

/* Values from kernel/locking/rwsem.c. */
#define RWSEM_READER_OWNED 1
#define RWSEM_OWNER_FLAGS  7
#define RWSEM_FLAG_WAITERS 2
#define RWSEM_FLAG_HANDOFF 4

/* The thread that last released a contended mmap_lock, for each address space. */
struct last_holder {
	__u64 ns;
	__u32 pid;
	__u32 writes;
	char comm[COMM_LEN];
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct last_holder);
} last_holders SEC(".maps");

static __always_inline void lets_go(struct task_struct *task, __u64 mm, __u64 owner)
{
	struct last_holder h = {.ns = bpf_ktime_get_ns(), .pid = get(task, tgid)};

	h.writes = !(owner & RWSEM_READER_OWNED);
	bpf_probe_read_kernel(h.comm, sizeof(h.comm), task->comm);
	bpf_map_update_elem(&last_holders, &mm, &h, BPF_ANY);
}

static __always_inline void set_holder(struct fs_fault_slot *slot, const struct last_holder *h,
				       __u32 writes)
{
	slot->holder = h->pid;
	slot->holder_writes = writes;
	__builtin_memcpy(slot->holder_comm, h->comm, sizeof(slot->holder_comm));
}

/*
 * Called after a wait for mmap_lock. Stores which thread released mmap_lock during the wait,
 * because no holder was known when the wait began.
 */
static __always_inline void note_last_holder(struct fs_fault_slot *slot, __u64 mm, __u64 since)
{
	struct last_holder *h = bpf_map_lookup_elem(&last_holders, &mm);

	if (!h || h->ns < since)
		return;
	set_holder(slot, h, h->writes);
}

/*
 * Returns the thread that holds mmap_lock, or NULL. If several readers hold it, returns the latest
 * one. *ret_owner is the value of mmap_lock.owner, which keeps the last reader of a free lock.
 */
static __always_inline struct task_struct *holder_of(struct mm_struct *mm, __u64 *ret_owner)
{
	*ret_owner = 0;
	if (!bpf_core_field_exists(mm->mmap_lock.owner))
		return NULL; /* PREEMPT_RT */
	if (!(get(mm, mmap_lock.count.counter) & ~(RWSEM_FLAG_WAITERS | RWSEM_FLAG_HANDOFF)))
		return NULL;
	*ret_owner = get(mm, mmap_lock.owner.counter);
	return (struct task_struct *)(*ret_owner & ~(__u64)RWSEM_OWNER_FLAGS);
}

/* Stores which thread holds mmap_lock. Returns this thread, or NULL. */
static __always_inline struct task_struct *
note_holder(struct task_struct *task, struct fs_fault_slot *slot, struct mm_struct *mm)
{
	struct task_struct *holder;
	__u64 owner;

	slot->holder = 0;
	holder = holder_of(mm, &owner);
	if (!holder || holder == task)
		return NULL;
	slot->holder = BPF_CORE_READ(holder, tgid);
	slot->holder_writes = !(owner & RWSEM_READER_OWNED);
	bpf_probe_read_kernel(slot->holder_comm, sizeof(slot->holder_comm), holder->comm);
	return holder;
}

/*
 * Returns the slot of a thread that locks `mm`. Returns NULL if `mm` belongs to another process, as
 * when a thread reads /proc.
 */
static __always_inline struct fs_fault_slot *locking_slot(struct task_struct *task, __u64 mm,
							  struct fs_state **ret_st)
{
	return (__u64)get(as_task(task), mm) == mm ? waiting_slot(task, ret_st) : NULL;
}

/* Counts a wait of `ns` for mmap_lock, which the current thread has ended. */
static __always_inline void count_lock_wait(void *ctx, struct task_struct *task,
					    struct fs_state *st, struct fs_fault_slot *slot,
					    __u64 ns)
{
	count_wait(st, slot, WAIT_LOCK, ns);
	if (slot->holder && slot->holder != bpf_get_current_pid_tgid() >> 32)
		tally(st, lock_others_ns, ns);
	if (!slot->begin_ns && ns >= config.slow_ns)
		note_outside(ctx, task, st, slot, CLASS_CALL, ns);
}

SEC("raw_tp/mmap_lock_start_locking")
int on_lock_begin(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = current_task();
	struct fs_fault_slot *slot;
	struct fs_state *st;

	slot = locking_slot(task, ctx->args[0], &st);
	if (!slot)
		return 0;
	note_holder(task, slot, get(as_task(task), mm));
	other_wait_begins(task, slot);
	slot->lock_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * Returns whether mmap_lock was acquired. A thread that must not wait, or is killed, does not
 * acquire it. The position of the tracepoint's argument changed when memcg_path was removed ("mm:
 * mmap_lock: optimize mmap_lock tracepoints", 6.14).
 */
static __always_inline bool has_lock(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 success = 1;

	/*
	 * Assembly, because clang would emit a load at a computed offset, which verifiers reject.
	 */
	if (config.lock_success == FS_LOCK_SUCCESS_THIRD)
		asm volatile("%0 = *(u64 *)(%1 + 16)" : "=r"(success) : "r"(ctx));
	else if (config.lock_success == FS_LOCK_SUCCESS_FOURTH)
		asm volatile("%0 = *(u64 *)(%1 + 24)" : "=r"(success) : "r"(ctx));
	return success & 0xff; /* the argument is a bool */
}

SEC("raw_tp/mmap_lock_acquire_returned")
int on_lock_end(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = current_task();
	struct fs_fault_slot *slot;
	struct fs_state *st;
	__u64 ns, now, since;

	slot = locking_slot(task, ctx->args[0], &st);
	if (!slot || !slot->lock_ns)
		return 0;
	now = bpf_ktime_get_ns();
	since = slot->lock_ns;
	ns = ns_between(since, now);
	slot->lock_ns = 0;
	slot->held_ns = has_lock(ctx) ? now : 0;
	other_wait_ends(task, slot);
	if (ns < LOCK_WAIT_NS)
		return 0;
	if (!slot->holder)
		note_last_holder(slot, ctx->args[0], since);
	count_lock_wait(ctx, task, st, slot, ns);
	return 0;
}

/* Returns mmap_lock.count. Nearly always `mm` is the task's own, which needs no function call. */
static __always_inline __s64 mmap_lock_count(struct task_struct *task, struct mm_struct *mm)
{
	__s64 own = get(task, mm, mmap_lock.count.counter);

	return (__u64)get(task, mm) == (__u64)mm ? own : BPF_CORE_READ(mm, mmap_lock.count.counter);
}

/*
 * Called before mmap_lock is released. Stores which thread held mmap_lock while others waited.
 * Readers in /proc are stored only when other threads begin to wait.
 */
SEC("raw_tp/mmap_lock_released")
int on_lock_released(struct bpf_raw_tracepoint_args *ctx)
{
	struct mm_struct *mm = (struct mm_struct *)ctx->args[0];
	struct task_struct *current = current_task(), *task = as_task(current);
	struct fs_fault_slot *slot;
	struct fs_state *st;
	__u64 ns;

	if (!~config.slow_ns || !(mmap_lock_count(task, mm) & RWSEM_FLAG_WAITERS))
		return 0;
	if (bpf_core_field_exists(mm->mmap_lock.owner))
		lets_go(task, (__u64)mm, BPF_CORE_READ(mm, mmap_lock.owner.counter));
	slot = locking_slot(current, (__u64)mm, &st);
	if (!slot || !slot->held_ns || slot->begin_ns)
		return 0;
	ns = ns_since(slot->held_ns);
	slot->held_ns = 0;
	if (ns >= LOCK_WAIT_NS)
		note_outside(ctx, task, st, slot, CLASS_HOLDER, ns);
	return 0;
}

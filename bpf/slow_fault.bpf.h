/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums slow faults by file, kind of wait, lock holder and user stack. */
#ifndef FS_SLOW_FAULT_BPF_H
#define FS_SLOW_FAULT_BPF_H

#include "sample.bpf.h"
#include "stack.bpf.h"

struct slow_key {
	struct process_key subject;
	__u64 inode;
	__u32 class;
	__u32 holder;
	__s32 stack;
	__u32 pad;
};
struct slow_faults {
	__u64 told_ns;
	struct slow_faults_record r;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct slow_key);
	__type(value, struct slow_faults);
} slow SEC(".maps");

/* Initial value of a new entry, which is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct slow_faults);
} no_slow SEC(".maps");

static __always_inline struct file *file_at(struct task_struct *task, __u64 address)
{
	struct area a = {.mm = (__u64)BPF_CORE_READ(task, mm)};
	struct vm_area_struct *vma;

	find_area(&a, address);
	vma = (struct vm_area_struct *)a.vma;
	return vma ? BPF_CORE_READ(vma, vm_file) : NULL;
}

static __always_inline struct slow_faults *slow_of(const struct slow_key *key)
{
	struct slow_faults *s = bpf_map_lookup_elem(&slow, key), *none;
	__u32 zero = 0;

	if (s)
		return s;
	none = bpf_map_lookup_elem(&no_slow, &zero);
	if (!none || bpf_map_update_elem(&slow, key, none, BPF_ANY))
		return NULL;
	return bpf_map_lookup_elem(&slow, key);
}

/*
 * Sends the sums in two cases: the number of faults is a power of two (1, 2, 4 …), or the sums were
 * last sent at least 200 ms ago.
 */
static __always_inline void send_slow(struct slow_faults *s)
{
	struct slow_faults_record *r;
	__u64 now = bpf_ktime_get_ns();

	if (s->r.count & (s->r.count - 1) && ns_between(s->told_ns, now) < 200000000)
		return;
	s->told_ns = now;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	*r = s->r;
	fill_header(&r->h, RECORD_SLOW_FAULTS, sizeof(*r));
	bpf_ringbuf_submit(r, wake_when_filling());
}

static __always_inline bool is_fault(__u32 class)
{
	return class < NR_CLASSES;
}

/* Adds the current thread's fault, or its wait outside of faults (`class`), to the sums. */
once_verified int note_slow(struct fs_fault_slot *slot, __u32 class, __s32 stack)
{
	struct task_struct *task = current_task();
	struct file *file = NULL;
	struct slow_key key = {};
	struct slow_faults *s;

	if (!slot)
		return 0;
	key.subject.start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	key.subject.pid = BPF_CORE_READ(task, tgid);
	key.class = class;
	key.holder = slot->waited_ns[WAIT_LOCK] ? slot->holder : 0;
	key.stack = stack;
	if (is_fault(class))
		file = file_at(task, slot->address);
	if (file)
		key.inode = BPF_CORE_READ(file, f_inode, i_ino);
	s = slow_of(&key);
	if (!s) {
		bump(shared.losses.map);
		return 0;
	}
	if (!s->r.count) {
		s->r.subject = key.subject;
		s->r.class = key.class;
		s->r.inode = key.inode;
		s->r.holder = key.holder;
		s->r.stack = key.stack;
		if (file)
			bpf_probe_read_kernel_str(s->r.file, sizeof(s->r.file),
						  BPF_CORE_READ(file, f_path.dentry, d_name.name));
	}
	s->r.tid = BPF_CORE_READ(task, pid);
	s->r.holder_writes = slot->holder_writes;
	__builtin_memcpy(s->r.holder_comm, slot->holder_comm, sizeof(s->r.holder_comm));
	bpf_probe_read_kernel(s->r.comm, sizeof(s->r.comm), task->comm);
	atomic_add(&s->r.count, 1);
	atomic_add(&s->r.total_ns, slot->ended_ns);
	atomic_add(&s->r.read_bytes, is_fault(class) ? slot->read_bytes : 0);
	for (int i = 0; i < NR_WAITS; i++)
		atomic_add(&s->r.waited_ns[i], slot->waited_ns[i]);
	if (slot->ended_ns > s->r.max_ns)
		s->r.max_ns = slot->ended_ns;
	send_slow(s);
	return 0;
}

static __always_inline bool is_slow(const struct fs_fault_slot *slot)
{
	return slot->ended_ns >= config.slow_ns;
}

/*
 * Records a slow or sampled fault with its user stack. `weight` is the number of faults that a
 * sampled fault represents, or 0 if the fault is not sampled.
 */
static __always_inline void send_slow_fault(void *ctx, struct task_struct *task,
					    struct fs_fault_slot *slot, __u32 class, __u32 weight)
{
	__s32 stack = -1;

#ifndef FS_HASH
	if (config.attribute) {
		const struct pt_regs *regs = (void *)bpf_task_pt_regs(current_task());

		/*
		 * A wait outside of faults is reported within an mmap_lock tracepoint. A stack that
		 * is walked there must not search the mappings for files: see fill_addresses().
		 */
		stack = stack_of(ctx, get(as_task(task), group_leader), regs, 0, !is_slow(slot),
				 is_fault(class));
	}
#endif
	if (weight)
		note_sample(slot, class, stack, weight);
	if (!weight || is_slow(slot))
		note_slow(slot, class, stack);
}

#define LOCK_WAIT_NS 10000 /* a shorter wait for mmap_lock, or a shorter hold, is not counted */

/*
 * Sends a slow wait for mmap_lock, or a slow hold, outside of page faults. The function uses the
 * thread's fault slot, after the last fault has been added to the counters.
 */
static __always_inline void note_outside(void *ctx, struct task_struct *task, struct fs_state *st,
					 struct fs_fault_slot *slot, __u32 class, __u64 ns)
{
	add_latency(st, slot);
	for (int i = 0; i < NR_WAITS; i++)
		slot->waited_ns[i] = 0;
	slot->waited_ns[WAIT_LOCK] = class == CLASS_CALL ? ns : 0;
	slot->ended_ns = ns;
	send_slow_fault(ctx, task, slot, class, 0);
	slot->ended_ns = 0;
}

#endif

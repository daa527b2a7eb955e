/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts system calls that change mappings, their failures, and the number of mappings. */
#include "growth.bpf.h"
#include "unwind_process.bpf.h"

/* Counts the size of a new mapping. Its caller marks the process as changed. */
once_verified int count_map_size(struct fs_mappings *m, __u64 bytes)
{
	__u32 bucket = log2_of(bytes >> MAP_SIZE_SHIFT);

	if (!m)
		return 0;
	if (bucket >= NR_MAP_SIZES)
		bucket = NR_MAP_SIZES - 1;
	bump(m->c.map_size[bucket & (NR_MAP_SIZES - 1)]);
	return 0;
}

#define MADV_HWPOISON 100

/*
 * Returns whether madvise() failed at a limit. Errors that no limit causes mean that the kernel or
 * the mapping does not support the advice; poisoning memory needs a capability.
 */
static __always_inline bool is_advice_refused(const struct call *c, __u16 error)
{
	return error == ENOMEM || error == EAGAIN ||
	       (error == EPERM && call_arg(c, 2) < MADV_HWPOISON);
}

#define MADV_DONTNEED	     4
#define MADV_FREE	     8
#define MADV_DONTNEED_LOCKED 24

static __always_inline bool is_discard(const struct call *c)
{
	__u64 advice = c->shape == FS_SHAPE_MADVISE ? call_arg(c, 2) : 0;

	return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_DONTNEED_LOCKED;
}

/*
 * Reports newly mapped code to user space, which makes its unwind tables before the code appears in
 * a stack.
 */
static __always_inline void note_code(const struct call *c)
{
	bool maps = c->shape == FS_SHAPE_MMAP;
	__u64 address = call_arg(c, 0);

	/*
	 * Keeps the compiler from merging this load with the one of c->ret: the verifier accepts no
	 * instruction that loads from two kinds of memory.
	 */
	asm volatile("" : "+r"(address));
	if (maps)
		address = c->ret;
	if (config.attribute && (maps || c->call == CALL_MPROTECT) && call_arg(c, 2) & PROT_EXEC)
		code_mapped(leader_of(c), address, maps);
}

/* Returns the errno of a failed call, 0 if brk failed (it has no errno), or NOT_REFUSED. */
static __noinline int on_map_call(struct fs_state *st, struct call *c)
{
	__u32 i = (c->call - CALL_MMAP) & 15;
	struct mm_struct *mm = get(c->task, mm);
	bool refused = (unsigned long)c->ret > -4096UL;
	__u16 error = refused ? -c->ret : 0;
	struct fs_mappings *m;
	__u32 count, before;

	if (i >= NR_MAP_CALLS || !mm)
		return NOT_REFUSED;
	if (refused && c->shape == FS_SHAPE_MADVISE && !is_advice_refused(c, error))
		return NOT_REFUSED;
	/*
	 * On failure, brk returns the unchanged break. Only a seccomp filter makes it return an
	 * errno.
	 */
	if (c->shape == FS_SHAPE_BRK && !refused)
		refused = call_arg(c, 0) &&
			  (c->compat ? (__u32)c->ret : (unsigned long)c->ret) < call_arg(c, 0);
	/*
	 * Several threads may get here in any order. The sum of all differences is still the total
	 * change.
	 */
	forget_value(refused);
	m = make_mappings(st, c->leader);
	count = map_count_of(mm);
	before = swap(&st->last_map_count, count);
	if (!before)
		; /* the process started before faultscope: no earlier count is known */
	else if (count > before)
		tally_part(st, m, map_call[i].vmas_added, count - before);
	else if (count < before)
		tally_part(st, m, map_call[i].vmas_removed, before - count);
	if (before && before != count)
		note_maps(c, count, before);
	saw_map_count(st, leader_of(c), count);
	if (refused) {
		tally_part(st, m, map_call[i].refused, 1);
		return error;
	}
	tally_part(st, m, map_call[i].calls, 1);
	if (is_discard(c))
		tally(st, discarded_bytes, call_arg(c, 1));
	if (c->shape == FS_SHAPE_MMAP)
		count_map_size(m, call_arg(c, 1));
	note_code(c);
	return NOT_REFUSED;
}

/* `address` is the result of the kernel's search for a free address range, or -errno. */
static __always_inline int on_area(unsigned long address, struct vm_unmapped_area_info *info)
{
	struct task_struct *task = current_task();
	struct task_struct *leader = get(task, group_leader);
	struct fs_state *st = proc_of(leader);
	struct mm_struct *mm = get(as_task(task), mm);

	if (!st || !mm)
		return 0;
	tally(st, unmapped_area, 1);
	if (address > -4096UL)
		note_down(st, BPF_CORE_READ(info, length), 0);
	else
		forget_area(st);
	saw_map_count(st, leader, map_count_of(mm));
	return 0;
}

/* Called at overhead level 1 for each mapping that needs a free address, even if none is found. */
SEC("tp_btf/vm_unmapped_area")
int BPF_PROG(on_unmapped_area, unsigned long address, struct vm_unmapped_area_info *info)
{
	return on_area(address, info);
}

#ifdef FS_HASH
SEC("raw_tp/vm_unmapped_area")
int raw_unmapped_area(struct bpf_raw_tracepoint_args *ctx)
{
	return on_area(ctx->args[0], (struct vm_unmapped_area_info *)ctx->args[1]);
}
#endif

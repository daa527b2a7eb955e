/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Page faults: kind at their begin, latency and class at their end, failure by signal. */
#include "state.bpf.h"

/* arch/x86/include/asm/trap_pf.h */
#define PF_PROT	  1
#define PF_WRITE  2
#define PF_INSTR  16
#define EFLAGS_AC 0x40000

static __always_inline __u32 fault_kind(__u64 error_code)
{
	__u32 access = error_code & PF_INSTR   ? FS_FAULT_EXEC
		       : error_code & PF_WRITE ? FS_FAULT_WRITE
					       : FS_FAULT_READ;

	return access << 1 | (error_code & PF_PROT ? FS_FAULT_PROT : 0);
}

static __always_inline void begin_fault(struct task_struct *task, struct fs_state *st)
{
	struct fault_slot *slot;

	if (!time_faults)
		return;
	slot = bpf_task_storage_get(&slots, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!slot) {
		bump(losses.slot);
		bump(st->c.slots_lost);
		return;
	}
	slot->begin_ns = bpf_ktime_get_ns();
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_fault_user, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fs_state *st = proc_of(task);

	if (!st)
		return 0;
	bump(st->c.fault_kind[fault_kind(error_code) & 7]);
	begin_fault(task, st);
	return 0;
}

/*
 * An access in kernel mode that no user copy makes: to the kernel half, an instruction fetch, or
 * to the user half without EFLAGS.AC where the CPU enforces SMAP (user copies run between STAC
 * and CLAC), which is what dereferencing a NULL pointer in a driver looks like.
 */
static __always_inline bool is_forbidden(__u64 address, struct pt_regs *regs, __u64 error_code)
{
	if (address >> 63 || error_code & PF_INSTR)
		return true;
	return smap_enforced && !(regs->flags & EFLAGS_AC);
}

static __always_inline void emit_kernel_fault(struct task_struct *task, __u64 address, __u64 ip,
					      __u64 error_code, bool nofault)
{
	struct fs_subject s, everyone = {};
	struct fs_kernel_fault_record *r;
	__u64 count;

	count = coalesce(&everyone, ip);
	if (!count)
		return;
	fill_subject(&s, task->group_leader);
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		bump(losses.ring);
		return;
	}
	fill_header(&r->h, FS_REC_KERNEL_FAULT, sizeof(*r));
	r->subject = s;
	r->ip = ip;
	r->address = address;
	r->error_code = error_code;
	r->count = count;
	r->nofault = nofault;
	r->tid = task->pid;
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), task->comm);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(on_fault_kernel, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool forbidden = is_forbidden(address, regs, error_code);
	struct fs_state *st;
	bool nofault;

	if (forbidden) {
		nofault = task->pagefault_disabled > 0;
		emit_kernel_fault(task, address, regs->ip, error_code, nofault);
		if (task->flags & PF_KTHREAD)
			return 0;
	}
	st = proc_of(task);
	if (!st)
		return 0;
	if (forbidden) {
		if (nofault)
			bump(st->c.kernel_probe);
		else
			bump(st->c.kernel_bad);
		return 0;
	}
	bump(st->c.fault_kind[(fault_kind(error_code) & 7) | FS_FAULT_KERNEL]);
	begin_fault(task, st);
	return 0;
}

/*
 * mm_account_fault() raises these software events at the end of a fault that was served, in the
 * faulting thread, with its address; never for a failed one, nor for a retry's first pass.
 */
static __always_inline int end_fault(enum fs_fault_end end)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fault_slot *slot = bpf_task_storage_get(&slots, task, NULL, 0);
	struct fs_state *st;
	__u32 bucket;
	__u64 ns;

	if (!slot || !slot->begin_ns)
		return 0; /* begun before we attached, or not watched */
	ns = bpf_ktime_get_ns() - slot->begin_ns;
	slot->begin_ns = 0;
	st = bpf_task_storage_get(&procs, task->group_leader, NULL, 0);
	if (!st)
		return 0;
	bucket = log2_of(ns >> FS_LATENCY_SHIFT);
	if (bucket >= FS_NR_LATENCY)
		bucket = FS_NR_LATENCY - 1;
	bump(st->c.latency[end][bucket & (FS_NR_LATENCY - 1)]);
	__sync_fetch_and_add(&st->c.stall_ns[end], ns);
	if (ns > st->c.latency_max_ns[end])
		st->c.latency_max_ns[end] = ns;
	return 0;
}

SEC("perf_event")
int on_fault_minor(struct bpf_perf_event_data *ctx)
{
	return end_fault(FS_END_MINOR);
}

SEC("perf_event")
int on_fault_major(struct bpf_perf_event_data *ctx)
{
	return end_fault(FS_END_MAJOR);
}

SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal, int sig, struct kernel_siginfo *info, struct task_struct *target)
{
	struct fs_signal_record *r;
	struct fault_slot *slot;
	struct fs_state *st;
	int code = 0;
	void *address = NULL;

	/* SEND_SIG_NOINFO and SEND_SIG_PRIV are 0 and 1; a fault comes with a real siginfo. */
	if ((sig != 11 && sig != 7) || (unsigned long)info <= 1)
		return 0;
	bpf_probe_read_kernel(&code, sizeof(code), &info->si_code);
	if (code <= 0)
		return 0; /* sent by kill or sigqueue */
	st = bpf_task_storage_get(&procs, target->group_leader, NULL, 0);
	if (!st)
		return 0;
	bump(st->c.fault_failed);
	slot = bpf_task_storage_get(&slots, target, NULL, 0);
	if (slot)
		slot->begin_ns = 0;
	/* _sigfault._addr follows the three ints: include/uapi/asm-generic/siginfo.h */
	bpf_probe_read_kernel(&address, sizeof(address), (void *)info + 16);
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		bump(losses.ring);
		return 0;
	}
	fill_header(&r->h, FS_REC_SIGNAL, sizeof(*r));
	fill_subject(&r->subject, target->group_leader);
	r->tid = target->pid;
	r->signal = sig;
	r->code = code;
	r->pad = 0;
	r->address = (__u64)address;
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), target->comm);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	return 0;
}

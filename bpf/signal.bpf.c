/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records fatal signals, with the memory access that failed and the mapping at its address.
 * Processes that abort themselves are recorded too.
 */
#include "oom.bpf.h"
#include "stack.bpf.h"

#define SIGABRT 6
#define SIGBUS	7
#define SIGKILL 9
#define SIGSEGV 11
#define SIGTERM 15

#define BUS_MCEERR_AR 4 /* values from include/uapi/asm-generic/siginfo.h */
#define BUS_MCEERR_AO 5
#define SI_TKILL      (-6)

#define VM_RIGHTS 7 /* VM_READ, VM_WRITE and VM_EXEC of include/linux/mm.h */

#define IS_PRIV(info) ((unsigned long)(info) == 1) /* SEND_SIG_PRIV: sent by the kernel */

/*
 * Reads the minimum of disk space that a file uses. i_blocks lacks blocks of delayed allocation, so
 * the size of the cached pages is used if it is greater.
 */
static __always_inline void read_disk(struct signal_record *r, struct file *file)
{
	__u64 cached = BPF_CORE_READ(file, f_inode, i_mapping, nrpages) * (PAGE_BYTES / 512);
	__u64 blocks = BPF_CORE_READ(file, f_inode, i_blocks);

	r->file_blocks = blocks > cached ? blocks : cached;
}

static __always_inline void read_mapping(struct signal_record *r, struct vm_area_struct *vma)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);

	r->area = MAPPED_FOUND;
	r->area_flags = BPF_CORE_READ(vma, vm_flags);
	r->file_page = BPF_CORE_READ(vma, vm_pgoff);
	describe_file(&r->file, (__u64)file);
	r->file_device = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	if (r->file.magic == SHMEM_MAGIC)
		read_tmpfs(file, &r->tmpfs_pages, &r->tmpfs_pages_used);
	else
		read_disk(r, file);
}

/* Reads the mapping at r->address. Takes no lock: a thread that receives a signal cannot wait. */
once_verified int read_area(struct signal_record *r)
{
	struct mm_struct *mm = BPF_CORE_READ(current_task(), mm);
	struct area a = {.mm = (__u64)mm};
	struct vm_area_struct *vma;
	__u64 before;

	if (!r || !mm)
		return 0;
	before = mm_changes(mm);
	find_area(&a, r->address);
	if (before == ~0UL || before != mm_changes(mm))
		return 0;
	r->area_start = a.from;
	r->area_end = a.to;
	if (a.vma)
		read_mapping(r, (struct vm_area_struct *)a.vma);
	else
		r->area = MAPPED_NONE;
	if (r->area_flags & VM_RIGHTS)
		return 0;
	/* Above the hole may be a stack that could not grow, or a stack guard. */
	find_area(&a, a.to);
	vma = (struct vm_area_struct *)a.vma;
	if (vma) {
		r->above_flags = BPF_CORE_READ(vma, vm_flags);
		r->above_end = a.to;
	}
	return 0;
}

/*
 * Returns whether a signal has its default action. If a fault signal is blocked or ignored, the
 * kernel sets its default action before sending it: force_sig_info_to_task(), kernel/signal.c.
 */
static __always_inline bool is_fatal(struct task_struct *task, int sig)
{
	/* `at` is a number: before 6.2 the verifier adds no variable to a trusted pointer. */
	__u64 at = (__u64)BPF_CORE_READ(task, sighand) +
		   bpf_core_field_offset(struct sighand_struct, action) +
		   (sig - 1) * bpf_core_type_size(struct k_sigaction);

	return !BPF_CORE_READ((struct k_sigaction *)at, sa.sa_handler);
}

/*
 * Reads registers of the failed access. The registers are valid only for a fault signal, which a
 * thread sends to itself. This function is not inlined, because clang 19 would keep its values on
 * the stack while the caller walks the user stack.
 */
static __noinline void read_access(struct signal_record *r, struct task_struct *task)
{
	r->sp = r->ip_bytes = 0;
#ifndef FS_HASH /* bpf_task_pt_regs() exists since dd6e10fbd9fb (5.15) */
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	r->sp = regs_sp(regs);
	bpf_probe_read_user(&r->ip_bytes, sizeof(r->ip_bytes), (void *)regs_ip(regs));
	if (odd_registers(regs, BPF_CORE_READ(task, mm, task_size)))
		r->flags |= SIGNAL_ODD;
	/* The kernel makes this test in on_sig_stack(), include/linux/sched/signal.h. */
	if (r->sp > get(task, sas_ss_sp) && r->sp - get(task, sas_ss_sp) <= get(task, sas_ss_size))
		r->flags |= SIGNAL_ASIDE;
#endif
	if (is_fatal(task, r->signal))
		r->flags |= SIGNAL_FATAL;
	r->error_code = last_error_code(task);
}

/*
 * Sends the stack of a fatal signal before the signal's record. Returns the stack's number plus 1;
 * 0: no stack.
 */
static __always_inline __u32 signal_stack(struct task_struct *target, struct task_struct *leader,
					  int sig)
{
#ifndef FS_HASH
	if (config.attribute && is_fatal(target, sig) &&
	    get(target, pid) == (pid_t)bpf_get_current_pid_tgid())
		return send_stack_apart(leader, (void *)bpf_task_pt_regs(current_task()));
#endif
	return 0;
}

static __always_inline void emit_signal(struct task_struct *target, struct task_struct *leader,
					int sig, int code, __u64 address)
{
	__u32 stack = signal_stack(target, leader, sig);
	struct signal_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	__builtin_memset(r, 0, sizeof(*r));
	fill_header(&r->h, RECORD_SIGNAL, sizeof(*r));
	fill_subject(&r->subject, leader);
	r->tid = get(target, pid);
	r->signal = sig;
	r->code = code;
	r->address = address;
	r->stack = stack;
	r->stack_limit_bytes = soft_limit(get(as_task(target), signal), RLIMIT_STACK);
	read_access(r, target);
	if (sig != SIGABRT && code > 0)
		read_area(r);
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), target->comm);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
}

/*
 * Returns whether a thread sent the signal to itself by tgkill, as abort() and raise() do. Such a
 * signal is no fault: it ends a process that detected an error, or whose handler reported a fault.
 */
static __always_inline bool is_raised(int sig, int code, struct task_struct *target)
{
	return code == SI_TKILL && (sig == SIGABRT || is_fatal(target, sig)) &&
	       get(target, tgid) == (pid_t)(bpf_get_current_pid_tgid() >> 32);
}

static __always_inline void count_failed_fault(struct fs_state *st, struct task_struct *target,
					       int sig, int code)
{
	struct fs_fault_slot *slot = slot_find(target);

	tally(st, fault_failed, 1);
	if (sig == SIGBUS)
		tally(st, fault_sigbus, 1);
	if (sig == SIGBUS && (code == BUS_MCEERR_AR || code == BUS_MCEERR_AO))
		tally(st, fault_poison, 1);
	if (slot)
		slot->begin_ns = slot->ended_ns = 0; /* a failed fault has no latency */
}

static __always_inline int signal_sent(int sig, struct kernel_siginfo *info,
				       struct task_struct *target)
{
	struct task_struct *leader;
	struct fs_state *st;
	int code = 0;
	__u64 address = 0;

	if (sig == SIGKILL && IS_PRIV(info)) {
		leader = get(target, group_leader);
		if (proc_find(leader))
			oom_signal(target, leader);
		return 0;
	}
	if (sig == SIGKILL || sig == SIGTERM) {
		oom_sent(sig, target);
		return 0;
	}
	/* `info` is SEND_SIG_NOINFO (0), SEND_SIG_PRIV (1), or a pointer to a siginfo. */
	if ((sig != SIGSEGV && sig != SIGBUS && sig != SIGABRT) || (unsigned long)info <= 1)
		return 0;
	bpf_probe_read_kernel(&code, sizeof(code), &info->si_code);
	if (code <= 0 && !is_raised(sig, code, target))
		return 0; /* kill() or sigqueue() sent the signal */
	leader = get(target, group_leader);
	st = proc_find(leader);
	if (!st)
		return 0;
	if (sig == SIGABRT || code <= 0) {
		/*
		 * A thread sent this signal to itself. SIGABRT is always recorded. Any other signal
		 * is recorded only after an earlier fault, whose handler raised it again. Without
		 * an earlier fault, there was no bad access.
		 */
		if (sig != SIGABRT && !st->events.c.fault_failed)
			return 0;
	} else {
		count_failed_fault(st, target, sig, code);
		/* _sigfault._addr follows three ints: include/uapi/asm-generic/siginfo.h */
		bpf_probe_read_kernel(&address, sizeof(address), (void *)info + 16);
	}
	/* The verifier checks the code that follows once, not once for each signal. */
	forget_value(sig);
	forget_value(code);
	emit_signal(target, leader, sig, code, address);
	return 0;
}

SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal, int sig, struct kernel_siginfo *info, struct task_struct *target)
{
	return signal_sent(sig, info, target);
}

#ifdef FS_HASH
SEC("raw_tp/signal_generate")
int raw_signal(struct bpf_raw_tracepoint_args *ctx)
{
	return signal_sent(ctx->args[0], (struct kernel_siginfo *)ctx->args[1],
			   (struct task_struct *)ctx->args[2]);
}
#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handles page faults. Determines the kind of a fault at its start, and its latency and class at
 * its end. If the kernel sends a signal instead, the page fault failed.
 */
#include "class.bpf.h"
#include "errno.bpf.h"
#include "state.bpf.h"

#define EFLAGS_AC 0x40000 /* value from arch/x86/include/uapi/asm/processor-flags.h */

static __always_inline __u32 fault_kind(__u64 error_code)
{
	__u32 access = error_code & PF_INSTR   ? FAULT_EXEC
		       : error_code & PF_WRITE ? FAULT_WRITE
					       : FAULT_READ;

	return access << 1 | (error_code & PF_PROT ? FAULT_PROT : 0);
}

/*
 * Returns whether each fault of a process is timed. Otherwise only faults that may read a file are
 * timed: without swap space, nearly all major faults do.
 */
static __always_inline bool times_all(const struct fs_state *st)
{
	return !config.files_begin || shared.has_swap || st->flags & PROC_TIMED;
}

static __always_inline void begin_fault(struct task_struct *task, struct fs_state *st,
					__u64 address, __u32 kind)
{
	struct fs_fault_slot *slot;
	struct mm_struct *mm;

	if (!config.time_faults || !times_all(st))
		return;
	/* `mm` is loaded before any branch: see as_task(). */
	mm = get(as_task(task), mm);
	barrier_var(mm);
	slot = open_slot(task, st);
	if (!slot)
		return;
	if (config.classify)
		begin_class(task, mm, slot, address, kind);
	slot->begin_ns = bpf_ktime_get_ns();
}

/* Called at the start of a fault of the current task. `kind` has FAULT_* bits. */
static __always_inline int begin(__u64 address, __u32 kind)
{
	struct task_struct *task = current_task();
	struct fs_state *st;

	/* Kernel threads are skipped, as they have no user-mode faults. */
	if (kind & FAULT_KERNEL && get(task, flags) & PF_KTHREAD)
		return 0;
	st = proc_of(get(task, group_leader));
	if (!st)
		return 0;
	/*
	 * Without a barrier, clang drops the mask, and verifiers before 6.12 do not know the
	 * maximum.
	 */
	barrier_var(kind);
	tally(st, fault_kind[kind & (NR_FAULT_KINDS - 1)], 1);
	begin_fault(task, st, address, kind);
	return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_fault_user, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	return begin(address, fault_kind(error_code));
}

SEC("tp/exceptions/page_fault_user")
int event_fault_user(struct fault_event *ctx)
{
	return begin(ctx->address, fault_kind(ctx->error_code));
}

#ifdef FS_HASH
SEC("raw_tp/page_fault_user")
int raw_fault_user(struct bpf_raw_tracepoint_args *ctx)
{
	return begin(ctx->args[0], fault_kind(ctx->args[2]));
}
#endif

/* Values of enum fault_flag, include/linux/mm_types.h. */
#define FAULT_FLAG_WRITE       0x1
#define FAULT_FLAG_TRIED       0x20
#define FAULT_FLAG_USER	       0x40
#define FAULT_FLAG_INSTRUCTION 0x100
#define FAULT_FLAG_VMA_LOCK    0x1000

/*
 * Returns whether the kernel tries to handle a fault a second time. A fault that cannot be handled
 * under its per-VMA lock (52f238653e45, 6.4) starts again under mmap_lock, without
 * FAULT_FLAG_TRIED.
 */
static __always_inline bool is_second_try(struct task_struct *task, __u64 address, __u64 flags)
{
	struct fs_state *st = proc_of(get(task, group_leader));
	struct fs_fault_slot *slot = st ? slot_make(task, st) : NULL;
	__u64 tried;

	if (!slot)
		return false;
	tried = slot->tried;
	slot->tried = flags & FAULT_FLAG_VMA_LOCK ? address : 0;
	return !(flags & FAULT_FLAG_VMA_LOCK) && tried && tried == address;
}

/*
 * Called at handle_mm_fault(), for kernels without fault tracepoints (arm64). The kernel calls
 * handle_mm_fault() only if a mapping exists. The kernel also calls it for a retry of a fault, and
 * in get_user_pages(), where `regs` is NULL.
 */
static __always_inline int begin_handling(__u64 address, __u64 flags, bool has_regs)
{
	struct task_struct *task = current_task();
	__u32 access = flags & FAULT_FLAG_INSTRUCTION ? FAULT_EXEC
		       : flags & FAULT_FLAG_WRITE     ? FAULT_WRITE
						      : FAULT_READ;

	if (!has_regs || flags & FAULT_FLAG_TRIED || get(task, flags) & PF_KTHREAD)
		return 0;
	if (is_second_try(task, address, flags))
		return 0;
	return begin(address, access << 1 | (flags & FAULT_FLAG_USER ? 0 : FAULT_KERNEL));
}

SEC("fentry/handle_mm_fault")
int BPF_PROG(on_fault_handling, struct vm_area_struct *vma, unsigned long address,
	     unsigned int flags, struct pt_regs *regs)
{
	return begin_handling(address, flags, regs != NULL);
}

SEC("kprobe/handle_mm_fault")
int BPF_KPROBE(probe_fault_handling, struct vm_area_struct *vma, unsigned long address,
	       unsigned int flags, struct pt_regs *regs)
{
	return begin_handling(address, flags, regs != NULL);
}

/*
 * Called for the software event of page faults. The event does not report whether the access was a
 * write, or whether the page was present.
 */
SEC("perf_event")
int on_fault_counted(struct bpf_perf_event_data *ctx)
{
	return begin(ctx->addr, in_user_mode(&ctx->regs) ? 0 : FAULT_KERNEL);
}

/*
 * Returns whether a kernel-mode access cannot be a copy from or to user memory. Three kinds of
 * access cannot: an access to a kernel address; an instruction fetch; and, on a CPU with SMAP, an
 * access to a user address without EFLAGS.AC. (With SMAP, user copies run between STAC and CLAC,
 * which set and clear EFLAGS.AC.) An example of the third kind is a NULL pointer dereference in a
 * driver.
 */
static __always_inline bool is_forbidden(__u64 address, struct pt_regs *regs, __u64 error_code)
{
	if (address >> 63 || error_code & PF_INSTR)
		return true;
#if defined(__TARGET_ARCH_x86)
	return config.smap_enforced && !(get(regs, flags) & EFLAGS_AC);
#else
	return false;
#endif
}

static __always_inline void emit_kernel_fault(struct task_struct *task, __u64 address, __u64 ip,
					      __u64 error_code, bool nofault)
{
	struct process_key s, everyone = {};
	struct kernel_fault_record *r;
	__u64 count;

	fill_subject(&s, get(as_task(task), group_leader));
	/*
	 * Bad accesses are counted per process. Probing reads (copy_from_kernel_nofault()) of all
	 * processes are counted together.
	 */
	count = coalesce(nofault ? &everyone : &s, ip, nofault);
	if (!count)
		return;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	fill_header(&r->h, RECORD_KERNEL_FAULT, sizeof(*r));
	r->subject = s;
	r->ip = ip;
	r->address = address;
	r->error_code = error_code;
	r->count = count;
	r->nofault = nofault;
	r->tid = get(task, pid);
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), task->comm);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
}

static __always_inline int bad_in_kernel(__u64 address, __u64 ip, __u64 error_code)
{
	struct task_struct *task = current_task();
	bool nofault = faults_disabled(task);
	struct fs_state *st = NULL;

	if (!(get(task, flags) & PF_KTHREAD))
		st = proc_of(get(task, group_leader));

	/* Probing reads are sent only for watched processes, bad accesses for all processes. */
	if (st || !nofault)
		emit_kernel_fault(task, address, ip, error_code, nofault);
	if (st && nofault)
		tally(st, kernel_probe, 1);
	else if (st)
		tally(st, kernel_bad, 1);
	return 0;
}

static __always_inline int begin_in_kernel(__u64 address, struct pt_regs *regs, __u64 error_code)
{
	if (is_forbidden(address, regs, error_code))
		return bad_in_kernel(address, regs_ip(regs), error_code);
	if (config.begins_both)
		return 0; /* the program fault_begin counts this fault */
	if (faults_disabled(current_task()))
		/* Page faults are disabled, for example in a walk of a user stack. */
		return 0;
	return begin(address, fault_kind(error_code) | FAULT_KERNEL);
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(on_fault_kernel, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	return begin_in_kernel(address, regs, error_code);
}

#ifdef FS_HASH
SEC("raw_tp/page_fault_kernel")
int raw_fault_kernel(struct bpf_raw_tracepoint_args *ctx)
{
	return begin_in_kernel(ctx->args[0], (struct pt_regs *)ctx->args[1], ctx->args[2]);
}
#endif

/*
 * Called on arm64, which has no fault tracepoints. __do_kernel_fault() is called for each
 * kernel-mode fault without a mapping, also for user copies from bad addresses. If a kernel-mode
 * access to a user address is not a user copy, the kernel calls die_kernel_fault() directly.
 */
static __always_inline int unserved_in_kernel(__u64 address, __u64 esr, __u64 ip, bool dies)
{
	__u64 what = fault_of_esr(esr);
	bool forbidden = address >> 63 || what & PF_INSTR;

	return forbidden != dies ? bad_in_kernel(address, ip, what) : 0;
}

SEC("fentry/__do_kernel_fault")
int BPF_PROG(on_kernel_unserved, unsigned long address, unsigned long esr, struct pt_regs *regs)
{
	return unserved_in_kernel(address, esr, regs_ip(regs), false);
}

SEC("fentry/die_kernel_fault")
int BPF_PROG(on_kernel_death, const char *text, unsigned long address, unsigned long esr,
	     struct pt_regs *regs)
{
	return unserved_in_kernel(address, esr, regs_ip(regs), true);
}

SEC("kprobe/__do_kernel_fault")
int BPF_KPROBE(probe_kernel_unserved, unsigned long address, unsigned long esr,
	       struct pt_regs *regs)
{
	return unserved_in_kernel(address, esr, PT_REGS_IP_CORE(regs), false);
}

SEC("kprobe/die_kernel_fault")
int BPF_KPROBE(probe_kernel_death, const char *text, unsigned long address, unsigned long esr,
	       struct pt_regs *regs)
{
	return unserved_in_kernel(address, esr, PT_REGS_IP_CORE(regs), true);
}

static __always_inline void end_fault(void *ctx, struct task_struct *task,
				      struct fs_fault_slot *slot)
{
	/* `| 1`, because the value 0 means that there was no fault */
	slot->ended_ns = ns_since(slot->begin_ns) | 1;
	slot->begin_ns = slot->tried = 0;
	if (config.classify)
		end_class(ctx, task, slot);
}

/*
 * Called in the thread that faulted, by software events of mm_account_fault(), at the end of a
 * handled fault. Not called for a failed fault, or for a first try that the kernel repeats.
 */
static __always_inline int on_served(void *ctx, __u32 end)
{
	struct task_struct *task = current_task();
	struct fs_fault_slot *slot;

	if (config.majors_alone && end == END_MINOR)
		return 0; /* begin_ns stays until the next fault overwrites it */
	slot = slot_find(task);
	/*
	 * If begin_ns is 0, the fault began before the probe was attached, or the process is not
	 * watched.
	 */
	if (slot && slot->begin_ns) {
		slot->end = end;
		end_fault(ctx, task, slot);
	}
	return 0;
}

SEC("perf_event")
int on_fault_minor(struct bpf_perf_event_data *ctx)
{
	return on_served(ctx, END_MINOR);
}

SEC("perf_event")
int on_fault_major(struct bpf_perf_event_data *ctx)
{
	return on_served(ctx, END_MAJOR);
}

/* Values of enum vm_fault_reason, include/linux/mm_types.h. */
#define VM_FAULT_MAJOR 0x4
#define VM_FAULT_ERROR 0x873
#define VM_FAULT_RETRY 0x400

/*
 * Called at the end of a fault, on kernels that allow tracing of functions. `regs` is NULL if
 * get_user_pages() called handle_mm_fault().
 */
SEC("fexit/handle_mm_fault")
int BPF_PROG(on_fault_handled, struct vm_area_struct *vma, unsigned long address,
	     unsigned int flags, struct pt_regs *regs, unsigned int ret)
{
	if (!regs || ret & (VM_FAULT_RETRY | VM_FAULT_ERROR))
		return 0; /* a failed fault stays open until the thread's next fault */
	return on_served(ctx,
			 ret & VM_FAULT_MAJOR || flags & FAULT_FLAG_TRIED ? END_MAJOR : END_MINOR);
}

/*
 * Called at the end of a fault. A kretprobe does not see the flags that show whether a retried
 * fault is major. But the kernel has counted the fault for its thread before handle_mm_fault()
 * returns.
 */
SEC("kretprobe/handle_mm_fault")
int BPF_KRETPROBE(probe_fault_handled, unsigned int ret)
{
	struct task_struct *task = current_task();
	struct fs_fault_slot *slot = slot_find(task);
	__u32 maj_flt;

	if (!slot || !slot->begin_ns || ret & VM_FAULT_ERROR)
		return 0;
	maj_flt = get(task, maj_flt);
	if (ret & VM_FAULT_RETRY) {
		slot->end = END_MAJOR;
		slot->maj_flt = maj_flt;
		return 0;
	}
	if (ret & VM_FAULT_MAJOR)
		slot->end = END_MAJOR;
	else if (slot->end == END_MAJOR && slot->maj_flt == maj_flt)
		slot->end = END_MINOR;
	end_fault(ctx, task, slot);
	return 0;
}

/*
 * Ends a fault at half the cost of a software event. mm_account_fault() counts PGFAULT for the
 * memory cgroup just before it decides between minor and major, so the raw tracepoint can end each
 * fault. A software event is used only for major faults: it corrects those for which PGMAJFAULT is
 * not counted. Failed faults also end in the raw tracepoint; the signal that follows discards them.
 */
#define is_item(item, name)                                                                        \
	(bpf_core_enum_value_exists(enum vm_event_item, name) &&                                   \
	 (item) == (int)bpf_core_enum_value(enum vm_event_item, name))

SEC("tp_btf/count_memcg_events")
int BPF_PROG(on_memcg_event, struct mem_cgroup *memcg, int item, unsigned long count)
{
	bool ends = is_item(item, PGFAULT), major = is_item(item, PGMAJFAULT);
	struct fs_fault_slot *slot;
	struct task_struct *task;

	if (!ends && !major && !is_item(item, THP_FAULT_ALLOC))
		return 0; /* this tracepoint also fires for each page that is charged to a cgroup */
	task = current_task();
	slot = slot_find(task);
	if (!slot || !slot->begin_ns)
		return 0; /* get_user_pages() caused the fault, or its process is not watched */
	if (ends)
		end_fault(ctx, task, slot);
	else if (major)
		slot->end = END_MAJOR;
	else
		was_huge(slot);
	return 0;
}

SEC("perf_event")
int on_fault_was_major(struct bpf_perf_event_data *ctx)
{
	struct fs_fault_slot *slot = slot_find(current_task());

	if (slot && slot->ended_ns)
		slot->end = END_MAJOR;
	return 0;
}

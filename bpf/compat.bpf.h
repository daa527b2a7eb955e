/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Differences between kernels, each with the commit that introduced it.
 *
 * The BPF programs are built three times. The default build needs kfuncs (bpf_iter_task_new(),
 * c68a78ffe2cb, 6.7), task storage for tracing programs (a10787e6d58c, 5.12), bpf_loop()
 * (e6f2dd0f8067, 5.17) and bpf_find_vma() (7c7e3d31e785, 5.17). The default build reads kernel
 * objects by plain loads.
 *
 * FS_PLAIN needs no kfunc. Weak kfuncs would not help: for a weak kfunc, libbpf before 1.3 searches
 * the BTF of modules. CAP_BPF alone does not permit this, so the load fails.
 *
 * FS_HASH needs nothing newer than the ring buffer (457f44363a88, 5.8). State is kept in hash
 * tables, kernel objects are read by bpf_probe_read_kernel(), and all loops are bounded. FS_HASH is
 * also needed for probes without typed arguments (raw tracepoints).
 */
#ifndef FS_COMPAT_BPF_H
#define FS_COMPAT_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "pure_logic.h"
#include "wire_functions.h"

/*
 * Macros that read kernel objects: by plain loads if a task pointer can be made from a number.
 *
 * as_task() also makes a load of a pointer cheap to verify. Since 6.2, the verifier searches the
 * kernel's types by name for each load of a pointer through a trusted pointer, on each path to the
 * load. This takes as long as the check of 1000 instructions. as_task() returns an untrusted
 * pointer.
 */
#if !defined(FS_HASH) && !defined(FS_PLAIN)
#define FS_ADDRESSES /* defined if as_task() accepts an address as a number */
static void *(*const read_only_cast)(const void *object, __u32 type) =
	(void *)NUMBER_OF_bpf_rdonly_cast;
#define as_task(address)                                                                           \
	((struct task_struct *)read_only_cast((const void *)(address), config.task_type))
#define as_area(address)                                                                           \
	((struct vm_area_struct *)read_only_cast((const void *)(address), config.area_type))
#define as_file(address)                                                                           \
	((struct file *)read_only_cast((const void *)(address), config.file_type))
#define get_cast(object, ...) get(object, __VA_ARGS__)
#define untrusted(task)	      as_task(task)
#else
#define as_task(address)      ((struct task_struct *)(address))
#define as_area(address)      ((struct vm_area_struct *)(address))
#define as_file(address)      ((struct file *)(address))
#define get_cast(object, ...) BPF_CORE_READ(object, __VA_ARGS__)
#define untrusted(task)		(task)
#endif

#ifdef FS_HASH
/* `object` is evaluated before the relocated access, because the expression may call functions. */
#define get(object, ...)                                                                           \
	({                                                                                         \
		__typeof__(object) object__ = (object);                                            \
		BPF_CORE_READ(object__, ##__VA_ARGS__);                                            \
	})
#define current_task() ((struct task_struct *)bpf_get_current_task())
#else
/* get(task, signal, nr_threads) does one load per step. Reading through NULL returns 0. */
#define get(object, ...)     ___bpf_apply(get_, ___bpf_narg(__VA_ARGS__))(object, __VA_ARGS__)
#define get_1(o, a)	     ((o)->a)
#define get_2(o, a, b)	     ((o)->a->b)
#define get_3(o, a, b, c)    ((o)->a->b->c)
#define get_4(o, a, b, c, d) ((o)->a->b->c->d)
#define current_task()	     bpf_get_current_task_btf()
#endif

/*
 * Atomic operations that return a value (5ca419f2864a, 5.12), and global functions that take
 * pointers (e5069b9c23b3, 5.12). The FS_HASH build has neither: simultaneous events of two threads
 * may be sent twice or summed wrongly.
 */
#ifdef FS_HASH
#define once_verified	 static __noinline
#define add_fetch(at, n)                                                                           \
	({                                                                                         \
		atomic_add(at, n);                                                                 \
		*(at);                                                                             \
	})
#define swap(at, value)                                                                            \
	({                                                                                         \
		__typeof__(*(at)) old__ = *(at);                                                   \
		*(at) = (value);                                                                   \
		old__;                                                                             \
	})
#define swap_if(at, from, to) (*(at) == (from) ? *(at) = (to), true : false)
#define clear_bits(at, bits)  (*(at) &= ~(bits))
#else
#define once_verified	      __noinline
#define add_fetch(at, n)      (__sync_fetch_and_add(at, n) + (n))
#define swap(at, value)	      __sync_lock_test_and_set(at, value)
#define swap_if(at, from, to) (__sync_val_compare_and_swap(at, from, to) == (from))
#define clear_bits(at, bits)  __sync_fetch_and_and(at, ~(bits))
#endif

/*
 * Returns whether page faults are disabled for a task. The FS_HASH build reads the counter with
 * copy_from_kernel_nofault(), which itself adds 1 to this counter.
 */
#ifdef FS_HASH
#define faults_disabled(task) (get(task, pagefault_disabled) > 1)
#else
#define faults_disabled(task) (get(task, pagefault_disabled) > 0)
#endif

/*
 * Calls `step` at most `most` times, until it returns 1. The verifier checks a callback of
 * bpf_loop() once, but a bounded loop once per iteration.
 */
#ifdef FS_HASH
#define repeat(most, step, ctx)                                                                    \
	do {                                                                                       \
		for (__u32 i__ = 0; i__ < (most); i__++)                                           \
			if (step(i__, ctx))                                                        \
				break;                                                             \
	} while (0)
#else
#define repeat(most, step, ctx) bpf_loop(most, step, ctx, 0)
#endif

#define TASK_NEW 0x800 /* value from include/linux/sched.h, since 4.8 */

/* Proposed kernel patches rename mm->map_count to vma_count. */
struct mm_struct___renamed {
	int vma_count;
} __attribute__((preserve_access_index));

static __always_inline __u32 map_count_of(struct mm_struct *mm)
{
	if (bpf_core_field_exists(mm->map_count))
		return get(mm, map_count);
	return BPF_CORE_READ((struct mm_struct___renamed *)mm, vma_count);
}

/*
 * Until f1a7941243c1 (6.2) the kernel has one atomic counter per kind of page, since then per-CPU
 * counters. The types below are flavours (libbpf's ___ suffix) of types that every kernel has. A
 * type that an older kernel lacks must not be used: libbpf would search for it in the BTF of
 * modules, which CAP_BPF alone does not permit.
 */
struct mm_struct___plain_rss {
	struct {
		atomic64_t count[4];
	} rss_stat;
} __attribute__((preserve_access_index));

#define plain_rss(mm) ((struct mm_struct___plain_rss *)(mm))
#define rss_pages(mm, kind)                                                                        \
	(bpf_core_field_exists(plain_rss(mm)->rss_stat.count)                                      \
		 ? BPF_CORE_READ(plain_rss(mm), rss_stat.count[kind].counter)                      \
		 : get(mm, rss_stat[kind].count))

/*
 * mappings_version() changes with each change of the mappings. With per-VMA locks (5e31275cc997,
 * 6.4), mappings_version() returns the kernel's own count of changes. Since "mm: convert
 * mm_lock_seq to a proper seqcount" (6.14), this count is in a seqcount. Before per-VMA locks,
 * mappings_version() returns a sum, which stays equal if a mapping is replaced by an identical one.
 */
struct mm_struct___lock_count {
	int mm_lock_seq;
} __attribute__((preserve_access_index));
struct mm_struct___lock_seqcount {
	seqcount_t mm_lock_seq;
} __attribute__((preserve_access_index));
#define lock_count(mm)	  ((struct mm_struct___lock_count *)(mm))
#define lock_seqcount(mm) ((struct mm_struct___lock_seqcount *)(mm))

static __always_inline __u64 mappings_version(struct mm_struct *mm)
{
	if (bpf_core_field_exists(lock_count(mm)->mm_lock_seq))
		return get(lock_count(mm), mm_lock_seq);
	if (bpf_core_field_exists(lock_seqcount(mm)->mm_lock_seq))
		return get(lock_seqcount(mm), mm_lock_seq.sequence);
	return get(mm, total_vm) * 31 + get(mm, data_vm) * 7 + map_count_of(mm);
}

/* Until 2f064a59a11f (5.14), task_struct.__state was named `state`. */
struct task_struct___state {
	long state;
} __attribute__((preserve_access_index));

/*
 * Returns whether fork() is still creating this task: its state is TASK_NEW. An iterator can find
 * such a task before the tracepoint sched_process_fork. After the tracepoint, wake_up_new_task()
 * clears TASK_NEW (kernel_clone(), kernel/fork.c).
 */
static __always_inline bool fork_goes_on(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return get(task, __state) & TASK_NEW;
	return get((struct task_struct___state *)task, state) & TASK_NEW;
}

/*
 * Before d92725256b4f (6.0), the kernel retries the first write to a shared page, and so counts the
 * fault as major.
 */
#define retries_shared_writes()                                                                    \
	(!bpf_core_enum_value_exists(enum vm_fault_reason, VM_FAULT_COMPLETED))

/*
 * Returns a per-thread value that changes at each NUMA hinting fault (task_numa_fault()) and is
 * sometimes reset.
 */
static __always_inline __u64 numa_figure(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->numa_faults_locality))
		return 0;
	return get(task, numa_faults_locality[0]) + get(task, numa_faults_locality[1]) * 3 +
	       get(task, numa_faults_locality[2]) * 5;
}

/* Returns the bytes that a thread read from block devices; needs CONFIG_TASK_IO_ACCOUNTING. */
static __always_inline __u64 bytes_read(struct task_struct *task)
{
	return bpf_core_field_exists(task->ioac.read_bytes) ? get(task, ioac.read_bytes) : 0;
}

/*
 * Returns 1 or 0 without a branch. After a branch, the verifier checks the rest of the code once
 * per path, because old verifiers rarely merge paths.
 */
static __always_inline __u64 is_not_zero(__u64 x)
{
	barrier_var(x);
	x = (x | -x) >> 63;
	barrier_var(x);
	return x;
}

#define is_zero(x) (is_not_zero(x) ^ 1)

/* Returns 1 or 0 without a branch; `c` and the limits are below 2^63. */
static __always_inline __u64 is_within(__u64 c, __u64 from, __u64 to)
{
	__u64 within = ~((c - from) | (to - c)) >> 63;

	barrier_var(within);
	return within;
}

/*
 * Returns the capabilities that capable() tests; capabilities in other user namespaces do not help
 * to exceed a limit. Until f122a08b197d (6.3) the kernel stores capabilities as two 32-bit words,
 * since then as one 64-bit word, in the same 8 bytes.
 */
static __always_inline __u64 host_capabilities_of(const struct cred *cred)
{
	__u64 bits = 0;

	bpf_probe_read_kernel(&bits, sizeof(bits),
			      (void *)cred + bpf_core_field_offset(struct cred, cap_effective));
	return bits & (is_not_zero(BPF_CORE_READ(cred, user_ns, level)) - 1);
}

static __always_inline __u64 host_capabilities(struct task_struct *task)
{
	return host_capabilities_of(BPF_CORE_READ(task, cred));
}

static __always_inline bool has_capability(struct task_struct *task, int capability)
{
	return host_capabilities(task) >> capability & 1;
}

/* mm->flags is a word; since "mm: introduce bitmap type for mm_struct flags" (6.18) a bitmap. */
struct mm_struct___flag_word {
	unsigned long flags;
} __attribute__((preserve_access_index));
struct mm_struct___flag_bitmap {
	struct {
		unsigned long word[1];
	} flags;
} __attribute__((preserve_access_index));

static __always_inline __u64 mm_flags_of(struct mm_struct *mm)
{
	struct mm_struct___flag_word *plain = (void *)mm;
	__u64 bits = 0;

	if (bpf_core_field_exists(plain->flags))
		return BPF_CORE_READ(plain, flags);
	if (bpf_core_field_exists(((struct mm_struct___flag_bitmap *)mm)->flags))
		bpf_probe_read_kernel(
			&bits, sizeof(bits),
			(void *)mm + bpf_core_field_offset(struct mm_struct___flag_bitmap, flags));
	return bits;
}

/*
 * Returns the address of the method that maps a file: mmap or, since "mm: add mmap_prepare()
 * compatibility" (6.16), mmap_prepare. Returns 0 if the file cannot be mapped.
 */
struct file_operations___prepare {
	void *mmap_prepare;
} __attribute__((preserve_access_index));

static __always_inline __u64 mmap_method(const struct file_operations *ops)
{
	__u64 ip = (__u64)BPF_CORE_READ(ops, mmap);

	if (!ip && bpf_core_field_exists(((struct file_operations___prepare *)ops)->mmap_prepare))
		ip = (__u64)BPF_CORE_READ((struct file_operations___prepare *)ops, mmap_prepare);
	return ip;
}

/*
 * Returns the number of processes of a user. Until 21d1c5e386bc (5.14), this number is a member of
 * user_struct. Since then, it is a counter of the user in its namespace. Since de399236e240 (6.0),
 * it is the first rlimit counter.
 */
struct user_struct___processes {
	atomic_t processes;
} __attribute__((preserve_access_index));

static __always_inline __u64 processes_of(const struct cred *cred)
{
	struct user_struct___processes *user = (void *)BPF_CORE_READ(cred, user);

	if (bpf_core_field_exists(user->processes))
		return BPF_CORE_READ(user, processes.counter);
	if (bpf_core_field_exists(cred->ucounts) &&
	    bpf_core_field_exists(((struct ucounts *)0)->rlimit))
		return BPF_CORE_READ(cred, ucounts, rlimit[0].counter);
	return ~0ULL;
}

/*
 * Arguments of the classic page-fault events: events/exceptions/page_fault_user/format. The name of
 * the event class changed with "x86/tracing, x86/mm: Move page fault tracepoints to generic"
 * (6.16), but the layout did not.
 */
struct fault_event {
	__u64 common;
	unsigned long address;
	unsigned long ip;
	unsigned long error_code;
};

/*
 * Error code bits of a page fault, as on x86 (arch/x86/include/asm/trap_pf.h). faultscope uses
 * these bits on every architecture.
 */
#define PF_PROT	 1
#define PF_WRITE 2
#define PF_INSTR 16

/* Converts an arm64 ESR (arch/arm64/include/asm/esr.h) to x86 error code bits. */
static __always_inline __u64 fault_of_esr(__u64 esr)
{
	__u32 class = esr >> 26 & 0x3f; /* IABT_LOW and IABT_CUR are instruction fetches */
	__u64 what = class == 0x20 || class == 0x21 ? PF_INSTR : 0;

	/* The ESR bit WNR without the bit CM means a write other than cache maintenance. */
	if (!what && esr & 1 << 6 && !(esr & 1 << 8))
		what = PF_WRITE;
	return (esr & 0x3c) == 0x0c ? what | PF_PROT : what;
}

/*
 * Returns whether a task runs on a CPU. on_cpu is an int in 6.12 and a byte in 7.2. libbpf adapts
 * the size of a plain load of an unsigned member; a probe read needs the bitfield macro to get the
 * size.
 */
static __always_inline bool runs_now(struct task_struct *task)
{
#ifdef FS_HASH
	return BPF_CORE_READ_BITFIELD_PROBED(task, on_cpu);
#else
	return get(task, on_cpu);
#endif
}

/*
 * Returns 0 if bit `bits` of `value` and all higher bits are equal. Has no branch, for verifiers.
 */
static __always_inline __u64 odd_bits(__u64 value, __u32 bits)
{
	__s64 rest = (__s64)value >> bits;

	return rest ^ rest >> 63;
}

/*
 * Marks a function whose callers ignore its result. clang 21 would remove the result, and the
 * verifier then rejects the function if R0 holds a pointer to the stack (prepare_func_exit()).
 * "used" keeps the result.
 */
#define returns_unread static __noinline __attribute__((used))

/* At the end of a system call, the registers still hold number and arguments of the call. */
#if defined(__TARGET_ARCH_x86)
#define regs_number(regs) get(regs, orig_ax)
#define regs_ip(regs)	  get(regs, ip)
#define regs_sp(regs)	      get(regs, sp)
#define regs_result(regs)     get(regs, ax)
/* Reads the number through any address; `regs` of get() must be a pointer that the kernel gave. */
#define number_in(regs) BPF_CORE_READ(regs, orig_ax)
static __always_inline __u64 regs_arg(struct pt_regs *regs, int n, bool compat)
{
	if (compat) /* 32-bit calls by int $0x80 or SYSENTER: arch/x86/entry/entry_64_compat.S */
		return (__u32)(n == 0	? get(regs, bx)
			       : n == 1 ? get(regs, cx)
			       : n == 2 ? get(regs, dx)
			       : n == 3 ? get(regs, si)
			       : n == 4 ? get(regs, di)
					: get(regs, bp));
	return n == 0	? get(regs, di)
	       : n == 1 ? get(regs, si)
	       : n == 2 ? get(regs, dx)
	       : n == 3 ? get(regs, r10)
	       : n == 4 ? get(regs, r8)
			: get(regs, r9);
}
/*
 * Returns whether a register holds a non-canonical address. An access through a non-canonical
 * address causes a general protection fault, which reports no address.
 */
static __always_inline bool odd_registers(struct pt_regs *regs, __u64 task_size)
{
	__u32 bits = task_size >> 48 ? 56 : 47; /* for five or four page table levels */
	__u64 value[17] = {regs->ax,  regs->bx,	 regs->cx,  regs->dx,  regs->si,  regs->di,
			   regs->bp,  regs->sp,	 regs->r8,  regs->r9,  regs->r10, regs->r11,
			   regs->r12, regs->r13, regs->r14, regs->r15, regs->ip};
	__u64 odd = 0;

	for (int i = 0; i < 17; i++)
		odd |= odd_bits(value[i], bits);
	return odd;
}
#define in_user_mode(regs)    (((regs)->cs & 3) == 3)
#define is_compat_call(task)  (!!(BPF_CORE_READ(task, thread_info.status) & config.compat_bits))
#define last_error_code(task) BPF_CORE_READ(task, thread.error_code)
#elif defined(__TARGET_ARCH_arm64)
#define regs_number(regs)     get(regs, syscallno)
#define regs_ip(regs)	      get(regs, pc)
#define regs_sp(regs)	      get(regs, sp)
#define regs_result(regs)     get(regs, regs[0])
#define number_in(regs) BPF_CORE_READ(regs, syscallno)
static __always_inline __u64 regs_arg(struct pt_regs *regs, int n, bool compat)
{
	return n == 0	? get(regs, orig_x0)
	       : n == 1 ? get(regs, regs[1])
	       : n == 2 ? get(regs, regs[2])
	       : n == 3 ? get(regs, regs[3])
	       : n == 4 ? get(regs, regs[4])
			: get(regs, regs[5]);
}
#define in_user_mode(regs)    (((regs)->pstate & 0xf) == 0)
#define is_compat_call(task)  (!!(BPF_CORE_READ(task, thread_info.flags) & config.compat_bits))
#define last_error_code(task) fault_of_esr(BPF_CORE_READ(task, thread.fault_code))
#define odd_registers(regs, task_size) 0
#else
#error "registers: of x86 and arm64 alone"
#endif

/* Returns the caller of the system call wrapper, if the wrapper creates no stack frame. */
static __always_inline __u64 regs_caller(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_arm64)
	return get(regs, regs[30]);
#else
	__u64 at_sp = 0;

	bpf_probe_read_user(&at_sp, sizeof(at_sp), (void *)get(regs, sp));
	return at_sp;
#endif
}

#endif

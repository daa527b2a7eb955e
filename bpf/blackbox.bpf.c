/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF programs of the flight recorder, which record events before a crash. Only raw tracepoints
 * and kprobes are used. Each program is attached separately: if a kernel lacks one probe, the
 * others still work.
 */
#include "compat.bpf.h"
#include "wire_blackbox.h"

const volatile struct fs_blackbox_config config SEC(".rodata.config") = {};
struct fs_blackbox_shared shared SEC(".data.shared") = {};
struct freed_area freed[FS_FREED_AREAS] SEC(".data.freed") = {};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 << 10);
} ring SEC(".maps");

/* Copies of the latest records. They are in kernel memory, so a memory dump contains them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u8[512]);
} survivors SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct fs_equal_key);
	__type(value, struct fs_equal);
} equals SEC(".maps");

/*
 * A token bucket, which limits how many records of one kind are sent. Tokens are added over time.
 */
struct bucket {
	__u64 tokens;
	__u64 filled_ns;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NR_PRECURSORS);
	__type(key, __u32);
	__type(value, struct bucket);
} buckets SEC(".maps");

#define BURST	   64
#define PER_SECOND 8
#define SECOND_NS  1000000000ULL

/* Takes a token. Returns false if none is left. Two CPUs may take one token at the same time. */
static __always_inline bool take_token(__u32 what, __u64 now)
{
	struct bucket *b = bpf_map_lookup_elem(&buckets, &what);
	__u64 more;

	if (!b)
		return false;
	if (!b->filled_ns) {
		b->tokens = BURST;
		b->filled_ns = now;
	}
	more = (now - b->filled_ns) * PER_SECOND / SECOND_NS;
	if (more) {
		b->tokens = b->tokens + more > BURST ? BURST : b->tokens + more;
		b->filled_ns = now;
	}
	if (!b->tokens)
		return false;
	b->tokens--;
	return true;
}

/*
 * Counts equal events. Returns the count if the event should be sent, else 0. The event should be
 * sent in two cases: its count is a power of two (1, 2, 4 …), or the last sent event is at least
 * one second old.
 */
static __always_inline __u64 count_equal(__u32 what, __u64 at, __u64 now)
{
	struct fs_equal_key key = {.what = what, .at = at};
	struct fs_equal first = {.count = 1, .told_ns = now}, *seen;
	__u64 count;

	seen = bpf_map_lookup_elem(&equals, &key);
	if (!seen) {
		bpf_map_update_elem(&equals, &key, &first, BPF_NOEXIST);
		return 1;
	}
	count = add_fetch(&seen->count, 1);
	if ((count & (count - 1)) && now - seen->told_ns < SECOND_NS)
		return 0;
	seen->told_ns = now;
	return count;
}

static __always_inline struct precursor_record *begin_at(__u32 what, __u64 at, __u64 ip)
{
	struct task_struct *task = current_task();
	__u64 now = bpf_ktime_get_boot_ns(), count = count_equal(what, at, now);
	struct precursor_record *r = NULL;

	if (!count)
		return NULL;
	if (take_token(what, now))
		r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		atomic_add(&shared.dropped[what], 1);
		return NULL;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->h.len = sizeof(*r);
	r->h.t_ns = now;
	r->what = what;
	r->ip = ip;
	r->count = count;
	r->dropped = shared.dropped[what];
	r->cpu = bpf_get_smp_processor_id();
	r->pid = BPF_CORE_READ(task, tgid);
	r->tid = BPF_CORE_READ(task, pid);
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	return r;
}

static __always_inline void submit(struct precursor_record *r)
{
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
}

/* Finds the most recently freed range that contains the address. */
static __always_inline void find_freed(struct freed_area *ret, __u64 address)
{
	__u64 newest = shared.areas;

	for (__u32 i = 1; i <= FS_FREED_AREAS; i++) {
		struct freed_area *a = &freed[(newest - i) & (FS_FREED_AREAS - 1)];

		if (address - a->start < a->bytes) {
			*ret = *a;
			return;
		}
	}
}

/*
 * Writes the record to each tracing instance in which the event bpf_trace:bpf_trace_printk is
 * enabled. If an instance is in memory that survives a warm reboot, the record survives even if
 * user space never runs again.
 */
static __always_inline void mark(const struct precursor_record *r)
{
	static const char format[] =
		"faultscope! %d %d ip=%llx at=%llx error=%llx pid=%d area=%llx "
		"bytes=%llx owner=%llx freer=%llx freed=%llu flags=%d";
	__u64 args[12] = {r->what,	 r->verdict,	   r->ip,
			  r->address,	 r->error_code,	   r->tid,
			  r->area.start, r->area.bytes,	   r->area.owner,
			  r->area.freer, r->area.freed_ns, r->area.flags};

	bpf_trace_vprintk(format, sizeof(format), args, sizeof(args));
}

static __always_inline void send_fault(void *ctx, struct precursor_record *r, struct pt_regs *regs,
				       __u64 address, __u64 error_code)
{
	r->address = address;
	r->error_code = error_code;
#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_kernel(r->regs, 16 * sizeof(__u64), regs);
	r->regs[16] = BPF_CORE_READ(regs, flags);
	r->regs[17] = BPF_CORE_READ(regs, sp);
#endif
	bpf_probe_read_kernel(r->code, sizeof(r->code), (void *)(r->ip - PRE_CODE_AT));
	find_freed(&r->area, address);
	if (!r->area.bytes)
		find_freed(&r->area, r->ip);
	if (config.marks && r->what != PRE_PROBE)
		mark(r);
	r->stack_bytes = bpf_get_stack(ctx, r->stack, sizeof(r->stack), 0);
}

#define EFLAGS_AC 0x40000

/*
 * Classifies a kernel-mode fault. Returns 0 if the fault is harmless, and 1 for an access to a
 * kernel address, from which the exception table may recover. Returns 2 if no exception table entry
 * can recover from the fault (fatal).
 */
static __always_inline int judge(__u64 address, struct pt_regs *regs, __u64 error_code)
{
	if (address >> 63)
		return error_code & PF_INSTR ? 2 : 1;
	if (error_code & PF_INSTR)
		return 2;
#if defined(__TARGET_ARCH_x86)
	/*
	 * With SMAP, a user copy runs between STAC and CLAC. Outside of them, an access to a user
	 * address is fatal: do_user_addr_fault() calls page_fault_oops().
	 */
	if (config.smap && !(BPF_CORE_READ(regs, flags) & EFLAGS_AC))
		return 2;
#endif
	return 0;
}

SEC("raw_tp/page_fault_kernel")
int black_fault(struct bpf_raw_tracepoint_args *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx->args[1];
	__u64 address = ctx->args[0], error_code = ctx->args[2], ip;
	int judged = judge(address, regs, error_code);
	struct precursor_record *r;
	bool probes;

	if (!judged) {
		atomic_add(&shared.faults_benign, 1);
		return 0;
	}
	ip = regs_ip(regs);
	probes = judged == 1 && faults_disabled(current_task());
	/*
	 * The kernel jumped to an unmapped address, which has no name. The stack shows the caller.
	 */
	r = begin_at(probes ? PRE_PROBE : PRE_FAULT, ip, ip);
	if (!r)
		return 0;
	r->verdict = judged == 2 ? VERDICT_FATAL : VERDICT_SUSPECTED;
	send_fault(ctx, r, regs, address, error_code);
	submit(r);
	return 0;
}

/* ---- kernel faults from which the kernel recovers by its exception table ---- */

struct fixing {
	__u64 ip, address, trap, error_code;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, struct fixing);
} fixing SEC(".maps");

#if defined(__TARGET_ARCH_x86)
#define TRAP_GP 13
#define TRAP_PF 14

/*
 * Returns whether the instruction may fault although the kernel works correctly. Such instructions
 * access registers that this CPU may lack (rdmsr_safe()), or load registers with values that a
 * program chose (segments, FPU). Their faults are not reported as recovered faults.
 */
static __always_inline bool is_of_registers(__u64 ip)
{
	__u32 code = 0;

	bpf_probe_read_kernel(&code, 3, (void *)ip);
	if ((code & 0xf0) == 0x40) /* skips a REX prefix */
		code >>= 8;
	if ((code & 0xff) == 0x8e) /* instruction: mov to a segment register */
		return true;
	if ((code & 0xff) != 0x0f)
		return false;
	switch (code >> 8 & 0xff) {
	case 0x00: /* instructions lldt, ltr */
	case 0x01: /* instruction xsetbv and other system instructions */
	case 0x30: /* instruction wrmsr */
	case 0x32: /* instruction rdmsr */
	case 0xa1: /* instruction pop %fs */
	case 0xa9: /* instruction pop %gs */
	case 0xae: /* instructions fxrstor, xrstor */
	case 0xc7: /* instruction xrstors */
		return true;
	}
	return false;
}

SEC("kprobe/fixup_exception")
int BPF_KPROBE(black_fixup_begin, struct pt_regs *regs, int trap, unsigned long error_code,
	       unsigned long address)
{
	__u64 who = bpf_get_current_pid_tgid();
	struct fixing f = {.address = address, .trap = trap, .error_code = error_code};

	if (trap == TRAP_PF && !(address >> 63))
		return 0; /* a copy from or to a bad user address fails with EFAULT */
	f.ip = regs_ip(regs);
	if (trap == TRAP_GP && is_of_registers(f.ip))
		return 0;
	bpf_map_update_elem(&fixing, &who, &f, BPF_ANY);
	return 0;
}

SEC("kretprobe/fixup_exception")
int BPF_KRETPROBE(black_fixup_end, int fixed)
{
	__u64 who = bpf_get_current_pid_tgid();
	struct fixing *f = bpf_map_lookup_elem(&fixing, &who);
	struct precursor_record *r;

	if (!f)
		return 0;
	if (fixed && !faults_disabled(current_task())) {
		r = begin_at(PRE_FIXED, f->ip, f->ip);
		if (r) {
			r->address = f->address;
			r->error_code = f->error_code;
			r->arg[0] = f->trap;
			submit(r);
		}
	}
	bpf_map_delete_elem(&fixing, &who);
	return 0;
}

SEC("kprobe/die_addr")
int BPF_KPROBE(black_die, const char *text, struct pt_regs *regs, long error_code,
	       unsigned long address)
{
	__u64 ip = regs_ip(regs);
	struct precursor_record *r = begin_at(PRE_PROTECTION, ip, ip);

	if (!r)
		return 0;
	r->verdict = VERDICT_FATAL;
	bpf_probe_read_kernel_str(r->text, sizeof(r->text), text);
	send_fault(ctx, r, regs, address, error_code);
	submit(r);
	return 0;
}
#endif

/* ---- panics ---- */

static __always_inline void record_panic(struct pt_regs *ctx)
{
	struct precursor_record *r = begin_at(PRE_PANIC, 0, 0);

	if (!r)
		return;
	r->verdict = VERDICT_FATAL;
	bpf_probe_read_kernel_str(r->text, PRE_WORD_AT, (void *)PT_REGS_PARM1(ctx));
	r->arg[0] = PT_REGS_PARM2(ctx);
	r->arg[1] = PT_REGS_PARM3(ctx);
	r->arg[2] = PT_REGS_PARM4(ctx);
	bpf_probe_read_kernel_str(r->text + PRE_WORD_AT, PRE_WORD_BYTES, (void *)r->arg[0]);
	r->stack_bytes = bpf_get_stack(ctx, r->stack, sizeof(r->stack), 0);
	submit(r);
}

SEC("kprobe/panic")
int black_panic(struct pt_regs *ctx)
{
	record_panic(ctx);
	return 0;
}

#define HOLD_STEPS (1 << 23) /* maximum number of iterations of bpf_loop() */

struct hold {
	__u64 until_ns;
};

static long hold_on(__u32 i, struct hold *h)
{
	return *(volatile __u64 *)&shared.panic_kept || bpf_ktime_get_ns() > h->until_ns;
}

/*
 * Records a panic. panic() is about to stop the other CPUs, and the recorder with them. For this
 * reason, bpf_loop() (5.17) delays the panic once. The delay ends when the recorder has written
 * everything to disk, and at the latest after hold_ns.
 */
SEC("kprobe/panic")
int black_panic_hold(struct pt_regs *ctx)
{
	struct hold h = {.until_ns = bpf_ktime_get_ns() + config.hold_ns};

	record_panic(ctx);
	if (!config.hold_ns || shared.panic_cpu)
		return 0;
	shared.panic_cpu = bpf_get_smp_processor_id() + 1;
	bpf_loop(HOLD_STEPS, hold_on, &h, 0);
	return 0;
}

/* ---- reports, modules ---- */

SEC("raw_tp/error_report_end")
int black_report(struct bpf_raw_tracepoint_args *ctx)
{
	struct precursor_record *r = begin_at(PRE_REPORT, ctx->args[1], ctx->args[1]);

	if (!r)
		return 0;
	r->arg[0] = (__u32)ctx->args[0];
	r->stack_bytes = bpf_get_stack(ctx, r->stack, sizeof(r->stack), 0);
	submit(r);
	return 0;
}

/*
 * Layout of struct module before 6.4, in which commit ac3b43283923 replaced core_layout by mem[].
 */
struct module___layout {
	struct {
		void *base;
		unsigned int size;
	} core_layout;
} __attribute__((preserve_access_index));
struct module___memory {
	struct {
		void *base;
		unsigned int size;
	} mem[7];
} __attribute__((preserve_access_index));
struct module___common {
	char name[56];
	const char *srcversion;
	unsigned long taints;
} __attribute__((preserve_access_index));

#define take_memory(r, mod, i)                                                                     \
	({                                                                                         \
		(r)->arg[2 * (i)] =                                                                \
			(__u64)BPF_CORE_READ((struct module___memory *)(mod), mem[i].base);        \
		(r)->arg[2 * (i) + 1] =                                                            \
			BPF_CORE_READ((struct module___memory *)(mod), mem[i].size);               \
	})

static __always_inline int record_module(void *mod, __u32 what)
{
	struct module___common *m = mod;
	struct precursor_record *r;

	if (!bpf_core_field_exists(m->taints))
		return 0; /* the kernel is built without support for modules */
	r = begin_at(what, (__u64)mod ^ bpf_ktime_get_ns(), 0);
	if (!r)
		return 0;
	if (bpf_core_field_exists(((struct module___memory *)mod)->mem)) {
		take_memory(r, mod, 0);
		take_memory(r, mod, 1);
		take_memory(r, mod, 2);
		take_memory(r, mod, 3);
	} else if (bpf_core_field_exists(((struct module___layout *)mod)->core_layout)) {
		r->arg[0] = (__u64)BPF_CORE_READ((struct module___layout *)mod, core_layout.base);
		r->arg[1] = BPF_CORE_READ((struct module___layout *)mod, core_layout.size);
	}
	r->error_code = BPF_CORE_READ(m, taints);
	bpf_probe_read_kernel_str(r->text, 56, &m->name);
	bpf_probe_read_kernel_str(r->text + 64, 32, BPF_CORE_READ(m, srcversion));
	submit(r);
	return 0;
}

SEC("raw_tp/module_load")
int black_load(struct bpf_raw_tracepoint_args *ctx)
{
	return record_module((void *)ctx->args[0], PRE_MODULE_LOAD);
}

SEC("raw_tp/module_free")
int black_free(struct bpf_raw_tracepoint_args *ctx)
{
	return record_module((void *)ctx->args[0], PRE_MODULE_FREE);
}

/* ---- ranges that drivers free ---- */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, __u64);
} freeing SEC(".maps");

#define FREER_FRAMES 6
struct freer_stack {
	__u64 ip[FREER_FRAMES];
};

static __always_inline bool is_driver(__u64 ip)
{
	return ip >> 63 && config.text_start &&
	       ip - config.text_start >= config.text_end - config.text_start;
}

/* Stores which code frees a range: the first function on the stack that belongs to a driver. */
static __always_inline int begin_freeing(void *ctx)
{
	__u64 who = bpf_get_current_pid_tgid(), ip = 0;
	struct freer_stack s = {};

	if (bpf_get_stack(ctx, &s, sizeof(s), 0) < 0)
		return 0;
	for (int i = 0; i < FREER_FRAMES && !ip; i++)
		if (is_driver(s.ip[i]))
			ip = s.ip[i];
	if (ip)
		bpf_map_update_elem(&freeing, &who, &ip, BPF_ANY);
	return 0;
}

SEC("kprobe/vfree")
int BPF_KPROBE(black_vfree)
{
	return begin_freeing(ctx);
}

SEC("kprobe/iounmap")
int BPF_KPROBE(black_iounmap)
{
	return begin_freeing(ctx);
}

struct vm_struct___own {
	void *addr;
	unsigned long size, flags;
	const void *caller;
} __attribute__((preserve_access_index));

SEC("kretprobe/remove_vm_area")
int BPF_KRETPROBE(black_unmap, struct vm_struct___own *vm)
{
	__u64 who = bpf_get_current_pid_tgid(), *ip = bpf_map_lookup_elem(&freeing, &who);
	__u64 owner = vm ? (__u64)BPF_CORE_READ(vm, caller) : 0;
	struct freed_area *a;

	if (!vm || (!ip && !is_driver(owner)))
		return 0;
	a = &freed[__sync_fetch_and_add(&shared.areas, 1) & (FS_FREED_AREAS - 1)];
	a->bytes = 0;
	a->start = (__u64)BPF_CORE_READ(vm, addr);
	a->flags = BPF_CORE_READ(vm, flags);
	a->owner = owner;
	a->freer = ip ? *ip : 0;
	a->freed_ns = bpf_ktime_get_boot_ns();
	a->bytes = BPF_CORE_READ(vm, size);
	if (ip)
		bpf_map_delete_elem(&freeing, &who);
	return 0;
}

/* ---- hardware ---- */

/*
 * The layout of struct mce. Since "x86/mce: Add wrapper for struct mce" (6.13), struct mce is the
 * first member of the tracepoint's argument.
 */
struct mce___own {
	__u64 status, addr;
	__u8 bank;
} __attribute__((preserve_access_index));

SEC("raw_tp/mce_record")
int black_mce(struct bpf_raw_tracepoint_args *ctx)
{
	struct mce___own *m = (void *)ctx->args[0];
	struct precursor_record *r;

	if (!bpf_core_field_exists(m->bank))
		return 0; /* the kernel is built without support for machine checks */
	r = begin_at(PRE_MCE, BPF_CORE_READ(m, bank), 0);
	if (!r)
		return 0;
	r->arg[0] = BPF_CORE_READ(m, bank);
	r->arg[1] = BPF_CORE_READ(m, status);
	r->arg[2] = BPF_CORE_READ(m, addr);
	submit(r);
	return 0;
}

SEC("raw_tp/mc_event")
int black_edac(struct bpf_raw_tracepoint_args *ctx)
{
	struct precursor_record *r = begin_at(PRE_EDAC, ctx->args[4], 0);

	if (!r)
		return 0;
	r->arg[0] = (__u32)ctx->args[0];
	r->arg[1] = (__u32)ctx->args[3];
	r->arg[2] = ctx->args[8];
	bpf_probe_read_kernel_str(r->text, sizeof(r->text), (void *)ctx->args[2]);
	submit(r);
	return 0;
}

SEC("raw_tp/aer_event")
int black_aer(struct bpf_raw_tracepoint_args *ctx)
{
	struct precursor_record *r = begin_at(PRE_AER, (__u32)ctx->args[1], 0);

	if (!r)
		return 0;
	r->arg[0] = (__u32)ctx->args[1];
	r->arg[1] = (__u8)ctx->args[2];
	bpf_probe_read_kernel_str(r->text, sizeof(r->text), (void *)ctx->args[0]);
	submit(r);
	return 0;
}

SEC("raw_tp/memory_failure_event")
int black_memory_failure(struct bpf_raw_tracepoint_args *ctx)
{
	struct precursor_record *r = begin_at(PRE_MEMORY_FAILURE, ctx->args[0], 0);

	if (!r)
		return 0;
	r->arg[0] = ctx->args[0];
	submit(r);
	return 0;
}

struct device___own {
	const char *init_name;
	struct {
		const char *name;
	} kobj;
} __attribute__((preserve_access_index));

SEC("raw_tp/io_page_fault")
int black_iommu(struct bpf_raw_tracepoint_args *ctx)
{
	struct device___own *dev = (void *)ctx->args[0];
	struct precursor_record *r = begin_at(PRE_IOMMU, (__u64)dev, 0);

	if (!r)
		return 0;
	r->arg[0] = ctx->args[1];
	r->arg[1] = (__u32)ctx->args[2];
	bpf_probe_read_kernel_str(r->text, sizeof(r->text), BPF_CORE_READ(dev, kobj.name));
	submit(r);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

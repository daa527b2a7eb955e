// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test program: sends the stack of one process at each getppid(), walked with the tables of
 * unwind.bpf.h.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "unwind.bpf.h"
#include "kernel_walk.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 traced_tgid;
__u64 lost;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_walk);
} walks SEC(".maps");

SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit, struct pt_regs *regs, long ret)
{
	__u64 ids = bpf_get_current_pid_tgid(), begun;
	__u32 tgid = ids >> 32;
	struct fs_unwind_proc *proc;
	struct walked_stack *s;
	struct unwind_walk *w;
	__u32 zero = 0;

	if (ids >> 32 != traced_tgid)
		return 0;
	w = bpf_map_lookup_elem(&walks, &zero);
	if (!w)
		return 0;
	if (regs->orig_ax != WALKED_CALL || regs->di != WALKED_MARK)
		return 0;
	begun = bpf_ktime_get_ns();
	proc = bpf_map_lookup_elem(&unwind_procs, &tgid);
	if (!proc || bpf_probe_read_kernel(&w->m.regs, sizeof(w->m.regs), regs))
		return 0;
	w->proc = *proc;
	unwind_from_registers(w);
	begun = bpf_ktime_get_ns() - begun;
	s = bpf_ringbuf_reserve(&events, sizeof(*s), 0);
	if (!s) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	s->tid = ids;
	s->n = w->n;
	s->end = w->end;
	s->ns = begun;
	s->hash = w->hash;
	bpf_probe_read_kernel(s->pc, sizeof(s->pc), w->pc);
	bpf_ringbuf_submit(s, 0);
	return 0;
}

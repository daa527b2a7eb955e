/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BPF programs that do nothing. They are used to measure the cost of a tracepoint alone. The name
 * of each program is that of its tracepoint.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define EMPTY(tracepoint)                                                                          \
	SEC("tp_btf/" #tracepoint)                                                                 \
	int tracepoint(void *ctx)                                                                  \
	{                                                                                          \
		return 0;                                                                          \
	}

EMPTY(page_fault_user)
EMPTY(sys_exit)
EMPTY(sched_switch)
EMPTY(sched_waking)
EMPTY(sched_process_fork)
EMPTY(sched_process_exec)
EMPTY(sched_process_exit)
EMPTY(signal_generate)

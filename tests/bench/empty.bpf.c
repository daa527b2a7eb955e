/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A BPF program that does nothing at each user-mode page fault. It is used to measure the cost of
 * the tracepoint alone.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/page_fault_user")
int on_fault_user(void *ctx)
{
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An empty program at each page fault in user mode. It measures the cost of the tracepoint itself.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/page_fault_user")
int on_fault_user(void *ctx)
{
	return 0;
}

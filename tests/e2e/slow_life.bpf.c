/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Delays fork() and exit of processes with the name "slow", so that a scan finds them in between.
 *
 * slow_fork: the new task is already in the process list, but sched_process_fork comes later.
 * slow_exit: signal->live is already 0, but sched_process_exit comes later. do_exit() then calls
 * acct_collect(), which takes mmap_lock (kernel/exit.c; needs CONFIG_BSD_PROCESS_ACCT). exit_mm()
 * takes it too, and is delayed too. Since 6.16, this is after sched_process_exit.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PF_EXITING 0x4 /* value from include/linux/sched.h */
#define MS 1000000ULL
#define DELAY_NS (100 * MS) /* several scans at an interval of 10 ms */
#define MOST_STEPS (1 << 23) /* a limit of bpf_loop() */

static bool is_slow(void)
{
	char comm[16] = {};

	bpf_get_current_comm(comm, sizeof(comm));
	return comm[0] == 's' && comm[1] == 'l' && comm[2] == 'o' && comm[3] == 'w' && !comm[4];
}

static long has_waited(__u32 i, __u64 *end_ns)
{
	return bpf_ktime_get_ns() >= *end_ns;
}

/* A loop within a loop, since the steps of one bpf_loop() may take less time than the wait. */
static long wait_more(__u32 i, __u64 *end_ns)
{
	bpf_loop(MOST_STEPS, has_waited, end_ns, 0);
	return bpf_ktime_get_ns() >= *end_ns;
}

static int delay(void)
{
	__u64 end_ns = bpf_ktime_get_ns() + DELAY_NS;

	bpf_loop(MOST_STEPS, wait_more, &end_ns, 0);
	return 0;
}

SEC("tp_btf/task_newtask")
int slow_fork(void *ctx)
{
	return is_slow() ? delay() : 0;
}

SEC("tp_btf/mmap_lock_start_locking")
int slow_exit(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return task->flags & PF_EXITING && task->mm && is_slow() ? delay() : 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: facts about this machine, its clocks, and faultscope's own CPU time. */
#ifndef FS_PROBE_HOST_FACTS_H
#define FS_PROBE_HOST_FACTS_H

#include <stdbool.h>

#include "records/records.h"

unsigned long long host_monotonic_ns(void);
unsigned long long host_wall_ns(void);
unsigned long long host_boottime_ns(void);
bool host_has_smap(void);

/* Returns whether faultscope runs in a namespace other than the initial one. */
bool host_is_in_pid_namespace(void);
bool host_is_in_user_namespace(void);

/* Returns the major version of the kernel, such as 6. */
int host_kernel_major(void);

/* Returns whether the version of the kernel is at least MAJOR.MINOR. */
bool host_kernel_since(int major, int minor);

/*
 * Returns whether the kernel may free BPF task storage of a process whose clone() fails early, for
 * example because of RLIMIT_NPROC: see proc_clone_failed() in bpf/process_state.bpf.h. Linux 7.2
 * never does. Of the kernels before, those with the fix of 2026 do not, but their version does not
 * show it.
 */
bool host_may_free_storage(void);

#define FREED_STORAGE                                                                              \
	"if a clone() fails because of RLIMIT_NPROC or threads-max, this kernel may free the "     \
	"counters of the calling process (a bug that kernels from mid-2026 on do not have); the "  \
	"probe calls preserves these counters"

/* Returns whether /proc belongs to faultscope's pid namespace, so that its pids are valid here. */
bool host_has_own_proc(void);

/* Returns whether /proc hides processes of other users (mount option hidepid=). */
bool host_hides_processes(void);

/* Returns whether the size of the directory /proc/PID/fd is the number of open fds (since 6.2). */
bool host_counts_fds(void);

/* Returns whether NUMA balancing may unmap pages, which needs several NUMA nodes. */
bool host_balances_numa(void);

/* Returns the number of processes and threads of the machine, or 0 if the number is not known. */
unsigned long host_processes(void);
unsigned long long host_own_cpu_ns(void);

/* Returns whether swap space is enabled now; true if it is not known. */
bool host_has_swap(void);

/* Fills kernel, architecture, host name and boot id; the caller sets the other members. */
void host_fill(struct host_record *ret);

#endif

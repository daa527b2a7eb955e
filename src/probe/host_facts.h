/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: this machine, its clocks, and what we cost ourselves. */
#ifndef FS_PROBE_HOST_FACTS_H
#define FS_PROBE_HOST_FACTS_H

#include <stdbool.h>

#include "records/records.h"

unsigned long long host_monotonic_ns(void);
unsigned long long host_wall_ns(void);
unsigned long long host_boottime_ns(void);
bool host_has_smap(void);

/* Whether we are in a namespace below the initial one. */
bool host_is_in_pid_namespace(void);
bool host_is_in_user_namespace(void);

/* The first number of the kernel's release. */
int host_kernel_major(void);

/* Whether /proc tells of our pid namespace: else its pids are not those that we are given. */
bool host_has_own_proc(void);

/* Whether /proc hides other users' processes from who may not trace them (hidepid=). */
bool host_hides_processes(void);

/* Whether /proc tells how many descriptors a process has without reading all (6.2). */
bool host_counts_fds(void);

/* Whether pages may be unmapped to see which node uses them: there are several. */
bool host_balances_numa(void);

/* Processes and threads alive; 0 where /proc does not tell. */
unsigned long host_processes(void);
unsigned long long host_own_cpu_ns(void);
/* Kernel, architecture, name and boot id; mode and target are the caller's. */
void host_fill(struct host_record *ret);

#endif

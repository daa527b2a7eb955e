/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: the table of metrics: what is exported, under which name, with which labels. One row is
 * all that a new metric needs in its name, help and type, whatever the format.
 */
#ifndef FS_MODEL_METRICS_H
#define FS_MODEL_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METRIC_LABELS 8

enum metric_type {
	METRIC_GAUGE,
	METRIC_COUNTER, /* its samples end in _total */
	METRIC_INFO,	/* its samples end in _info, and are 1 */
	METRIC_HISTOGRAM,
};

/* X(id, name, type, unit, help, label names…) */
#define METRICS(X)                                                                                 \
	X(BUILD, "faultscope_build", METRIC_INFO, NULL,                                            \
	  "Build and runtime information, value is always 1.", "version", "revision", "libbpf",    \
	  "kernel")                                                                                \
	X(UP, "faultscope_up", METRIC_GAUGE, NULL,                                                 \
	  "Whether the last collection produced every enabled metric group (1) or some group "     \
	  "failed (0).")                                                                           \
	X(COLLECTOR, "faultscope_collector_enabled", METRIC_GAUGE, NULL,                           \
	  "Whether a collector is running (1), or not available on this kernel, with these "       \
	  "capabilities or in this mode (0).",                                                     \
	  "collector")                                                                             \
	X(PROBE, "faultscope_probe", METRIC_INFO, NULL,                                            \
	  "Mechanism in use for each probe, value is always 1.", "probe", "mechanism")             \
	X(SCRAPE, "faultscope_scrape_duration_seconds", METRIC_GAUGE, "seconds",                   \
	  "Time spent to collect and render this scrape.")                                         \
	X(DROPPED, "faultscope_events_dropped", METRIC_COUNTER, NULL,                              \
	  "Events lost because a kernel buffer or map was full.", "buffer")                        \
	X(BPF_SECONDS, "faultscope_bpf_run_seconds", METRIC_COUNTER, "seconds",                    \
	  "Time spent in each of faultscope's BPF programs (where kernel.bpf_stats_enabled is "    \
	  "set).",                                                                                 \
	  "program")                                                                               \
	X(BPF_RUNS, "faultscope_bpf_runs", METRIC_COUNTER, NULL,                                   \
	  "Runs of each of faultscope's BPF programs (where kernel.bpf_stats_enabled is set).",    \
	  "program")                                                                               \
	X(WORKLOADS, "faultscope_workloads", METRIC_GAUGE, NULL,                                   \
	  "Workloads with their own series.")                                                      \
	X(FOLDED, "faultscope_workloads_folded", METRIC_GAUGE, NULL,                               \
	  "Workloads whose values are folded into workload=\"~other\" because of "                 \
	  "--limit.workloads or their age.")                                                       \
	X(LIMITED, "faultscope_series_limited", METRIC_COUNTER, NULL,                              \
	  "Series not exported because of --limit.series.")                                        \
	X(WORKLOAD, "faultscope_workload", METRIC_INFO, NULL,                                      \
	  "Identity of a workload, value is always 1; join on workload.", "workload", "kind",      \
	  "namespace", "pod", "container", "pod_uid", "container_id", "cgroup")                    \
	X(FAULTS, "faultscope_page_faults", METRIC_COUNTER, NULL,                                  \
	  "Page faults handled, as the kernel accounts them to processes.", "workload",            \
	  "severity")                                                                              \
	X(ACCESSES, "faultscope_page_faults_by_access", METRIC_COUNTER, NULL,                      \
	  "User-mode page faults begun, by what was tried; host wide.", "access", "page")          \
	X(BACKINGS, "faultscope_page_faults_by_backing", METRIC_COUNTER, NULL,                     \
	  "Page faults served, by what is mapped there, whatever the access (where faults are "    \
	  "classified: --export.faults); host wide.",                                              \
	  "backing")                                                                               \
	X(DURATION, "faultscope_page_fault_duration_seconds", METRIC_HISTOGRAM, "seconds",         \
	  "Page fault service time; host wide.", "severity")                                       \
	X(STALL, "faultscope_major_fault_stall_seconds", METRIC_COUNTER, "seconds",                \
	  "Time threads spent waiting in major page faults.", "workload")                          \
	X(SIGNALS, "faultscope_fatal_signals", METRIC_COUNTER, NULL,                               \
	  "Fault signals sent to user threads by the kernel (SIGSEGV, SIGBUS), and the SIGABRT "   \
	  "that a thread sends to itself: abort().",                                               \
	  "workload", "signal", "code")                                                            \
	X(MAPPINGS_LIMIT, "faultscope_mappings_limit", METRIC_GAUGE, NULL,                         \
	  "Value of vm.max_map_count.")                                                            \
	X(MAPPINGS, "faultscope_mappings", METRIC_GAUGE, NULL,                                     \
	  "Memory mappings (VMAs) held by all processes of the workload.", "workload")             \
	X(WORST_MAPPINGS, "faultscope_worst_process_mappings", METRIC_GAUGE, NULL,                 \
	  "Memory mappings of the process of the workload that has most.", "workload")             \
	X(MAPPING_FAILURES, "faultscope_mapping_failures", METRIC_COUNTER, NULL,                   \
	  "mmap, mprotect, munmap, mremap, brk and similar calls that failed for want of a "       \
	  "resource.",                                                                             \
	  "workload", "reason")                                                                    \
	X(FDS, "faultscope_open_fds", METRIC_GAUGE, NULL,                                          \
	  "Open file descriptors held by all processes of the workload.", "workload")              \
	X(WORST_FDS, "faultscope_worst_process_open_fds", METRIC_GAUGE, NULL,                      \
	  "Open file descriptors of the process of the workload nearest its RLIMIT_NOFILE soft "   \
	  "limit.",                                                                                \
	  "workload")                                                                              \
	X(WORST_FDS_LIMIT, "faultscope_worst_process_fds_limit", METRIC_GAUGE, NULL,               \
	  "RLIMIT_NOFILE soft limit of the process faultscope_worst_process_open_fds describes.",  \
	  "workload")                                                                              \
	X(FD_FAILURES, "faultscope_fd_failures", METRIC_COUNTER, NULL,                             \
	  "Calls that failed with EMFILE (process limit) or ENFILE (system limit).", "workload",   \
	  "errno")                                                                                 \
	X(SWAP, "faultscope_swap_bytes", METRIC_GAUGE, "bytes", "Swap held by the workload.",      \
	  "workload")                                                                              \
	X(SWAP_INS, "faultscope_swap_in_faults", METRIC_COUNTER, NULL,                             \
	  "Page faults of anonymous memory that had to wait for it: reads of swap.", "workload")   \
	X(RECLAIM, "faultscope_direct_reclaim_seconds", METRIC_COUNTER, "seconds",                 \
	  "Time threads spent in direct reclaim.", "workload")                                     \
	X(COMMIT_FAILURES, "faultscope_commit_failures", METRIC_COUNTER, NULL,                     \
	  "Allocations refused by overcommit accounting.", "workload")                             \
	X(OOM_KILLS, "faultscope_oom_kills", METRIC_COUNTER, NULL,                                 \
	  "Processes killed by the OOM killer.", "workload", "scope")                              \
	X(KERNEL_FAULTS, "faultscope_kernel_faults", METRIC_COUNTER, NULL,                         \
	  "Page faults taken in kernel mode.", "address")                                          \
	X(FIXUPS, "faultscope_kernel_fixups", METRIC_COUNTER, NULL,                                \
	  "Kernel-mode faults at bad addresses that an exception-table entry absorbed, by the "    \
	  "module of the faulting instruction.",                                                   \
	  "module")                                                                                \
	X(REPORTS, "faultscope_kernel_reports", METRIC_COUNTER, NULL,                              \
	  "Kernel error reports (WARN, KASAN, KFENCE, UBSAN, oops, hung task, soft lockup).",      \
	  "kind", "module")                                                                        \
	X(TAINTED, "faultscope_kernel_tainted", METRIC_INFO, NULL,                                 \
	  "Kernel taint flags set, one series each, value is always 1.", "flag")                   \
	X(PROCESS_CPU, "process_cpu_seconds", METRIC_COUNTER, "seconds",                           \
	  "Total user and system CPU time spent in seconds.")                                      \
	X(PROCESS_RESIDENT, "process_resident_memory_bytes", METRIC_GAUGE, "bytes",                \
	  "Resident memory size in bytes.")                                                        \
	X(PROCESS_FDS, "process_open_fds", METRIC_GAUGE, NULL, "Number of open file descriptors.") \
	X(PROCESS_MAX_FDS, "process_max_fds", METRIC_GAUGE, NULL,                                  \
	  "Maximum number of open file descriptors.")                                              \
	X(PROCESS_START, "process_start_time_seconds", METRIC_GAUGE, "seconds",                    \
	  "Start time of the process since unix epoch in seconds.")

enum metric_id {
#define X(id, ...) METRIC_ID_##id,
	METRICS(X)
#undef X
/* clang-format off */
#define FAMILY_NOT_EXPORTED
#define FAMILY_EXPORTED(...)
#define FAMILY_OWN_FAMILY(id, ...) METRIC_ID_##id,
#define COUNTER(id, group, key, unit, probe, export, ...) FAMILY_##export
#include "records/counters.def"
	/* clang-format on */
	NR_METRICS,
};
#undef FAMILY_OWN_FAMILY

struct metric {
	const char *name; /* of the family, as OpenMetrics has it: without _total and _info */
	enum metric_type type;
	const char *unit; /* the end of the name; NULL: none */
	const char *help;
	const char *label[METRIC_LABELS]; /* up to the first NULL */
};

extern const struct metric metrics[NR_METRICS];

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * records: memory pressure of the machine, its cgroups and its tmpfs mounts, read from small files
 * of /proc and cgroupfs once per interval.
 */
#ifndef FS_RECORDS_PRESSURE_RECORDS_H
#define FS_RECORDS_PRESSURE_RECORDS_H

#include <stdint.h>

#include "records/records.h"

#define FIGURE_UNKNOWN UINT64_MAX

/* Kinds of records that only user space creates, in addition to record_kinds.h. */
enum pressure_kind {
	RECORD_SHORTAGE = 96,
	RECORD_LEVEL,
	RECORD_MOUNT,
	RECORD_SCORE,
};

enum figure_source { FROM_MEMINFO, FROM_VMSTAT, FROM_SETTINGS, FROM_LOOK };

/*
 * Memory values of the machine. X(id, JSON key, source, kernel name): a name that ends in * is the
 * sum of all names with that prefix. Values of /proc/meminfo are in bytes; values of /proc/vmstat
 * are pages, or events since boot; values of /proc/sys/vm are unchanged. FROM_LOOK counts cgroups
 * and mounts that a scan skipped because its list was full (the highest number of all scans).
 * Append rows only: recordings identify the rows by number.
 */
#define HOST_FIGURES(X)                                                                            \
	X(BUFFERS, "buffers_bytes", FROM_MEMINFO, "Buffers")                                       \
	X(CACHED, "cached_bytes", FROM_MEMINFO, "Cached")                                          \
	X(ANON, "anon_bytes", FROM_MEMINFO, "AnonPages")                                           \
	X(SHMEM, "shmem_bytes", FROM_MEMINFO, "Shmem")                                             \
	X(SLAB, "slab_unreclaimable_bytes", FROM_MEMINFO, "SUnreclaim")                            \
	X(PAGE_TABLES, "page_tables_bytes", FROM_MEMINFO, "PageTables")                            \
	X(UNEVICTABLE, "unevictable_bytes", FROM_MEMINFO, "Unevictable")                           \
	X(ZSWAP, "zswap_bytes", FROM_MEMINFO, "Zswap")                                             \
	X(ZSWAPPED, "zswapped_bytes", FROM_MEMINFO, "Zswapped")                                    \
	X(CORRUPTED, "hardware_corrupted_bytes", FROM_MEMINFO, "HardwareCorrupted")                \
	X(SWAP_IN, "swap_in_pages", FROM_VMSTAT, "pswpin")                                         \
	X(SWAP_OUT, "swap_out_pages", FROM_VMSTAT, "pswpout")                                      \
	X(ZSWAP_IN, "zswap_in_pages", FROM_VMSTAT, "zswpin")                                       \
	X(ZSWAP_OUT, "zswap_out_pages", FROM_VMSTAT, "zswpout")                                    \
	X(MAJOR, "major_faults", FROM_VMSTAT, "pgmajfault")                                        \
	X(REFAULT_ANON, "refaults_anon_pages", FROM_VMSTAT, "workingset_refault_anon")             \
	X(REFAULT_FILE, "refaults_file_pages", FROM_VMSTAT, "workingset_refault_file")             \
	X(DIRECT_STALLS, "direct_reclaims", FROM_VMSTAT, "allocstall_*")                           \
	X(DIRECT_SCANNED, "direct_scanned_pages", FROM_VMSTAT, "pgscan_direct")                    \
	X(COMPACT_STALLS, "compaction_stalls", FROM_VMSTAT, "compact_stall")                       \
	X(COMPACT_FAILS, "compaction_fails", FROM_VMSTAT, "compact_fail")                          \
	X(THP_ALLOCATED, "thp_faults", FROM_VMSTAT, "thp_fault_alloc")                             \
	X(THP_FALLBACKS, "thp_fallbacks", FROM_VMSTAT, "thp_fault_fallback")                       \
	X(NUMA_HINTS, "numa_hints", FROM_VMSTAT, "numa_hint_faults")                               \
	X(NUMA_LOCAL, "numa_hints_local", FROM_VMSTAT, "numa_hint_faults_local")                   \
	X(NUMA_MIGRATED, "numa_migrated_pages", FROM_VMSTAT, "numa_pages_migrated")                \
	X(OOM_KILLS, "oom_kills", FROM_VMSTAT, "oom_kill")                                         \
	X(OVERCOMMIT_RATIO, "overcommit_ratio", FROM_SETTINGS, "overcommit_ratio")                 \
	X(OVERCOMMIT_KBYTES, "overcommit_kbytes", FROM_SETTINGS, "overcommit_kbytes")              \
	X(SWAPPINESS, "swappiness", FROM_SETTINGS, "swappiness")                                   \
	X(LEFT_OUT, "skipped_paths", FROM_LOOK, "")

enum host_figure {
#define X(id, key, source, name) HOST_##id,
	HOST_FIGURES(X)
#undef X
		NR_HOST_FIGURES,
};

/*
 * Values of a cgroup (version 1 or 2) in bytes, pages or events. FIGURE_UNKNOWN means that a value
 * is not available, or that there is no limit. FILE includes SHMEM. KERNEL is kernel memory that is
 * not reclaimable. In version 1, SWAP_LIMIT is the memsw limit minus the memory limit, and
 * TIMES_MAX is memory.failcnt. Append rows only: recordings identify the rows by number.
 */
#define CGROUP_FIGURES(X)                                                                          \
	X(USED, "used_bytes")                                                                      \
	X(LIMIT, "limit_bytes")                                                                    \
	X(HIGH, "high_bytes")                                                                      \
	X(SWAP_USED, "swap_used_bytes")                                                            \
	X(SWAP_LIMIT, "swap_limit_bytes")                                                          \
	X(ANON, "anon_bytes")                                                                      \
	X(FILE, "file_bytes")                                                                      \
	X(SHMEM, "shmem_bytes")                                                                    \
	X(KERNEL, "kernel_bytes")                                                                  \
	X(TIMES_HIGH, "high_events")                                                               \
	X(TIMES_MAX, "max_events")                                                                 \
	X(OOMS, "oom")                                                                             \
	X(OOM_KILLS, "oom_kills")                                                                  \
	X(REFAULT_ANON, "refaults_anon_pages")                                                     \
	X(REFAULT_FILE, "refaults_file_pages")                                                     \
	X(MAJOR, "major_faults")

enum cgroup_figure {
#define X(id, key) CGROUP_##id,
	CGROUP_FIGURES(X)
#undef X
		NR_CGROUP_FIGURES,
};

/* One line of a PSI file such as /proc/pressure/memory. Averages are in hundredths of a percent. */
struct stall {
	uint64_t total_us;
	uint32_t avg10, avg60, avg300;
	/* 0: PSI is unavailable on this kernel, or does not exist for this cgroup; 1: available */
	uint32_t known;
};

struct pressure_record {
	struct record h;
	uint64_t n[NR_HOST_FIGURES];
	/* PSI of the machine: time in which some tasks, or all tasks, waited for memory */
	struct stall some, full;
};

struct cgroup_record {
	struct record h;
	char path[256]; /* path below the cgroup mount, such as "/a/b"; "/": the root */
	uint32_t version;
	uint32_t pad;
	uint64_t n[NR_CGROUP_FIGURES];
	struct stall some, full; /* PSI of the cgroup's memory; cgroup v2 only */
};

#define MOUNT_IN_MEMORY 1u /* the file system is tmpfs or ramfs */

struct mount_record {
	struct record h;
	char path[128];
	uint64_t magic; /* magic number of the file system: linux/magic.h */
	uint64_t size_bytes, used_bytes, free_bytes;
	uint64_t inodes, inodes_free;
	/* process in whose mount namespace the mount was found; 0: faultscope's own namespace */
	uint32_t pid;
	uint32_t flags;	 /* flags of the mount: MOUNT_* bits */
	uint64_t device; /* kernel's device number, MKDEV(); FIGURE_UNKNOWN: not known */
	/*
	 * of a tmpfs in which a call or an access failed: the largest file, its path below the
	 * mount (""; not known), its space and its owner
	 */
	char largest[96];
	uint64_t largest_bytes;
	uint32_t largest_uid;
	uint32_t pad;
	uint64_t unnamed_bytes; /* used space that no file with a name has; 0: none, or not known */
};

/* The kernel's OOM score of a process: /proc/PID/oom_score. */
struct score_record {
	struct record h;
	struct process_key subject;
	uint32_t score;
	int32_t adj;
	uint32_t nth; /* index in the list of scores; 0 starts a new list */
	uint32_t pad;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: how short of memory the machine, its cgroups and its file systems in memory are. Records
 * that user space makes once a look, from small files of /proc and cgroupfs; rates are taken over
 * ten to twenty seconds where that much was watched.
 */
#ifndef FS_MODEL_PRESSURE_H
#define FS_MODEL_PRESSURE_H

#include "model/model.h"

#define FIGURE_UNKNOWN UINT64_MAX
#define LEVELS_MAX     64 /* cgroups with a limit of their own */
#define MOUNTS_MAX     48
#define SCORES_MAX     8 /* of those that the OOM killer would take first */

/* Kinds of records beside those of wire.h: the kernel side knows none of them. */
enum pressure_kind {
	RECORD_SHORTAGE = 96,
	RECORD_LEVEL,
	RECORD_MOUNT,
	RECORD_SCORE,
};

enum figure_source { FROM_MEMINFO, FROM_VMSTAT, FROM_SETTINGS, FROM_LOOK };

/*
 * Figures of the machine. X(id, JSON key, where, the kernel's name): a name that ends in * is the
 * sum of all that begin so. Of /proc/meminfo in bytes, of /proc/vmstat in pages or events since the
 * boot, of /proc/sys/vm as they are; of the look itself, how many cgroups and mounts it found no
 * room for, at most at once. Rows are appended: recordings know them by their number.
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
	X(LEFT_OUT, "places_left_out", FROM_LOOK, "")

enum host_figure {
#define X(id, key, source, name) HOST_##id,
	HOST_FIGURES(X)
#undef X
		NR_HOST_FIGURES,
};

/*
 * Of a cgroup of either version: bytes, pages or events; FIGURE_UNKNOWN where it has none. Rows are
 * appended.
 */
#define CGROUP_FIGURES(X)                                                                          \
	X(USED, "used_bytes")                                                                      \
	X(LIMIT, "limit_bytes") /* FIGURE_UNKNOWN: none */                                         \
	X(HIGH, "high_bytes")	/* the same */                                                     \
	X(SWAP_USED, "swap_used_bytes")                                                            \
	X(SWAP_LIMIT, "swap_limit_bytes") /* the same; of version 1 less that of memory */         \
	X(ANON, "anon_bytes")                                                                      \
	X(FILE, "file_bytes") /* shmem among it */                                                 \
	X(SHMEM, "shmem_bytes")                                                                    \
	X(KERNEL, "kernel_bytes") /* that cannot be reclaimed */                                   \
	X(TIMES_HIGH, "times_high")                                                                \
	X(TIMES_MAX, "times_max") /* of version 1 failcnt */                                       \
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

/* A line of a pressure file: shares in hundredths of a percent. */
struct stall {
	uint64_t total_us;
	uint32_t avg10, avg60, avg300;
	uint32_t known; /* false: no PSI, or not here */
};

struct pressure_record {
	struct record h;
	uint64_t n[NR_HOST_FIGURES];
	struct stall some, full; /* of memory */
};

struct cgroup_record {
	struct record h;
	char path[256]; /* below the mount: "/a/b"; "/" is the root that we see */
	uint32_t version;
	uint32_t pad;
	uint64_t n[NR_CGROUP_FIGURES];
	struct stall some, full; /* version 2 */
};

#define MOUNT_IN_MEMORY 1u /* tmpfs, ramfs */

struct mount_record {
	struct record h;
	char path[128];
	uint64_t magic; /* linux/magic.h */
	uint64_t size_bytes, used_bytes, free_bytes;
	uint64_t inodes, inodes_free;
	uint32_t pid;	 /* of whose mount namespace; 0: ours */
	uint32_t flags;	 /* MOUNT_* */
	uint64_t device; /* the kernel's number of it, MKDEV(); FIGURE_UNKNOWN: not known */
};

/* How the kernel itself rates a process: /proc/PID/oom_score. */
struct score_record {
	struct record h;
	struct process_key subject;
	uint32_t score;
	int32_t adj;
	uint32_t nth; /* 0 starts anew */
	uint32_t pad;
};

struct level {
	struct process_key id; /* as findings have it */
	struct cgroup_record now, base, newer;
	struct series series; /* of what cannot be dropped */
};

struct mount_use {
	struct process_key id;
	struct mount_record now;
	struct series series;
};

struct pressure {
	bool known; /* false: of a recording that has none */
	struct pressure_record now, base, newer;
	struct level level[LEVELS_MAX];
	struct mount_use mount[MOUNTS_MAX];
	struct score_record score[SCORES_MAX];
	size_t levels, mounts, scores;
	uint64_t lost; /* levels and mounts that there was no room for */
};

/* For model_take(): -ENOMEM. */
int pressure_take(struct model *m, const struct record *h);

/* Events of a figure, a second, since the base; below 0: not known. */
double host_rate(const struct model *m, enum host_figure i);
double level_rate(const struct level *l, enum cgroup_figure i);

/* FIGURE_UNKNOWN where there is none. */
uint64_t host_figure(const struct model *m, enum host_figure i);

/* The share of time (0 to 1) since the base that something waited for memory; below 0: not known */
double host_stall(const struct model *m, bool full);
double level_stall(const struct level *l, bool full);

/* Whether it was read at the last look: else it is gone. */
bool level_is_there(const struct model *m, const struct level *l);
bool mount_is_there(const struct model *m, const struct mount_use *u);

/* Whether a mount may become news, and is worth its place in a recording: a tmpfs in use, or a disk
 * that is nearly full. */
bool mount_may_matter(const struct mount_record *r);

/* What it cannot give back but by swapping; FIGURE_UNKNOWN: not known. */
uint64_t level_kept_bytes(const struct level *l);

/* Whether a cgroup (NULL: not known) is the one of this path, or below it. */
bool cgroup_is_within(const char *cgroup, const char *path);

/* The path of the cgroup so many levels above; false: not known, or there are not so many. */
bool cgroup_above(const char *cgroup, uint32_t up, char *ret, size_t size);

/* The same of a level's path. */
bool level_holds(const struct level *l, const char *cgroup);

/* The lower of memory.max and of what it may have beside swap; FIGURE_UNKNOWN: none. */
bool level_has_limit(const struct level *l);

struct forecast level_forecast(const struct model *m, const struct level *l);
struct forecast mount_forecast(const struct model *m, const struct mount_use *u);

const char *host_figure_key(size_t i);
const char *cgroup_figure_key(size_t i);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/limit.h"

#include <limits.h>
#include <string.h>

#define KIB 1024ULL
#define MIB (1024 * KIB)

#define SYSCTL(of_name, of_path) .name = of_name, .kind = LIMIT_OF_MACHINE, .path = of_path

#define RLIMIT(NAME, of_word, of_letter, of_title)                                                 \
	.name = "RLIMIT_" NAME, .kind = LIMIT_OF_PROCESS, .word = of_word, .letter = of_letter,    \
	.title = of_title, .unit_key = "Limit" NAME, .manager_key = "DefaultLimit" NAME

#define CGROUP(file) .name = file, .kind = LIMIT_OF_CGROUP, .initial = LIMIT_NONE, .max = file

/*
 * Initial values: mm/util.c and include/linux/mm.h (65530: ELF core dumps count segments in
 * 16 bits, less 5), fs/file_table.c and fs/file.c, fs/notify/inotify/inotify_user.c
 * (watches: 1 % of memory since 5.11, 8192 before), fs/eventpoll.c, fs/pipe.c,
 * fs/notify/fanotify/fanotify_user.c, include/uapi/linux/mqueue.h (MQ_BYTES_MAX),
 * kernel/fork.c, kernel/pid.c, include/asm-generic/resource.h (memlock: 8 MiB since 5.16,
 * 64 KiB before).
 */
const struct limit limit_table[NR_LIMITS] = {
	[LIMIT_MAX_MAP_COUNT] = {SYSCTL("vm.max_map_count", "vm/max_map_count"),
				 .key = "max_map_count", .initial = 65530, .most = INT_MAX},
	[LIMIT_FILE_MAX] = {SYSCTL("fs.file-max", "fs/file-max"), .key = "file_max",
			    .initial = LIMIT_COMPUTED, .most = LONG_MAX},
	[LIMIT_NR_OPEN] = {SYSCTL("fs.nr_open", "fs/nr_open"), .key = "nr_open", .initial = 1048576,
			   .most = 1073741816},
	[LIMIT_OVERCOMMIT_MEMORY] = {SYSCTL("vm.overcommit_memory", "vm/overcommit_memory"),
				     .key = "overcommit_memory", .is_mode = true, .most = 2},
	[LIMIT_OVERCOMMIT_RATIO] = {SYSCTL("vm.overcommit_ratio", "vm/overcommit_ratio"),
				    .key = "overcommit_ratio", .initial = 50, .most = INT_MAX},
	[LIMIT_OVERCOMMIT_KBYTES] = {SYSCTL("vm.overcommit_kbytes", "vm/overcommit_kbytes"),
				     .key = "overcommit_kbytes"},
	[LIMIT_INOTIFY_INSTANCES] = {SYSCTL("fs.inotify.max_user_instances",
					    "fs/inotify/max_user_instances"),
				     .key = "inotify_instances", .initial = 128, .most = INT_MAX},
	[LIMIT_INOTIFY_WATCHES] = {SYSCTL("fs.inotify.max_user_watches",
					  "fs/inotify/max_user_watches"),
				   .key = "inotify_watches", .initial = LIMIT_COMPUTED,
				   .most = INT_MAX},
	[LIMIT_INOTIFY_EVENTS] = {SYSCTL("fs.inotify.max_queued_events",
					 "fs/inotify/max_queued_events"),
				  .key = "inotify_queued_events", .initial = 16384,
				  .most = INT_MAX},
	[LIMIT_EPOLL_WATCHES] = {SYSCTL("fs.epoll.max_user_watches", "fs/epoll/max_user_watches"),
				 .key = "epoll_watches", .initial = LIMIT_COMPUTED,
				 .most = LONG_MAX},
	[LIMIT_PIPE_SIZE] = {SYSCTL("fs.pipe-max-size", "fs/pipe-max-size"), .key = "pipe_max_size",
			     .bytes = true, .initial = MIB, .most = 1ULL << 31},
	[LIMIT_PIPE_PAGES_SOFT] = {SYSCTL("fs.pipe-user-pages-soft", "fs/pipe-user-pages-soft"),
				   .key = "pipe_user_pages_soft", .initial = 16384},
	[LIMIT_PIPE_PAGES_HARD] = {SYSCTL("fs.pipe-user-pages-hard", "fs/pipe-user-pages-hard"),
				   .key = "pipe_user_pages_hard"},
	[LIMIT_THREADS_MAX] = {SYSCTL("kernel.threads-max", "kernel/threads-max"),
			       .key = "threads_max", .initial = LIMIT_COMPUTED, .most = 0x3fffffff},
	[LIMIT_PID_MAX] = {SYSCTL("kernel.pid_max", "kernel/pid_max"), .key = "pid_max",
			   .initial = 32768, .most = 4194304},
	[LIMIT_HUGEPAGES] = {SYSCTL("vm.nr_hugepages", "vm/nr_hugepages"), .key = "nr_hugepages"},
	[LIMIT_MMAP_MIN_ADDR] = {SYSCTL("vm.mmap_min_addr", "vm/mmap_min_addr"),
				 .key = "mmap_min_addr", .is_mode = true,
				 .initial = LIMIT_COMPUTED},
	[LIMIT_KPTR_RESTRICT] = {SYSCTL("kernel.kptr_restrict", "kernel/kptr_restrict"),
				 .key = "kptr_restrict", .is_mode = true, .most = 2},
	[LIMIT_NOFILE] = {RLIMIT("NOFILE", "nofile", 'n', "Max open files"), .key = "rlimit_nofile",
			  .initial = 1024, .initial_hard = 4096, .ulimit_by = 1},
	[LIMIT_AS] = {RLIMIT("AS", "as", 'v', "Max address space"), .key = "rlimit_as",
		      .bytes = true, .initial = LIMIT_NONE, .initial_hard = LIMIT_NONE,
		      .ulimit_by = KIB},
	[LIMIT_DATA] = {RLIMIT("DATA", "data", 'd', "Max data size"), .key = "rlimit_data",
			.bytes = true, .initial = LIMIT_NONE, .initial_hard = LIMIT_NONE,
			.ulimit_by = KIB},
	[LIMIT_STACK] = {RLIMIT("STACK", "stack", 's', "Max stack size"), .key = "rlimit_stack",
			 .bytes = true, .initial = 8 * MIB, .initial_hard = LIMIT_NONE,
			 .ulimit_by = KIB},
	[LIMIT_MEMLOCK] = {RLIMIT("MEMLOCK", "memlock", 'l', "Max locked memory"),
			   .key = "rlimit_memlock", .bytes = true, .initial = 8 * MIB,
			   .initial_hard = 8 * MIB, .ulimit_by = KIB},
	[LIMIT_NPROC] = {RLIMIT("NPROC", "nproc", 'u', "Max processes"), .key = "rlimit_nproc",
			 .initial = LIMIT_COMPUTED, .initial_hard = LIMIT_COMPUTED, .ulimit_by = 1},
	[LIMIT_CGROUP_MEMORY] = {CGROUP("memory.max"), .key = "cgroup_memory_max", .bytes = true,
				 .controller = "memory", .now = "memory.current",
				 .max_v1 = "memory.limit_in_bytes",
				 .now_v1 = "memory.usage_in_bytes", .unit_key = "MemoryMax",
				 .manager_key = NULL},
	[LIMIT_CGROUP_MEMORY_HIGH] = {CGROUP("memory.high"), .key = "cgroup_memory_high",
				      .bytes = true, .controller = "memory",
				      .now = "memory.current", .unit_key = "MemoryHigh"},
	[LIMIT_CGROUP_PIDS] = {CGROUP("pids.max"), .key = "cgroup_pids_max", .controller = "pids",
			       .now = "pids.current", .max_v1 = "pids.max",
			       .now_v1 = "pids.current", .unit_key = "TasksMax",
			       .manager_key = "DefaultTasksMax"},
	[LIMIT_CGROUP_HUGETLB] = {CGROUP("hugetlb.%s.max"), .key = "cgroup_hugetlb", .bytes = true,
				  .controller = "hugetlb", .now = "hugetlb.%s.current",
				  .max_v1 = "hugetlb.%s.limit_in_bytes",
				  .now_v1 = "hugetlb.%s.usage_in_bytes"},
	[LIMIT_CGROUP_HUGETLB_RSVD] = {CGROUP("hugetlb.%s.rsvd.max"), .key = "cgroup_hugetlb_rsvd",
				       .bytes = true, .controller = "hugetlb",
				       .now = "hugetlb.%s.rsvd.current",
				       .max_v1 = "hugetlb.%s.rsvd.limit_in_bytes",
				       .now_v1 = "hugetlb.%s.rsvd.usage_in_bytes"},
	[LIMIT_FANOTIFY_GROUPS] = {SYSCTL("user.max_fanotify_groups", "user/max_fanotify_groups"),
				   .key = "fanotify_groups", .initial = 128, .most = INT_MAX},
	[LIMIT_MSGQUEUE] = {RLIMIT("MSGQUEUE", "msgqueue", 'q', "Max msgqueue size"),
			    .key = "rlimit_msgqueue", .bytes = true, .initial = 819200,
			    .initial_hard = 819200, .ulimit_by = 1},
};

/* Causes that are called otherwise than the limit which said no. */
static const struct {
	const char *cause;
	enum limit_id limit;
} others[] = {
	{"overcommit_heuristic", LIMIT_OVERCOMMIT_MEMORY},
	{"overcommit_strict", LIMIT_OVERCOMMIT_MEMORY},
	{"hugetlb_pool", LIMIT_HUGEPAGES},
	{"min_address", LIMIT_MMAP_MIN_ADDR},
	{"pipe_pages", LIMIT_PIPE_PAGES_HARD},
	{"descriptors_dropped", LIMIT_NOFILE},
	{"descriptor_number_limit", LIMIT_NOFILE},
	{"cgroup_memory", LIMIT_CGROUP_MEMORY},
	{"cgroup_pids", LIMIT_CGROUP_PIDS},
};

const struct limit *limit_find(const char *key)
{
	for (size_t i = 0; i < NR_LIMITS; i++) {
		size_t len = strlen(limit_table[i].key);

		if (!strncmp(key, limit_table[i].key, len) &&
		    (!key[len] || (limit_table[i].bytes && !strcmp(key + len, "_bytes"))))
			return &limit_table[i];
	}
	return NULL;
}

const struct limit *limit_of_cause(const char *cause)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(cause, others[i].cause))
			return &limit_table[others[i].limit];
	return limit_find(cause);
}

/* Counts are set as powers of two, from 64 Ki on; of bytes that would be too much: in quarters. */
uint64_t limit_roomy(const struct limit *l, uint64_t peak)
{
	uint64_t step = l->bytes ? MIB : 65536, want;

	peak = peak < UINT64_MAX / 8 ? peak * 2 : UINT64_MAX / 4;
	while (step < peak)
		step *= 2;
	want = step;
	if (l->bytes && step >= 4 * MIB)
		want = (peak + step / 8 - 1) / (step / 8) * (step / 8);
	return l->most && want > l->most ? l->most : want;
}

uint64_t limit_above(const struct limit *l, uint64_t peak, uint64_t now)
{
	uint64_t least = now < UINT64_MAX / 4 ? now / 4 * 3 : 0;

	return limit_roomy(l, peak > least ? peak : least);
}

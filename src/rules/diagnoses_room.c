// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* M28 and on: locked memory, commit, threads and cgroups, before a call is refused. */
#include "rules/diagnoses.h"

#define LOCKED "$ grep VmLck /proc/PID/status; grep 'locked memory' /proc/PID/limits\n"
#define COMMIT "$ grep -E 'CommitLimit|Committed_AS' /proc/meminfo; sysctl vm.overcommit_memory\n"
#define OF_USER                                                                                    \
	"$ ps -L --no-headers -u USER | wc -l; grep 'processes' /proc/PID/limits\n"                \
	"$ ps -eo nlwp,pid,comm --sort=-nlwp | head\n"
#define OF_GROUP                                                                                   \
	"$ cat /proc/PID/cgroup\n"                                                                 \
	"$ cat /sys/fs/cgroup/PATH/memory.current /sys/fs/cgroup/PATH/memory.max\n"
#define LEVELS                                                                                     \
	"A level is left again five points below its threshold. Of a process that ended its "      \
	"highest figure is judged."
#define FIT                                                                                        \
	"A line through high-water marks of the figure (Theil-Sen: the median of all slopes), "    \
	"with an interval. Where the fit is poor no time is given, and this finding does not "     \
	"open."

const struct diagnosis diagnoses_room[] = {
	{
		.id = "M28",
		.severity = SEVERITY_CRITICAL,
		.title = "locked memory is near RLIMIT_MEMLOCK",
		.about =
			{
				[ABOUT_MEANS] =
					"The process has locked 50 % (info), 80 % (warning) or 95 "
					"% (critical) of the memory that its soft limit allows. At "
					"100 % mlock, mmap with MAP_LOCKED, and the registering of "
					"buffers are refused (M20).",
				[ABOUT_MEASURED] =
					"mm->locked_vm, read by the kernel side at every look, "
					"against the soft RLIMIT_MEMLOCK. What io_uring, BPF and "
					"perf lock is charged to the user, not to the process, and "
					"is not in it. A process past its limit has CAP_IPC_LOCK: "
					"no limit holds for it. " LEVELS,
				[ABOUT_CONFIRM] = LOCKED,
				[ABOUT_GAIN] =
					"$ prlimit --pid PID --memlock=unlimited\nAt once; in a "
					"unit LimitMEMLOCK=infinity. What is locked is never "
					"swapped out nor reclaimed, so that a leak of it then ends "
					"in the OOM killer.",
				[ABOUT_FIX] = "Lock what must not be paged, not all: mlock2 with "
					      "MLOCK_ONFAULT locks what is touched; munlock what "
					      "is done with. mlockall(MCL_FUTURE) locks every "
					      "mapping to come, stacks of threads too.",
				[ABOUT_ALIKE] = "VmPin: pages pinned for devices, which RDMA "
						"counts against the same limit, apart from these.",
			},
		.sources = "",
	},
	{
		.id = "M29",
		.severity = SEVERITY_CRITICAL,
		.title = "locked memory grows towards RLIMIT_MEMLOCK",
		.about =
			{
				[ABOUT_MEANS] = "At its present rate the process has locked all "
						"that it may within the hour (warning) or within "
						"five minutes (critical, if several cycles or 98 % "
						"of the way show that it goes on).",
				[ABOUT_MEASURED] = FIT,
				[ABOUT_CONFIRM] = LOCKED "Twice, a minute apart.",
				[ABOUT_GAIN] = "$ prlimit --pid PID --memlock=unlimited",
				[ABOUT_FIX] =
					"As of M28. Growth without end is buffers that are locked "
					"when they are made and not unlocked before they are given "
					"back to a cache: unmapping unlocks, free() does not.",
				[ABOUT_ALIKE] = "A program that locks its pool when it starts, and "
						"then no more: the finding clears itself.",
			},
		.sources = "",
	},
	{
		.id = "M30",
		.severity = SEVERITY_CRITICAL,
		.title = "the host's committed memory is near CommitLimit",
		.about =
			{
				[ABOUT_MEANS] =
					"With vm.overcommit_memory=2, 50 % (info), 80 % (warning) "
					"or 95 % (critical) of what the kernel will promise is "
					"promised. At 100 % mmap, brk and fork are refused in "
					"whatever process asks next (M15, M17), however much "
					"memory is free.",
				[ABOUT_MEASURED] =
					"Committed_AS against CommitLimit, as /proc/meminfo has "
					"them, at every look. In the modes 0 and 1 CommitLimit is "
					"shown by the kernel but bounds nothing: then this finding "
					"does not open. A level is left again five points below "
					"its threshold.",
				[ABOUT_CONFIRM] = COMMIT "$ grep VmData /proc/[0-9]*/status | sort "
							 "-n -k2 | tail",
				[ABOUT_GAIN] =
					"$ sysctl -w vm.overcommit_ratio=90\nor more swap, which "
					"raises the limit by its size, used or not. Both promise "
					"more; with the ratio there is less left for the kernel.",
				[ABOUT_FIX] =
					"Who reserves much and touches little maps it PROT_NONE, "
					"and asks for rights as it grows; or the strictness is "
					"given up: vm.overcommit_memory=0.",
				[ABOUT_ALIKE] =
					"Little MemAvailable (P19): memory that is used. A host "
					"may have half of its memory free and all of it promised.",
			},
		.sources = "jemalloc/jemalloc#1324 redis/redis#11610",
	},
	{
		.id = "M31",
		.severity = SEVERITY_CRITICAL,
		.title = "the host's committed memory grows towards CommitLimit",
		.about =
			{
				[ABOUT_MEANS] =
					"With vm.overcommit_memory=2: at its present rate all that "
					"the kernel promises is promised within the hour (warning) "
					"or within five minutes (critical, if several cycles or 98 "
					"% of the way show that it goes on).",
				[ABOUT_MEASURED] =
					"Committed_AS, from 30 % of CommitLimit on. " FIT,
				[ABOUT_CONFIRM] = COMMIT "Twice, a minute apart.",
				[ABOUT_GAIN] = "As of M30: more swap, or a higher "
					       "vm.overcommit_ratio.",
				[ABOUT_FIX] =
					"Find whose VmData grows:\n$ faultscope --sort "
					"memory.data_bytes 1 1\nA leak of memory that is touched "
					"shows as memory.rss_bytes, too.",
				[ABOUT_ALIKE] = "Services that start one after another: the growth "
						"ends with them.",
			},
		.sources = "",
	},
	{
		.id = "M32",
		.severity = SEVERITY_CRITICAL,
		.title = "threads of a user are near RLIMIT_NPROC",
		.about =
			{
				[ABOUT_MEANS] =
					"The user of the process has 50 % (info), 80 % (warning) "
					"or "
					"95 % (critical) of the threads that its soft limit "
					"allows. "
					"At the limit clone is refused with EAGAIN (M23): "
					"\"pthread_create: Resource temporarily unavailable\".",
				[ABOUT_MEASURED] =
					"All threads of the user in its user namespace, as the "
					"kernel counts them, against the soft RLIMIT_NPROC of the "
					"process, read at every look of -p, run and diagnose. Of "
					"several processes of the user the one with the most "
					"threads is told of. It binds neither root nor who has "
					"CAP_SYS_RESOURCE or CAP_SYS_ADMIN. With --assume "
					"RLIMIT_NPROC=N against N. " LEVELS,
				[ABOUT_CONFIRM] = OF_USER,
				[ABOUT_GAIN] = "$ prlimit --pid PID --nproc=65536:\nat once; for "
					       "sessions a file in /etc/security/limits.d, for "
					       "units LimitNPROC= and TasksMax=.",
				[ABOUT_FIX] = "A pool of bounded size in place of a thread a "
					      "request or connection; threads that are done joined "
					      "or detached. A user of its own for each service: "
					      "what shares a user shares the limit, in containers "
					      "without a user namespace too.",
				[ABOUT_ALIKE] = "pids.max of the cgroup (M36) and "
						"kernel.threads-max: other limits, the same errno. "
						"M23 tells which it was.",
			},
		.sources = "",
	},
	{
		.id = "M33",
		.severity = SEVERITY_CRITICAL,
		.title = "threads of a user grow towards RLIMIT_NPROC",
		.about =
			{
				[ABOUT_MEANS] =
					"At their present rate the threads of the user reach the "
					"limit within the hour (warning) or within five minutes "
					"(critical, if several cycles or 98 % of the way show that "
					"it goes on).",
				[ABOUT_MEASURED] = "The count that M32 has. " FIT,
				[ABOUT_CONFIRM] = OF_USER "Twice, a minute apart.",
				[ABOUT_GAIN] = "As of M32.",
				[ABOUT_FIX] =
					"See what the threads wait for:\n$ ps -L -o "
					"lwp,stat,wchan:20,comm -p PID | sort -k 3 | uniq -c -f 1\n"
					"Many in the same place wait for one another, or for a "
					"service that does not answer: that ends the growth, not "
					"a higher limit.",
				[ABOUT_ALIKE] = "A pool that fills up under load, and is bounded.",
			},
		.sources = "",
	},
	{
		.id = "M34",
		.severity = SEVERITY_CRITICAL,
		.title = "memory of a cgroup is near memory.max",
		.about =
			{
				[ABOUT_MEANS] =
					"The control group of the process (its container, unit or "
					"pod), or one above it, has 50 % (info), 80 % (warning) or "
					"95 % (critical) of its limit in memory that the kernel "
					"cannot take back. At the limit the OOM killer ends a "
					"process of it, not always the one that grew.",
				[ABOUT_MEASURED] =
					"memory.current of the level with the least left, less "
					"file pages and reclaimable slab of its memory.stat, "
					"against memory.max (version 1: memory.usage_in_bytes and "
					"memory.limit_in_bytes), at every look of -p, run and "
					"diagnose. Of several processes in it the one with the "
					"most memory is told of. " LEVELS,
				[ABOUT_CONFIRM] = OF_GROUP
				"$ grep -E '^(anon|shmem|kernel|active_file|inactive_file) ' "
				"/sys/fs/cgroup/PATH/memory.stat",
				[ABOUT_GAIN] =
					"$ systemctl set-property UNIT MemoryMax=4G\ndocker update "
					"--memory, resources.limits.memory in Kubernetes. Where "
					"there is swap, memory.swap.max lets it out.",
				[ABOUT_FIX] = "What grows: anon is the program's own memory, shmem "
					      "is /dev/shm, tmpfs and memfds, which count for the "
					      "group that touched them first and stay when their "
					      "maker has ended.",
				[ABOUT_ALIKE] = "memory.current at memory.max by file pages: that "
						"is a full cache, and no harm. memory.high "
						"throttles instead of killing.",
			},
		.sources = "lablup/backend.ai#7222 moby/moby#38352",
	},
	{
		.id = "M35",
		.severity = SEVERITY_CRITICAL,
		.title = "memory of a cgroup grows towards memory.max",
		.about =
			{
				[ABOUT_MEANS] =
					"At its present rate the control group is at its "
					"limit within the hour (warning) or within five "
					"minutes (critical, if several cycles or 98 % of the way "
					"show that it goes on), and one of its processes is "
					"killed.",
				[ABOUT_MEASURED] =
					"The figure that M34 has, from 30 % of the limit on. " FIT,
				[ABOUT_CONFIRM] = OF_GROUP "Twice, a minute apart.",
				[ABOUT_GAIN] = "As of M34.",
				[ABOUT_FIX] = "As of M34; who grows in it:\n$ systemd-cgtop -m\n"
					      "and faultscope --sort memory.rss_bytes.",
				[ABOUT_ALIKE] = "A start that fills heaps and caches once, and is "
						"even then: the finding clears itself.",
			},
		.sources = "",
	},
	{
		.id = "M36",
		.severity = SEVERITY_CRITICAL,
		.title = "threads of a cgroup are near pids.max",
		.about =
			{
				[ABOUT_MEANS] =
					"The control group of the process, or one above it, has 50 "
					"% (info), 80 % (warning) or 95 % (critical) of the "
					"processes and threads that it may have. At the limit "
					"clone is refused with EAGAIN (M23).",
				[ABOUT_MEASURED] =
					"pids.current of the level with the least left against its "
					"pids.max, at every look of -p, run and diagnose. Of "
					"several processes in it the one with the most threads is "
					"told of. " LEVELS,
				[ABOUT_CONFIRM] = "$ cat /proc/PID/cgroup\n$ cat "
						  "/sys/fs/cgroup/PATH/pids.current "
						  "/sys/fs/cgroup/PATH/pids.max\n$ ps -eo "
						  "nlwp,pid,comm --sort=-nlwp | head\n",
				[ABOUT_GAIN] =
					"$ systemctl set-property UNIT TasksMax=16384\ndocker "
					"update --pids-limit; the kubelet's podPidsLimit. systemd "
					"gives units 15 % of what the machine may have.",
				[ABOUT_FIX] = "As of M32. Zombies count too: a container whose "
					      "first process does not wait for children collects "
					      "them (docker run --init).",
				[ABOUT_ALIKE] = "RLIMIT_NPROC counts a user's (M32), "
						"kernel.threads-max the machine's.",
			},
		.sources = "",
	},
	{
		.id = "M37",
		.severity = SEVERITY_CRITICAL,
		.title = "threads of a cgroup grow towards pids.max",
		.about =
			{
				[ABOUT_MEANS] =
					"At their present rate the threads of the control "
					"group reach its limit within the hour (warning) or "
					"within five minutes (critical, if several cycles or 98 % "
					"of the way show that it goes on).",
				[ABOUT_MEASURED] = "The figure that M36 has. " FIT,
				[ABOUT_CONFIRM] = "$ cat /sys/fs/cgroup/PATH/pids.current\nTwice, "
						  "a minute apart.",
				[ABOUT_GAIN] = "As of M36.",
				[ABOUT_FIX] = "As of M33 and M36.",
				[ABOUT_ALIKE] = "A pool that fills up under load, and is bounded.",
			},
		.sources = "",
	},
};

const size_t nr_diagnoses_room = sizeof(diagnoses_room) / sizeof(diagnoses_room[0]);

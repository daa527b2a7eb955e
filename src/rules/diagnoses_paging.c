// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* P19 and on: what runs out, and when: the machine, its cgroups, file systems in memory. */
#include "rules/diagnoses.h"

#define FIT                                                                                        \
	"A line through high-water marks of the figure (Theil-Sen: the median of all slopes), "    \
	"with an interval. Where the fit is poor no time is given, and this finding does not "     \
	"open."

const struct diagnosis diagnoses_paging[] = {
	{
		.id = "P19",
		.severity = SEVERITY_CRITICAL,
		.title = "the host's memory in use grows towards all there is",
		.about =
			{
				[ABOUT_MEANS] =
					"At its present rate the host has no available memory left "
					"within the hour (warning) or within five minutes "
					"(critical, if several cycles or 98 % of the way show that "
					"it goes on). Then it swaps, stalls, and in the end the "
					"OOM "
					"killer takes a process, not always the one that grew.",
				[ABOUT_MEASURED] =
					"MemTotal less MemAvailable, from 60 % on: page cache that "
					"can be dropped does not count as used, shared memory "
					"does. " FIT,
				[ABOUT_CONFIRM] = "$ grep -E 'MemTotal|MemAvailable|Shmem:' "
						  "/proc/meminfo\nTwice, a minute apart.\n$ cat "
						  "/proc/pressure/memory",
				[ABOUT_GAIN] =
					"Bound the one that grows, so that it and nobody else "
					"meets the OOM killer:\n$ systemctl set-property UNIT "
					"MemoryMax=4G\nor add swap; both at once, without a "
					"restart.",
				[ABOUT_FIX] =
					"Who grows:\n$ faultscope --sort memory.rss_bytes 1 1\nIf "
					"no process does, it is tmpfs (Shmem: df -t tmpfs) or the "
					"kernel itself (Slab, in slabtop).",
				[ABOUT_ALIKE] =
					"Little MemFree: memory that is not used at all is waste, "
					"and the page cache takes it. CommitLimit (M30): memory "
					"that is promised, not used.",
			},
		.sources = "",
	},
	{
		.id = "P20",
		.severity = SEVERITY_CRITICAL,
		.title = "the host's swap in use grows towards all there is",
		.about =
			{
				[ABOUT_MEANS] =
					"At its present rate swap is full within the hour "
					"(warning) or within five minutes (critical, if several "
					"cycles or 98 % of the way show that it goes on). From "
					"then on "
					"anonymous memory cannot be reclaimed: what grows further "
					"drives out the page cache, program code with it, and then "
					"comes the OOM killer.",
				[ABOUT_MEASURED] =
					"SwapTotal less SwapFree, from 30 % on; with zswap or zram "
					"as the kernel counts them, before compression. " FIT,
				[ABOUT_CONFIRM] =
					"$ swapon --show; grep Swap /proc/meminfo\n$ "
					"vmstat 1 5\nsi and so both above 0 is thrashing; "
					"so alone is growth.",
				[ABOUT_GAIN] =
					"$ fallocate -l 8G /swapfile2 && chmod 600 /swapfile2 && "
					"mkswap /swapfile2 && swapon /swapfile2\nIt moves the end, "
					"and makes the time before it slower.",
				[ABOUT_FIX] =
					"Who is swapped out is not always who grows:\n$ "
					"faultscope --sort memory.swap_bytes 1 1\n$ faultscope "
					"--sort memory.rss_bytes 1 1\nThen a limit for it "
					"(MemoryMax=, MemorySwapMax=), or fewer of its workers.",
				[ABOUT_ALIKE] =
					"Swap that is full and stands still: pages that nobody "
					"asks for any more. Without swap-ins it costs nothing.",
			},
		.sources = "",
	},
	{
		.id = "P21",
		.severity = SEVERITY_CRITICAL,
		.title = "a file system in memory is nearly full",
		.about =
			{
				[ABOUT_MEANS] =
					"A tmpfs has little room left. Who writes a file there "
					"gets "
					"ENOSPC, and who has one mapped gets SIGBUS (P01). All of "
					"it is "
					"memory, or swap, that no page cache can take back.",
				[ABOUT_MEASURED] =
					"statfs() of each tmpfs that is mounted where faultscope "
					"runs, "
					"and of /dev/shm of the watched processes where that is "
					"another "
					"one: from 80 % on (info), 90 % (warning), 98 % "
					"(critical), or "
					"by when it is full at its present rate: within the hour "
					"(warning), or within five minutes (critical, if several "
					"cycles or 98 % of the way show that it goes on).",
				[ABOUT_CONFIRM] = "$ df -h -t tmpfs\n$ ls -lS /dev/shm | head",
				[ABOUT_GAIN] = "$ mount -o remount,size=8G /dev/shm",
				[ABOUT_FIX] = "Files that nobody has open any more are to be "
					      "unlinked: fuser "
					      "-v FILE tells who has one.",
				[ABOUT_ALIKE] = "A tmpfs of little size that is meant to be full: "
						"/run/user of "
						"a session.",
			},
		.sources = "",
	},
	{
		.id = "P22",
		.severity = SEVERITY_CRITICAL,
		.title = "a cgroup is nearly at its limit of memory",
		.about =
			{
				[ABOUT_MEANS] = "What a cgroup cannot give back (anonymous and "
						"shared memory, "
						"and the kernel's for it) is near its limit. Page "
						"cache is not "
						"counted: it fills every cgroup in time, and goes "
						"when it has "
						"to. At the limit, what can be is swapped, and "
						"then a process "
						"is killed.",
				[ABOUT_MEASURED] =
					"anon + shmem + what the kernel holds, of memory.stat, "
					"against "
					"memory.max (version 1: total_rss + total_shmem against "
					"memory.limit_in_bytes): from 80 % on (info), 92 % "
					"(warning), "
					"97 % (critical, where there is no swap for it), or by "
					"when it "
					"is full at its present rate.",
				[ABOUT_CONFIRM] =
					"$ cat /sys/fs/cgroup/PATH/memory.max "
					"/sys/fs/cgroup/PATH/memory.current\n$ grep -E "
					"'^(anon|shmem|file) ' /sys/fs/cgroup/PATH/memory.stat",
				[ABOUT_GAIN] = "$ systemctl set-property UNIT MemoryMax=16G\n$ "
					       "docker update "
					       "--memory 16g --memory-swap 32g CONTAINER",
				[ABOUT_FIX] = "What grows: faultscope host names it. A heap with a "
					      "limit of "
					      "its own (-Xmx, GOMEMLIMIT) has to be some tenths "
					      "below that of "
					      "the cgroup.",
				[ABOUT_ALIKE] = "memory.current at the limit with file high: "
						"cache, which is "
						"well.",
			},
		.sources = "",
	},
	{
		.id = "P23",
		.severity = SEVERITY_CRITICAL,
		.title = "work waits for memory",
		.about =
			{
				[ABOUT_MEANS] =
					"Tasks stand and wait for memory in a tenth of the time or "
					"more, and neither swap nor the page cache tells why: "
					"direct "
					"reclaim, compaction, or a cgroup at its limit.",
				[ABOUT_MEASURED] = "PSI of memory: some at 10 % or more over the "
						   "time watched, "
						   "while P05, P06 and P07 are not open. Critical "
						   "is when all of "
						   "it waits at once in 20 % of the time.",
				[ABOUT_CONFIRM] = "$ cat /proc/pressure/memory\n$ grep -E "
						  "'allocstall|compact_stall|pgscan_direct' "
						  "/proc/vmstat\nTwice.",
				[ABOUT_GAIN] = "$ sysctl -w "
					       "vm.watermark_scale_factor=100\nHost-wide: reclaim "
					       "begins earlier, in the background.",
				[ABOUT_FIX] = "Who waits: faultscope --tiers 0-2 --sort "
					      "faults.stall_ns 1 5. "
					      "A cgroup's limit that fits what runs in it.",
				[ABOUT_ALIKE] =
					"P05 and P06, which say more. Waiting for disks or CPUs is "
					"counted apart.",
			},
		.sources = "",
	},
	{
		.id = "P24",
		.severity = SEVERITY_CRITICAL,
		.title = "memory and swap are nearly used up",
		.about =
			{
				[ABOUT_MEANS] = "Of memory and swap together a tenth or less is "
						"left (critical: "
						"a twentieth). What comes next is the OOM killer.",
				[ABOUT_MEASURED] =
					"MemAvailable and SwapFree against MemTotal and SwapTotal.",
				[ABOUT_CONFIRM] = "$ free -h\n$ faultscope host",
				[ABOUT_GAIN] =
					"Stop what can wait, or bound it:\n$ systemctl "
					"set-property "
					"UNIT MemoryMax=8G\nor add swap:\n$ fallocate -l 8G "
					"/swapfile2 "
					"&& chmod 600 /swapfile2 && mkswap /swapfile2 && swapon "
					"/swapfile2",
				[ABOUT_FIX] =
					"Who has it, and who would be killed first: faultscope "
					"host. A "
					"limit for each, so that it and nobody else meets the OOM "
					"killer.",
				[ABOUT_ALIKE] = "Little MemFree: that is the page cache, and well. "
						"P22: the "
						"cgroup's limit, with room on the machine.",
			},
		.sources = "",
	},
};

const size_t nr_diagnoses_paging = sizeof(diagnoses_paging) / sizeof(diagnoses_paging[0]);

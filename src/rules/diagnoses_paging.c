// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* P19 and on: the host's memory and swap, and when they end. */
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
					"(critical). Then it swaps, stalls, and in the end the OOM "
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
					"(warning) or within five minutes (critical). From then on "
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
};

const size_t nr_diagnoses_paging = sizeof(diagnoses_paging) / sizeof(diagnoses_paging[0]);

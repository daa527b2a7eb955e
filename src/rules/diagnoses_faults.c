// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* P01 to P09: faults that fail, and memory that does not fit. */
#include "rules/diagnoses.h"

const struct diagnosis diagnoses_faults[] = {
	{
		.id = "P01",
		.severity = SEVERITY_CRITICAL,
		.title = "a file system in memory was full: SIGBUS",
		.about =
			{
				[ABOUT_MEANS] =
					"A page of a file in a tmpfs (/dev/shm, mostly) was "
					"touched for "
					"the first time, and there was no room left for it. There "
					"is no "
					"call that could fail, so the process gets SIGBUS.\nDocker "
					"gives a container 64 MiB of /dev/shm, which one PyTorch "
					"DataLoader with a few workers fills.",
				[ABOUT_MEASURED] = "A SIGBUS of an access within the file's size, "
						   "in shared memory "
						   "whose file system has all its blocks in use.",
				[ABOUT_CONFIRM] = "$ df -h /dev/shm\n$ ls -lS /dev/shm | head",
				[ABOUT_GAIN] = "$ mount -o remount,size=8G /dev/shm\nOf a "
					       "container, when it "
					       "is made: docker run --shm-size=8g; in Kubernetes "
					       "an emptyDir "
					       "of medium Memory at /dev/shm, whose size counts "
					       "for the pod's "
					       "memory limit.",
				[ABOUT_FIX] = "Fewer loader workers or a smaller prefetch_factor, "
					      "arrays from "
					      "the dataset in place of tensors; who makes the "
					      "files has to "
					      "unlink them, also when it is killed.",
				[ABOUT_ALIKE] =
					"P02: the access is past the file's end. P17: the cgroup's "
					"limit was met, not the file system's; then a process is "
					"killed.",
			},
		.sources = "pytorch/pytorch#5040 pytorch/pytorch#108861 "
			   "open-mmlab/mmdetection#1997 bytedance/Protenix#2",
	},
	{
		.id = "P02",
		.severity = SEVERITY_CRITICAL,
		.title = "a mapped file was cut short: SIGBUS",
		.about =
			{
				[ABOUT_MEANS] = "An access went to a page of a mapping that lies "
						"behind the end "
						"of its file: somebody truncated the file under "
						"the map, or it "
						"was mapped longer than it is.",
				[ABOUT_MEASURED] =
					"A SIGBUS of an access to a file's mapping, at an offset "
					"beyond "
					"the file's size at that moment. Who cut it is not known.",
				[ABOUT_CONFIRM] = "$ stat FILE\n$ strace -f -e "
						  "trace=truncate,ftruncate,openat -p "
						  "PID",
				[ABOUT_GAIN] = "None: the page is not there.",
				[ABOUT_FIX] = "Write a new file and rename() it over the old one, "
					      "so that "
					      "those who have it mapped keep theirs. Who maps it: "
					      "take the "
					      "size under the lock that the writer takes.",
				[ABOUT_ALIKE] = "P01: within the file, and no room for the page. "
						"P03: within a "
						"sparse file, and the disk is full. A database "
						"that handles "
						"SIGBUS on purpose shows here too.",
			},
		.sources = "bmatsuo/lmdb-go#40",
	},
	{
		.id = "P03",
		.severity = SEVERITY_CRITICAL,
		.title = "a hole in a mapped file was written, and the disk was full: SIGBUS",
		.about =
			{
				[ABOUT_MEANS] =
					"A sparse file was mapped and written: each page needs its "
					"block at the first write, and the file system had none "
					"left. "
					"mmap() and ftruncate() had succeeded long before.",
				[ABOUT_MEASURED] =
					"A SIGBUS of a write within a regular file's size, and the "
					"file system of that file, measured when the signal is "
					"sent, has less than 1 MiB left. The space that a deleted "
					"file held until then does not count as left.",
				[ABOUT_CONFIRM] = "$ df -h; df -i\n$ du -h FILE; du -h "
						  "--apparent-size FILE\nA "
						  "difference of the two is holes.",
				[ABOUT_GAIN] = "Make room:\n$ du -xh / | sort -h | tail",
				[ABOUT_FIX] =
					"posix_fallocate() before the mapping: then the call says "
					"ENOSPC, and nothing dies.",
				[ABOUT_ALIKE] = "An error of the disk, which dmesg tells of (I/O "
						"error). P02: "
						"past the end.",
			},
		.sources = "google/leveldb#150 FirebirdSQL/firebird#8048 "
			   "bloomberg/memray#116",
	},
	{
		.id = "P04",
		.severity = SEVERITY_CRITICAL,
		.title = "broken memory was touched: SIGBUS",
		.about =
			{
				[ABOUT_MEANS] =
					"The hardware reported an error in a page that could not "
					"be "
					"corrected. The kernel takes the page out of use and sends "
					"SIGBUS to who touches it.",
				[ABOUT_MEASURED] = "The signal's si_code: BUS_MCEERR_AR or "
						   "BUS_MCEERR_AO. How much "
						   "was taken out of use is HardwareCorrupted in "
						   "/proc/meminfo.",
				[ABOUT_CONFIRM] =
					"$ grep HardwareCorrupted /proc/meminfo\n$ ras-mc-ctl "
					"--errors\n$ dmesg | grep -iE 'mce|edac|memory failure'",
				[ABOUT_GAIN] = "Work elsewhere: errors of memory come in clusters.",
				[ABOUT_FIX] =
					"Replace the module that the error names (the label of "
					"ras-mc-ctl), or its slot's neighbours in turn.",
				[ABOUT_ALIKE] = "P01 to P03: SIGBUS without any error of hardware.",
			},
		.sources = "",
	},
	{
		.id = "P05",
		.severity = SEVERITY_CRITICAL,
		.title = "swap thrash: what is in use does not fit into memory",
		.about =
			{
				[ABOUT_MEANS] =
					"More memory is in use at a time than there is: pages are "
					"written to swap, and asked for again soon after. Each "
					"such "
					"access waits for the disk, so that all slows down by "
					"factors, "
					"and more of everything makes it worse.",
				[ABOUT_MEASURED] = "Pages swapped in, 50 a second or more, while "
						   "work waits for memory in "
						   "10 % of the time or more (PSI), and pages go "
						   "out as well, or it has "
						   "been so for a minute (what is only read goes "
						   "out once). Without PSI "
						   "500 a second. It clears below half of that. "
						   "Critical is when all "
						   "work waits at once in 20 % of the time.",
				[ABOUT_CONFIRM] = "$ vmstat 1 5\nsi and so are both above 0, wa is "
						  "high.\n$ cat "
						  "/proc/pressure/memory",
				[ABOUT_GAIN] = "Stop or pause the largest for a while:\n$ kill "
					       "-STOP PID\nor "
					       "make it wait alone:\n$ systemctl set-property UNIT "
					       "MemoryHigh=8G",
				[ABOUT_FIX] =
					"Memory for what is out now, or less in use at a time: a "
					"smaller batch, fewer loader workers, pin_memory=False, a "
					"smaller cache. More swap only makes it last longer; zswap "
					"makes it faster.",
				[ABOUT_ALIKE] = "Swap in use that stands still: pages that nobody "
						"asks for. "
						"Swapping out alone: growth, not thrash. P06: the "
						"same without "
						"swap.",
			},
		.sources = "rfjakob/earlyoom#100",
	},
	{
		.id = "P06",
		.severity = SEVERITY_CRITICAL,
		.title = "page cache thrash: files are read again as soon as they were dropped",
		.about =
			{
				[ABOUT_MEANS] =
					"Anonymous memory leaves so little room for pages of files "
					"that "
					"program code and mapped data are dropped while in use, "
					"and "
					"read again at once. Without swap there is nothing else to "
					"drop. It can go on for hours without an OOM kill, since "
					"reclaim always finds something.",
				[ABOUT_MEASURED] = "workingset_refault_file of /proc/vmstat at 200 "
						   "pages a second "
						   "or more with little or no swapping in, while "
						   "work waits for "
						   "memory in 10 % of the time (PSI; not told "
						   "where the kernel has "
						   "none).",
				[ABOUT_CONFIRM] =
					"$ grep workingset_refault_file /proc/vmstat\nTwice.\n$ "
					"cat "
					"/proc/pressure/memory\n$ iostat -x 1\nReads at the disk's "
					"limit by processes that read nothing.",
				[ABOUT_GAIN] = "$ systemctl set-property UNIT MemoryMax=16G\nor "
					       "some swap, so "
					       "that idle anonymous memory goes first.",
				[ABOUT_FIX] = "A limit that fits, fewer at a time; MemoryLow= for "
					      "what has to "
					      "stay responsive; vm.swappiness not at 0.",
				[ABOUT_ALIKE] = "A large file read once: no refaults. A database "
						"that is larger "
						"than memory reads by design: its wait is its own.",
			},
		.sources = "facebookincubator/oomd#80",
	},
	{
		.id = "P07",
		.severity = SEVERITY_CRITICAL,
		.title = "a cgroup is held back at memory.high",
		.about =
			{
				[ABOUT_MEANS] =
					"A cgroup is at its memory.high and cannot give memory "
					"back: "
					"each allocation is made to wait, up to two seconds, and "
					"nothing is killed. With much anonymous memory, little "
					"cache "
					"and no swap that does not end by itself.",
				[ABOUT_MEASURED] = "memory.events high rises by five a second or "
						   "more, the use is "
						   "within 5 % of memory.high, and its tasks wait "
						   "for memory in 10 "
						   "% of the time (memory.pressure).",
				[ABOUT_CONFIRM] =
					"$ cat /sys/fs/cgroup/PATH/memory.events "
					"/sys/fs/cgroup/PATH/memory.pressure\nTwice, some seconds "
					"apart.",
				[ABOUT_GAIN] =
					"$ systemctl set-property UNIT MemoryHigh=infinity\nThen "
					"memory.max alone bounds it.",
				[ABOUT_FIX] =
					"memory.high well above the working set, or swap for it, "
					"or no "
					"memory.high: it is meant for what can be reclaimed, with "
					"somebody who watches its pressure.",
				[ABOUT_ALIKE] = "P22: near memory.max, where it is killed and not "
						"held back. "
						"Version 1 has no memory.high.",
			},
		.sources = "neondatabase/neon#5444",
	},
	{
		.id = "P08",
		.severity = SEVERITY_WARNING,
		.title = "huge pages are made by compaction inside of faults",
		.about =
			{
				[ABOUT_MEANS] =
					"A first touch of memory is given a huge page (2 MiB), and "
					"where none is free the kernel moves others out of the way "
					"at "
					"once, in the fault: milliseconds in place of "
					"microseconds.",
				[ABOUT_MEASURED] =
					"Time that a process' threads spent in compaction inside "
					"of "
					"faults, from the kernel's tracepoints: 5 % of a thread's "
					"time or more in a second.",
				[ABOUT_CONFIRM] =
					"$ grep -E 'compact_stall|thp_fault' /proc/vmstat\nTwice: "
					"compact_stall rises.\n$ cat "
					"/sys/kernel/mm/transparent_hugepage/defrag",
				[ABOUT_GAIN] = "$ echo defer+madvise > "
					       "/sys/kernel/mm/transparent_hugepage/"
					       "defrag\nHost-wide; huge "
					       "pages are made in the background then.",
				[ABOUT_FIX] =
					"MADV_HUGEPAGE for what gains of it alone; prefault at the "
					"start (MAP_POPULATE, MADV_POPULATE_WRITE).",
				[ABOUT_ALIKE] =
					"Slow first touches by clearing: 2 MiB take about 100 us "
					"without any compaction.",
			},
		.sources = "golang/go#61718 scylladb/scylladb#8828 "
			   "redpanda-data/redpanda#10418",
	},
	{
		.id = "P09",
		.severity = SEVERITY_WARNING,
		.title = "after a fork the parent copies what it writes",
		.about =
			{
				[ABOUT_MEANS] =
					"After fork() both share all pages; the first write of "
					"each "
					"by the parent copies it. Redis while it saves (BGSAVE) "
					"answers late then. A huge page is split by the first "
					"write, and copied in pieces of 4 KiB (since Linux 5.8; "
					"before, 2 MiB at once).",
				[ABOUT_MEASURED] =
					"Copies of pages on write (class copy_on_write) at 2,000 a "
					"second or more and 2 % of a thread's time, while a child "
					"lives that was forked in the last two minutes and has "
					"called no exec: it has to be watched, too (-p with "
					"--children). Small and huge pages are not told apart.",
				[ABOUT_CONFIRM] =
					"$ grep AnonHugePages /proc/PID/smaps_rollup\nOnce: it "
					"stops "
					"the process for a moment.\n$ redis-cli info stats | grep "
					"latest_fork_usec",
				[ABOUT_GAIN] = "$ echo madvise > "
					       "/sys/kernel/mm/transparent_hugepage/enabled\n"
					       "Host-wide, for memory that is made from then on.",
				[ABOUT_FIX] = "prctl(PR_SET_THP_DISABLE) in the process (Redis 6.2 "
					      "and later "
					      "does it: disable-thp yes).",
				[ABOUT_ALIKE] =
					"Copies in the child: nobody waits for them but the child.",
			},
		.sources = "redis/redis#2844 redis/redis#7381",
	},
};

const size_t nr_diagnoses_faults = sizeof(diagnoses_faults) / sizeof(diagnoses_faults[0]);

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* P10 to P18: faults that wait, and who is killed. */
#include "rules/diagnoses.h"

const struct diagnosis diagnoses_stalls[] = {
	{
		.id = "P10",
		.severity = SEVERITY_WARNING,
		.title = "NUMA balancing moves pages to and fro",
		.about =
			{
				[ABOUT_MEANS] = "The kernel takes the rights off pages from time "
						"to time to see "
						"who uses them, and moves them to the node of who "
						"did. Where "
						"threads of several nodes use the same pages, the "
						"faults and "
						"moves cost more than they gain.",
				[ABOUT_MEASURED] = "numa_hint_faults of /proc/vmstat at 10,000 a "
						   "second or more, "
						   "of which one in twenty moves a page; of the "
						   "whole machine.",
				[ABOUT_CONFIRM] =
					"$ grep numa_ /proc/vmstat\nTwice.\n$ numastat -p PID",
				[ABOUT_GAIN] =
					"$ sysctl -w kernel.numa_balancing=0\nHost-wide; what is "
					"not "
					"bound may be slower then: one report has 20 % less.",
				[ABOUT_FIX] =
					"Bind threads and their memory:\n$ numactl --cpunodebind=0 "
					"--membind=0 COMMAND",
				[ABOUT_ALIKE] = "A machine of one node has none. Many hints and "
						"few moves: it "
						"has found its place.",
			},
		.sources = "deepseek-ai/DeepEP#624 deepseek-ai/DeepEP#644 "
			   "scylladb/scylladb#1120 redhat-performance/tuned#283",
	},
	{
		.id = "P11",
		.severity = SEVERITY_WARNING,
		.title = "an allocator gives pages back and touches them again",
		.about =
			{
				[ABOUT_MEANS] = "The allocator returns freed pages with madvise() "
						"at once, and "
						"the next allocation faults them in again, "
						"cleared: CPU time "
						"goes into faults of memory that was there before.",
				[ABOUT_MEASURED] =
					"At least 200 madvise calls and 2,000 first touches of "
					"anonymous memory in a second, by one process whose "
					"resident "
					"memory grows by less than a fifth of that. That the same "
					"ranges are touched again is inferred, not followed.",
				[ABOUT_CONFIRM] =
					"$ faultscope -p PID 1 5\nmadvise and minor faults side by "
					"side.",
				[ABOUT_GAIN] =
					"$ export "
					"MALLOC_CONF=dirty_decay_ms:30000,muzzy_decay_ms:30000\nof "
					"jemalloc; of glibc mallopt(M_TRIM_THRESHOLD) or "
					"MALLOC_TRIM_THRESHOLD_=268435456; of PyTorch's CPU "
					"allocator "
					"as of the malloc below it.",
				[ABOUT_FIX] = "A pool of buffers that live on, or an arena for "
					      "each batch.",
				[ABOUT_ALIKE] =
					"First touches of new memory: the resident size rises with "
					"them.",
			},
		.sources = "rust-lang/rust#31885 apollographql/router#3396 "
			   "microsoft/snmalloc#251",
	},
	{
		.id = "P12",
		.severity = SEVERITY_WARNING,
		.title = "threads wait for each other at the lock of their memory map",
		.about =
			{
				[ABOUT_MEANS] = "A fault needs the process' map to hold still. A "
						"thread that "
						"maps, unmaps or advises (mmap, munmap, madvise) "
						"holds the lock "
						"for writing meanwhile, and every fault of the "
						"others waits.",
				[ABOUT_MEASURED] =
					"Waits of 10 us and more for mmap_lock, of all its "
					"threads: 30 % of one thread's time or more, or 5 % and "
					"30 % of the time of its faults, and 3 % of the time of "
					"all its threads. The place in the code is that of calls "
					"that had the lock for 10 us and more while others waited, "
					"by time in all.",
				[ABOUT_CONFIRM] = "$ perf lock contention -ab -- sleep 5\n$ perf "
						  "trace -s -p PID "
						  "-- sleep 5\nmany of munmap, madvise, mprotect.",
				[ABOUT_GAIN] = "A kernel of 6.4 or later: faults of anonymous "
					       "memory take the "
					       "lock of one mapping alone there; files since 6.6.",
				[ABOUT_FIX] =
					"Fewer and larger mappings, fewer madvise calls (P11), or "
					"processes in place of threads.",
				[ABOUT_ALIKE] = "P13: the holder is another process.",
			},
		.sources = "opensearch-project/OpenSearch#20933 gperftools/gperftools#754",
	},
	{
		.id = "P13",
		.severity = SEVERITY_WARNING,
		.title = "another process holds the map of this one: a monitoring agent",
		.about =
			{
				[ABOUT_MEANS] =
					"Who reads /proc/PID/smaps, maps or numa_maps walks all "
					"page "
					"tables of the process with its lock held: of a large "
					"process "
					"for seconds, in which its faults and mmap calls wait.",
				[ABOUT_MEASURED] =
					"As P12, from 5 % of a thread's time on, where most of it "
					"is waits of 1 ms and more that began while another "
					"process had the lock: it is named. Of several that read "
					"at once it is the last to come. One reading that costs "
					"less than 0.5 s is told as information.",
				[ABOUT_CONFIRM] = "$ opensnoop-bpfcc -n . | grep -E "
						  "'smaps|numa_maps'\n$ ps -eo "
						  "pid,wchan:30,comm | grep -E 'smap|pagemap'",
				[ABOUT_GAIN] = "Turn that part of the agent off: process-exporter "
					       "-gather-smaps=false, Telegraf's procstat without "
					       "memory maps, "
					       "Datadog's without smaps.",
				[ABOUT_FIX] = "smaps_rollup in place of smaps, rarely, or the "
					      "counters of "
					      "cgroups. faultscope reads neither while it watches.",
				[ABOUT_ALIKE] = "P12: the process holds the lock itself.",
			},
		.sources = "ncabatoff/process-exporter#246 influxdata/telegraf#15295",
	},
	{
		.id = "P14",
		.severity = SEVERITY_WARNING,
		.title = "a mapped file is read in pieces far larger than what is touched",
		.about =
			{
				[ABOUT_MEANS] =
					"A fault on a page of a file reads its neighbours too "
					"(read-ahead, 128 KiB by default). Where accesses are at "
					"random, most of that is dropped untouched, and drives out "
					"what "
					"was useful.",
				[ABOUT_MEASURED] =
					"What its threads had disks read in major faults on files, "
					"against four times of what they can have touched (a fault "
					"on a file in memory counted as 16 pages, as the kernel "
					"maps around it); from 50 such faults a second and 5 % of "
					"a thread's time on. Not where memory is short, of the "
					"machine (a tenth left, or swapped in and out) or of its "
					"cgroup (nine tenths that cannot be dropped): what is read "
					"again then, program code first, was driven out.",
				[ABOUT_CONFIRM] =
					"$ cat /sys/block/DEV/queue/read_ahead_kb\n$ iostat -x "
					"1\nKiB "
					"read a second, against major faults a second times 4 KiB.",
				[ABOUT_GAIN] = "$ echo 16 > /sys/block/DEV/queue/read_ahead_kb\nof "
					       "the device, "
					       "for all who read it.",
				[ABOUT_FIX] = "madvise(MADV_RANDOM) on the mapping, or pread() in "
					      "place of a "
					      "map.",
				[ABOUT_ALIKE] = "A scan from begin to end: read-ahead is what "
						"makes it fast. "
						"With MADV_RANDOM the multi-generational LRU of "
						"newer kernels "
						"has kept less of it: measure.",
			},
		.sources = "elastic/elasticsearch#27748 elastic/elasticsearch#124499 "
			   "apache/pinot#12166 apache/lucene#14408 apache/lucene#13223",
	},
	{
		.id = "P15",
		.severity = SEVERITY_WARNING,
		.title = "faults are served by another program: userfaultfd",
		.about =
			{
				[ABOUT_MEANS] =
					"Memory is filled in as it is touched, by a handler in "
					"user "
					"space: a virtual machine that is restored, CRIU, a lazy "
					"snapshot. Each fault takes as long as the handler and its "
					"storage do.",
				[ABOUT_MEASURED] = "Faults of class userfaultfd: ten a second or "
						   "more, and 5 % "
						   "of a thread's time or more.",
				[ABOUT_CONFIRM] =
					"$ ls -l /proc/*/fd 2>/dev/null | grep userfaultfd\n$ "
					"faultscope -p PID 1 5",
				[ABOUT_GAIN] = "Fetch ahead: copy the working set first, in larger "
					       "pieces.",
				[ABOUT_FIX] =
					"Huge pages under the guest: one fault in place of 512.",
				[ABOUT_ALIKE] = "P05, P16: the kernel itself waits for a device.",
			},
		.sources = "firecracker-microvm/firecracker#5061 "
			   "checkpoint-restore/criu#1502",
	},
	{
		.id = "P16",
		.severity = SEVERITY_WARNING,
		.title = "a fault waits for a file system of the network or of a program",
		.about =
			{
				[ABOUT_MEANS] = "A mapped file lies on NFS, CIFS or FUSE, and the "
						"other side "
						"does not answer. A fault has no time limit: the "
						"thread stands "
						"in state D, and so does who waits for it.",
				[ABOUT_MEASURED] = "The longest fault on a page of a file that had "
						   "to be read: a "
						   "second or more, and longer than any before. "
						   "The kind of file "
						   "system is not known to it.",
				[ABOUT_CONFIRM] =
					"$ ps -eLo pid,lwp,stat,wchan:32,comm | grep ' D'\n$ cat "
					"/proc/PID/stack\n$ stat -f -c %T FILE",
				[ABOUT_GAIN] = "$ umount -f MOUNT\nor for FUSE: echo 1 > "
					       "/sys/fs/fuse/connections/N/abort: those who wait "
					       "get SIGBUS.",
				[ABOUT_FIX] = "Copy what is mapped to a local disk first; read() "
					      "with a time "
					      "limit in place of a map; NFS mounted soft, where "
					      "errors are "
					      "handled.",
				[ABOUT_ALIKE] = "P05: the device is swap. A slow local disk: "
						"iostat shows it.",
			},
		.sources = "libfuse/libfuse#509",
	},
	{
		.id = "P17",
		.severity = SEVERITY_CRITICAL,
		.title = "the OOM killer took a process",
		.about =
			{
				[ABOUT_MEANS] =
					"Memory ran out, of the machine, of a cgroup or of the "
					"nodes "
					"that a process is bound to, and the kernel killed the "
					"process "
					"that its rules rate highest: resident and swapped memory "
					"and "
					"page tables, and oom_score_adj on top. Who asked last or "
					"grew "
					"most need not be who is killed.\nFiles in memory (tmpfs, "
					"/dev/shm) count for the cgroup too, and no kill gives "
					"them "
					"back.",
				[ABOUT_MEASURED] =
					"The kernel's mark of its victim, with its figures at that "
					"moment; which limit, by the kernel's own line in the log, "
					"or "
					"else by the cgroup being full. Who grew most is taken "
					"over the shortest time that shows growth, from the last "
					"scan to a minute: of a cgroup's limit among the processes "
					"in it, and the one that asked for memory; the victim "
					"itself where nobody grew twice as much. Files in memory "
					"that no process has mapped are named where they are more "
					"than any of these has.",
				[ABOUT_CONFIRM] =
					"$ dmesg | grep -E 'oom-kill|Killed process'\n$ cat "
					"/sys/fs/cgroup/PATH/memory.events",
				[ABOUT_GAIN] =
					"$ systemctl set-property UNIT MemoryMax=16G\n$ echo -500 "
					"> "
					"/proc/PID/oom_score_adj\nThe latter makes another one the "
					"next.",
				[ABOUT_FIX] = "A limit that holds all that is kept, tmpfs "
					      "included, or less "
					      "in use: a smaller batch, fewer workers. Before it "
					      "happens: "
					      "P19, P22 and P24, and faultscope host, which names "
					      "the next "
					      "victim.",
				[ABOUT_ALIKE] =
					"A process killed by somebody (a supervisor, systemd-oomd, "
					"earlyoom): SIGKILL without the kernel's line.",
			},
		.sources = "lablup/backend.ai#7222 moby/moby#38352",
	},
	{
		.id = "P18",
		.severity = SEVERITY_CRITICAL,
		.title = "the stack ran out: SIGSEGV",
		.about =
			{
				[ABOUT_MEANS] = "An access went below the end of the main thread's "
						"stack, which "
						"may not grow any further: RLIMIT_STACK, or a "
						"mapping that is "
						"in the way. Of a thread, the stack has a fixed "
						"size from its "
						"begin.",
				[ABOUT_MEASURED] =
					"A SIGSEGV where nothing is mapped, near the stack "
					"pointer or below the stack; certain where the size it "
					"would have had exceeds RLIMIT_STACK. Of a thread: a "
					"SIGSEGV in the guard below its stack, near the stack "
					"pointer, which nothing handles; or whose handler, still "
					"on its alternate stack, raises SIGABRT or the signal "
					"anew (Rust, Python's faulthandler). A program that "
					"handles the signal and goes on is not told of, nor one "
					"that ends in the handler by _exit().",
				[ABOUT_CONFIRM] = "$ ulimit -s\n$ gdb -p PID -ex bt, or of the "
						  "core: a backtrace "
						  "of thousands of frames that repeat.",
				[ABOUT_GAIN] = "$ ulimit -s 65536\nFor threads: "
					       "pthread_attr_setstacksize(), "
					       "Rust's RUST_MIN_STACK, java -Xss, "
					       "Python's threading.stack_size().",
				[ABOUT_FIX] =
					"Recursion that ends, and arrays of megabytes on the heap.",
				[ABOUT_ALIKE] = "A wild pointer is far from the stack pointer.",
			},
		.sources = "",
	},
};

const size_t nr_diagnoses_stalls = sizeof(diagnoses_stalls) / sizeof(diagnoses_stalls[0]);

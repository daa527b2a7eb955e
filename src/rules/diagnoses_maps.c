// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* M01 to M12: the map count, and who grows it. */
#include "rules/diagnoses.h"

#define COUNT_MAPS "$ grep -vc vsyscall /proc/PID/maps; sysctl vm.max_map_count\n"
#define NAME_MAPS                                                                                  \
	"$ awk '{print $6}' /proc/PID/maps | sed 's/[0-9][0-9]*/#/g' | sort | uniq -c | sort -n "  \
	"| tail\n"
#define RAISE "$ sysctl -w vm.max_map_count=262144\n"

const struct diagnosis diagnoses_maps[] = {
	{
		.id = "M01",
		.severity = SEVERITY_CRITICAL,
		.title = "a mapping was refused: vm.max_map_count",
		.about =
			{
				[ABOUT_MEANS] =
					"mmap, brk or shmat was refused because the process has as "
					"many mappings (VMAs) as vm.max_map_count allows. Free "
					"memory has nothing to do with it, though the program says "
					"\"Cannot allocate memory\".\n"
					"From now on all that needs a mapping fails: large "
					"mallocs, thread stacks, libraries, files. Programs seldom "
					"survive it for long.",
				[ABOUT_MEASURED] =
					"The call ended in ENOMEM (brk: in less than was asked, "
					"without an errno) while the kernel's own count, "
					"mm->map_count, was above the limit. These calls test with "
					">, so that limit + 1 is a legal count: 65,531 of 65,530 "
					"is the usual picture.\n"
					"The count is tested before every other limit of the call; "
					"where it is exceeded, it is the cause.",
				[ABOUT_CONFIRM] = COUNT_MAPS
				"The two are equal or one apart. What the mappings are, numbers "
				"folded:\n" NAME_MAPS
				"Reading maps stops the process for as long as it takes: 45 ms "
				"were measured at 65,000 mappings.",
				[ABOUT_GAIN] = RAISE
				"At once, for what runs already too. It is a setting of the whole "
				"host: a container cannot have its own, in Kubernetes it is set on "
				"the node. Each mapping in use costs some 200 bytes of kernel "
				"memory; the setting alone costs nothing. To keep it: a file in "
				"/etc/sysctl.d.",
				[ABOUT_FIX] =
					"Find the grower: M03 to M12 are the known ones. Mappings "
					"merge only where they touch, have the same rights and the "
					"same file (or none); so pack what is small into few large "
					"ones, and unmap whole mappings.",
				[ABOUT_ALIKE] =
					"ENOMEM of RLIMIT_AS (M13), RLIMIT_DATA (M14), of "
					"overcommit (M15, M16) and of the address space (M18). "
					"None of them needs a high count.\n"
					"/proc/PID/maps has one line more than the count on "
					"x86-64: [vsyscall] is no mapping of the process.",
			},
		.sources = "ClickHouse/ClickHouse#43864 pmem/pmdk#5131 pytorch/pytorch#60626",
	},
	{
		.id = "M02",
		.severity = SEVERITY_CRITICAL,
		.title = "a mapping could not be split: vm.max_map_count",
		.about =
			{
				[ABOUT_MEANS] =
					"munmap, mprotect, madvise, mlock or mremap was to change "
					"a part of a mapping. That splits it, needs one mapping "
					"more, and vm.max_map_count allows none.\n"
					"So memory can no longer be given back in parts: free() "
					"fails inside, an allocator keeps or aborts, a JVM cannot "
					"protect a guard page. It is the last stage before M01, "
					"and often what ends in a crash (M24).",
				[ABOUT_MEASURED] =
					"The call ended in ENOMEM (madvise: EAGAIN) with "
					"mm->map_count at or above the limit. Splits are tested "
					"with >=, one mapping earlier than mmap; mremap, which may "
					"need several splits, three earlier still.\n"
					"A hole in the range also gives ENOMEM. Which one it was "
					"cannot be read here, so the finding is not called certain "
					"for calls that look for holes.",
				[ABOUT_CONFIRM] = COUNT_MAPS NAME_MAPS,
				[ABOUT_GAIN] =
					RAISE "Host-wide, at once. The calls that failed are not "
					      "repeated by most allocators: what they failed to "
					      "return stays until the next attempt.",
				[ABOUT_FIX] = "Let the allocator work in larger pieces, or keep "
					      "what it has: jemalloc with retain:true (its default "
					      "on 64-bit Linux) and a longer decay, mimalloc with "
					      "larger pages, glibc with a higher M_MMAP_THRESHOLD. "
					      "It costs resident memory.\n"
					      "In code of your own: unmap whole mappings.",
				[ABOUT_ALIKE] = "mprotect and munmap of a range that is not "
						"mapped: ENOMEM too, at any count. It is a mistake "
						"of the caller, and told as range_hole.",
			},
		.sources = "jemalloc/jemalloc#970 urbit/urbit#624 rethinkdb/rethinkdb#5760 "
			   "golang/go#20882",
	},
	{
		.id = "M03",
		.severity = SEVERITY_CRITICAL,
		.title = "PyTorch shares tensors: a mapping for each, or a descriptor too",
		.about =
			{
				[ABOUT_MEANS] =
					"A tensor that is sent to another process (DataLoader "
					"workers, torch.multiprocessing) becomes a file in "
					"/dev/shm and a mapping of its own. Thousands of small "
					"tensors are thousands of mappings: they cannot merge, "
					"since each has its own file.\n"
					"With the strategy file_descriptor each also holds a "
					"descriptor: then the descriptor limit (F01) is met first.",
				[ABOUT_MEASURED] =
					"What grows are mappings of /dev/shm/torch_* (file_system) "
					"or of deleted /torch_* (file_descriptor), in a process "
					"tree that was made by forkserver or spawn.\n"
					"66,000 tensors of 320 bytes were measured: with "
					"forkserver or spawn refused at 65,531 mappings, 4 KiB "
					"each, in 8 seconds; with fork 1,721 mappings and no "
					"refusal. The sender pays, and a worker that receives them "
					"pays again.",
				[ABOUT_CONFIRM] = "$ grep -c /torch_ /proc/PID/maps\n"
						  "$ python3 -c 'import torch.multiprocessing as "
						  "m; print(m.get_sharing_strategy())'\n"
						  "$ ls /dev/shm | grep -c torch_",
				[ABOUT_GAIN] = RAISE
				"With file_descriptor the descriptor limit (ulimit -n) as well. "
				"Changing the strategy, by "
				"torch.multiprocessing.set_sharing_strategy(\"file_system\") in "
				"the program, trades descriptors for files that stay in /dev/shm "
				"when a process is killed; the mappings remain.",
				[ABOUT_FIX] =
					"Send few large tensors: stack them, or keep the dataset "
					"in one tensor or array with offsets (66,000 as one: 1,724 "
					"mappings).\n"
					"DataLoader(multiprocessing_context=\"fork\") shares "
					"nothing by file; it is unsafe once CUDA or threads are in "
					"use. Python 3.14 made forkserver the default on Linux: a "
					"job may begin to fail with an upgrade alone.",
				[ABOUT_ALIKE] =
					"\"ValueError: too many fds\" from about 248 tensors in "
					"one message on: Python's own limit of 256 descriptors a "
					"message (MAXFDS_TO_SEND); the kernel refused nothing.\n"
					"\"Bus error\" in a worker: /dev/shm is full (64 MiB in a "
					"Docker container without --shm-size).",
			},
		.sources = "pytorch/pytorch#60626 pytorch/pytorch#92134 pytorch/pytorch#87861 "
			   "pytorch/pytorch#169252",
	},
	{
		.id = "M04",
		.severity = SEVERITY_CRITICAL,
		.title = "thread stacks and their guard pages: two mappings a thread",
		.about =
			{
				[ABOUT_MEANS] = "Each thread or fiber has a stack and, below it, a "
						"guard page without any rights: two mappings that "
						"never merge. 32,000 of them fill the default "
						"limit. Stacks of ended threads may stay cached.",
				[ABOUT_MEASURED] = "The map count is about twice the number of "
						   "threads, or grows by two for each clone; the "
						   "mappings alternate, readable and writable, "
						   "then without rights, in equal small sizes.",
				[ABOUT_CONFIRM] = "$ ls /proc/PID/task | wc -l\n"
						  "$ awk '$2 == \"---p\"' /proc/PID/maps | wc -l\n"
						  "$ awk '{print $2}' /proc/PID/maps | sort | uniq "
						  "-c | sort -n",
				[ABOUT_GAIN] = RAISE "Watch threads-max, pid_max and pids.max next "
						     "(M23): they are near at such numbers.",
				[ABOUT_FIX] = "A pool of threads, or fewer fibers alive; join or "
					      "detach what ended; in Java fewer platform threads, "
					      "or virtual ones.\n"
					      "On Linux 6.13 and later a runtime that guards with "
					      "MADV_GUARD_INSTALL needs one mapping for all stacks "
					      "that touch: one more in total was measured, against "
					      "two more each.",
				[ABOUT_ALIKE] = "Allocator arenas also alternate rw-p and ---p, "
						"but in sizes of 64 MiB and of changing shares, at "
						"few threads (M06).",
			},
		.sources = "corretto/corretto-11#308 ClickHouse/ClickHouse#109734 "
			   "rethinkdb/rethinkdb#5760 canonical/mongodb-operator#522",
	},
	{
		.id = "M05",
		.severity = SEVERITY_CRITICAL,
		.title = "ZGC maps its heap in many pieces",
		.about =
			{
				[ABOUT_MEANS] = "The Z garbage collector maps heap memory in small "
						"granules, and older versions map each of them "
						"three times. A fragmented large heap needs more "
						"mappings than the default limit; then the JVM "
						"ends with an out-of-memory error, or crashes.",
				[ABOUT_MEASURED] =
					"A JVM with -XX:+UseZGC whose map count rises towards 1.8 "
					"mappings a MiB of maximum heap: the JVM itself asks for "
					"217,497 at 120,832 MiB.",
				[ABOUT_CONFIRM] = "$ jcmd PID VM.flags | tr ' ' '\\n' | grep -E "
						  "'UseZGC|MaxHeapSize'\n"
						  "$ grep -c java_heap /proc/PID/maps\n"
						  "The JVM warns at its start: \"The system limit "
						  "on number of memory mappings per process might "
						  "be too low\", with the figure it wants.",
				[ABOUT_GAIN] = "Set what the JVM asks for; for 120 GiB:\n$ sysctl "
					       "-w vm.max_map_count=262144\nHost-wide; in a "
					       "container on the host.",
				[ABOUT_FIX] = "There is none but the limit, a smaller heap, or "
					      "another collector. Newer JDKs (generational ZGC) "
					      "map the heap once, not three times.",
				[ABOUT_ALIKE] =
					"A JVM with many threads (M04), or with many mapped index "
					"files (M09). Resident memory that tops shows three times "
					"the heap is ZGC's multi-mapping, and no use of memory.",
			},
		.sources = "hiero-ledger/solo#2875",
	},
	{
		.id = "M06",
		.severity = SEVERITY_CRITICAL,
		.title = "an allocator splits mappings when it gives memory back",
		.about =
			{
				[ABOUT_MEANS] = "An allocator returns unused pages inside its "
						"mappings by mprotect, madvise or mmap over them. "
						"Where that changes the rights of a part, it "
						"splits the mapping. Each purge leaves holes: the "
						"count grows while resident memory falls.",
				[ABOUT_MEASURED] =
					"mprotect, madvise or munmap calls add mappings "
					"(vmas_added in maps.by_call) from a thread of the "
					"allocator, while memory.rss_bytes is flat or falls. "
					"vm.overcommit_memory=2 makes jemalloc decommit by "
					"PROT_NONE, and so far more of it.",
				[ABOUT_CONFIRM] =
					"$ faultscope -p PID --json 1 5 | grep -o "
					"'\"by_call\":{\"mmap.*' | tail -1\n"
					"$ sysctl vm.overcommit_memory\n"
					"$ awk '{print $2}' /proc/PID/maps | sort | uniq -c",
				[ABOUT_GAIN] = RAISE,
				[ABOUT_FIX] =
					"$ sysctl -w vm.overcommit_memory=0\nis the first thing "
					"where it is 2: host-wide, and memory may be promised that "
					"is not there.\n"
					"jemalloc: MALLOC_CONF=retain:true,dirty_decay_ms:30000 "
					"(more resident memory), or a build with lg-page=16. "
					"mimalloc's purge options did not help where it was tried: "
					"raise the limit.",
				[ABOUT_ALIKE] = "A leak of mappings (M10): resident memory or the "
						"number of mmap calls grows with the count, and "
						"mprotect plays no part.",
			},
		.sources = "jemalloc/jemalloc#1328 jemalloc/jemalloc#1256 jemalloc/jemalloc#1011 "
			   "redis/redis#11610 redis/redis#12821 flowlog-rs/flowlog#177",
	},
	{
		.id = "M07",
		.severity = SEVERITY_CRITICAL,
		.title = ".NET maps its code twice, or its heap in regions",
		.about =
			{
				[ABOUT_MEANS] =
					"Since .NET 7 code that is compiled at run time is mapped "
					"twice, once to write and once to run (W^X), in small "
					"pieces of a memfd. The region-based heap adds one or two "
					"mappings a region. Large applications reach the default "
					"limit.",
				[ABOUT_MEASURED] =
					"Most mappings are of /memfd:doublemapper (deleted), or "
					"small and without a name in a dotnet process.",
				[ABOUT_CONFIRM] =
					"$ grep -c doublemapper /proc/PID/maps\n" COUNT_MAPS,
				[ABOUT_GAIN] = RAISE,
				[ABOUT_FIX] =
					"Start it with DOTNET_EnableWriteXorExecute=0: code is "
					"mapped once, writable and executable, which is weaker "
					"against exploits; it starts faster, too. Code that is "
					"made without end (dynamic assemblies, expressions "
					"compiled again and again) is a leak of its own: cache it.",
				[ABOUT_ALIKE] = "Other users of memfd (M03 with file_descriptor, "
						"graphics buffers): the name tells.",
			},
		.sources = "dotnet/runtime#80580 dotnet/runtime#97316",
	},
	{
		.id = "M08",
		.severity = SEVERITY_CRITICAL,
		.title = "the Go runtime splits mappings by huge-page advice",
		.about =
			{
				[ABOUT_MEANS] = "Some versions of the Go runtime mark parts of the "
						"heap with MADV_HUGEPAGE and MADV_NOHUGEPAGE. "
						"Parts with different marks cannot be one mapping: "
						"a large, busy heap falls into tens of thousands.",
				[ABOUT_MEASURED] =
					"The count of a Go program grows by madvise calls "
					"(vmas_added of madvise in maps.by_call), from "
					"runtime.sysHugePage, sysNoHugePage or sysUnused; "
					"neighbours in smaps differ in the flags hg and nh alone.",
				[ABOUT_CONFIRM] = "$ grep VmFlags /proc/PID/smaps | sort | uniq -c "
						  "| sort -n | tail -4\n"
						  "$ go version -m /proc/PID/exe | head -1\n"
						  "Reading smaps walks all page tables and holds "
						  "the process up: once, not in a loop.",
				[ABOUT_GAIN] = RAISE,
				[ABOUT_FIX] = "Build with a current Go: the advice was cut back in "
					      "patch releases of 1.21 and later. Where that cannot "
					      "be: /sys/kernel/mm/transparent_hugepage/enabled to "
					      "madvise or never, host-wide.",
				[ABOUT_ALIKE] = "Go programs that map files (time-series "
						"databases, bolt, badger): M09.",
			},
		.sources = "influxdata/influxdb#4548 golang/go#12233 golang/go#64332",
	},
	{
		.id = "M09",
		.severity = SEVERITY_CRITICAL,
		.title = "a mapping for each file of an index or a store",
		.about =
			{
				[ABOUT_MEANS] =
					"Search engines, time-series databases and stores map each "
					"of their files (Lucene segments, TSDB chunks, index "
					"blobs). The descriptor is closed, the mapping stays. The "
					"count follows the number of files.",
				[ABOUT_MEASURED] =
					"File mappings dominate, of one directory with numbers in "
					"the names; mmap calls exceed munmap calls by the number "
					"of files, while fds.count stays low.",
				[ABOUT_CONFIRM] =
					"$ awk '$6 ~ \"/\" {print $6}' /proc/PID/maps | sed "
					"'s/[0-9][0-9]*/#/g' | sort | uniq -c | sort -n | tail\n"
					"$ ls DATADIR | wc -l",
				[ABOUT_GAIN] = "$ sysctl -w vm.max_map_count=262144\nis what "
					       "Elasticsearch and kin insist on at their start; "
					       "newer guides say 1048575 or more. Host-wide.",
				[ABOUT_FIX] = "Fewer, larger files: merge or compact, fewer "
					      "shards, longer blocks, less retention. Or no "
					      "mappings: node.store.allow_mmap: false (niofs) in "
					      "Elasticsearch, at the cost of read speed.",
				[ABOUT_ALIKE] = "Shared libraries: a few hundred mappings in any "
						"large program, and they do not grow.",
			},
		.sources = "elastic/elasticsearch#16944 cortexproject/cortex#3537 "
			   "FeatureBaseDB/featurebase#1888 blevesearch/bleve#1305 "
			   "input-output-hk/iodb#2 davealtena/homelab#1561",
	},
	{
		.id = "M10",
		.severity = SEVERITY_WARNING,
		.title = "mappings leak: made and never unmapped",
		.about =
			{
				[ABOUT_MEANS] = "One place of the program maps and does not unmap. "
						"Since nothing touches what it leaks, resident "
						"memory stays flat and no memory alarm rings, "
						"until the limit is reached (M01).",
				[ABOUT_MEASURED] = "The map count grows steadily, with few munmap "
						   "calls for its mmap calls, and resident memory "
						   "does not. One stack makes most of them: by "
						   "mmap, or by munmap, mprotect or madvise of the "
						   "middle of a mapping, which leaves one more.",
				[ABOUT_CONFIRM] = "$ faultscope -p PID 10 6\nand compare mmap with "
						  "munmap in the calls; who calls:\n"
						  "$ bpftrace -e 't:syscalls:sys_enter_mmap /pid "
						  "== PID/ { @[ustack] = count(); }'\n" NAME_MAPS,
				[ABOUT_GAIN] = RAISE "It moves the end, by the rate of the leak.",
				[ABOUT_FIX] = "Unmap where the mapping is done with, on the way of "
					      "success too: that one is forgotten more often than "
					      "the way of failure.",
				[ABOUT_ALIKE] = "A cache or a heap that still warms up: it levels "
						"out. Growth with resident memory is a memory leak "
						"that happens to map.",
			},
		.sources = "hyperlight-dev/hyperlight#1290",
	},
	{
		.id = "M11",
		.severity = SEVERITY_WARNING,
		.title = "the map count peaks between looks",
		.about =
			{
				[ABOUT_MEANS] =
					"The count is harmless whenever somebody looks, but "
					"touched its limit in between: eviction, a garbage "
					"collection, a purge. The next peak may be refused.",
				[ABOUT_MEASURED] = "maps.high, kept by the kernel side at each "
						   "call that maps, is at or above 70 % of the "
						   "limit while maps.count is far below.",
				[ABOUT_CONFIRM] = "$ faultscope -p PID --json 1 60 | grep -o "
						  "'\"maps\":{\"count\":[0-9]*,\"limit\":[0-9]*,"
						  "\"high\":[0-9]*'\n"
						  "Sampling /proc/PID/maps does not show it: 50 to "
						  "100 % took 0.1 s in a plain loop.",
				[ABOUT_GAIN] = "Size the limit for the peak, with as much again to "
					       "spare:\n" RAISE,
				[ABOUT_FIX] =
					"Spread the work that causes the peak: smaller batches of "
					"eviction, slower purge, staggered collections.",
				[ABOUT_ALIKE] = "A count that is high all the time (M25).",
			},
		.sources = "redis/redis#12821",
	},
	{
		.id = "M12",
		.severity = SEVERITY_CRITICAL,
		.title = "Wine or Proton needs more mappings than the default allows",
		.about =
			{
				[ABOUT_MEANS] =
					"Windows games reserve and commit memory in many small "
					"views, each of them a mapping here. At 65,530 Wine fails "
					"in the middle of a game, mostly with an assertion in "
					"create_view or with a crash without a message.",
				[ABOUT_MEASURED] =
					"A process whose name ends in .exe, or wine, with a count "
					"near 65,530; the log has \"create_view: Assertion "
					"`!((UINT_PTR)base & page_mask)' failed\".",
				[ABOUT_CONFIRM] = COUNT_MAPS,
				[ABOUT_GAIN] =
					"$ sysctl -w vm.max_map_count=1048576\nis the default of "
					"Fedora 39, Arch, Ubuntu 24.04 and Debian 13; SteamOS and "
					"Pop!_OS have 2147483642. To keep it:\n"
					"$ echo vm.max_map_count=1048576 > "
					"/etc/sysctl.d/90-games.conf",
				[ABOUT_FIX] = "The raised limit is the fix.",
				[ABOUT_ALIKE] = "\"Too many open files\" of a game: esync (F11).",
			},
		.sources = "ValveSoftware/Proton#6510 ValveSoftware/Proton#8636 "
			   "Frogging-Family/wine-tkg-git#312 lutris/docs#141 "
			   "pop-os/default-settings#172",
	},
};

const size_t nr_diagnoses_maps = sizeof(diagnoses_maps) / sizeof(diagnoses_maps[0]);

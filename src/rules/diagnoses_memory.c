// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* M13 and on: the limits of memory and address space, and what follows from a refusal. */
#include "rules/diagnoses.h"

#define COMMIT "$ grep -E 'CommitLimit|Committed_AS' /proc/meminfo; sysctl vm.overcommit_memory\n"

const struct diagnosis diagnoses_memory[] = {
	{
		.id = "M13",
		.severity = SEVERITY_CRITICAL,
		.title = "a mapping was refused: RLIMIT_AS",
		.about =
			{
				[ABOUT_MEANS] =
					"The process may not reserve more address space: ulimit "
					"-v, LimitAS= of its unit, or a batch system's memory "
					"option. The limit counts what is reserved, touched or "
					"not; runtimes such as wasm, Go, Java and sanitizers "
					"reserve gigabytes that they never touch.",
				[ABOUT_MEASURED] =
					"mmap, brk or mremap was refused while total_vm plus the "
					"pages asked for exceeded RLIMIT_AS. Both figures are read "
					"at the moment of refusal, so the answer is certain.",
				[ABOUT_CONFIRM] = "$ grep -E 'address space' /proc/PID/limits; "
						  "grep -E 'VmPeak|VmSize|VmRSS' /proc/PID/status",
				[ABOUT_GAIN] =
					"$ prlimit --pid PID --as=unlimited\nhelps the running "
					"process at once. Nothing then bounds its address space; "
					"memory itself was not bounded by it anyway.",
				[ABOUT_FIX] = "Bound memory, not addresses: MemoryMax= of the unit "
					      "or memory.max of the cgroup; remove ulimit -v from "
					      "the script, the profile or the batch job.",
				[ABOUT_ALIKE] = "RLIMIT_DATA (M14) counts only what is private and "
						"writable. A cgroup limit does not refuse a "
						"mapping: it reclaims, and then kills.",
			},
		.sources = "bytecodealliance/wasmtime#1501 openSUSE/obs-build#854",
	},
	{
		.id = "M14",
		.severity = SEVERITY_CRITICAL,
		.title = "a mapping was refused: RLIMIT_DATA",
		.about =
			{
				[ABOUT_MEANS] =
					"The process may have no more private writable memory: "
					"ulimit -d. Since Linux 4.7 the limit counts anonymous "
					"mappings too, not the heap of brk alone: values that were "
					"harmless for decades now stop malloc.",
				[ABOUT_MEASURED] =
					"mmap or mprotect to writable was refused while data_vm "
					"plus the pages asked for exceeded RLIMIT_DATA; for brk: "
					"the heap and the program's data. Certain where the "
					"figures were read at the moment of refusal.",
				[ABOUT_CONFIRM] = "$ grep 'data size' /proc/PID/limits; grep "
						  "VmData /proc/PID/status\n$ dmesg | grep 'exceed "
						  "data ulimit'\nThe kernel says it once a boot, "
						  "for the first offender alone.",
				[ABOUT_GAIN] = "$ prlimit --pid PID --data=unlimited",
				[ABOUT_FIX] = "Bound memory by a cgroup (memory.max), and remove "
					      "ulimit -d from where it was set. If the amount is a "
					      "surprise, it is a memory leak: look at that.",
				[ABOUT_ALIKE] =
					"RLIMIT_AS (M13): the total, reservations included. It is "
					"tested first; the finding names the other as the next to "
					"fail where both are near.",
			},
		.sources = "llvm/llvm-project#98625 blevesearch/bleve#1305",
	},
	{
		.id = "M15",
		.severity = SEVERITY_CRITICAL,
		.title = "memory was not promised: strict overcommit (mode 2)",
		.about =
			{
				[ABOUT_MEANS] =
					"With vm.overcommit_memory=2 the kernel promises only what "
					"it can back: RAM without huge pages times "
					"vm.overcommit_ratio (50 %), plus swap. All processes "
					"together have been promised that much. Memory may be free "
					"all the same: what is promised is not yet used.",
				[ABOUT_MEASURED] =
					"mmap, mprotect, brk, mremap or fork was refused with "
					"ENOMEM in mode 2, with Committed_AS plus the pages asked "
					"for at or above CommitLimit. Of that the smaller of "
					"1/32 of the process and vm.user_reserve_kbytes is held "
					"back, and vm.admin_reserve_kbytes from all but root.\n"
					"Committed_AS moves; where the promise of another was "
					"given back just then, the cause stays uncertain. Newer "
					"kernels log it: \"__vm_enough_memory: ... not enough "
					"memory "
					"for the allocation\".",
				[ABOUT_CONFIRM] = COMMIT
				"$ dmesg | grep __vm_enough_memory\nWho was promised most: the "
				"largest private writable mappings, VmData in\n$ grep VmData "
				"/proc/[0-9]*/status | sort -n -k2 | tail",
				[ABOUT_GAIN] =
					"More swap raises the limit by its size, used or not:\n"
					"$ fallocate -l 8G /swapfile && chmod 600 /swapfile && "
					"mkswap /swapfile && swapon /swapfile\n"
					"$ sysctl -w vm.overcommit_ratio=90",
				[ABOUT_FIX] = "$ sysctl -w vm.overcommit_memory=0\nunless "
					      "strictness is wanted: then the OOM killer decides "
					      "instead of the caller. Programs can reserve with "
					      "PROT_NONE and ask for rights as they grow; "
					      "MAP_NORESERVE is ignored in this mode.",
				[ABOUT_ALIKE] = "Mode 0 refuses single requests that are larger "
						"than all there is (M16). The OOM killer is the "
						"opposite failure: too much was promised.",
			},
		.sources = "symmetryinvestments/symgc#37 jemalloc/jemalloc#1324 redis/redis#11610",
	},
	{
		.id = "M16",
		.severity = SEVERITY_CRITICAL,
		.title = "memory was not promised: one request beyond RAM and swap",
		.about =
			{
				[ABOUT_MEANS] =
					"In mode 0, the default, the kernel refuses a single "
					"private writable mapping that is larger than all RAM and "
					"swap together: nothing could ever back it. The sum of "
					"many smaller ones is not tested.",
				[ABOUT_MEASURED] = "One request of more pages than RAM and swap "
						   "have, private and writable (or shared and "
						   "anonymous), without MAP_NORESERVE, in mode 0.",
				[ABOUT_CONFIRM] =
					COMMIT "$ grep -E 'MemTotal|SwapTotal' /proc/meminfo\n$ "
					       "strace -f -e trace=mmap -p PID",
				[ABOUT_GAIN] = "$ sysctl -w vm.overcommit_memory=1\npromises "
					       "everything to everybody, host-wide: the OOM killer "
					       "settles it later. More swap helps as well.",
				[ABOUT_FIX] =
					"Reserve with PROT_NONE or MAP_NORESERVE and make parts "
					"writable as they are needed; or several mappings instead "
					"of one. Often the size is a mistake: a heap option for "
					"another machine, a file of garbage read as a length.",
				[ABOUT_ALIKE] =
					"A length that no address space has room for (M18): "
					"refused in every mode, by the search for an address.",
			},
		.sources = "c3lang/c3c#469 open-mpi/ompi#3733 bytecodealliance/wasmtime#2518 "
			   "ssrg-vt/SlimGuard#8",
	},
	{
		.id = "M17",
		.severity = SEVERITY_CRITICAL,
		.title = "fork was refused: it promises all of the parent's memory again",
		.about =
			{
				[ABOUT_MEANS] =
					"A child may write to every private page of its parent, so "
					"fork has to be promised all of them once more. Under "
					"strict overcommit a large process cannot fork, not even "
					"to exec a small program; Redis cannot save, Java cannot "
					"start a helper.",
				[ABOUT_MEASURED] =
					"fork or clone without CLONE_VM ended in ENOMEM, in "
					"overcommit mode 2 with too little left of CommitLimit for "
					"the parent's VmData, or in mode 0 with one mapping larger "
					"than RAM and swap.",
				[ABOUT_CONFIRM] =
					COMMIT "$ grep -E 'VmData|VmRSS' /proc/PID/status",
				[ABOUT_GAIN] = "$ sysctl -w vm.overcommit_memory=1\nis what Redis "
					       "itself asks for; host-wide, and the OOM killer "
					       "decides when a child does write everything. In "
					       "mode 2 more swap does it too.",
				[ABOUT_FIX] =
					"vfork or posix_spawn where only exec follows: they "
					"promise nothing. A small helper process that was forked "
					"early. For snapshots memory for them has to be there.",
				[ABOUT_ALIKE] =
					"EAGAIN of fork: a limit of processes (M23). ENOMEM in "
					"a container whose init has ended: its pid namespace takes "
					"no more processes.",
			},
		.sources = "voxpupuli/puppet-redis#105 pulibrary/bibdata#500 "
			   "mailcow/mailcow-dockerized#5300",
	},
	{
		.id = "M18",
		.severity = SEVERITY_CRITICAL,
		.title = "no room in the address space",
		.about =
			{
				[ABOUT_MEANS] =
					"There is no gap of that size among the addresses a "
					"process can have: 128 TiB on x86-64, 256 GiB to 256 TiB "
					"on arm64 by the kernel's build (39 or 48 bits), 2 GiB "
					"below MAP_32BIT, 4 GiB in a 32-bit "
					"process. Runtimes that reserve gigabytes for each "
					"instance, and emulators, meet it.",
				[ABOUT_MEASURED] = "The search for an address failed: the length "
						   "exceeds the address space, or the tracepoint "
						   "mmap:vm_unmapped_area told ENOMEM. No limit is "
						   "involved, and memory does not matter.",
				[ABOUT_CONFIRM] =
					"$ grep VmSize /proc/PID/status\n$ strace -f -e "
					"trace=mmap,mremap -p PID\nThe largest gaps:\n"
					"$ awk -F'[- ]' '{print $1, $2}' /proc/PID/maps | less",
				[ABOUT_GAIN] = "Fewer or smaller reservations: a smaller pool of "
					       "wasm instances, a smaller maximum heap, fewer "
					       "sanitized or emulated processes' shadows.",
				[ABOUT_FIX] = "A kernel with more bits (CONFIG_ARM64_VA_BITS_48, "
					      "sv48), a 64-bit build of the program; reuse "
					      "reservations instead of making new ones.",
				[ABOUT_ALIKE] =
					"RLIMIT_AS (M13): the same ENOMEM far below the address "
					"space. MAP_FIXED_NOREPLACE says EEXIST where it is taken.",
			},
		.sources = "bytecodealliance/wasmtime#8607 bytecodealliance/wasmtime#6003 "
			   "fermyon/spin#2119 ptitSeb/box64#4377 pytorch/pytorch#192269",
	},
	{
		.id = "M19",
		.severity = SEVERITY_CRITICAL,
		.title = "no huge page: the pool or its cgroup limit",
		.about =
			{
				[ABOUT_MEANS] = "Memory of explicit huge pages comes from a pool "
						"of its own. mmap reserves from it and says ENOMEM "
						"when too few are free; without a reservation "
						"(MAP_NORESERVE) or beyond a limit of the hugetlb "
						"cgroup the first touch ends in SIGBUS instead.",
				[ABOUT_MEASURED] =
					"mmap with MAP_HUGETLB, or of a file of hugetlbfs, refused "
					"with ENOMEM; or SIGBUS at an address in such a mapping.",
				[ABOUT_CONFIRM] =
					"$ grep Huge /proc/meminfo; grep . "
					"/sys/kernel/mm/hugepages/*/free_hugepages\n"
					"$ cat /sys/fs/cgroup/PATH/hugetlb.*.max\n"
					"Free less Rsvd is what mmap can still have; a size other "
					"than the default has a pool of its own.",
				[ABOUT_GAIN] =
					"$ sysctl -w vm.nr_hugepages=1024\ntakes that memory from "
					"all else; on a machine that ran for long it may get fewer "
					"than asked: look at HugePages_Total afterwards.",
				[ABOUT_FIX] =
					"Reserve at boot (hugepages=1024), or let the program do "
					"without: huge_pages=off or try in PostgreSQL, transparent "
					"huge pages for most others. In Kubernetes request "
					"hugepages-2Mi: the limit is the cgroup's.",
				[ABOUT_ALIKE] =
					"SIGBUS of a full tmpfs or of a truncated file: another "
					"mapping. EINVAL: that page size is not configured at all.",
			},
		.sources = "kubernetes/kubernetes#71233 lxc/incus#769 "
			   "cloud-hypervisor/cloud-hypervisor#7387 yugabyte/yugabyte-db#28816",
	},
	{
		.id = "M20",
		.severity = SEVERITY_CRITICAL,
		.title = "a mapping was refused: RLIMIT_MEMLOCK",
		.about =
			{
				[ABOUT_MEANS] = "The process may lock (pin) no more memory: mlock, "
						"mlockall, MAP_LOCKED, buffers of io_uring, RDMA "
						"or GPU drivers. The limit is 8 MiB since Linux "
						"5.16, 64 KiB before, unless it was raised.",
				[ABOUT_MEASURED] =
					"EAGAIN of mmap with MAP_LOCKED (or after "
					"mlockall(MCL_FUTURE)), ENOMEM of mlock and mlockall, "
					"EPERM of each where the limit is 0; locked_vm plus the "
					"pages asked for exceeds RLIMIT_MEMLOCK, and the process "
					"lacks CAP_IPC_LOCK.",
				[ABOUT_CONFIRM] = "$ grep 'locked memory' /proc/PID/limits; grep "
						  "-E 'VmLck|VmPin|CapEff' /proc/PID/status",
				[ABOUT_GAIN] = "$ prlimit --pid PID --memlock=unlimited\nat once; "
					       "lasting: LimitMEMLOCK=infinity in the unit, "
					       "memlock in /etc/security/limits.conf, --ulimit "
					       "memlock=-1 of docker run. Locked memory cannot be "
					       "swapped out: others swap more.",
				[ABOUT_FIX] = "Lock less: only the buffers that need it. Rings of "
					      "io_uring are charged to the memory cgroup instead "
					      "since 5.12: a newer kernel needs no limit for them "
					      "(registered buffers still do).",
				[ABOUT_ALIKE] = "ENOMEM of mlock over a hole in the range. EAGAIN "
						"of mmap has no other common cause.",
			},
		.sources = "axboe/liburing#157 axboe/liburing#365 axboe/liburing#1408 "
			   "ocaml-multicore/eio#80 netty/netty-incubator-transport-io_uring#144",
	},
	{
		.id = "M21",
		.severity = SEVERITY_CRITICAL,
		.title = "a driver refused the mapping",
		.about =
			{
				[ABOUT_MEANS] =
					"The kernel's own checks passed; the driver or file system "
					"behind the file said no in its mmap method. Any errno is "
					"possible, and only the driver knows why.",
				[ABOUT_MEASURED] =
					"mmap of a device or special file failed, and no limit "
					"that can be read was exceeded. Without a hook on the "
					"driver's method this is a conclusion by exclusion: it is "
					"never called certain.",
				[ABOUT_CONFIRM] = "$ ls -l /proc/PID/fd/FD; dmesg | tail -50\n$ "
						  "strace -f -e trace=mmap,openat -p PID\n"
						  "$ ls -l /sys/dev/char/MAJOR:MINOR/device/driver",
				[ABOUT_GAIN] = "What the driver's log asks for: often smaller "
					       "buffers, fewer users of the device at a time, or a "
					       "reset of the device.",
				[ABOUT_FIX] = "The driver's documentation or its maker. Give them "
					      "the call's arguments: faultscope --json has them in "
					      "the refused line.",
				[ABOUT_ALIKE] = "EACCES and EPERM also come from security modules "
						"and from noexec mounts; ENODEV means that the "
						"file type cannot be mapped at all.",
			},
		.sources = "",
	},
	{
		.id = "M22",
		.severity = SEVERITY_WARNING,
		.title = "a thread that could not start left CPython hanging",
		.about =
			{
				[ABOUT_MEANS] =
					"A new thread of Python got no memory for its first steps, "
					"under strict overcommit, ulimit -v or at the map limit. "
					"It "
					"ends before it has reported that it runs, and "
					"Thread.start() waits for that report for ever: the "
					"process "
					"hangs instead of failing. Patroni and others warn of it.",
				[ABOUT_MEASURED] =
					"mmap, mprotect or brk was refused in a thread of a "
					"program "
					"named python* that is not its first. That alone is info: "
					"the thread may go on, or fail aloud. Where for five "
					"seconds nothing at all is seen of the process, no call, "
					"fault or change, it is a warning. What such a process "
					"waits for cannot be read: one that computes without "
					"calls looks the same.",
				[ABOUT_CONFIRM] = "$ py-spy dump --pid PID\nshows the main thread "
						  "in Thread.start, waiting for _started.\n" COMMIT,
				[ABOUT_GAIN] = "Room for the stack (M15), then a restart: the wait "
					       "does not end by itself.",
				[ABOUT_FIX] = "A Python in which python/cpython#140746 is fixed; "
					      "headroom under mode 2; smaller stacks by "
					      "threading.stack_size().",
				[ABOUT_ALIKE] = "A deadlock of the program's own: no call was "
						"refused before.",
			},
		.sources = "python/cpython#140746",
	},
	{
		.id = "M23",
		.severity = SEVERITY_CRITICAL,
		.title = "a thread or process could not start: one of five limits",
		.about =
			{
				[ABOUT_MEANS] =
					"\"Resource temporarily unavailable\" of pthread_create or "
					"fork is one text for several limits: processes of the "
					"user (RLIMIT_NPROC), of the cgroup (pids.max), of the "
					"host (kernel.threads-max, kernel.pid_max), or memory for "
					"the stack, which glibc turns from ENOMEM into EAGAIN.",
				[ABOUT_MEASURED] =
					"clone ended in EAGAIN: then it is one of the first four, "
					"by their counts at that moment. Or there was no failed "
					"clone, but the mmap of a stack just before was refused: "
					"then it is what that refusal names (M01, M13, M15).",
				[ABOUT_CONFIRM] = "$ grep processes /proc/PID/limits; ps -L -u "
						  "USER --no-headers | wc -l\n"
						  "$ cat /sys/fs/cgroup/PATH/pids.current "
						  "/sys/fs/cgroup/PATH/pids.max\n"
						  "$ sysctl kernel.threads-max kernel.pid_max; ps "
						  "-eL --no-headers | wc -l",
				[ABOUT_GAIN] =
					"The one that is full:\n$ prlimit --pid PID "
					"--nproc=65536\n$ systemctl set-property UNIT "
					"TasksMax=16384\n$ sysctl -w kernel.threads-max=500000 "
					"kernel.pid_max=4194304\n"
					"--pids-limit of docker run, podPidsLimit of the kubelet.",
				[ABOUT_FIX] =
					"Who makes so many threads: count by comm in ps -eL -o "
					"comm. RLIMIT_NPROC counts all of a user's threads on the "
					"host, those in other containers with the same uid too.",
				[ABOUT_ALIKE] = "ENOMEM of fork (M17): memory, not numbers.",
			},
		.sources = "golang/go#24484 golang/go#37006 openjdk/jdk#4648 golang/go#12176 "
			   "dragonwell-project/dragonwell17#200",
	},
	{
		.id = "M24",
		.severity = SEVERITY_CRITICAL,
		.title = "a crash on the heels of a refused mapping",
		.about =
			{
				[ABOUT_MEANS] =
					"The process got SIGSEGV or SIGBUS within a second after "
					"the map count limit refused it a call. The crash is most "
					"likely the consequence: the result of mmap was not "
					"checked, or memory could not be given back or protected. "
					"The backtrace then shows an innocent place.",
				[ABOUT_MEASURED] =
					"The signal came at most one second after the latest "
					"refusal of M01 or M02 in the same process; `because` "
					"names them and what had led to them. Equal refusals are "
					"told at least every 200 ms while they go on. abort() "
					"after a refusal is not seen by this version: SIGABRT is "
					"no fault.",
				[ABOUT_CONFIRM] = "Look at the refusal first (faultscope explain "
						  "M01), then at the core for a pointer of -1 "
						  "(MAP_FAILED) or 0:\n$ coredumpctl debug PID",
				[ABOUT_GAIN] = "$ sysctl -w vm.max_map_count=262144\nHost-wide.",
				[ABOUT_FIX] = "What M01 or M02 says, whichever is named; and the "
					      "check that is missing in the program.",
				[ABOUT_ALIKE] =
					"A process that catches SIGSEGV on purpose (garbage "
					"collectors, JITs, emulators) may have one after a refusal "
					"by chance: it does not end then.",
			},
		.sources = "dotnet/runtime#90230 flowlog-rs/flowlog#177",
	},
	{
		.id = "M25",
		.severity = SEVERITY_CRITICAL,
		.title = "the map count is near vm.max_map_count",
		.about =
			{
				[ABOUT_MEANS] = "The process has used 50 % (info), 80 % (warning) "
						"or 95 % (critical) of the mappings it may have. "
						"At 100 % calls are refused (M02, M01).",
				[ABOUT_MEASURED] =
					"mm->map_count of each process, read by the kernel side at "
					"every look, against vm.max_map_count; besides, the "
					"thresholds are tested in the kernel at the end of each "
					"call that maps, so that the crossing line comes at once. "
					"A level is left again five points below its threshold. Of "
					"a process that ended its highest count is judged.",
				[ABOUT_CONFIRM] = "$ grep -vc vsyscall /proc/PID/maps; sysctl "
						  "vm.max_map_count",
				[ABOUT_GAIN] =
					"$ sysctl -w vm.max_map_count=262144\nHost-wide, at once.",
				[ABOUT_FIX] = "Who grows it: M03 to M12. If the count stands still "
					      "it may be the program's normal need: then the limit "
					      "is simply too low for it.",
				[ABOUT_ALIKE] = "High address space (VmSize) or resident memory: "
						"neither has to do with the count.",
			},
		.sources = "",
	},
	{
		.id = "M26",
		.severity = SEVERITY_CRITICAL,
		.title = "the map count grows towards vm.max_map_count",
		.about =
			{
				[ABOUT_MEANS] = "At its present rate the process reaches "
						"vm.max_map_count within the hour (warning) or "
						"within five minutes (critical, if several cycles "
						"or 98 % of the way show that it goes on).",
				[ABOUT_MEASURED] = "A line through high-water marks of the count "
						   "(Theil-Sen: the median of all slopes), with an "
						   "interval. Where the fit is poor no time is "
						   "given, and this finding does not open.",
				[ABOUT_CONFIRM] = "$ faultscope -p PID 10\nand watch maps.",
				[ABOUT_GAIN] =
					"$ sysctl -w vm.max_map_count=262144\nand reckon anew: the "
					"time gained is the new headroom by the rate.",
				[ABOUT_FIX] = "As of M25: the grower, M03 to M12.",
				[ABOUT_ALIKE] = "A start-up that maps a lot and then stops: the "
						"finding clears itself once the growth ends.",
			},
		.sources = "",
	},
	{
		.id = "M27",
		.severity = SEVERITY_WARNING,
		.title = "a call was refused for another reason",
		.about =
			{
				[ABOUT_MEANS] = "A mapping or descriptor call was refused, and no "
						"finding of its own stands for the cause. Its "
						"cause names the check that said no; unknown means "
						"that no limit that can be read was exceeded, and "
						"the evidence lists what was looked at.\n"
						"bad_argument, bad_descriptor and fixed_exists are "
						"mistakes of the caller, or probes by it: they are "
						"only info.",
				[ABOUT_MEASURED] = "The refused call, its arguments and the state "
						   "of the process at its end, held against the "
						   "kernel's checks in their own order. certain is "
						   "true only where one fact decides.",
				[ABOUT_CONFIRM] = "$ faultscope --json -p PID | grep "
						  "'\"type\":\"refused\"'\n$ strace -f -e "
						  "trace=%memory,%desc -p PID",
				[ABOUT_GAIN] =
					"Depends on the cause. range_hole, no_room_in_place, "
					"brk_collision: none, the caller has to ask for something "
					"else. not_mappable, file_mode, noexec_mount, sealed: "
					"another file, mode or mount option.",
				[ABOUT_FIX] = "In the program that asks. driver and "
					      "security_module: their logs (dmesg, the audit log).",
				[ABOUT_ALIKE] = "Programs probe: for features, for free addresses, "
						"for limits. A refusal that is answered by another "
						"call at once is how they work.",
			},
		.sources = "",
	},
};

const size_t nr_diagnoses_memory = sizeof(diagnoses_memory) / sizeof(diagnoses_memory[0]);

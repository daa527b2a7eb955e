// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages of the kernel, of service managers and containers; names of errnos, signals, statuses.
 */
#include "rules/messages.h"

const struct message messages_system[] = {
	/* errno names */
	{"errno", "EMFILE",
	 "The process has as many file descriptors as RLIMIT_NOFILE allows; of inotify_init, the "
	 "user "
	 "has as many instances as fs.inotify.max_user_instances allows.",
	 "F01 F08 F12 F03", "open(2), inotify_init(2)"},
	{"errno", "ENFILE", "The host has as many open files as fs.file-max allows.", "F02 F14 F15",
	 "open(2)"},
	{"errno", "ENOMEM",
	 "Of mmap, munmap and mprotect: the count of mappings, the address space, or the commit "
	 "limit. Of fork: the commit limit or a cgroup. Of mlock: RLIMIT_MEMLOCK.",
	 "M01 M16 M15 M13 M17", "mmap(2), fork(2), mlock(2)"},
	{"errno", "EAGAIN",
	 "Of fork and clone: RLIMIT_NPROC, pids.max, kernel.threads-max or kernel.pid_max. Of mmap "
	 "with MAP_LOCKED and of mlock: RLIMIT_MEMLOCK.",
	 "M23 M36 M32 M20", "fork(2), mmap(2)"},
	{"errno", "ENOSPC",
	 "A full disk or tmpfs. Of inotify_add_watch: fs.inotify.max_user_watches. Of epoll_ctl: "
	 "fs.epoll.max_user_watches.",
	 "P21 M27 P03", "write(2), inotify_add_watch(2), epoll_ctl(2)"},
	{"errno", "EPERM",
	 "Of mlock and mmap with MAP_LOCKED: RLIMIT_MEMLOCK is 0. Of perf_event_open and mmap of "
	 "its "
	 "buffer: kernel.perf_event_mlock_kb.",
	 "M20 M27", "mlock(2), perf_event_open(2)"},
	{"errno", "EBADF", "A file descriptor was used that is not open.", "F06 F08", "close(2)"},
	{"errno", "EFAULT", "A system call was given an address that is not mapped.", "M24",
	 "errno(3)"},
	{"errno", "ETOOMANYREFS", "Too many file descriptors are in flight over UNIX sockets.",
	 "F04 F01", "unix(7)"},
	/* signals and statuses */
	{"signal", "SIGBUS|signal 7|signal: 7|bus error",
	 "A mapped page has nothing behind it: the file was cut short, or its tmpfs or disk is "
	 "full.",
	 "P01 P02 P03 P04", "signal(7)"},
	{"signal", "SIGSEGV|signal 11|signal: 11|segfault",
	 "Memory was touched that is not mapped. It often follows a failed mapping, or the stack "
	 "ran "
	 "out.",
	 "M24 P18 M01", "signal(7)"},
	{"signal", "SIGKILL|signal 9|signal: 9|signal: killed|exited due to signal 9",
	 "SIGKILL cannot be handled: most often it is the OOM killer, of the host or of a cgroup.",
	 "P17 P22 P24", "signal(7)"},
	{"signal", "SIGABRT|signal 6|signal: 6|signal: aborted|Aborted (core dumped)",
	 "The program gave up by abort(), often because an allocation or a thread failed.",
	 "M24 M23 M01 M16", "signal(7)"},
	{"exit status",
	 "exit code 137|exit status 137|exited with code 137|code=137|exit code: 137|exitCode: "
	 "137|exitcode: -9|exitcode -9|returncode -9|returned non-zero exit status 137|died with "
	 "<Signals.SIGKILL: 9>|(code 137)|error 137|Error 137",
	 "128 + 9: SIGKILL, which is most often the OOM killer, of the host or of a container's "
	 "cgroup.",
	 "P17 P22 P24", "bash(1), EXIT STATUS"},
	{"exit status",
	 "exit code 139|exit status 139|exited with code 139|code=139|exit code: 139|exitCode: "
	 "139|exitcode: -11|exitcode -11|returncode -11|died with <Signals.SIGSEGV: 11>|Error 139",
	 "128 + 11: SIGSEGV. Memory was touched that is not mapped.", "M24 P18 M01",
	 "bash(1), EXIT STATUS"},
	{"exit status",
	 "exit code 135|exit status 135|exited with code 135|code=135|exit code: 135|exitCode: "
	 "135|exitcode: -7|exitcode -7|returncode -7|died with <Signals.SIGBUS: 7>|Error 135",
	 "128 + 7: SIGBUS. A mapped page has nothing behind it: a full tmpfs or disk, or a file "
	 "cut "
	 "short.",
	 "P01 P02 P03 P04", "bash(1), EXIT STATUS"},
	{"exit status",
	 "exit code 134|exit status 134|exited with code 134|code=134|exit code: 134|exitCode: "
	 "134|exitcode: -6|exitcode -6|returncode -6|died with <Signals.SIGABRT: 6>|Error 134",
	 "128 + 6: SIGABRT. The program gave up, often because an allocation or a thread failed.",
	 "M24 M23 M01 M16", "bash(1), EXIT STATUS"},
	{"shell", "Killed", "SIGKILL: most often the OOM killer.", "P17 P22 P24",
	 "strsignal(SIGKILL)"},
	{"shell",
	 "fork: retry: Resource temporarily unavailable|fork: Resource temporarily "
	 "unavailable|cannot fork: Resource temporarily unavailable|Cannot fork",
	 "The shell could not start a process: a limit of processes was reached.", "M23 M36 M32",
	 "bash jobs.c"},
	{"fork",
	 "fork: Cannot allocate memory|cannot fork: Cannot allocate memory|fork failed: Cannot "
	 "allocate memory|Cannot run program \"*\": error=12, Cannot allocate memory|Cannot run "
	 "program \"*\": *error=12|Failed to fork: Cannot allocate memory|fork() failed: Cannot "
	 "allocate memory|vfork: Cannot allocate memory|clone: Cannot allocate memory|posix_spawn "
	 "failed: Cannot allocate memory",
	 "fork failed with ENOMEM: the commit limit, or the memory of a cgroup.", "M17 M15 M34 M23",
	 "fork(2)"},
	{"shell",
	 "ulimit: open files: cannot modify limit: Operation not permitted|cannot modify limit: "
	 "Operation not permitted|ulimit: max user processes: cannot modify limit",
	 "The hard limit is lower than the value wanted.", "F12 M32", "bash ulimit"},
	/* systemd */
	{"systemd",
	 "Main process exited, code=killed, status=9/KILL|code=killed, status=9/KILL|status=9/KILL",
	 "A service was ended by SIGKILL: by the OOM killer, or by systemd after its stop timeout.",
	 "P17 P22 P24", "systemd src/core/service.c"},
	{"systemd",
	 "A process of this unit has been killed by the OOM killer.|Failed with result "
	 "'oom-kill'|result 'oom-kill'",
	 "The OOM killer ended a process of the service.", "P17 P22 P24",
	 "systemd src/core/unit.c"},
	{"systemd",
	 "Main process exited, code=dumped, status=7/BUS|status=7/BUS|code=killed, status=7/BUS",
	 "A service died of SIGBUS.", "P01 P02 P03 P04", "systemd src/core/service.c"},
	{"systemd", "Main process exited, code=dumped, status=11/SEGV|status=11/SEGV",
	 "A service died of SIGSEGV.", "M24 P18", "systemd src/core/service.c"},
	{"systemd", "Main process exited, code=dumped, status=6/ABRT|status=6/ABRT",
	 "A service gave up by abort().", "M24 M23 M16", "systemd src/core/service.c"},
	{"systemd",
	 "Failed to allocate directory watch: Too many open files|Failed to add watch on *: Too "
	 "many open files|Failed to create inotify object: Too many open files|Failed to watch *: "
	 "Too many open files|inotify_init1() failed: Too many open files|Failed to allocate "
	 "directory watch",
	 "inotify_init failed with EMFILE: fs.inotify.max_user_instances is reached.", "F03 F01",
	 "systemd, inotify_init(2)"},
	{"systemd",
	 "Failed to add a watch for *: inotify watch limit reached|inotify_add_watch(*) failed: No "
	 "space left on device|Failed to add * to inotify: No space left on device|inotify cannot "
	 "be used, reverting to polling: Too many open files|tail: inotify resources "
	 "exhausted|tail: inotify cannot be used|inotify_add_watch*No space left on device|upper "
	 "limit on inotify watches reached|Failed to watch *; upper limit on inotify watches "
	 "reached",
	 "The user has as many inotify watches, or instances, as the sysctls allow.", "M27 F03",
	 "inotify_add_watch(2); coreutils tail.c"},
	{"systemd",
	 "Failed to fork: Resource temporarily unavailable|Resources temporarily "
	 "unavailable*cgroup: fork rejected by pids controller|Failed to run '*' task: Resource "
	 "temporarily unavailable",
	 "The service could not start a process: TasksMax or RLIMIT_NPROC.", "M36 M23 M32",
	 "systemd src/core"},
	{"systemd-oomd",
	 "Killed * due to memory used (#) / total (#) and swap used (#) / total (#) being more "
	 "than|Killed * due to memory pressure for * being #% > #% for > #s with reclaim "
	 "activity|systemd-oomd killed # process(es) in this unit|systemd-oomd",
	 "systemd-oomd ended a cgroup for memory pressure or for used swap, before the kernel "
	 "would.",
	 "P23 P24 P22 P05", "systemd src/oom"},
	{"earlyoom",
	 "low memory! at or below SIGTERM limits|low memory! at or below SIGKILL limits|sending "
	 "SIGTERM to process # uid # \"*\": badness",
	 "earlyoom ended a process before the kernel's OOM killer would.", "P24 P19 P20",
	 "earlyoom"},
	{"sudo",
	 "sudo: unable to create sockets: Too many open files|sudo: account validation failure|su: "
	 "cannot set user id: Resource temporarily unavailable|cannot set user id: Resource "
	 "temporarily unavailable|setuid: Resource temporarily unavailable",
	 "The user has as many processes as RLIMIT_NPROC allows.", "M32 M23", "setuid(2)"},
	/* containers */
	{"Docker",
	 "OOMKilled|\"OOMKilled\": true|Reason: OOMKilled|reason: OOMKilled|Last State: Terminated "
	 "Reason: OOMKilled",
	 "The kernel's OOM killer ended a process of the container, at the limit of its memory "
	 "cgroup.",
	 "P22 P17 M34", "Docker and Kubernetes container status"},
	{"Kubernetes",
	 "The node was low on resource: memory|Evicted*low on resource: memory|Threshold quantity: "
	 "*, available: *memory|MemoryPressure|The node had condition: [MemoryPressure]",
	 "The kubelet evicted a pod because the node's memory ran short.", "P24 P19 P23 P17",
	 "kubelet pkg/kubelet/eviction"},
	{"Kubernetes",
	 "The node was low on resource: ephemeral-storage|Usage of EmptyDir volume \"*\" exceeds "
	 "the limit|Usage of EmptyDir volume",
	 "A volume is over its limit. One of medium Memory is a tmpfs, and counts as the pod's "
	 "memory.",
	 "P21 P22", "kubelet pkg/kubelet/eviction"},
	{"Kubernetes", "The node had condition: [PIDPressure]|PIDPressure|low on resource: pids",
	 "The node runs short of process ids.", "M36 M23 M32", "kubelet pkg/kubelet/eviction"},
	{"Kubernetes",
	 "System OOM encountered, victim process: *, pid: #|SystemOOM|System OOM encountered",
	 "The kernel's OOM killer ended a process because the whole node was short of memory.",
	 "P17 P24 P19", "kubelet pkg/kubelet/oom"},
	{"Kubernetes",
	 "fork/exec /usr/bin/runc: resource temporarily unavailable|failed to create shim "
	 "task*resource temporarily unavailable|OCI runtime create failed*resource temporarily "
	 "unavailable|runtime/cgo: pthread_create failed: Resource temporarily "
	 "unavailable|runc*pthread_create failed|runtime/cgo: pthread_create failed: Operation not "
	 "permitted",
	 "A container's process could not start: a limit of processes or threads, of its cgroup or "
	 "of the "
	 "host, was reached.",
	 "M36 M23 M32", "Go runtime/cgo; runc"},
	{"Kubernetes",
	 "container init was OOM-killed (memory limit too low?)|OCI runtime create "
	 "failed*container init was OOM-killed|container_linux.go*: starting container process "
	 "caused*cannot allocate memory|unable to apply cgroup configuration: *cannot allocate "
	 "memory",
	 "The container's limit of memory is too low even for its first process.", "P22 P17 M34",
	 "runc libcontainer"},
	{"Kubernetes",
	 "failed to create fsnotify watcher: too many open files|error creating file watcher: too "
	 "many open files|Failed to start ContainerManager*inotify|failed to create inotify|Failed "
	 "to create inotify: too many open files|inotify_init: too many open files",
	 "inotify_init failed with EMFILE: fs.inotify.max_user_instances of the node is reached.",
	 "F03 F01", "kubelet, kubectl logs, cAdvisor"},
	{"Docker",
	 "Error response from daemon: *too many open files|docker: Error*too many open "
	 "files|containerd*too many open files|dockerd*too many open files",
	 "The daemon has as many file descriptors as its RLIMIT_NOFILE allows.", "F01 F12 F08",
	 "Docker, containerd"},
	{"Docker",
	 "write /dev/shm/*: no space left on device|no space left on device: /dev/shm|/dev/shm: no "
	 "space left on device|--shm-size",
	 "The container's /dev/shm is full; it has 64 MiB unless --shm-size says more.", "P21 P01",
	 "docker run --shm-size"},
	/* the kernel's own lines */
	{"kernel",
	 "Out of memory: Killed process # (*) total-vm:#kB, anon-rss:#kB, file-rss:#kB, "
	 "shmem-rss:#kB|Out of memory: Killed process # (*)|Out of memory: Kill process # (*) "
	 "score # or sacrifice child|Out of memory: Kill process",
	 "The OOM killer ended a process because the whole host was short of memory.",
	 "P17 P24 P19", "Linux mm/oom_kill.c"},
	{"kernel",
	 "Memory cgroup out of memory: Killed process # (*)|Memory cgroup out of memory: Kill "
	 "process|Memory cgroup out of memory",
	 "The OOM killer ended a process because its memory cgroup was at its limit.",
	 "P22 P17 M34", "Linux mm/oom_kill.c"},
	{"kernel",
	 "* invoked oom-killer: gfp_mask=*|invoked "
	 "oom-killer|oom-kill:constraint=CONSTRAINT_NONE*|oom-kill:constraint=CONSTRAINT_MEMCG*|"
	 "oom-kill:constraint|oom_reaper: reaped process # (*)|oom_reaper",
	 "The OOM killer was called: constraint=CONSTRAINT_MEMCG means a cgroup's limit, "
	 "CONSTRAINT_NONE the whole host.",
	 "P17 P22 P24", "Linux mm/oom_kill.c"},
	{"kernel", "VFS: file-max limit # reached|file-max limit",
	 "The host has as many open files as fs.file-max allows.", "F02 F14 F15",
	 "Linux fs/file_table.c"},
	{"kernel", "cgroup: fork rejected by pids controller in *|fork rejected by pids controller",
	 "A cgroup has as many tasks as its pids.max allows.", "M36 M23 M37",
	 "Linux kernel/cgroup/pids.c"},
	{"kernel",
	 "mmap: * (#): VmData # exceed data ulimit #. Update limits or use boot option "
	 "ignore_rlimit_data|exceed data ulimit",
	 "A mapping was refused by RLIMIT_DATA.", "M14", "Linux mm/mmap.c"},
	{"kernel",
	 "__vm_enough_memory: pid: #, comm: *, bytes: # not enough memory for the "
	 "allocation|__vm_enough_memory: pid:|not enough memory for the allocation",
	 "The overcommit check refused a request: one too large (mode 0) or past the commit limit "
	 "(mode 2).",
	 "M16 M15 M17", "Linux mm/util.c"},
	{"kernel",
	 "*[#]: segfault at # ip # sp # error # in *|segfault at # ip # sp # error #|segfault at",
	 "A process touched memory that is not mapped. An address just below the stack is a stack "
	 "overflow; 0 is a NULL pointer.",
	 "M24 P18", "Linux arch/x86/mm/fault.c"},
	{"kernel",
	 "traps: * trap stack segment|traps: * general protection fault ip:# sp:# error:#|traps: "
	 "*[#] general protection",
	 "A process used an address that is none: an error of the program.", "M24",
	 "Linux arch/x86/kernel/traps.c"},
	{"kernel",
	 "MCE: Killing *:# due to hardware memory corruption fault at #|Memory failure: #: "
	 "recovery action for *|Memory failure: #:|hardware memory corruption|mce: [Hardware "
	 "Error]: Machine check|Uncorrected hardware memory error|soft offline: #",
	 "The hardware reported a memory error; the kernel took the page out of use.", "P04 K11",
	 "Linux mm/memory-failure.c"},
	{"kernel",
	 "EDAC MC#: # CE|EDAC MC#: # UE|EDAC*CE memory read error|{#}[Hardware Error]: Hardware "
	 "error from APEI|[Hardware Error]",
	 "The memory controller or the firmware reported hardware errors.", "K11 P04",
	 "Linux drivers/edac"},
	{"kernel",
	 "BUG: kernel NULL pointer dereference, address: #|BUG: unable to handle kernel NULL "
	 "pointer dereference at #|Unable to handle kernel NULL pointer dereference at virtual "
	 "address #|kernel NULL pointer dereference",
	 "The kernel used a NULL pointer.", "K02 K08 K01 K12", "Linux arch/*/mm/fault.c"},
	{"kernel",
	 "BUG: unable to handle page fault for address: #|BUG: unable to handle kernel paging "
	 "request at #|Unable to handle kernel paging request at virtual address #|unable to "
	 "handle page fault|unable to handle kernel paging request",
	 "The kernel touched an address that is not mapped.", "K02 K01 K05 K03 K04",
	 "Linux arch/*/mm/fault.c"},
	{"kernel",
	 "general protection fault, probably for non-canonical address #: #|general protection "
	 "fault: # [#]|general protection fault",
	 "The kernel used an address that is none: often a pointer out of freed or overwritten "
	 "memory.",
	 "K04 K02 K06", "Linux arch/x86/kernel/traps.c"},
	{"kernel",
	 "Kernel panic - not syncing: Out of memory: *panic_on_oom|Kernel panic - not syncing: "
	 "System is deadlocked on memory|Out of memory: compulsory panic_on_oom|System is "
	 "deadlocked on memory",
	 "Memory ran out, and the kernel is set to panic or had nothing left to end.", "P17 P24",
	 "Linux mm/oom_kill.c"},
	{"kernel",
	 "Kernel panic - not syncing: Fatal exception|Kernel panic - not syncing: Attempted to "
	 "kill init!|Kernel panic - not syncing",
	 "The kernel stopped. What it was is said by the lines before.", "K02 K06 K01",
	 "Linux kernel/panic.c"},
	{"kernel", "Oops: # [#] *SMP|Internal error: Oops: # [#]|Oops:",
	 "The kernel touched a bad address and ended the task.", "K02 K01 K04",
	 "Linux arch/*/kernel"},
	{"kernel",
	 "BUG: KASAN: use-after-free in *|BUG: KASAN: slab-use-after-free in *|BUG: KFENCE: "
	 "use-after-free *|KASAN: use-after-free|KASAN: slab-use-after-free|KASAN: "
	 "double-free|KFENCE: invalid free",
	 "A checker of the kernel saw the use of freed memory.", "K06 K04",
	 "Linux mm/kasan, mm/kfence"},
	{"kernel",
	 "BUG: KASAN: slab-out-of-bounds in *|BUG: KASAN: vmalloc-out-of-bounds in *|BUG: KASAN: "
	 "*|BUG: KFENCE: *|KASAN:|KFENCE:|UBSAN: array-index-out-of-bounds in *|UBSAN:",
	 "A checker of the kernel saw an access outside of an object.", "K06 K05",
	 "Linux mm/kasan, mm/kfence, lib/ubsan.c"},
	{"kernel",
	 "BUG: Bad page state in process * pfn:#|BUG: Bad page map in process *|BUG: Bad "
	 "rss-counter state mm:# type:*|BUG: Bad page state|BUG: Bad page map|BUG: Bad "
	 "rss-counter|BUG: non-zero pgtables_bytes on freeing mm",
	 "Pages or their counts in the kernel are corrupt.", "K07 K06 K11",
	 "Linux mm/page_alloc.c, mm/memory.c"},
	{"kernel",
	 "*: page allocation failure: order:#, mode:#(*)|page allocation failure: order:#|page "
	 "allocation failure",
	 "The kernel could not get pages in one piece, or none in time. Only what follows says "
	 "whether "
	 "that did harm.",
	 "K08 P08 P24", "Linux mm/page_alloc.c"},
	{"kernel",
	 "kernel stack overflow|BUG: stack guard page was hit at #|Kernel panic - not syncing: "
	 "corrupted stack end detected inside scheduler|corrupted stack end detected inside "
	 "scheduler|Insufficient stack space to handle exception!",
	 "A stack of the kernel overflowed.", "K09 K02", "Linux arch/*/kernel/traps.c"},
	{"kernel",
	 "INFO: task * blocked for more than # seconds.|blocked for more than # "
	 "seconds|hung_task_timeout_secs",
	 "A task waits in the kernel: for a disk or network file system, a lock, or memory.",
	 "P16 P23 P05", "Linux kernel/hung_task.c"},
	{"kernel",
	 "watchdog: BUG: soft lockup - CPU## stuck for #s!|soft lockup - CPU|rcu: INFO: rcu_sched "
	 "self-detected stall on CPU|rcu_sched detected stalls|rcu_preempt detected stalls",
	 "A CPU did not schedule for long. Direct reclaim under memory pressure is one cause of "
	 "many.",
	 "P05 P23 K06", "Linux kernel/watchdog.c, kernel/rcu"},
	{"kernel",
	 "swap_info_get: Bad swap file entry #|Unable to find swap-space signature|Write-error on "
	 "swap-device (*)|Read-error on swap-device (*)|Free swap = 0kB|swap_dup: Bad swap file "
	 "entry",
	 "Swap is full, broken, or its device fails.", "P20 P05 P24", "Linux mm/swapfile.c"},
	{"kernel",
	 "x86/split lock detection: #AC: *|TCP: out of memory -- consider tuning tcp_mem|TCP: too "
	 "many orphaned sockets|nf_conntrack: table full, dropping packet|neighbour: arp_cache: "
	 "neighbor table overflow!",
	 "A limit of the network stack, not one that faultscope watches.", "", "Linux net/"},
	{"kernel",
	 "perf: interrupt took too long (# > #), lowering kernel.perf_event_max_sample_rate to "
	 "#|failed to mmap with 1 (Operation not permitted)|Permission error mapping pages. "
	 "Consider increasing /proc/sys/kernel/perf_event_mlock_kb|Consider increasing "
	 "/proc/sys/kernel/perf_event_mlock_kb|kernel.perf_event_mlock_kb",
	 "perf's ring buffer is larger than perf_event_mlock_kb and RLIMIT_MEMLOCK allow.",
	 "M20 M27", "perf tools/perf/util/evlist.c"},
	/* tools */
	{"BPF",
	 "libbpf: *map create: *: Operation not permitted|failed to set rlimit|memlock*bpf|libbpf: "
	 "Error in bpf_create_map_xattr(*): Operation not permitted(-1)|bpf_create_map*Operation "
	 "not permitted|setrlimit(RLIMIT_MEMLOCK)|couldn't bump RLIMIT_MEMLOCK",
	 "Before Linux 5.11 BPF maps count against RLIMIT_MEMLOCK.", "M20 M28", "bpf(2)"},
	{"GnuPG",
	 "Warning: using insecure memory!|gpg: out of core in secure memory while allocating # "
	 "bytes",
	 "Memory could not be locked: RLIMIT_MEMLOCK.", "M20 M28", "libgcrypt secmem.c"},
	{"JACK",
	 "Cannot lock down # byte memory area (Cannot allocate memory)|cannot lock down memory for "
	 "jackd|Cannot lock down # byte memory area",
	 "Memory could not be locked: RLIMIT_MEMLOCK.", "M20 M28", "JACK libjack/client.c"},
	{"Vault",
	 "Failed to lock memory: cannot allocate memory|This usually means that the mlock syscall "
	 "is not available|Error initializing core: Failed to lock memory",
	 "mlockall failed: RLIMIT_MEMLOCK, or a missing capability.", "M20 M28",
	 "Vault vault/core.go"},
	{"VS Code",
	 "Visual Studio Code is unable to watch for file changes in this large workspace|unable to "
	 "watch for file changes in this large workspace",
	 "The user has as many inotify watches as fs.inotify.max_user_watches allows.", "M27 F03",
	 "Visual Studio Code documentation"},
	{"IntelliJ",
	 "External file changes sync may be slow: The current inotify(7) watch limit is too "
	 "low|inotify(7) watch limit is too low",
	 "The user has as many inotify watches as fs.inotify.max_user_watches allows.", "M27 F03",
	 "fsnotifier"},
	{"Dropbox",
	 "Unable to monitor entire Dropbox folder hierarchy|Syncthing*failed to start filesystem "
	 "watcher|Failed to start filesystem watcher|please increase inotify limits|run \"echo "
	 "fs.inotify.max_user_watches=",
	 "The user has as many inotify watches as fs.inotify.max_user_watches allows.", "M27 F03",
	 "Dropbox, Syncthing"},
	{"less known", "exec format error: Argument list too long|Argument list too long|E2BIG",
	 "The arguments and the environment of execve are larger than a quarter of the stack "
	 "limit, or "
	 "one is larger than 128 KiB.",
	 "M27", "execve(2)"},
	{"kernel",
	 "BUG #: Redzone overwritten|Right Redzone overwritten|Left Redzone overwritten|BUG * (*): "
	 "Poison overwritten|Poison overwritten|Object already free|Freelist corrupt|BUG: "
	 "corrupted list|list_del corruption|list_add corruption|kernel BUG at "
	 "lib/list_debug.c|refcount_t: underflow; use-after-free|refcount_t: addition on 0; "
	 "use-after-free|refcount_t: saturated; leaking memory|slab error in *|BUG: sleeping "
	 "function called from invalid context|usercopy: Kernel memory exposure attempt "
	 "detected|usercopy: Kernel memory overwrite attempt detected",
	 "A check of the kernel's own found memory that was used wrongly: freed twice, used after "
	 "it was "
	 "freed, or overwritten.",
	 "K06 K04 K07", "Linux mm/slub.c, lib/list_debug.c, lib/refcount.c"},
	{"kernel",
	 "kernel BUG at *:#!|WARNING: CPU: # PID: # at *|------------[ cut here ]------------",
	 "A check of the kernel's own failed: what it says stands in the lines that follow.",
	 "K06 K01 K02", "Linux lib/bug.c"},
	{"kernel",
	 "General protection fault in user access. Non-canonical "
	 "address?|ex_handler_uaccess|extable.c:#",
	 "The kernel used a bad address in a copy from or to user memory, and recovered.",
	 "K01 K02", "Linux arch/x86/mm/extable.c"},
	{"kernel",
	 "loading out-of-tree module taints kernel|module verification failed: signature and/or "
	 "required key missing - tainting kernel|module license '*' taints kernel",
	 "A module was loaded that is not part of the kernel: no error by itself.", "K12",
	 "Linux kernel/module"},
	{"kernel",
	 "EXT4-fs error (device *)|I/O error, dev *, sector #|Buffer I/O error on dev "
	 "*|print_req_error: I/O error|blk_update_request: I/O error|nvme*timeout, "
	 "aborting|ata#.#: failed command",
	 "A disk fails: mapped files on it cannot be read, which ends in SIGBUS.", "P16 P02 P20",
	 "Linux block/blk-core.c, fs/ext4"},
	{"kernel",
	 "nfs: server * not responding, still trying|nfs: server * not responding, timed out|ceph: "
	 "* hung|CIFS: VFS: * has not responded in # seconds",
	 "A network file system does not answer: faults on files mapped from it wait.", "P16",
	 "Linux net/sunrpc, fs"},
	{"systemd",
	 "Under memory pressure, flushing caches.|Under memory pressure|Memory pressure state "
	 "changed|memory pressure relieved",
	 "A service saw memory pressure of its cgroup or of the host.", "P23 P24 P22",
	 "systemd src/journal, systemd-oomd"},
	{"kswapd", "kswapd0 at #%|kswapd0 #%|kswapd0|kswapd uses",
	 "The kernel reclaims memory in the background all the time: what is in use does not fit.",
	 "P05 P06 P24", "Linux mm/vmscan.c"},
	{"df",
	 "shm #M #M # 100% /dev/shm|100% /dev/shm|#% /dev/shm|tmpfs * 100% /dev/shm|tmpfs # # 0 "
	 "100%",
	 "/dev/shm is full, or nearly so.", "P21 P01", "df(1)"},
};

const size_t nr_messages_system = sizeof(messages_system) / sizeof(messages_system[0]);

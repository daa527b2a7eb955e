// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages of language runtimes, of libraries, and of what machine learning runs on them. */
#include "rules/messages.h"

const struct message messages_runtimes[] = {
	/* PyTorch */
	{"PyTorch", "unable to mmap # bytes from file <*>: Cannot allocate memory (12)",
	 "PyTorch could not map shared memory for a tensor. The usual limit is vm.max_map_count: "
	 "each "
	 "shared tensor is a mapping of its own.",
	 "M01 M03 M16 M15 M13", "ATen/MapAllocator.cpp"},
	{"PyTorch", "unable to mmap # bytes from file", "PyTorch could not map shared memory.",
	 "M01 M03 M16 M15 M13", "ATen/MapAllocator.cpp"},
	{"PyTorch",
	 "unable to open shared memory object </torch_*> in read-write mode: Too many open files",
	 "A worker shares each tensor by a file descriptor, and the limit of open files was "
	 "reached.",
	 "F01 M03 F10 F02", "ATen/MapAllocator.cpp"},
	{"PyTorch", "unable to open shared memory object",
	 "PyTorch could not create or open a file in /dev/shm.", "F01 P21 M03 F02",
	 "ATen/MapAllocator.cpp"},
	{"PyTorch",
	 "unable to write to file </torch_*>: No space left on device|unable to write to file "
	 "</torch_*>",
	 "/dev/shm is full: PyTorch reserves the space of a tensor there before it maps it.",
	 "P21 P01 M03", "ATen/MapAllocator.cpp"},
	{"PyTorch",
	 "unable to allocate shared memory(shm) for file </torch_*>: Resource temporarily "
	 "unavailable|"
	 "unable to allocate shared memory(shm) for file",
	 "/dev/shm is full: PyTorch reserves the space of a tensor there before it maps it.",
	 "P21 P01 M03", "ATen/MapAllocator.cpp"},
	{"PyTorch", "unable to resize file </torch_*> to the right size",
	 "/dev/shm is full or its quota is used up.", "P21 P01 M03", "ATen/MapAllocator.cpp"},
	{"PyTorch",
	 "DataLoader worker (pid #) is killed by signal: Bus error|DataLoader worker (pid(s) #*) "
	 "is killed by signal: Bus error|It is possible that dataloader's workers are out of "
	 "shared memory",
	 "A worker wrote to a page of /dev/shm for which the tmpfs had no room left.",
	 "P01 P21 M03", "torch/utils/data/_utils/signal_handling.py"},
	{"PyTorch",
	 "DataLoader worker (pid #) is killed by signal: Killed|DataLoader worker (pid(s) #*) is "
	 "killed by signal: Killed",
	 "The worker was ended by SIGKILL, which is most often the OOM killer.", "P17 P22 P24",
	 "torch/utils/data/_utils/signal_handling.py"},
	{"PyTorch",
	 "DataLoader worker (pid #) is killed by signal: Segmentation fault|DataLoader worker "
	 "(pid(s) #*) is killed by signal: Segmentation fault",
	 "The worker touched memory that was not mapped.", "M24 P18 M01",
	 "torch/utils/data/_utils/signal_handling.py"},
	{"PyTorch",
	 "DataLoader worker (pid #) is killed by signal: Aborted|DataLoader worker (pid(s) #*) is "
	 "killed by signal: Aborted",
	 "A library in the worker gave up, often because an allocation or a thread failed.",
	 "M24 M23 M01", "torch/utils/data/_utils/signal_handling.py"},
	{"PyTorch",
	 "DataLoader worker (pid(s) #*) exited unexpectedly|DataLoader worker exited unexpectedly",
	 "A worker ended without an exception: by a signal, or because a system call failed.",
	 "P17 P01 F01 M01", "torch/utils/data/dataloader.py"},
	{"PyTorch", "received # items of ancdata",
	 "A message with file descriptors arrived without them: the receiver was at its limit of "
	 "open "
	 "files, so that the kernel dropped them.",
	 "F04 F01 M03",
	 "torch/multiprocessing/reductions.py; CPython multiprocessing/reduction.py"},
	{"PyTorch", "Too many open files. Communication with the workers is no longer possible",
	 "The DataLoader's parent or a worker reached the limit of open files.", "F01 M03 F10",
	 "torch/utils/data/dataloader.py"},
	{"PyTorch",
	 "DefaultCPUAllocator: can't allocate memory: you tried to allocate # "
	 "bytes|DefaultCPUAllocator: not enough memory: you tried to allocate # "
	 "bytes|DefaultCPUAllocator: can't allocate memory",
	 "The kernel did not commit to a large request of memory, or the process has too many "
	 "mappings.",
	 "M16 M15 M01 M13 M14", "c10/core/impl/alloc_cpu.cpp"},
	{"PyTorch", "dataloader",
	 "A DataLoader fails at one of these limits: room in /dev/shm, mappings, open files, "
	 "memory.",
	 "P01 M01 F01 M03 P17", "pytorch/pytorch#1355, #11201, #13246"},
	{"PyTorch",
	 "cannot pin memory|Cannot allocate memory in pin_memory|pin memory thread exited "
	 "unexpectedly",
	 "Pages could not be locked for transfers to a device.", "M20 M28 M01", "torch/utils/data"},
	/* CPython and its libraries */
	{"Python", "OSError: [Errno 24] Too many open files|[Errno 24] Too many open files",
	 "The process has as many file descriptors as RLIMIT_NOFILE allows.", "F01 F08 F12 F03",
	 "errno EMFILE"},
	{"Python",
	 "OSError: [Errno 23] Too many open files in system|[Errno 23] Too many open files in "
	 "system",
	 "The whole host has as many open files as fs.file-max allows.", "F02 F14 F15",
	 "errno ENFILE"},
	{"Python", "OSError: [Errno 12] Cannot allocate memory|[Errno 12] Cannot allocate memory",
	 "A system call failed with ENOMEM: fork, mmap or exec. That need not mean that memory is "
	 "short.",
	 "M17 M01 M16 M15 M13", "errno ENOMEM"},
	{"Python",
	 "OSError: [Errno 28] No space left on device: '/psm_*'|No space left on device: "
	 "'/psm_*'|No space left on device: '/mp-*'",
	 "/dev/shm is full: multiprocessing.shared_memory reserves its blocks there.", "P21 P01",
	 "CPython multiprocessing/shared_memory.py"},
	{"Python", "OSError: [Errno 28] inotify watch limit reached|inotify watch limit reached",
	 "The user has as many inotify watches as fs.inotify.max_user_watches allows.", "M27 F03",
	 "watchdog, inotify libraries"},
	{"Python",
	 "OSError: [Errno 24] inotify instance limit reached|inotify instance limit reached",
	 "The user has as many inotify instances as fs.inotify.max_user_instances allows.",
	 "F03 F01", "watchdog/observers/inotify_c.py"},
	{"Python",
	 "OSError: [Errno 11] Resource temporarily unavailable|BlockingIOError: [Errno 11] "
	 "Resource temporarily unavailable",
	 "fork or clone failed with EAGAIN: a limit of processes or threads was reached.",
	 "M23 M36 M32", "errno EAGAIN"},
	{"Python", "RuntimeError: can't start new thread|can't start new thread",
	 "pthread_create failed: by a limit of threads, or because a stack could not be mapped.",
	 "M23 M36 M01 M04 M22", "CPython Modules/_threadmodule.c"},
	{"Python",
	 "MemoryError|numpy.core._exceptions.MemoryError|_ArrayMemoryError: Unable to allocate # * "
	 "for an array with shape|Unable to allocate * for an array with shape",
	 "A request for memory failed. One large array is refused by the overcommit check; many "
	 "small "
	 "ones by the count of mappings or by RLIMIT_AS.",
	 "M16 M15 M13 M01 M14", "CPython Objects; numpy/core/_exceptions.py"},
	{"Python",
	 "OSError: [Errno 12] Cannot allocate memory: os.fork()|subprocess*Cannot allocate "
	 "memory|os.fork()*Cannot allocate memory|os.posix_spawn*Cannot allocate memory",
	 "fork asks the kernel to commit to all private memory of the parent once more.",
	 "M17 M15 M34", "CPython Modules/_posixsubprocess.c"},
	{"Python",
	 "A process in the process pool was terminated abruptly while the future was running or "
	 "pending|BrokenProcessPool",
	 "A worker was ended by a signal, most often SIGKILL of the OOM killer.", "P17 P22 P01 M24",
	 "CPython concurrent/futures/process.py"},
	{"Python", "Fatal Python error: Segmentation fault|Fatal Python error: Bus error",
	 "faulthandler caught a fault signal. A bus error is a mapped file or tmpfs without a "
	 "page; a "
	 "segmentation fault may follow a failed mapping.",
	 "P01 P02 M24 P18", "CPython Modules/faulthandler.c"},
	{"Python",
	 "Fatal Python error: Cannot recover from stack overflow|Fatal Python error: "
	 "_Py_CheckRecursiveCall",
	 "The C stack was used up by recursion.", "P18", "CPython Python/ceval.c"},
	{"Python",
	 "ValueError: filedescriptor out of range in select()|filedescriptor out of range in "
	 "select",
	 "select() cannot hold file descriptors of 1024 and above.", "F07 F08 F12",
	 "CPython Modules/selectmodule.c"},
	{"Python",
	 "mmap.error: [Errno 12]|OSError: [Errno 12]*mmap|numpy.memmap*Cannot allocate memory",
	 "A mapping failed: by the count of mappings, the address space, or the overcommit check.",
	 "M01 M13 M16 M15 M18", "CPython Modules/mmapmodule.c"},
	{"Ray",
	 "object store memory*/dev/shm|The object store is using /tmp instead of "
	 "/dev/shm|ObjectStoreFullError|Failed to put object*in object store because it is full",
	 "The object store's share of /dev/shm is used up or smaller than configured.",
	 "P21 P01 M34", "ray/_private/services.py"},
	{"Ray",
	 "Task was killed due to the node running low on memory|worker killed due to memory "
	 "pressure|OutOfMemoryError: * worker(s) were killed due to the node running low on memory",
	 "Ray's own monitor ended a worker before the kernel's OOM killer would have.",
	 "P24 P22 P23 P17", "ray/_private/memory_monitor.py"},
	{"Dask",
	 "Worker exceeded #% memory budget|distributed.nanny - WARNING - Worker "
	 "exceeded|KilledWorker",
	 "Dask's own memory budget of a worker was exceeded, or the worker was killed.",
	 "P24 P22 P17", "distributed/worker_memory.py"},
	{"TensorFlow", "Allocation of # exceeds #% of free system memory",
	 "One tensor needs a large part of the memory that is free; the OOM killer may follow.",
	 "P24 P17 M16", "tensorflow/core/framework/cpu_allocator_impl.cc"},
	{"R", "Error: cannot allocate vector of size # *|cannot allocate vector of size",
	 "A request for one vector failed: by a limit of the address space or the overcommit "
	 "check.",
	 "M16 M13 M15 M14", "R src/main/memory.c"},
	{"R",
	 "Error: C stack usage # is too close to the limit|C stack usage * is too close to the "
	 "limit",
	 "Recursion used most of the stack that ulimit -s allows.", "P18", "R src/main/errors.c"},
	{"Julia", "OutOfMemoryError()|ERROR: OutOfMemoryError",
	 "A request for memory failed: by the overcommit check, a limit or a cgroup.",
	 "M16 M13 M15 M01", "Julia src/gc.c"},
	/* C library, C++ and allocators */
	{"C", "Too many open files",
	 "A call failed with EMFILE: the process has as many file descriptors as RLIMIT_NOFILE "
	 "allows. inotify_init fails with it too, at fs.inotify.max_user_instances.",
	 "F01 F08 F12 F03", "strerror(EMFILE)"},
	{"C", "Too many open files in system",
	 "A call failed with ENFILE: the host has as many open files as fs.file-max allows.",
	 "F02 F14 F15", "strerror(ENFILE)"},
	{"C", "Cannot allocate memory",
	 "A call failed with ENOMEM. That is a limit more often than a lack of memory: mappings, "
	 "address space, commit limit.",
	 "M01 M16 M15 M13 M17", "strerror(ENOMEM)"},
	{"C", "Resource temporarily unavailable",
	 "A call failed with EAGAIN: of fork, clone and pthread_create that is a limit of "
	 "processes or "
	 "threads; of mlock RLIMIT_MEMLOCK.",
	 "M23 M36 M32 M20", "strerror(EAGAIN)"},
	{"C", "No space left on device",
	 "A call failed with ENOSPC: a full disk or tmpfs, or no inotify watch left for this user.",
	 "P21 P03 M27", "strerror(ENOSPC)"},
	{"C", "Bus error (core dumped)|Bus error",
	 "SIGBUS: a mapped page has nothing behind it. The file was cut short, or its tmpfs or "
	 "disk is "
	 "full.",
	 "P01 P02 P03 P04", "strsignal(SIGBUS)"},
	{"C", "Segmentation fault (core dumped)|Segmentation fault",
	 "SIGSEGV: memory was touched that is not mapped. It often follows a failed mapping, or "
	 "the "
	 "stack ran out.",
	 "M24 P18 M01", "strsignal(SIGSEGV)"},
	{"C++",
	 "terminate called after throwing an instance of 'std::bad_alloc'|std::bad_alloc|what():  "
	 "std::bad_alloc",
	 "operator new failed: malloc could not get memory from the kernel.", "M16 M13 M01 M15 M14",
	 "libstdc++"},
	{"C++",
	 "terminate called after throwing an instance of 'std::system_error' what(): Resource "
	 "temporarily unavailable|what():  Resource temporarily "
	 "unavailable|std::system_error*Resource temporarily unavailable",
	 "std::thread could not start a thread.", "M23 M36 M01 M04", "libstdc++"},
	{"glibc",
	 "malloc(): *|malloc_consolidate(): invalid chunk size|free(): invalid pointer|corrupted "
	 "size vs. prev_size|double free or corruption|munmap_chunk(): invalid pointer",
	 "glibc found that the heap was overwritten: an error of the program, no limit.", "",
	 "glibc malloc/malloc.c"},
	{"glibc",
	 "error while loading shared libraries: *: failed to map segment from shared object|failed "
	 "to map segment from shared object|cannot map zero-fill pages",
	 "The dynamic linker could not map a library: by RLIMIT_AS, the count of mappings, or a "
	 "file "
	 "system mounted noexec.",
	 "M13 M01 M16 M27", "glibc elf/dl-load.c"},
	{"glibc",
	 "*: cannot open shared object file: Error 24|cannot open shared object file: Too many "
	 "open files",
	 "The dynamic linker could not open a library: the limit of open files was reached.",
	 "F01 F02", "glibc elf/dl-load.c"},
	{"glibc",
	 "*** buffer overflow detected ***: terminated|*** bit out of range 0 - FD_SETSIZE on "
	 "fd_set ***",
	 "A checked call would have written beyond a buffer: with select() that is a file "
	 "descriptor of "
	 "1024 or above.",
	 "F07", "glibc debug/chk_fail.c, debug/fdelt_chk.c"},
	{"glibc",
	 "pthread_create*Resource temporarily unavailable|pthread_create failed "
	 "(EAGAIN)|pthread_create: Resource temporarily unavailable|pthread_create failed: "
	 "Resource temporarily unavailable",
	 "A thread could not start: by RLIMIT_NPROC, pids.max, kernel.threads-max, or because its "
	 "stack "
	 "could not be mapped.",
	 "M23 M36 M01 M04 M32", "pthread_create(3)"},
	{"jemalloc",
	 "<jemalloc>: Error in munmap(): Cannot allocate memory|<jemalloc>: Error in mmap(): err: "
	 "12|<jemalloc>: Error allocating*|<jemalloc>: Error in madvise",
	 "jemalloc could not split or make a mapping: munmap in the middle of one needs one "
	 "mapping "
	 "more.",
	 "M02 M01 M06", "jemalloc src/pages.c"},
	{"tcmalloc",
	 "tcmalloc: large alloc # bytes|tcmalloc: allocation failed # |MmapSysAllocator "
	 "failed|SbrkSysAllocator failed",
	 "tcmalloc asked for much memory at once, or could not get it.", "M16 M13 M01 M15",
	 "gperftools src/tcmalloc.cc"},
	{"mimalloc",
	 "mimalloc: error: unable to allocate OS memory|mimalloc: warning: unable to directly "
	 "request aligned OS memory|unable to allocate aligned OS memory|mimalloc: error: out of "
	 "memory",
	 "mimalloc could not map memory: often an address space limit or the count of mappings.",
	 "M01 M13 M16 M19", "mimalloc src/os.c"},
	{"AddressSanitizer",
	 "AddressSanitizer failed to allocate # bytes|ReserveShadowMemoryRange failed|Shadow "
	 "memory range interleaves|AddressSanitizer: Out of memory",
	 "The sanitizer maps terabytes of shadow memory, which ulimit -v, strict overcommit or a "
	 "cgroup forbids.",
	 "M13 M15 M01 M18", "compiler-rt lib/asan"},
	/* JVM */
	{"JVM",
	 "java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory or "
	 "process/resource limits reached|unable to create new native thread|unable to create "
	 "native thread",
	 "A thread could not start: by a limit of threads, or because its stack could not be "
	 "mapped.",
	 "M23 M36 M32 M01 M04", "OpenJDK jvm.cpp"},
	{"JVM",
	 "Failed to start thread \"*\" - pthread_create failed (EAGAIN)|pthread_create failed "
	 "(EAGAIN) for attributes: stacksize",
	 "A thread could not start: by a limit of threads, or because its stack could not be "
	 "mapped.",
	 "M23 M36 M32 M01 M04", "OpenJDK os_linux.cpp"},
	{"JVM",
	 "There is insufficient memory for the Java Runtime Environment to continue|Native memory "
	 "allocation (mmap) failed to map # bytes|Native memory allocation (malloc) failed to "
	 "allocate # bytes",
	 "The JVM could not map memory outside of its heap limit check: by the commit limit, the "
	 "count "
	 "of mappings, or a cgroup.",
	 "M01 M16 M15 M13 M05", "OpenJDK vmError.cpp"},
	{"JVM",
	 "os::commit_memory(#, #, #) failed; error='Not enough space' "
	 "(errno=12)|os::commit_memory(*) failed; error='Cannot allocate memory' "
	 "(errno=12)|os::commit_memory(*) failed|error='Not enough space' (errno=12)",
	 "mmap failed with ENOMEM when the heap was committed.", "M16 M15 M01 M13",
	 "OpenJDK os_linux.cpp"},
	{"JVM",
	 "Could not reserve enough space for object heap|Could not reserve enough space for # "
	 "object heap",
	 "The address space of the heap could not be reserved: by ulimit -v, or strict overcommit.",
	 "M13 M15 M18", "OpenJDK arguments.cpp"},
	{"JVM",
	 "The system limit on number of memory mappings per process might be too low for the given "
	 "max Java heap size|Failed to map memory (Not enough space)|Failed to commit memory (Not "
	 "enough space)",
	 "ZGC maps its heap in many pieces and warns that vm.max_map_count may not be enough.",
	 "M05 M01", "OpenJDK zMemory / zPhysicalMemoryBacking_linux.cpp"},
	{"JVM",
	 "java.io.IOException: Too many open files|java.net.SocketException: Too many open "
	 "files|java.nio.file.FileSystemException: *: Too many open files|(Too many open files)",
	 "The process has as many file descriptors as RLIMIT_NOFILE allows.", "F01 F08 F09 F12",
	 "OpenJDK, strerror(EMFILE)"},
	{"JVM",
	 "java.io.IOException: Map failed|Caused by: java.lang.OutOfMemoryError: Map "
	 "failed|OutOfMemoryError: Map failed",
	 "FileChannel.map failed: most often vm.max_map_count.", "M01 M09 M13 M18",
	 "OpenJDK FileChannelImpl.java"},
	{"JVM",
	 "java.io.IOException: User limit of inotify instances reached or too many open files",
	 "The user has as many inotify instances as fs.inotify.max_user_instances allows, or the "
	 "process as many file descriptors as it may.",
	 "F03 F01", "OpenJDK LinuxWatchService.java"},
	{"JVM",
	 "java.io.IOException: User limit of inotify watches reached|User limit of inotify watches "
	 "reached",
	 "The user has as many inotify watches as fs.inotify.max_user_watches allows.", "M27 F03",
	 "OpenJDK LinuxWatchService.java"},
	{"JVM",
	 "a fault occurred in a recent unsafe memory access operation in compiled Java "
	 "code|InternalError: a fault occurred in an unsafe memory access operation|SIGBUS (0x7) "
	 "at pc=|A fatal error has been detected by the Java Runtime Environment: SIGBUS",
	 "A mapped file was cut short, or its tmpfs or disk was full.", "P02 P01 P03",
	 "OpenJDK stubGenerator, jniExceptions"},
	{"JVM",
	 "Failed to reserve large pages memory|Failed to commit large "
	 "pages|os::reserve_memory_special*failed|Failed to reserve and commit memory using large "
	 "pages",
	 "There are too few huge pages in the pool.", "M19 M20", "OpenJDK os_linux.cpp"},
	{"JVM", "java.lang.OutOfMemoryError: Java heap space|GC overhead limit exceeded",
	 "The heap is at -Xmx: a limit of the JVM itself, not of the kernel. faultscope sees it "
	 "only "
	 "as memory of the process.",
	 "", "OpenJDK collectedHeap"},
	{"JVM", "java.lang.StackOverflowError",
	 "A thread used up its stack; the JVM catches the fault and throws this. It is recursion, "
	 "or "
	 "-Xss is too small.",
	 "P18", "OpenJDK sharedRuntime"},
	/* Go */
	{"Go",
	 "runtime: failed to create new OS thread (have # already; errno=11)|runtime: may need to "
	 "increase max user processes (ulimit -u)|runtime: failed to create new OS thread",
	 "A thread could not start: by RLIMIT_NPROC, pids.max or kernel.threads-max.",
	 "M23 M36 M32", "Go runtime/os_linux.go"},
	{"Go",
	 "fatal error: runtime: out of memory|runtime: out of memory: cannot allocate #-byte "
	 "block|runtime: cannot allocate memory|fatal error: runtime: cannot allocate memory",
	 "mmap failed with ENOMEM: by a limit of the address space, the commit limit, or the count "
	 "of "
	 "mappings.",
	 "M13 M15 M01 M16", "Go runtime/malloc.go"},
	{"Go",
	 "runtime: mmap: too much locked memory (check 'ulimit -l').|runtime: mmap: too much "
	 "locked memory",
	 "mmap failed with EAGAIN: memory is locked by mlockall and RLIMIT_MEMLOCK is reached.",
	 "M20 M28", "Go runtime/mem_linux.go"},
	{"Go",
	 "accept tcp *: accept4: too many open files; retrying in #ms|accept4: too many open "
	 "files; retrying|http: Accept error: accept tcp *: too many open files|accept: too many "
	 "open files",
	 "The server cannot accept connections: it has as many file descriptors as RLIMIT_NOFILE "
	 "allows.",
	 "F01 F05 F09 F08", "Go net/http/server.go"},
	{"Go",
	 "socket: too many open files|dial tcp *: socket: too many open files|open *: too many "
	 "open files|pipe2: too many open files",
	 "A call failed with EMFILE: the limit of open files was reached.", "F01 F08 F09",
	 "Go os, net"},
	{"Go", "fork/exec *: resource temporarily unavailable|fork/exec *: cannot allocate memory",
	 "A command could not start: by a limit of processes, or because memory was not committed.",
	 "M23 M36 M17 M15", "Go os/exec"},
	{"Go", "runtime: goroutine stack exceeds #-byte limit|fatal error: stack overflow",
	 "Go's own limit of a goroutine's stack: endless recursion, no limit of the kernel.", "P18",
	 "Go runtime/stack.go"},
	{"Go",
	 "unexpected fault address #|fatal error: fault [signal SIGBUS: bus error code=*|SIGBUS: "
	 "bus error|signal SIGBUS: bus error",
	 "A mapped file was cut short, or its tmpfs or disk was full.", "P02 P01 P03 P04",
	 "Go runtime/signal_unix.go"},
	{"Go",
	 "too many open files: inotify|fsnotify*too many open files|failed to create fsnotify "
	 "watcher: too many open files|failed to create watcher: too many open files",
	 "inotify_init failed with EMFILE: most often fs.inotify.max_user_instances.", "F03 F01",
	 "fsnotify, Kubernetes kubelet and kubectl"},
	/* Node.js */
	{"Node.js",
	 "Error: EMFILE: too many open files, open '*'|EMFILE: too many open files|Error: EMFILE",
	 "The process has as many file descriptors as RLIMIT_NOFILE allows. When it watches files, "
	 "the limit is fs.inotify.max_user_instances.",
	 "F01 F03 F08 F12", "libuv, errno EMFILE"},
	{"Node.js",
	 "Error: EMFILE: too many open files, watch '*'|EMFILE: too many open files, watch",
	 "inotify_init failed with EMFILE: most often fs.inotify.max_user_instances.", "F03 F01",
	 "libuv src/unix/linux.c"},
	{"Node.js",
	 "Error: ENOSPC: System limit for number of file watchers reached, watch '*'|ENOSPC: "
	 "System limit for number of file watchers reached|System limit for number of file "
	 "watchers reached",
	 "The user has as many inotify watches as fs.inotify.max_user_watches allows.", "M27 F03",
	 "Node.js lib/internal/fs/watchers.js"},
	{"Node.js",
	 "Error: ENFILE: file table overflow|ENFILE: file table overflow|file table overflow",
	 "The host has as many open files as fs.file-max allows.", "F02 F14",
	 "libuv, errno ENFILE"},
	{"Node.js", "Error: spawn ENOMEM|spawn ENOMEM|spawn * ENOMEM",
	 "fork failed with ENOMEM: the kernel did not commit to the parent's memory again.",
	 "M17 M15 M34", "libuv src/unix/process.c"},
	{"Node.js", "Error: spawn EAGAIN|spawn EAGAIN|spawn * EAGAIN",
	 "fork failed with EAGAIN: a limit of processes was reached.", "M23 M36 M32",
	 "libuv src/unix/process.c"},
	{"Node.js",
	 "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of "
	 "memory|JavaScript heap out of memory",
	 "V8's own heap limit (--max-old-space-size): not a limit of the kernel.", "",
	 "Node.js src/node_errors.cc"},
	{"Node.js",
	 "Fatal process out of memory: Failed to reserve virtual memory|Fatal process OOM in "
	 "Failed to reserve memory|Fatal process out of memory: "
	 "SegmentedTable|WebAssembly.instantiate(): Out of memory: *Cannot allocate Wasm "
	 "memory|Out of memory: Cannot allocate Wasm memory for new instance",
	 "V8 reserves gigabytes of address space, which ulimit -v or strict overcommit forbids.",
	 "M13 M15 M18 M01", "V8 src/utils/allocation.cc"},
	/* .NET */
	{".NET",
	 "System.OutOfMemoryException|Exception of type 'System.OutOfMemoryException' was thrown",
	 "The runtime could not get memory: by its heap limit, a cgroup, or a failed mapping.",
	 "M07 M01 M13 M34", ".NET CoreLib"},
	{".NET",
	 "GC heap initialization failed with error 0x8007000E|Failed to create CoreCLR, HRESULT: "
	 "0x8007000E|HRESULT: 0x8007000E",
	 "The GC reserves much address space at its start, which ulimit -v or a container forbids.",
	 "M13 M15 M01 M07", ".NET src/coreclr/gc"},
	{".NET",
	 "The configured user limit (#) on the number of inotify instances has been reached, or "
	 "the per-process limit on the number of open file descriptors has been reached|configured "
	 "user limit (#) on the number of inotify instances",
	 "The user has as many inotify instances as fs.inotify.max_user_instances allows.",
	 "F03 F01", ".NET FileSystemWatcher.Linux.cs"},
	{".NET",
	 "The configured user limit (#) on the number of inotify watches has been "
	 "reached|configured user limit (#) on the number of inotify watches",
	 "The user has as many inotify watches as fs.inotify.max_user_watches allows.", "M27 F03",
	 ".NET FileSystemWatcher.Linux.cs"},
	{".NET",
	 "System.IO.IOException: Too many open files|System.Net.Sockets.SocketException (24): Too "
	 "many open files|SocketException (24)",
	 "The process has as many file descriptors as RLIMIT_NOFILE allows.", "F01 F08 F09",
	 ".NET, strerror(EMFILE)"},
	/* Rust */
	{"Rust",
	 "Os { code: 24, kind: Uncategorized, message: \"Too many open files\" }|Too many open "
	 "files (os error 24)|os error 24",
	 "The process has as many file descriptors as RLIMIT_NOFILE allows.", "F01 F08 F12 F03",
	 "Rust std::io::Error"},
	{"Rust", "Cannot allocate memory (os error 12)|code: 12, kind: OutOfMemory|os error 12",
	 "A system call failed with ENOMEM: mappings, address space or commit limit.",
	 "M01 M16 M15 M13 M17", "Rust std::io::Error"},
	{"Rust", "memory allocation of # bytes failed",
	 "malloc could not get memory from the kernel.", "M16 M13 M15 M01", "Rust std::alloc"},
	{"Rust",
	 "failed to spawn thread: Os { code: 11, kind: WouldBlock|Resource temporarily unavailable "
	 "(os error 11)|os error 11|failed to spawn thread",
	 "A thread could not start: by a limit of threads, or because its stack could not be "
	 "mapped.",
	 "M23 M36 M01 M04", "Rust std::thread"},
	{"Rust",
	 "thread '*' has overflowed its stack|has overflowed its stack|fatal runtime error: stack "
	 "overflow",
	 "Recursion used up the stack of a thread; Rust saw the fault on its guard page.", "P18",
	 "Rust std::sys::stack_overflow"},
	{"Rust",
	 "No file descriptors available (os error 24)|OS file watch limit reached. about|OS file "
	 "watch limit reached",
	 "inotify's limit of watches or of file descriptors was reached.", "F01 M27 F03",
	 "musl strerror; notify crate"},
	/* others */
	{"Erlang",
	 "eheap_alloc: Cannot allocate # bytes of memory (of type \"*\")|Cannot allocate # bytes "
	 "of memory (of type|Cannot reallocate # bytes of memory",
	 "The Erlang VM could not get memory: by the commit limit, ulimit -v, or a cgroup.",
	 "M16 M15 M13 M01", "Erlang/OTP erl_alloc.c"},
	{"Erlang",
	 "{error,emfile}|failed to create 'main' carrier|reason: emfile|System limit: EMFILE",
	 "The process has as many file descriptors as RLIMIT_NOFILE allows.", "F01 F08 F12",
	 "Erlang/OTP inet"},
	{"PHP",
	 "Allowed memory size of # bytes exhausted (tried to allocate # bytes)|Allowed memory size "
	 "of",
	 "PHP's own memory_limit: not a limit of the kernel.", "", "PHP Zend/zend_alloc.c"},
	{"PHP",
	 "mmap() failed: [12] Cannot allocate memory|mmap() huge page failed|mmap() failed: [12]",
	 "PHP could not map memory: by a cgroup-independent limit such as the count of mappings, "
	 "or no "
	 "huge page was free.",
	 "M01 M16 M13 M19", "PHP Zend/zend_alloc.c"},
	{"Ruby",
	 "failed to allocate memory (NoMemoryError)|NoMemoryError|Errno::ENOMEM|Cannot allocate "
	 "memory - fork(2) (Errno::ENOMEM)",
	 "A request for memory or a fork failed with ENOMEM.", "M17 M16 M13 M15 M01", "Ruby gc.c"},
	{"Ruby",
	 "Errno::EMFILE: Too many open files|Too many open files @ rb_sysopen|Errno::EMFILE",
	 "The process has as many file descriptors as RLIMIT_NOFILE allows.", "F01 F08 F12",
	 "Ruby io.c"},
	{"Ruby",
	 "can't create Thread: Resource temporarily unavailable (ThreadError)|can't create Thread: "
	 "Resource temporarily unavailable",
	 "A thread could not start.", "M23 M36 M32 M01", "Ruby thread.c"},
	{"Perl", "Out of memory!|panic: memory wrap|Out of memory during", "Perl's malloc failed.",
	 "M16 M13 M15 M14", "Perl util.c"},
	{"Java", "java.io.IOException: error=24, Too many open files|error=24, Too many open files",
	 "A command could not start: the limit of open files was reached.", "F01 F12 F08",
	 "OpenJDK ProcessImpl"},
	{"Rust",
	 "unexpectedly overflowed its stack|overflowed its stack|increase rustc's stack size",
	 "Recursion used up the stack of a thread.", "P18", "rustc"},
	{"Rust",
	 "failed to build IoUring|IoUring*Cannot allocate "
	 "memory|IoUring*OutOfMemory|io_uring_setup*errno 12",
	 "Before Linux 5.12 a ring's memory counts against RLIMIT_MEMLOCK.", "M20 M28",
	 "io-uring crate"},
	{"Node.js",
	 "(uv_thread_create(*)) == 0|uv_thread_create|Assertion `(0) == (uv_thread_create",
	 "A thread could not start.", "M23 M36 M32", "Node.js src/node_platform.cc"},
	{".NET",
	 "at "
	 "System.Threading.Thread.StartCore|Thread.StartCore|System.Threading.ThreadStartException|"
	 "Thread failed to start",
	 "A thread could not start.", "M23 M36 M32 M04", ".NET System.Private.CoreLib"},
	{".NET",
	 "Failed to create RW mapping for RX memory|This can be caused by insufficient memory or "
	 "hitting the limit of memory mappings on Linux (vm.max_map_count)",
	 "The runtime maps its code twice, and the count of mappings reached vm.max_map_count.",
	 "M07 M01", ".NET src/coreclr executableallocator.cpp"},
	{"glibc", "cannot allocate memory in static TLS block",
	 "The dynamic linker has no room left for thread-local data of a library that was loaded "
	 "late: "
	 "no limit of the kernel.",
	 "", "glibc elf/dl-tls.c"},
	{"glibc",
	 "failed to map segment from shared object: Operation not permitted|*: failed to map "
	 "segment from shared object: Operation not permitted",
	 "The library lies on a file system that is mounted noexec.", "M27", "glibc elf/dl-load.c"},
	{"WebAssembly",
	 "failed to create memory pool mapping|mmap failed to reserve # bytes|failed to reserve # "
	 "bytes*Cannot allocate memory|failed to reserve virtual memory|cannot reserve virtual "
	 "address space|unable to reserve * of address space",
	 "The runtime reserves much address space, which ulimit -v, strict overcommit or the size "
	 "of the "
	 "address space forbids.",
	 "M13 M18 M15", "wasmtime, V8, Go"},
	{"32 bit",
	 "Engine error: failed to allocate # bytes, out of memory|32-bit*out of memory|out of "
	 "memory (32-bit|Out of address space|virtual address space exhausted",
	 "A program of 32 bits has at most 4 GiB of address space.", "M18 M13", "mmap(2)"},
};

const size_t nr_messages_runtimes = sizeof(messages_runtimes) / sizeof(messages_runtimes[0]);

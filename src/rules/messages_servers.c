// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages of databases, search engines, web servers and proxies. */
#include "rules/messages.h"

const struct message messages_servers[] = {
	/* search engines */
	{"Elasticsearch",
	 "max virtual memory areas vm.max_map_count [#] is too low, increase to at least [#]|max "
	 "virtual memory areas vm.max_map_count [#] likely too low|max virtual memory areas "
	 "vm.max_map_count",
	 "The bootstrap check wants a higher vm.max_map_count: each segment file of an index is "
	 "mapped.",
	 "M09 M25 M01", "Elasticsearch and OpenSearch BootstrapChecks.java"},
	{"Elasticsearch",
	 "max file descriptors [#] for elasticsearch process is too low, increase to at least "
	 "[#]|max file descriptors [#] for opensearch process is too low|max file descriptors [#]",
	 "The bootstrap check wants a higher RLIMIT_NOFILE.", "F12 F01", "BootstrapChecks.java"},
	{"Elasticsearch",
	 "memory locking requested for elasticsearch process but memory is not locked|Unable to "
	 "lock JVM Memory: error=12,reason=Cannot allocate memory|Unable to lock JVM Memory: "
	 "error=12|Increase RLIMIT_MEMLOCK, soft limit: #",
	 "mlockall failed: RLIMIT_MEMLOCK is lower than the heap.", "M20 M28", "JNANatives.java"},
	{"Elasticsearch",
	 "max number of threads [#] for user [*] is too low, increase to at least [#]|max number "
	 "of threads [#] for user",
	 "The bootstrap check wants a higher RLIMIT_NPROC.", "M32 M23", "BootstrapChecks.java"},
	{"Elasticsearch",
	 "max size virtual memory [#] for user [*] is too low, increase to [unlimited]|max size "
	 "virtual memory [#]",
	 "RLIMIT_AS bounds what can be mapped.", "M13", "BootstrapChecks.java"},
	{"Lucene",
	 "this may be caused by lack of enough unfragmented virtual address space or too "
	 "restrictive virtual memory limits enforced by the operating system, preventing us to map "
	 "a chunk of # bytes|Map failed: MMapIndexInput(path=\"*\")|MMapIndexInput",
	 "Lucene could not map a file of its index.", "M01 M09 M13 M18",
	 "Lucene MappedByteBufferIndexInputProvider.java"},
	{"Solr", "Your open file limit is currently #|Your Max Processes Limit is currently #",
	 "The start script wants higher limits than the process has.", "F12 M32", "Solr bin/solr"},
	/* ClickHouse */
	{"ClickHouse",
	 "Allocator: Cannot mmap # *: , errno: 12, strerror: Cannot allocate memory|Cannot mmap # "
	 "*|DB::ErrnoException: Allocator: Cannot m",
	 "mmap failed with ENOMEM: vm.max_map_count, the commit limit or the address space.",
	 "M01 M16 M15 M06", "ClickHouse src/Common/Allocator.cpp"},
	{"ClickHouse",
	 "Maximum number of memory mappings*vm.max_map_count|It looks like the number of memory "
	 "mappings is|Linux is not using a fast clock source|maximum number of threads is lower "
	 "than",
	 "ClickHouse warns at its start of limits that are too low for it.", "M25 M32 M09",
	 "ClickHouse programs/server/Server.cpp"},
	{"ClickHouse",
	 "Cannot schedule a task: failed to start the thread|Cannot schedule a task: cannot "
	 "allocate thread|no free thread (timeout=",
	 "A thread could not start.", "M23 M36 M01 M32", "ClickHouse src/Common/ThreadPool.cpp"},
	{"ClickHouse",
	 "Memory limit (total) exceeded: would use #|Memory limit (for query) "
	 "exceeded|MEMORY_LIMIT_EXCEEDED",
	 "ClickHouse's own limit of memory: it protects the server from the OOM killer.", "P24 P22",
	 "ClickHouse src/Common/MemoryTracker.cpp"},
	{"ClickHouse",
	 "Cannot open file *, errno: 24, strerror: Too many open files|errno: 24, strerror: Too "
	 "many open files",
	 "The process has as many file descriptors as RLIMIT_NOFILE allows.", "F01 F12 F08",
	 "ClickHouse src/IO"},
	/* Redis and friends */
	{"Redis",
	 "Can't save in background: fork: Cannot allocate memory|Can't save in background: "
	 "fork|Background save*fork: Cannot allocate memory|Can't rewrite append only file in "
	 "background: fork: Cannot allocate memory",
	 "fork failed: the kernel did not commit to the parent's memory again "
	 "(vm.overcommit_memory).",
	 "M17 M15", "Redis src/rdb.c"},
	{"Redis",
	 "WARNING overcommit_memory is set to 0! Background save may fail under low memory "
	 "condition|WARNING Memory overcommit must be enabled!|overcommit_memory is set to 0",
	 "Redis warns that fork may fail, because the kernel has to commit to its memory twice.",
	 "M17", "Redis src/syscheck.c"},
	{"Redis",
	 "WARNING you have Transparent Huge Pages (THP) support enabled in your kernel|Transparent "
	 "Huge Pages (THP) support enabled",
	 "With huge pages each write after a fork copies 2 MiB.", "P09 P08",
	 "Redis src/syscheck.c"},
	{"Redis",
	 "You requested maxclients of # requiring at least # max file descriptors|Server can't set "
	 "maximum open files to # because of OS error|Current maximum open files is #. maxclients "
	 "has been reduced to #",
	 "RLIMIT_NOFILE is lower than what maxclients needs.", "F12 F01", "Redis src/server.c"},
	{"Redis",
	 "Accepting client connection: accept: Too many open files|Error accepting a client "
	 "connection: accept: Too many open files",
	 "The server cannot accept connections: the limit of open files was reached.",
	 "F01 F05 F12", "Redis src/networking.c"},
	{"Redis", "OOM command not allowed when used memory > 'maxmemory'|OOM command not allowed",
	 "Redis' own maxmemory: not a limit of the kernel.", "", "Redis src/server.c"},
	{"Redis",
	 "Out Of Memory allocating # bytes!|Redis aborting for OUT OF MEMORY|Guru Meditation: "
	 "Redis aborting for OUT OF MEMORY",
	 "malloc failed: the kernel gave no memory.", "M16 M15 M13 M01", "Redis src/server.c"},
	{"Memcached",
	 "failed to allocate memory*-k|warning: -k invalid, mlockall() failed: Cannot allocate "
	 "memory|mlockall() failed: Cannot allocate memory|mlockall failed: Cannot allocate memory",
	 "mlockall failed: RLIMIT_MEMLOCK is lower than the memory to lock.", "M20 M28",
	 "memcached.c, mlockall(2)"},
	{"Memcached",
	 "failed to set rlimit for open files. Try starting as root or requesting smaller maxconns "
	 "value|failed to set rlimit for open files",
	 "The hard limit of open files is lower than the connections wanted.", "F12 F01",
	 "memcached.c"},
	/* PostgreSQL */
	{"PostgreSQL",
	 "FATAL: could not map anonymous shared memory: Cannot allocate memory|could not map "
	 "anonymous shared memory: Cannot allocate memory|This error usually means that "
	 "PostgreSQL's request for a shared memory segment exceeded available memory, swap space, "
	 "or huge pages",
	 "shared_buffers could not be mapped: too few huge pages, or more than the commit limit.",
	 "M19 M16 M15 M34", "PostgreSQL src/backend/port/sysv_shmem.c"},
	{"PostgreSQL",
	 "could not resize shared memory segment \"*\" to # bytes: No space left on device|could "
	 "not resize shared memory segment",
	 "/dev/shm is full: parallel queries keep their shared memory there, and a container's "
	 "default "
	 "is 64 MiB.",
	 "P21 P01", "PostgreSQL src/backend/storage/ipc/dsm_impl.c"},
	{"PostgreSQL",
	 "could not fork new process for connection: Cannot allocate memory|could not fork "
	 "autovacuum worker process: Cannot allocate memory|could not fork * process: Cannot "
	 "allocate memory",
	 "fork failed with ENOMEM: strict overcommit or a cgroup.", "M17 M15 M34",
	 "PostgreSQL src/backend/postmaster/postmaster.c"},
	{"PostgreSQL",
	 "could not fork new process for connection: Resource temporarily unavailable|could not "
	 "fork * process: Resource temporarily unavailable",
	 "fork failed with EAGAIN: a limit of processes was reached.", "M23 M36 M32",
	 "PostgreSQL src/backend/postmaster/postmaster.c"},
	{"PostgreSQL",
	 "server process (PID #) was terminated by signal 9: Killed|was terminated by signal 9: "
	 "Killed|terminated by signal 9",
	 "A backend was ended by SIGKILL, which is most often the OOM killer.", "P17 P22 P24",
	 "PostgreSQL src/backend/postmaster/postmaster.c"},
	{"PostgreSQL",
	 "server process (PID #) was terminated by signal 7: Bus error|was terminated by signal 7: "
	 "Bus error|terminated by signal 7",
	 "A backend touched shared memory with nothing behind it: too few huge pages in its "
	 "cgroup, or "
	 "a full tmpfs.",
	 "M19 P01 P02", "PostgreSQL src/backend/postmaster/postmaster.c"},
	{"PostgreSQL",
	 "out of file descriptors: Too many open files; release and retry|out of file descriptors: "
	 "Too many open files in system; release and retry|out of file descriptors",
	 "The limit of open files of the process, or of the whole host, was reached.",
	 "F02 F01 F14", "PostgreSQL src/backend/storage/file/fd.c"},
	{"PostgreSQL",
	 "insufficient file descriptors available to start server process|max_safe_fds",
	 "RLIMIT_NOFILE is too low for the server.", "F12 F01", "PostgreSQL fd.c"},
	{"PostgreSQL",
	 "ERROR: out of memory DETAIL: Failed on request of size #|Failed on request of size # in "
	 "memory context|out of memory*Failed on request of size",
	 "malloc failed: under strict overcommit the commit limit is reached.", "M15 M16 M13",
	 "PostgreSQL src/backend/utils/mmgr/mcxt.c"},
	{"PostgreSQL", "stack depth limit exceeded",
	 "PostgreSQL's own max_stack_depth, which has to stay below ulimit -s.", "P18",
	 "PostgreSQL src/backend/tcop/postgres.c"},
	/* MySQL, MariaDB */
	{"MariaDB",
	 "InnoDB: Cannot allocate memory for the buffer pool|InnoDB: mmap(# bytes) failed; errno "
	 "12|InnoDB: Fatal error: cannot allocate memory for the buffer pool|mmap(# bytes) failed; "
	 "errno 12",
	 "The buffer pool could not be mapped: it is larger than what the kernel commits to, or "
	 "than "
	 "the pool of huge pages.",
	 "M16 M15 M19 M13", "MariaDB and MySQL storage/innobase/buf/buf0buf.cc"},
	{"MariaDB",
	 "Can't create a new thread (errno 11); if you are not out of available memory, you can "
	 "consult the manual for a possible OS-dependent bug|Can't create a new thread (errno "
	 "11|Can't create thread to handle new connection(errno= 11)|Can't create thread to handle "
	 "new connection",
	 "A thread could not start: by a limit of processes or tasks.", "M23 M36 M32 M01",
	 "MySQL ER_CANT_CREATE_THREAD"},
	{"MariaDB", "Error in accept: Too many open files|Error in accept",
	 "The server cannot accept connections: the limit of open files was reached.",
	 "F01 F05 F12", "MariaDB sql/mysqld.cc"},
	{"MariaDB",
	 "Could not increase number of max_open_files to more than # (request: #)|Could not "
	 "increase number of max_open_files|Changed limits: max_open_files: #|errno: 24 \"Too many "
	 "open files\"|Out of resources when opening file '*' (Errcode: 24|Errcode: 24",
	 "RLIMIT_NOFILE is lower than what the server's tables and connections need.", "F12 F01",
	 "MariaDB sql/mysqld.cc, mysys"},
	{"MariaDB",
	 "InnoDB: io_setup() failed with EAGAIN|InnoDB: Linux Native AIO*io_setup() "
	 "failed|io_setup() failed with EAGAIN",
	 "The host has as many asynchronous I/O requests as fs.aio-max-nr allows.", "M27",
	 "MySQL storage/innobase/os/os0file.cc"},
	{"MariaDB",
	 "io_uring_queue_init() failed with ENOMEM|io_uring_queue_init() failed with errno "
	 "12|io_uring failed: falling back to libaio|create_uring failed",
	 "The ring's memory could not be locked: RLIMIT_MEMLOCK.", "M20 M27", "MariaDB tpool"},
	/* MongoDB and stores */
	{"MongoDB",
	 "vm.max_map_count is too low|max_map_count: #, recommended minimum|Soft rlimits for open "
	 "file descriptors too low|soft rlimits too low",
	 "MongoDB warns at its start that a limit is low.", "F12 M25 M32",
	 "MongoDB src/mongo/db/startup_warnings_mongod.cpp"},
	{"MongoDB",
	 "pthread_create failed: Resource temporarily unavailable|Failed to create new service "
	 "entry worker thread|can't create new thread, closing connection|failed to create thread "
	 "after accepting new connection, closing connection",
	 "A thread for a connection could not start.", "M23 M36 M32 M01",
	 "MongoDB src/mongo/transport"},
	{"MongoDB",
	 "WiredTiger error (24)|__posix_open_file*: handle-open: open: Too many open files|Out of "
	 "file descriptors. Waiting one second before trying to accept more connections",
	 "The process has as many file descriptors as RLIMIT_NOFILE allows.", "F01 F12 F05",
	 "WiredTiger, MongoDB"},
	{"Cassandra",
	 "Maximum number of memory map areas per process (vm.max_map_count) # is too low, "
	 "recommended value: #|Maximum number of memory map areas per process",
	 "The start check wants a higher vm.max_map_count: each SSTable is mapped.", "M09 M25 M01",
	 "Cassandra StartupChecks.java"},
	{"Cassandra", "Unable to lock JVM memory (ENOMEM)|CLibrary.java*Unable to lock JVM memory",
	 "mlockall failed: RLIMIT_MEMLOCK is lower than the heap.", "M20 M28",
	 "Cassandra NativeLibrary.java"},
	{"LMDB",
	 "MDB_MAP_FULL: Environment mapsize limit reached|mdb_env_open: Cannot allocate "
	 "memory|lmdb.MemoryError|MDB_MAP_FULL",
	 "The map of LMDB is full, or its address space could not be reserved.", "M13 M16 M18",
	 "LMDB lmdb.h"},
	{"RocksDB",
	 "IO error: While open a file for random read: *: Too many open files|While mmap file|IO "
	 "error*Too many open files",
	 "RocksDB keeps a file descriptor, or a mapping, for each table file.", "F01 M09 F12",
	 "RocksDB env/io_posix.h"},
	{"Kafka",
	 "Error while accepting connection*java.io.IOException: Too many open "
	 "files|java.io.IOException: Map failed*kafka.log|kafka.log*Map "
	 "failed|kafka*OutOfMemoryError: Map failed",
	 "Kafka maps two index files for each log segment and keeps descriptors of all of them.",
	 "M01 M09 F01", "Kafka AbstractIndex"},
	{"etcd",
	 "bolt*mmap error: cannot allocate memory|mmap error: cannot allocate memory|mmap too "
	 "large",
	 "The store's file could not be mapped.", "M13 M16 M18", "bbolt db.go"},
	{"Prometheus",
	 "mmap: cannot allocate memory|mmap files, try 0: mmap: cannot allocate memory|opening "
	 "storage failed: *cannot allocate memory|opening storage failed: mmap files",
	 "Prometheus maps each block of its store; the address space, the count of mappings or the "
	 "commit limit is used up.",
	 "M01 M13 M09 M16", "Prometheus tsdb/fileutil"},
	/* web servers, proxies */
	{"nginx",
	 "accept4() failed (24: Too many open files)|accept() failed (24: Too many open "
	 "files)|open() \"*\" failed (24: Too many open files)|socket() failed (24: Too many open "
	 "files)*|(24: Too many open files)",
	 "A worker has as many file descriptors as worker_rlimit_nofile or RLIMIT_NOFILE allows.",
	 "F01 F05 F12", "nginx, errno EMFILE"},
	{"nginx",
	 "# worker_connections exceed open file resource limit: #|worker_connections exceed open "
	 "file resource limit",
	 "RLIMIT_NOFILE is lower than worker_connections.", "F12 F01",
	 "nginx src/event/ngx_event.c"},
	{"nginx",
	 "worker process # exited on signal 9|worker process # exited on signal 7|worker process # "
	 "exited on signal 11",
	 "A worker was ended by a signal: 9 is most often the OOM killer, 7 a bus error, 11 a "
	 "segmentation fault.",
	 "P17 P02 M24", "nginx src/os/unix/ngx_process.c"},
	{"nginx",
	 "mmap(MAP_ANON*MAP_SHARED, #) failed (12: Cannot allocate memory)|mmap(* #) failed (12: "
	 "Cannot allocate memory)|fork() failed while spawning \"worker process\" (12: Cannot "
	 "allocate memory)|(12: Cannot allocate memory)",
	 "nginx could not get memory: by the commit limit, ulimit -v or a cgroup.",
	 "M15 M17 M16 M13", "nginx, errno ENOMEM"},
	{"Apache",
	 "AH00159: fork: Unable to fork new process|(11)Resource temporarily unavailable: "
	 "AH00159|Resource temporarily unavailable: apr_thread_create: unable to create worker "
	 "thread|unable to create worker thread",
	 "A process or thread could not start.", "M23 M36 M32", "Apache httpd server/mpm"},
	{"Apache",
	 "(24)Too many open files: AH|(24)Too many open files|(12)Cannot allocate memory: "
	 "AH|(28)No space left on device: AH*semaphore|(28)No space left on device: Couldn't "
	 "create accept lock",
	 "A limit of open files, of memory or of System V semaphores was reached.", "F01 F12 M16",
	 "Apache httpd, APR"},
	{"HAProxy",
	 "[ALERT] Cannot raise FD limit to #, limit is #|Cannot raise FD limit to #|FD limit (#) "
	 "too low for maxconn=#/maxsock=#|[WARNING] FD limit (#) too low",
	 "RLIMIT_NOFILE's hard limit is lower than what maxconn needs.", "F12 F01",
	 "HAProxy src/haproxy.c"},
	{"HAProxy",
	 "Proxy * reached process FD limit (maxsock=#). Please check 'ulimit-n' and "
	 "restart|reached process FD limit",
	 "accept failed with EMFILE: the process's limit of open files was reached.", "F01 F05 F12",
	 "HAProxy src/listener.c"},
	{"HAProxy",
	 "Proxy * reached system FD limit (maxsock=#). Please check system tunables|reached system "
	 "FD limit",
	 "accept failed with ENFILE: the host's limit of open files was reached.", "F02 F14",
	 "HAProxy src/listener.c"},
	{"HAProxy",
	 "Proxy * reached system memory limit (maxsock=#). Please check system tunables|reached "
	 "system memory limit",
	 "accept failed for want of kernel memory.", "P24 P22", "HAProxy src/listener.c"},
	{"Envoy",
	 "Too many open files*envoy|envoy*reached max open files|bound: too many open "
	 "files|[critical]*Too many open files",
	 "The process has as many file descriptors as RLIMIT_NOFILE allows.", "F01 F12",
	 "Envoy, errno EMFILE"},
	{"OpenSSH",
	 "fatal: fork of unprivileged child failed|error: fork: Resource temporarily "
	 "unavailable|-bash: fork: retry: Resource temporarily unavailable|fork: retry: Resource "
	 "temporarily unavailable|fork: retry: No child processes",
	 "A shell or a server could not start another process.", "M23 M36 M32",
	 "bash jobs.c, OpenSSH"},
	{"Git",
	 "fatal: mmap failed: Cannot allocate memory|fatal: Out of memory, malloc failed (tried to "
	 "allocate # bytes)|fatal: packfile * cannot be mapped: Cannot allocate memory|cannot be "
	 "mapped: Cannot allocate memory",
	 "A pack could not be mapped: by ulimit -v, a cgroup or the commit limit.", "M13 M16 M01",
	 "Git packfile.c"},
	{"GCC",
	 "virtual memory exhausted: Cannot allocate memory|cc1plus: out of memory allocating # "
	 "bytes after a total of # bytes|out of memory allocating # bytes",
	 "The compiler's request for memory failed: by ulimit -v or the commit limit.",
	 "M13 M15 M16", "GCC libiberty xmalloc.c"},
	{"GCC",
	 "fatal error: Killed signal terminated program cc1plus|Killed signal terminated program "
	 "cc1|internal compiler error: Killed (program cc1plus)|collect2: fatal error: ld "
	 "terminated with signal 9 [Killed]|ld terminated with signal 9|c++: fatal error: Killed",
	 "The compiler or the linker was ended by SIGKILL, which is most often the OOM killer.",
	 "P17 P24 P22", "GCC gcc.c"},
	{"GCC",
	 "ld: final link failed: No space left on device|ld terminated with signal 7 [Bus "
	 "error]|terminated with signal 7",
	 "The linker maps its output: a full disk or tmpfs ends it by a bus error.", "P03 P01 P21",
	 "binutils, GCC collect2"},
	{"Samba",
	 "rlimit_max: increasing rlimit_max (#) to minimum Windows limit (16384)|increasing "
	 "rlimit_max",
	 "Samba needs more file descriptors than RLIMIT_NOFILE allows.", "F12 F01",
	 "Samba source3/param"},
	{"QEMU",
	 "cannot set up guest memory 'pc.ram': Cannot allocate memory|cannot set up guest "
	 "memory|qemu*os_mem_prealloc: Insufficient free host memory pages available to allocate "
	 "guest RAM|Insufficient free host memory pages available to allocate guest RAM|unable to "
	 "map backing store for guest RAM: Cannot allocate memory|unable to map backing store for "
	 "guest RAM",
	 "The guest's memory could not be mapped: it exceeds the commit limit, or too few huge "
	 "pages are "
	 "free.",
	 "M19 M16 M15 M34", "QEMU softmmu/physmem.c, util/oslib-posix.c"},
	{"QEMU",
	 "VFIO_MAP_DMA failed: Cannot allocate memory|vfio_dma_map(*) = -12 (Cannot allocate "
	 "memory)|VFIO_MAP_DMA: -12|vfio_dma_map",
	 "Pages of the guest could not be locked for a device: RLIMIT_MEMLOCK.", "M20 M21 M28",
	 "QEMU hw/vfio"},
	{"DPDK",
	 "EAL: No free hugepages reported in hugepages-#kB|EAL: No free # kB hugepages reported on "
	 "node #|EAL: Cannot get hugepage information|EAL: FATAL: Cannot init memory|EAL: Not "
	 "enough memory available!|Couldn't get fd on hugepage file",
	 "There are too few huge pages in the pool.", "M19", "DPDK lib/eal"},
	{"Ceph",
	 "tcmalloc*ceph|HealthMsg: * daemons have exceeded|bluestore*Too many open "
	 "files|filestore*Too many open files|unable to open file: (24) Too many open files|(24) "
	 "Too many open files",
	 "The daemon has as many file descriptors as RLIMIT_NOFILE allows.", "F01 F12",
	 "Ceph, errno EMFILE"},
	{"MariaDB",
	 "InnoDB: HugeTLB: Warning: Failed to allocate # bytes. errno 12|InnoDB HugeTLB: Warning: "
	 "Using conventional memory pool|HugeTLB: Warning: Failed to allocate",
	 "There are too few huge pages in the pool for the buffer pool.", "M19",
	 "MySQL storage/innobase/os/os0proc.cc"},
	{"QEMU",
	 "kvm_set_user_memory_region: *Cannot allocate memory|VIDIOC_REQBUFS*Cannot allocate "
	 "memory|error mmapping buffer #: Cannot allocate memory|mmap of device memory "
	 "failed|/dev/video#*Cannot allocate memory",
	 "A driver could not provide or map a buffer.", "M21 M27 K08", "Linux drivers/media, KVM"},
};

const size_t nr_messages_servers = sizeof(messages_servers) / sizeof(messages_servers[0]);

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages of devices and fast networks, of games, and of Windows, as far as they are the same. */
#include "rules/messages.h"

const struct message messages_devices[] = {
	/* RDMA, NCCL, MPI */
	{"libibverbs",
	 "libibverbs: Warning: RLIMIT_MEMLOCK is # bytes. This will severely limit memory "
	 "registrations.|RLIMIT_MEMLOCK is # bytes|This will severely limit memory registrations",
	 "Memory that is registered for RDMA is locked, and RLIMIT_MEMLOCK is low.", "M20 M28",
	 "rdma-core libibverbs/init.c"},
	{"libibverbs",
	 "ibv_reg_mr failed|ibv_reg_mr: Cannot allocate memory|Couldn't allocate "
	 "MR|ibv_reg_mr*errno 12|ibv_reg_mr*Cannot allocate memory|reg_mr",
	 "Memory could not be registered for RDMA: RLIMIT_MEMLOCK, or the device refused it.",
	 "M20 M21 M28 M01", "rdma-core ibv_reg_mr(3)"},
	{"libibverbs",
	 "ibv_create_cq failed|ibv_create_qp failed: Cannot allocate memory|Failed to create "
	 "cq|Failed to modify QP|Couldn't create CQ|ibv_create_*Cannot allocate "
	 "memory|ibv_create_qp*Cannot allocate memory",
	 "A queue could not be made: its memory is locked too, and the device has limits of its "
	 "own.",
	 "M20 M21 M28", "rdma-core"},
	{"NCCL",
	 "NCCL WARN Call to ibv_reg_mr failed|NCCL WARN Call to ibv_reg_mr_iova2 failed with error "
	 "Cannot allocate memory|NCCL WARN Call to ibv_create_cq failed|NCCL WARN Call to "
	 "ibv_create_qp failed|wrap_ibv_reg_mr",
	 "Memory could not be registered for RDMA: most often RLIMIT_MEMLOCK.", "M20 M21 M28",
	 "NCCL src/misc/ibvwrap.cc"},
	{"NCCL",
	 "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-* (size #)|Error "
	 "while creating shared memory segment|NCCL WARN Error: failed to extend /dev/shm/nccl-* "
	 "to # bytes|NCCL WARN Call to posix_fallocate failed : No space left on device|failed to "
	 "extend /dev/shm/nccl|Call to posix_fallocate failed",
	 "/dev/shm is full: NCCL keeps the buffers of each connection on a host there.", "P21 P01",
	 "NCCL src/misc/shmutils.cc"},
	{"NCCL",
	 "NCCL WARN Call to shm_open failed|NCCL WARN Call to mmap failed*|NCCL WARN Cuda failure "
	 "'out of memory'*host|NCCL WARN Call to shmat failed|NCCL WARN Failed to mmap",
	 "Shared memory could not be opened or mapped.", "P21 F01 M01",
	 "NCCL src/misc/shmutils.cc"},
	{"NCCL",
	 "NCCL WARN Call to socket failed: Too many open files|NCCL WARN Call to accept failed: "
	 "Too many open files|NCCL WARN*Too many open files",
	 "The process has as many file descriptors as RLIMIT_NOFILE allows: each pair of ranks has "
	 "sockets of its own.",
	 "F01 F12", "NCCL src/misc/socket.cc"},
	{"NCCL",
	 "NCCL WARN pthread_create failed|NCCL WARN Proxy*pthread_create|pthread_create() failed: "
	 "Resource temporarily unavailable",
	 "A thread could not start.", "M23 M36 M32", "NCCL src/proxy.cc"},
	{"Open MPI",
	 "The OpenFabrics (openib) BTL failed to initialize while trying to allocate some locked "
	 "memory|failed to initialize while trying to allocate some locked memory|registering "
	 "physical memory limits|Registerable memory: # MiB",
	 "Memory could not be locked for RDMA: RLIMIT_MEMLOCK.", "M20 M28",
	 "Open MPI help-mpi-btl-openib.txt"},
	{"Open MPI",
	 "Out of resources: all # communication IDs have been used|It appears as if there is not "
	 "enough space for */vader_segment|not enough space for * (the shared-memory backing "
	 "file)|A system call failed during shared memory initialization*shared memory backing "
	 "file|vader_segment|opal_shmem*posix_fallocate",
	 "/dev/shm or the session directory is full.", "P21 P01",
	 "Open MPI help-opal-shmem-mmap.txt"},
	{"UCX",
	 "UCX  ERROR ibv_reg_mr(*) failed: Cannot allocate memory|ibv_exp_reg_mr(*) failed|UCX  "
	 "ERROR Failed to allocate memory pool|UCX*Please set max locked memory (ulimit -l) to "
	 "'unlimited'|set max locked memory (ulimit -l) to 'unlimited'",
	 "Memory could not be registered for RDMA: RLIMIT_MEMLOCK.", "M20 M28 M21",
	 "UCX src/uct/ib"},
	{"UCX",
	 "UCX  ERROR shm_open(*) failed: No space left on device|UCX  ERROR Not enough memory to "
	 "write total of # bytes|Please check that /dev/shm or the directory you specified has "
	 "more available memory|posix_mem_*No space left",
	 "/dev/shm is full.", "P21 P01", "UCX src/uct/sm/mm/posix"},
	{"Gloo",
	 "[enforce fail at * .] *Cannot allocate memory|gloo*Too many open files|Gloo "
	 "connectFullMesh failed*Too many open files|gloo::EnforceNotMet*open files",
	 "The process has as many file descriptors as RLIMIT_NOFILE allows, or memory was refused.",
	 "F01 M01 M16", "Gloo"},
	/* GPUs */
	{"CUDA",
	 "CUDA error: out of memory*cudaHostAlloc|cudaHostAlloc*out of "
	 "memory|cudaErrorMemoryAllocation*cudaMallocHost|cudaMallocHost "
	 "failed|cudaHostRegister*out of memory|cudaHostRegister failed|cuMemHostAlloc "
	 "failed|cuMemHostRegister*|pinned_allocator*out of memory|pin_memory*CUDA error: out of "
	 "memory",
	 "Host memory could not be locked for transfers: too little of it, RLIMIT_MEMLOCK, or the "
	 "count "
	 "of mappings.",
	 "M20 M21 M34 P24 M01", "CUDA Runtime API, cudaHostAlloc"},
	{"CUDA",
	 "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate #|CUDA out of memory. "
	 "Tried to allocate|CUDA out of memory|CUDA_ERROR_OUT_OF_MEMORY: out of memory",
	 "The memory of the GPU is full, not the host's: faultscope does not see it. Only if it "
	 "comes "
	 "from cudaHostAlloc is it host memory.",
	 "", "PyTorch c10/cuda; CUDA Driver API"},
	{"CUDA",
	 "CUDA error: unknown error*mmap|CUDA initialization: *cuInit*out of memory|cuInit: out of "
	 "memory|cudaErrorInitializationError*cannot allocate|failed call to cuInit: "
	 "CUDA_ERROR_OUT_OF_MEMORY",
	 "The driver reserves much address space at its start, which ulimit -v or strict "
	 "overcommit "
	 "forbids.",
	 "M13 M15 M21", "CUDA Driver API, cuInit"},
	{"NVIDIA",
	 "NVRM: Xid (PCI:*): 31, pid=*, name=*, Ch #, intr #. MMU Fault|NVRM: Xid (PCI:#|NVRM: "
	 "Xid|MMU Fault: ENGINE",
	 "A GPU reported an error. Xid 31 is a fault of the GPU's own memory unit.", "K10 K11",
	 "NVIDIA Xid Errors"},
	{"NVIDIA",
	 "NVRM: os_alloc_contig_pages: *|NVRM: failed to allocate*|NVRM: VM: "
	 "nv_alloc_contig_pages|NVRM: nvidia_mmap: *failed|NVRM: VM: invalid mmap",
	 "The driver could not get memory in one piece, or refused a mapping.", "M21 K08 P08",
	 "NVIDIA open kernel modules"},
	{"AMD",
	 "amdgpu: [gfxhub] page fault (src_id:# ring:# vmid:# pasid:#*|[gfxhub0] no-retry page "
	 "fault|[mmhub] page fault|amdgpu*page fault|Memory access fault by GPU node-# (Agent "
	 "handle: #) on address #|Memory access fault by GPU node",
	 "The GPU touched an address that is not mapped for it.", "K10",
	 "Linux drivers/gpu/drm/amd"},
	{"AMD",
	 "hipErrorOutOfMemory*hipHostMalloc|hipHostMalloc "
	 "failed|HSA_STATUS_ERROR_OUT_OF_RESOURCES|hsa_amd_memory_lock*failed|HSA_STATUS_ERROR_OUT_"
	 "OF_RESOURCES: The runtime failed to allocate the necessary resources",
	 "The runtime could not lock host memory or make a queue.", "M20 M21 F01", "ROCR-Runtime"},
	{"drm",
	 "drmModeAddFB*failed: Cannot allocate memory|failed to mmap dumb buffer|[drm:*] *ERROR* "
	 "Failed to allocate|i915_gem_object_create*ENOMEM|DRM_IOCTL_*failed: Cannot allocate "
	 "memory|GEM object*Too many open files|dma-buf*Too many open files",
	 "A driver refused memory or a mapping.", "M21 M27 F01", "Linux drivers/gpu/drm"},
	/* disks and rings */
	{"io_uring",
	 "io_uring_queue_init: Cannot allocate memory|io_uring_setup: Cannot allocate "
	 "memory|io_uring_register*Cannot allocate "
	 "memory|io_uring_queue_init*ENOMEM|io_uring_setup*ENOMEM|failed to create io_uring: "
	 "ENOMEM|io_uring*RLIMIT_MEMLOCK",
	 "Before Linux 5.12 a ring's memory counts against RLIMIT_MEMLOCK; registered buffers "
	 "still do.",
	 "M20 M27 M28", "io_uring_setup(2), io_uring_register(2)"},
	{"libaio",
	 "io_setup: Resource temporarily unavailable|io_setup failed with EAGAIN|io_setup() "
	 "failed|fs.aio-max-nr",
	 "The host has as many asynchronous I/O requests as fs.aio-max-nr allows.", "M27",
	 "io_setup(2)"},
	{"SPDK",
	 "Could not find any free hugepages|spdk*Not enough memory|EAL: Cannot mmap memory for "
	 "rte_config|hugetlbfs: No space left on device|mmap: Cannot allocate "
	 "memory*hugetlb|MAP_HUGETLB|HugePages_Free: 0|huge page",
	 "There are too few huge pages in the pool or in the cgroup.", "M19",
	 "SPDK, Linux hugetlbfs"},
	{"FUSE",
	 "Transport endpoint is not connected|fuse: failed to open /dev/fuse|fusermount: *Too many "
	 "open files|fuse*blocked",
	 "A file system in user space is gone or does not answer.", "P16", "FUSE"},
	/* Wine, games */
	{"Wine",
	 "wine: *err:virtual:*mmap*failed|err:virtual:map_view|err:virtual:virtual_setup_exception "
	 "stack overflow|err:virtual:try_map_free_area mmap() error Cannot allocate memory|mmap() "
	 "error Cannot allocate memory|err:virtual:*Cannot allocate "
	 "memory|err:virtual:allocate_virtual_memory|err:virtual:",
	 "Wine could not map memory: most often vm.max_map_count.", "M12 M01 M18 M13",
	 "Wine dlls/ntdll/unix/virtual.c"},
	{"Wine",
	 "esync: up and running.|err:esync|eventfd: Too many open files|esync: failed to increase "
	 "FD limit|fsync: up and running|err:ntdll:*esync*|esync: warning: a place where a lot of "
	 "file descriptors are needed|esync",
	 "esync keeps an eventfd for each object of Windows: it needs a high limit of open files.",
	 "F11 F01 F12", "Wine/Proton esync"},
	{"Wine",
	 "wineserver: *Too many open files|wineserver: pipe: Too many open files|wineserver: too "
	 "many open files|wine client error:#: *Too many open files|wine client error:#: pipe: Too "
	 "many open files|wine client error",
	 "wineserver or a client has as many file descriptors as RLIMIT_NOFILE allows.", "F11 F01",
	 "Wine server"},
	{"Proton",
	 "DXVK: *Too many open files|err:   DxvkMemoryAllocator: Memory allocation "
	 "failed|DxvkMemoryAllocator: Memory allocation "
	 "failed|vkd3d*E_OUTOFMEMORY|E_OUTOFMEMORY|VK_ERROR_OUT_OF_HOST_MEMORY|VK_ERROR_MEMORY_MAP_"
	 "FAILED",
	 "A game could not map memory for the GPU: often vm.max_map_count, or the host's memory.",
	 "M12 M01 M21 P24", "DXVK, vkd3d-proton, Vulkan specification"},
	{"sysctl",
	 "vm.max_map_count|max_map_count|max map count|number of memory mappings|limit of memory "
	 "mappings",
	 "The limit of mappings of a process. Games under Wine, search engines and large heaps "
	 "need "
	 "more than the default of 65530.",
	 "M01 M25 M12 M09", "Documentation/admin-guide/sysctl/vm.rst"},
	{"Unity",
	 "Could not allocate memory: System out of memory!|DynamicHeapAllocator out of "
	 "memory|Trying to allocate: #B with # alignment. MemoryLabel|mono_gc*GC Warning: Failed "
	 "to expand heap by # bytes|Too many heap sections|GC Warning: Out of Memory! Returning "
	 "NULL|mmap(PROT_NONE) failed|GC Warning: Out of Memory",
	 "The garbage collector or the engine could not map memory.", "M01 M12 M16 M13",
	 "Unity player log; bdwgc"},
	{"Unreal Engine",
	 "Ran out of memory allocating # bytes with alignment #|Fatal error: *Ran out of memory "
	 "allocating|FUnixPlatformMemory::BinnedAllocFromOS|mmap(len=#, size=#) failed with errno "
	 "= 12 (Cannot allocate memory)|failed with errno = 12 (Cannot allocate memory)",
	 "The engine could not map memory: most often vm.max_map_count.", "M01 M12 M16",
	 "Unreal Engine Unix platform"},
	{"Steam",
	 "[S_API FAIL]*|setrlimit*steam*Too many open files|pressure-vessel*Too many open "
	 "files|pressure-vessel-wrap*Resource temporarily unavailable",
	 "The limit of open files or of processes was reached.", "F01 F12 F11", "Steam Runtime"},
	{"Chromium",
	 "FATAL:*Out of memory|[ERROR:*] Creating shared memory in /dev/shm/.org.chromium.* "
	 "failed: No space left on device|Creating shared memory in /dev/shm/* failed: No space "
	 "left on device|shared_memory*No space left on device|unable to allocate shared "
	 "memory|session deleted because of page crash|--disable-dev-shm-usage|DevToolsActivePort "
	 "file doesn't exist",
	 "/dev/shm is full, or too small in a container: the browser's tabs crash.", "P21 P01 P17",
	 "Chromium base/memory/platform_shared_memory_region_posix.cc"},
	{"Chromium",
	 "FATAL:*Too many open files|Check failed: *Too many open files|Failed to create shared "
	 "memory*Too many open files|base::*Too many open files|pthread_create: Resource "
	 "temporarily unavailable (11)|[FATAL:thread*",
	 "A limit of open files or of threads was reached.", "F01 M23 F12", "Chromium base/"},
	/* Windows, for those who look for the same on Linux */
	{"Windows",
	 "[WinError 1455] The paging file is too small for this operation to complete|WinError "
	 "1455|The paging file is too small for this operation to "
	 "complete|ERROR_COMMITMENT_LIMIT|STATUS_COMMITMENT_LIMIT|0xC000012D",
	 "A message of Windows: its commit limit (memory and paging file) is used up. On Linux the "
	 "same is "
	 "the commit limit of strict overcommit (vm.overcommit_memory=2), or one request too "
	 "large.",
	 "M15 M16 M30", "Windows system error codes"},
	{"Windows",
	 "PAGE_FAULT_IN_NONPAGED_AREA|PAGE_FAULT_IN_NONPAGED_AREA (0x50)|Stop code: "
	 "PAGE_FAULT_IN_NONPAGED_AREA|0x00000050|bug check 0x50|STOP 0x50",
	 "A stop of Windows: its kernel touched an address that is not mapped. On Linux the same "
	 "is an "
	 "oops: \"unable to handle page fault\".",
	 "K02 K01 K05 K04", "Windows bug check codes"},
	{"Windows",
	 "IRQL_NOT_LESS_OR_EQUAL|DRIVER_IRQL_NOT_LESS_OR_EQUAL|SYSTEM_SERVICE_EXCEPTION|KMODE_"
	 "EXCEPTION_NOT_HANDLED",
	 "A stop of Windows: a driver used a bad address. On Linux the same is an oops.",
	 "K02 K01 K12", "Windows bug check codes"},
	{"Windows",
	 "MEMORY_MANAGEMENT (0x1A)|Stop code: MEMORY_MANAGEMENT|PFN_LIST_CORRUPT|BAD_POOL_HEADER",
	 "A stop of Windows: its memory management found corruption. On Linux the same is \"BUG: "
	 "Bad page "
	 "state\".",
	 "K07 K06 K11", "Windows bug check codes"},
	{"Windows",
	 "0xC0000005|Access violation reading location|Access violation writing "
	 "location|STATUS_ACCESS_VIOLATION|exit code -1073741819",
	 "A message of Windows: an access violation. On Linux the same is SIGSEGV.", "M24 P18",
	 "Windows NTSTATUS values"},
	{"Windows",
	 "0xC0000017|STATUS_NO_MEMORY|Not enough memory resources are available to process this "
	 "command|WinError 8|[WinError 8]",
	 "A message of Windows: memory was refused. On Linux the same is ENOMEM.", "M16 M15 M01",
	 "Windows system error codes"},
	{"Windows", "0xC00000FD|STATUS_STACK_OVERFLOW|exit code -1073741571",
	 "A message of Windows: the stack ran out. On Linux the same is a SIGSEGV below the stack.",
	 "P18", "Windows NTSTATUS values"},
	{"Windows",
	 "WinError 10024|WSAEMFILE|Too many open sockets|ERROR_TOO_MANY_OPEN_FILES|The system "
	 "cannot open the file*(4)",
	 "A message of Windows: too many handles or sockets. On Linux the same is EMFILE.",
	 "F01 F08", "Windows Sockets error codes"},
	{"Windows", "STATUS_IN_PAGE_ERROR|0xC0000006|Exception code 0xc0000006",
	 "A message of Windows: a page of a mapped file could not be read. On Linux the same is "
	 "SIGBUS.",
	 "P02 P03 P16", "Windows NTSTATUS values"},
};

const size_t nr_messages_devices = sizeof(messages_devices) / sizeof(messages_devices[0]);

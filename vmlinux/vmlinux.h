/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's types as far as bpf/ reads them: only the fields it names, in any order, relocated
 * by CO-RE against the running kernel's BTF. tests/shape checks every one against real BTF.
 */
#ifndef FS_VMLINUX_H
#define FS_VMLINUX_H
#define __VMLINUX_H__ /* bpf_tracing.h: registers by their names in the kernel */

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
enum { false = 0, true = 1 };
typedef int pid_t;
typedef unsigned long size_t;
typedef __u64 u64;
typedef __u32 u32;
typedef __u16 u16;
typedef __u8 u8;
typedef __s64 s64;
typedef __s32 s32;

/* UAPI values: include/uapi/linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_USER_STACK = 256,
	BPF_F_USER_BUILD_ID = 2048,
	BPF_F_MMAPABLE = 1024,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
	BPF_RB_RING_SIZE = 1,
	BPF_TASK_ITER_ALL_PROCS = 0,
};

/* Values are relocated too: bpf_core_enum_value(). */
enum vm_event_item {
	PGFAULT,
	PGMAJFAULT,
	THP_FAULT_ALLOC,
};

enum vm_fault_reason {
	VM_FAULT_COMPLETED = 0x4000,
};

enum cgroup_subsys_id {
	memory_cgrp_id,
	pids_cgrp_id,
};
enum ucount_type {
	UCOUNT_USER_NAMESPACES,
	UCOUNT_PID_NAMESPACES,
	UCOUNT_UTS_NAMESPACES,
	UCOUNT_IPC_NAMESPACES,
	UCOUNT_NET_NAMESPACES,
	UCOUNT_MNT_NAMESPACES,
	UCOUNT_CGROUP_NAMESPACES,
	UCOUNT_TIME_NAMESPACES,
	UCOUNT_INOTIFY_INSTANCES,
	UCOUNT_INOTIFY_WATCHES,
	UCOUNT_FANOTIFY_GROUPS,
	UCOUNT_FANOTIFY_MARKS,
	UCOUNT_COUNTS,
};
enum rlimit_type {
	UCOUNT_RLIMIT_SIGPENDING = 2,
	UCOUNT_RLIMIT_MEMLOCK = 3,
};

struct vm_area_struct;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;
typedef atomic64_t atomic_long_t;

#if defined(__TARGET_ARCH_x86)
/* arch/x86/include/asm/ptrace.h */
struct pt_regs {
	unsigned long r15;
	unsigned long r14;
	unsigned long r13;
	unsigned long r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long r11;
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long ax;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long flags;
	unsigned long sp;
};

struct thread_info {
	u32 status; /* TS_COMPAT */
};

/* arch/x86/include/asm/processor.h */
struct thread_struct {
	unsigned long fsbase;	  /* base address of thread-local storage */
	unsigned long error_code; /* of the last fault that ended in a signal */
};
#elif defined(__TARGET_ARCH_arm64)
/* arch/arm64/include/asm/ptrace.h */
struct pt_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
	u64 orig_x0;
	s32 syscallno;
};

struct thread_info {
	unsigned long flags; /* TIF_32BIT */
};

/* arch/arm64/include/asm/processor.h */
struct thread_struct {
	struct {
		unsigned long tp_value; /* thread pointer: address of thread-local storage */
	} uw;
	unsigned long fault_code; /* ESR_EL1 of the last fault that ended in a signal */
};
#endif

struct percpu_counter {
	s64 count;
};

struct rw_semaphore {
	atomic_long_t count;
	atomic_long_t owner;
};

struct maple_tree {
	void *ma_root;
};

typedef struct {
	u16 pkey_allocation_map;
} mm_context_t;

struct mm_struct {
	struct maple_tree mm_mt;
	struct rw_semaphore mmap_lock;
	int map_count;
	unsigned long total_vm;
	unsigned long data_vm;
	unsigned long locked_vm;
	atomic64_t pinned_vm;
	unsigned long def_flags;
	unsigned long start_code;
	unsigned long start_data;
	unsigned long end_data;
	unsigned long start_brk;
	unsigned long brk;
	unsigned long task_size;
	void *pgd;
	atomic_long_t pgtables_bytes;
	struct percpu_counter rss_stat[4];
	mm_context_t context;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	const void *vm_ops;
	struct file *vm_file;
};

struct rlimit {
	unsigned long rlim_cur;
	unsigned long rlim_max;
};

struct seqcount {
	unsigned int sequence;
};
typedef struct seqcount seqcount_t;
struct seqcount_spinlock {
	seqcount_t seqcount;
};
typedef struct seqcount_spinlock seqcount_spinlock_t;
typedef struct {
	seqcount_spinlock_t seqcount;
} seqlock_t;

struct list_head {
	struct list_head *next, *prev;
};

struct signal_struct {
	short oom_score_adj;
	atomic_t live;
	int nr_threads;
	unsigned int flags;
	struct list_head thread_head;
	seqlock_t stats_lock;
	unsigned long min_flt;
	unsigned long maj_flt;
	unsigned long long sum_sched_runtime;
	struct rlimit rlim[16];
};

struct super_block {
	unsigned int s_dev;
	s64 s_maxbytes;
	unsigned long s_blocksize;
	unsigned long s_iflags;
	unsigned long s_magic;
	void *s_fs_info;
};

struct shmem_sb_info {
	unsigned long max_blocks;
	struct percpu_counter used_blocks;
};

struct hugepage_subpool {
	long max_hpages;
	long used_hpages;
};

struct hugetlbfs_sb_info {
	struct hugepage_subpool *spool;
};

struct address_space {
	struct inode *host;
	unsigned long nrpages;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	unsigned int i_nlink;
	unsigned int i_rdev;
	struct super_block *i_sb;
	s64 i_size;
	struct address_space *i_mapping;
	unsigned long long i_blocks;
};

struct shmem_inode_info {
	unsigned int seals;
	struct inode vfs_inode;
};

struct hugetlbfs_inode_info {
	struct inode vfs_inode;
	unsigned int seals;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct vfsmount {
	int mnt_flags;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct module {
	char name[56];
};

struct file_operations {
	struct module *owner;
	void *mmap;
};

struct file {
	unsigned int f_mode;
	unsigned int f_flags;
	const struct file_operations *f_op;
	struct inode *f_inode;
	struct path f_path;
	s64 f_pos;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	unsigned long *open_fds;
};

struct files_struct {
	struct fdtable *fdt;
};

struct kernfs_node {
	u64 id;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct page_counter {
	atomic_long_t usage;
	unsigned long max;
	struct page_counter *parent;
};

struct mem_cgroup {
	struct cgroup_subsys_state css;
	struct page_counter memory;
	struct page_counter swap; /* of cgroup v1: memory and swap together */
	struct page_counter kmem;
	bool oom_group;
};

struct pids_cgroup {
	struct cgroup_subsys_state css;
	atomic64_t counter;
	atomic64_t limit;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

typedef struct {
	unsigned int val;
} kuid_t;

typedef struct {
	u64 val;
} kernel_cap_t;

struct ns_common {
	unsigned int inum;
};

struct user_namespace {
	int level;
	struct ns_common ns;
	struct ucounts *ucounts;
	long ucount_max[1];
	long rlimit_max[1];
};

struct ucounts {
	struct user_namespace *ns;
	kuid_t uid;
	atomic_long_t ucount[1];
	atomic_long_t rlimit[1];
};

struct user_struct {
	atomic_long_t pipe_bufs;
	unsigned long unix_inflight;
	kuid_t uid;
	atomic_long_t locked_vm;
};

struct cred {
	kuid_t uid;
	kuid_t euid;
	kuid_t fsuid;
	kernel_cap_t cap_effective;
	struct user_struct *user;
	struct user_namespace *user_ns;
	struct ucounts *ucounts;
};

struct xarray {
	void *xa_head;
};

struct idr {
	struct xarray idr_rt;
};

struct xa_node {
	u8 shift;
	void *slots[1];
};

struct ipc_ids {
	int in_use;
	struct idr ipcs_idr;
};

struct ipc_namespace {
	struct ucounts *ucounts;
	struct ipc_ids ids[3];
	int sem_ctls[4];
	int used_sems;
	unsigned int msg_ctlmax;
	unsigned int msg_ctlmni;
	size_t shm_ctlmax;
	size_t shm_ctlall;
	unsigned long shm_tot;
	int shm_ctlmni;
	struct ns_common ns;
	unsigned int mq_queues_count;
	unsigned int mq_queues_max;
	unsigned int mq_msg_max;
	unsigned int mq_msgsize_max;
	unsigned int mq_msg_default;
	unsigned int mq_msgsize_default;
};

struct mnt_namespace {
	struct ucounts *ucounts;
	unsigned int nr_mounts;
};

struct netns_core {
	int sysctl_optmem_max;
};

struct netns_ipv4 {
	int sysctl_igmp_max_memberships;
	int sysctl_igmp_max_msf;
};

struct net {
	struct netns_core core;
	struct netns_ipv4 ipv4;
	struct ns_common ns;
	struct ucounts *ucounts;
};

struct uts_namespace {
	struct ucounts *ucounts;
};

struct cgroup_namespace {
	struct ucounts *ucounts;
};

struct time_namespace {
	struct ucounts *ucounts;
};

struct nsproxy {
	struct uts_namespace *uts_ns;
	struct ipc_namespace *ipc_ns;
	struct mnt_namespace *mnt_ns;
	struct pid_namespace *pid_ns_for_children;
	struct net *net_ns;
	struct time_namespace *time_ns;
	struct cgroup_namespace *cgroup_ns;
};

struct pid_namespace {
	struct ucounts *ucounts;
	unsigned int pid_allocated;
	unsigned int level;
	int pid_max;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
	atomic_t sk_omem_alloc;
};

struct in_addr {
	__be32 s_addr;
};

struct ip_mreqn {
	struct in_addr imr_multiaddr;
};

struct ip_sf_socklist {
	unsigned int sl_max;
	unsigned int sl_count;
};

struct ip_mc_socklist {
	struct ip_mc_socklist *next_rcu;
	struct ip_mreqn multi;
	struct ip_sf_socklist *sflist;
};

struct in6_addr {
	union {
		__u8 u6_addr8[16];
	} in6_u;
};

struct ip6_sf_socklist {
	unsigned int sl_max;
	unsigned int sl_count;
};

struct ipv6_mc_socklist {
	struct in6_addr addr;
	struct ipv6_mc_socklist *next;
	struct ip6_sf_socklist *sflist;
};

struct ipv6_pinfo {
	struct ipv6_mc_socklist *ipv6_mc_list;
};

struct inet_sock {
	struct ipv6_pinfo *pinet6;
	struct ip_mc_socklist *mc_list;
};

struct fanotify_group_private_data {
	struct ucounts *ucounts;
};

struct fsnotify_group {
	struct fanotify_group_private_data fanotify_data;
};

struct socket {
	struct sock *sk;
};

struct kern_ipc_perm {
	int id;
};

struct shmid_kernel {
	struct kern_ipc_perm shm_perm;
	struct file *shm_file;
	unsigned long shm_segsz;
};

struct rq {
	u64 clock;
	u64 clock_task;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	u64 exec_start;
	u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq;
};

struct sched_info {
	unsigned long long run_delay;
};

struct action_cache {
	unsigned long allow_native[1];
	unsigned long allow_compat[1];
};

struct seccomp_filter {
	struct action_cache cache;
};

struct seccomp {
	int mode;
	struct seccomp_filter *filter;
};

struct task_io_accounting {
	u64 read_bytes;
};

struct sigaction {
	void *sa_handler;
};

struct k_sigaction {
	struct sigaction sa;
};

struct sighand_struct {
	struct k_sigaction action[64];
};

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	void *stack;
	struct seccomp seccomp;
	struct mm_struct *mm;
	unsigned int flags;
	pid_t pid;
	pid_t tgid;
	struct pid *thread_pid;
	int exit_state;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	u64 start_boottime;
	unsigned long min_flt;
	unsigned long maj_flt;
	const struct cred *cred;
	char comm[16];
	struct files_struct *files;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	unsigned long sas_ss_sp;
	size_t sas_ss_size;
	struct css_set *cgroups;
	struct nsproxy *nsproxy;
	int pagefault_disabled;
	unsigned int in_iowait : 1;
	struct list_head thread_node;
	struct sched_entity se;
	struct sched_info sched_info;
	struct task_io_accounting ioac;
	unsigned long numa_faults_locality[3];
	unsigned int on_cpu; /* see runs_now() */
	struct thread_struct thread;
	struct bpf_local_storage *bpf_storage;
	struct list_head tasks;
};

struct linux_binprm {
	const char *interp;
};
struct vm_unmapped_area_info {
	unsigned long length;
};

struct kernel_siginfo {
	int si_signo;
	int si_errno;
	int si_code;
};

struct syscall_trace_exit {
	int nr;
	long ret;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 session_id;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* The open-coded iterator lives on the program's stack: its size is UAPI, not relocated. */
struct bpf_iter_task {
	__u64 __opaque[3];
} __attribute__((aligned(8)));

/* UAPI, as a user process lays them out. */
struct user_msghdr {
	void *msg_name;
	int msg_namelen;
	void *msg_iov;
	size_t msg_iovlen;
	void *msg_control;
	size_t msg_controllen;
	unsigned int msg_flags;
};

struct cmsghdr {
	size_t cmsg_len;
	int cmsg_level;
	int cmsg_type;
};

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

/* What a perf event's program is given: registers as ptrace(2) shows them, then two words. */
#if defined(__TARGET_ARCH_x86)
typedef struct {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs;
	__u64 flags, sp, ss;
} bpf_user_pt_regs_t;
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};
typedef struct user_pt_regs bpf_user_pt_regs_t;
#endif

struct bpf_perf_event_data {
	bpf_user_pt_regs_t regs;
	__u64 sample_period;
	__u64 addr;
};

#endif

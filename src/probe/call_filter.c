// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/call_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "system calls of this architecture are not known"
#endif

static const unsigned int allowed[] = {
	/* looks */
	SYS_bpf,
	SYS_pidfd_open,
	SYS_openat,
	SYS_openat2,
	SYS_read,
	SYS_pread64,
	SYS_readv,
	SYS_lseek,
	SYS_close,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statfs,
	SYS_statx,
	SYS_getdents64,
	SYS_readlinkat,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_getrusage,
	SYS_prlimit64,
	SYS_sysinfo,
	SYS_uname,
	SYS_getcpu,
	SYS_sched_getaffinity,
	/* the loop */
	SYS_epoll_pwait,
	SYS_epoll_pwait2,
	SYS_epoll_ctl,
	SYS_epoll_create1,
	SYS_eventfd2,
	SYS_timerfd_create,
	SYS_timerfd_settime,
	SYS_signalfd4,
	SYS_ppoll,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_gettimeofday,
	SYS_restart_syscall,
	/* answers; recordings and other files */
	SYS_accept4,
	SYS_accept,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_sendto,
	SYS_sendmsg,
	SYS_sendfile,
	SYS_write,
	SYS_writev,
	SYS_shutdown,
	SYS_getsockname,
	SYS_getpeername,
	SYS_getsockopt,
	SYS_setsockopt,
	SYS_fcntl,
	SYS_ioctl,
	SYS_renameat2,
	SYS_unlinkat,
	SYS_fsync,
	SYS_fdatasync,
	SYS_pwrite64,
	SYS_fallocate,
	SYS_umask,
	SYS_dup,
	SYS_dup3,
	SYS_ftruncate,
	SYS_fchmod,
#ifdef SYS_renameat
	SYS_renameat,
#endif
#ifdef SYS_epoll_wait /* and other calls of old that newer architectures have not */
	SYS_epoll_wait,
	SYS_poll,
	SYS_readlink,
	SYS_access,
	SYS_rename,
	SYS_unlink,
	SYS_time,
	SYS_pause,
#endif
	/* memory, threads' locks, randomness, ends */
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_brk,
	SYS_futex,
	SYS_sched_yield,
	SYS_getrandom,
	SYS_getpid,
	SYS_gettid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_rt_sigprocmask,
	SYS_rt_sigaction,
	SYS_rt_sigreturn,
	SYS_tgkill,
	SYS_kill,
	SYS_wait4,
	SYS_waitid,
	SYS_rt_sigsuspend,
	SYS_capget,
	SYS_capset,
	SYS_exit,
	SYS_exit_group,
#ifdef __SANITIZE_ADDRESS__ /* its search for leaks, in the end, traces us from a thread */
	SYS_clone,
	SYS_ptrace,
	SYS_prctl,
	SYS_sigaltstack,
	SYS_getppid,
	SYS_process_vm_readv,
#ifdef SYS_open
	SYS_open,
	SYS_getdents,
	SYS_stat,
#endif
#endif
};
#define NR_ALLOWED (sizeof(allowed) / sizeof(allowed[0]))

int call_filter_enter(bool all_threads)
{
	struct sock_filter code[NR_ALLOWED + 8];
	struct sock_fprog program = {.filter = code};
	unsigned short n = 0;
	long other; /* a thread that cannot follow */

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	_Static_assert(NR_ALLOWED < 250, "a jump goes 255 instructions at most");
	for (size_t i = 0; i < NR_ALLOWED; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i],
							 NR_ALLOWED - i, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = n;
	/* services that allow prctl(2) alone are in use */
	other = all_threads ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				      SECCOMP_FILTER_FLAG_TSYNC, &program)
			    : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	return other < 0 ? -errno : other ? -EBUSY : 0;
}

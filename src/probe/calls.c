// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/calls.h"

#include <sys/syscall.h>

/* Numbers newer than the C library's headers: the generic table, the same everywhere. */
#ifndef __NR_memfd_secret
#define __NR_memfd_secret 447
#endif

#define ROW(sys, what, how)                                                                        \
	{                                                                                          \
		__NR_##sys, CALL_##what, FS_SHAPE_##how, #sys                                      \
	}

const struct call_row call_rows[] = {
	ROW(mmap, MMAP, MMAP),
	ROW(munmap, MUNMAP, MAP),
	ROW(mremap, MREMAP, MAP),
	ROW(mprotect, MPROTECT, MAP),
	ROW(pkey_mprotect, MPROTECT, MAP),
	ROW(madvise, MADVISE, MADVISE),
	ROW(brk, BRK, BRK),
	ROW(mlock, MLOCK, MAP),
	ROW(mlock2, MLOCK, MAP),
	ROW(mlockall, MLOCKALL, MAP),
	ROW(munlock, MUNLOCK, MAP),
	ROW(munlockall, MUNLOCK, MAP),
	ROW(shmat, SHMAT, MAP),
	ROW(shmdt, SHMDT, MAP),
#ifdef __NR_open
	ROW(open, OPEN, FD),
	ROW(creat, OPEN, FD),
	ROW(pipe, PIPE, FD2),
	ROW(dup2, DUP, DUP2),
	ROW(eventfd, EVENTFD, FD),
	ROW(epoll_create, EPOLL, FD),
	ROW(inotify_init, INOTIFY, FD),
	ROW(signalfd, SIGNALFD, FD),
#endif
	ROW(openat, OPEN, FD),
	ROW(openat2, OPEN, FD),
	ROW(open_by_handle_at, OPEN, FD),
	ROW(mq_open, OPEN, QUEUE),
	ROW(socket, SOCKET, FD),
	ROW(socketpair, SOCKETPAIR, FD2),
	ROW(accept, ACCEPT, FD),
	ROW(accept4, ACCEPT, FD),
	ROW(pipe2, PIPE, FD2),
	ROW(dup, DUP, FD),
	ROW(dup3, DUP, DUP2),
	ROW(fcntl, DUP, FCNTL),
	ROW(eventfd2, EVENTFD, FD),
	ROW(epoll_create1, EPOLL, FD),
	ROW(memfd_create, MEMFD, FD),
	ROW(memfd_secret, MEMFD, FD),
	ROW(inotify_init1, INOTIFY, FD),
	ROW(fanotify_init, FANOTIFY, FD),
	ROW(signalfd4, SIGNALFD, FD),
	ROW(timerfd_create, TIMERFD, FD),
	ROW(userfaultfd, USERFAULTFD, FD),
	ROW(pidfd_open, PIDFD, FD),
	ROW(pidfd_getfd, PIDFD_GETFD, FD),
	ROW(perf_event_open, PERF_EVENT, FD),
	ROW(bpf, BPF, BPF),
	ROW(io_uring_setup, IO_URING, FD),
	ROW(recvmsg, RECVMSG, RECVMSG),
	ROW(recvmmsg, RECVMSG, RECVMMSG),
	ROW(open_tree, OTHER, FD),
	ROW(fsopen, OTHER, FD),
	ROW(fsmount, OTHER, FD),
	ROW(fspick, OTHER, FD),
	ROW(landlock_create_ruleset, OTHER, FD),
	ROW(close, CLOSE, CLOSE),
	ROW(close_range, CLOSE, CLOSE_RANGE),
#ifdef __NR_fork
	ROW(fork, CLONE, TASK),
	ROW(vfork, CLONE, TASK),
#endif
	ROW(clone, CLONE, TASK),
	ROW(clone3, CLONE, TASK),
	ROW(execve, EXECVE, EXEC),
	ROW(execveat, EXECVE, EXECAT),
	ROW(inotify_add_watch, INOTIFY_WATCH, WATCH),
	ROW(epoll_ctl, EPOLL_CTL, WATCH),
	ROW(io_uring_register, IO_URING_REGISTER, RING),
	ROW(msync, MSYNC, RANGE),
	ROW(mincore, MINCORE, RANGE),
	ROW(mbind, MBIND, RANGE),
#ifdef __NR_setrlimit
	ROW(setrlimit, SETRLIMIT, SETRLIMIT),
#endif
	ROW(prlimit64, SETRLIMIT, PRLIMIT),
#ifdef __NR_select /* the generic table has pselect6 alone */
	ROW(select, SELECT, SELECT),
#endif
	ROW(pselect6, SELECT, SELECT),
};

const unsigned int nr_call_rows = sizeof(call_rows) / sizeof(call_rows[0]);

#define TIF_32BIT (1 << 22) /* arch/arm64/include/asm/thread_info.h */

#ifdef __x86_64__
#define TS_COMPAT 2 /* arch/x86/include/asm/thread_info.h */

/*
 * arch/x86/entry/syscalls/syscall_32.tbl. Left out: the multiplexers ipc and socketcall, and the
 * mmap (90) that takes a structure: what they do shows in the counts alone.
 */
static const struct call_row compat_rows[] = {
	{192, CALL_MMAP, FS_SHAPE_MMAP, "mmap_pgoff"},
	{91, CALL_MUNMAP, FS_SHAPE_MAP, "munmap"},
	{163, CALL_MREMAP, FS_SHAPE_MAP, "mremap"},
	{125, CALL_MPROTECT, FS_SHAPE_MAP, "mprotect"},
	{380, CALL_MPROTECT, FS_SHAPE_MAP, "pkey_mprotect"},
	{219, CALL_MADVISE, FS_SHAPE_MADVISE, "madvise"},
	{45, CALL_BRK, FS_SHAPE_BRK, "brk"},
	{150, CALL_MLOCK, FS_SHAPE_MAP, "mlock"},
	{376, CALL_MLOCK, FS_SHAPE_MAP, "mlock2"},
	{152, CALL_MLOCKALL, FS_SHAPE_MAP, "mlockall"},
	{151, CALL_MUNLOCK, FS_SHAPE_MAP, "munlock"},
	{153, CALL_MUNLOCK, FS_SHAPE_MAP, "munlockall"},
	{397, CALL_SHMAT, FS_SHAPE_MAP, "shmat"},
	{398, CALL_SHMDT, FS_SHAPE_MAP, "shmdt"},
	{5, CALL_OPEN, FS_SHAPE_FD, "open"},
	{8, CALL_OPEN, FS_SHAPE_FD, "creat"},
	{295, CALL_OPEN, FS_SHAPE_FD, "openat"},
	{437, CALL_OPEN, FS_SHAPE_FD, "openat2"},
	{342, CALL_OPEN, FS_SHAPE_FD, "open_by_handle_at"},
	{277, CALL_OPEN, FS_SHAPE_QUEUE, "mq_open"},
	{42, CALL_PIPE, FS_SHAPE_FD2, "pipe"},
	{331, CALL_PIPE, FS_SHAPE_FD2, "pipe2"},
	{41, CALL_DUP, FS_SHAPE_FD, "dup"},
	{63, CALL_DUP, FS_SHAPE_DUP2, "dup2"},
	{330, CALL_DUP, FS_SHAPE_DUP2, "dup3"},
	{55, CALL_DUP, FS_SHAPE_FCNTL, "fcntl"},
	{221, CALL_DUP, FS_SHAPE_FCNTL, "fcntl64"},
	{359, CALL_SOCKET, FS_SHAPE_FD, "socket"},
	{360, CALL_SOCKETPAIR, FS_SHAPE_FD2, "socketpair"},
	{364, CALL_ACCEPT, FS_SHAPE_FD, "accept4"},
	{323, CALL_EVENTFD, FS_SHAPE_FD, "eventfd"},
	{328, CALL_EVENTFD, FS_SHAPE_FD, "eventfd2"},
	{254, CALL_EPOLL, FS_SHAPE_FD, "epoll_create"},
	{329, CALL_EPOLL, FS_SHAPE_FD, "epoll_create1"},
	{356, CALL_MEMFD, FS_SHAPE_FD, "memfd_create"},
	{291, CALL_INOTIFY, FS_SHAPE_FD, "inotify_init"},
	{332, CALL_INOTIFY, FS_SHAPE_FD, "inotify_init1"},
	{338, CALL_FANOTIFY, FS_SHAPE_FD, "fanotify_init"},
	{321, CALL_SIGNALFD, FS_SHAPE_FD, "signalfd"},
	{327, CALL_SIGNALFD, FS_SHAPE_FD, "signalfd4"},
	{322, CALL_TIMERFD, FS_SHAPE_FD, "timerfd_create"},
	{374, CALL_USERFAULTFD, FS_SHAPE_FD, "userfaultfd"},
	{434, CALL_PIDFD, FS_SHAPE_FD, "pidfd_open"},
	{438, CALL_PIDFD_GETFD, FS_SHAPE_FD, "pidfd_getfd"},
	{336, CALL_PERF_EVENT, FS_SHAPE_FD, "perf_event_open"},
	{357, CALL_BPF, FS_SHAPE_BPF, "bpf"},
	{425, CALL_IO_URING, FS_SHAPE_FD, "io_uring_setup"},
	{6, CALL_CLOSE, FS_SHAPE_CLOSE, "close"},
	{436, CALL_CLOSE, FS_SHAPE_CLOSE_RANGE, "close_range"},
	{2, CALL_CLONE, FS_SHAPE_TASK, "fork"},
	{190, CALL_CLONE, FS_SHAPE_TASK, "vfork"},
	{120, CALL_CLONE, FS_SHAPE_TASK, "clone"},
	{435, CALL_CLONE, FS_SHAPE_TASK, "clone3"},
	{11, CALL_EXECVE, FS_SHAPE_EXEC, "execve"},
	{358, CALL_EXECVE, FS_SHAPE_EXECAT, "execveat"},
	{292, CALL_INOTIFY_WATCH, FS_SHAPE_WATCH, "inotify_add_watch"},
	{255, CALL_EPOLL_CTL, FS_SHAPE_WATCH, "epoll_ctl"},
	{427, CALL_IO_URING_REGISTER, FS_SHAPE_RING, "io_uring_register"},
	{144, CALL_MSYNC, FS_SHAPE_RANGE, "msync"},
	{218, CALL_MINCORE, FS_SHAPE_RANGE, "mincore"},
	{274, CALL_MBIND, FS_SHAPE_RANGE, "mbind"},
	{142, CALL_SELECT, FS_SHAPE_SELECT, "select"},
	{308, CALL_SELECT, FS_SHAPE_SELECT, "pselect6"},
};
#endif

static void fill(struct fs_syscall *table, const struct call_row *rows, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (rows[i].number < FS_SYSCALL_MAX) {
			table[rows[i].number].call = rows[i].call;
			table[rows[i].number].shape = rows[i].shape;
		}
}

void calls_fill(struct fs_config *c)
{
	fill(c->syscalls, call_rows, nr_call_rows);
#ifdef __x86_64__
	c->compat_bits = TS_COMPAT;
	fill(c->compat_syscalls, compat_rows, sizeof(compat_rows) / sizeof(compat_rows[0]));
#elif defined(__aarch64__)
	c->compat_bits = TIF_32BIT; /* their numbers are others: not seen by call */
#endif
}

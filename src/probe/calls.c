// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/calls.h"

#include <sys/syscall.h>

/* Numbers newer than the C library's headers: the generic table, the same everywhere. */
#ifndef __NR_memfd_secret
#define __NR_memfd_secret 447
#endif

#define ROW(sys, what, how)                                                                        \
	{                                                                                          \
		__NR_##sys, FS_CALL_##what, FS_SHAPE_##how, #sys                                   \
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
	ROW(mq_open, OPEN, FD),
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
	ROW(open_tree, OTHER, FD),
	ROW(fsopen, OTHER, FD),
	ROW(fsmount, OTHER, FD),
	ROW(fspick, OTHER, FD),
	ROW(landlock_create_ruleset, OTHER, FD),
	ROW(close, CLOSE, CLOSE),
	ROW(close_range, CLOSE, CLOSE_RANGE),
};

const unsigned int nr_call_rows = sizeof(call_rows) / sizeof(call_rows[0]);

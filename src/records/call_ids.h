/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* records: the system calls that probes count, in the order of their counters. */
#ifndef FS_RECORDS_CALL_IDS_H
#define FS_RECORDS_CALL_IDS_H

/* clang-format off */
/* Calls that change mappings. X(id, name): the name is the JSON key. */
#define MAP_CALLS(X)                                                                            \
	X(MMAP, "mmap") X(MUNMAP, "munmap") X(MREMAP, "mremap")                                    \
	X(MPROTECT, "mprotect") X(MADVISE, "madvise") X(BRK, "brk")                                \
	X(MLOCK, "mlock") X(MLOCKALL, "mlockall") X(MUNLOCK, "munlock")                            \
	X(SHMAT, "shmat") X(SHMDT, "shmdt")

/* Calls that create or close file descriptors. */
#define FD_CALLS(X)                                                                             \
	X(OPEN, "open") X(SOCKET, "socket") X(SOCKETPAIR, "socketpair")                            \
	X(ACCEPT, "accept") X(PIPE, "pipe") X(DUP, "dup")                                          \
	X(EVENTFD, "eventfd") X(EPOLL, "epoll") X(MEMFD, "memfd")                                  \
	X(INOTIFY, "inotify") X(FANOTIFY, "fanotify") X(SIGNALFD, "signalfd")                      \
	X(TIMERFD, "timerfd") X(USERFAULTFD, "userfaultfd") X(PIDFD, "pidfd")                      \
	X(PIDFD_GETFD, "pidfd_getfd") X(PERF_EVENT, "perf_event") X(BPF, "bpf")                    \
	X(IO_URING, "io_uring") X(RECVMSG, "recvmsg") X(OTHER, "other")                            \
	X(CLOSE, "close")

/* System calls of which only failures are recorded. */
#define OTHER_CALLS(X)                                                                          \
	X(CLONE, "clone") X(EXECVE, "execve") X(INOTIFY_WATCH, "inotify_add_watch")                \
	X(EPOLL_CTL, "epoll_ctl") X(IO_URING_REGISTER, "io_uring_register") X(PIPE_SIZE, "fcntl")  \
	X(MSYNC, "msync") X(MINCORE, "mincore") X(MBIND, "mbind")                                  \
	X(SETRLIMIT, "setrlimit") X(SELECT, "select") X(FALLOCATE, "fallocate")                    \
	X(WRITE, "write") X(SHMGET, "shmget") X(SEMGET, "semget") X(MSGGET, "msgget")     \
	X(IOCTL, "ioctl") X(UNSHARE, "unshare") X(MOUNT, "mount") X(ADD_KEY, "add_key")            \
	X(KEYCTL, "keyctl") X(TIMER_CREATE, "timer_create") X(SIGQUEUE, "rt_sigqueueinfo")         \
	X(SETSOCKOPT, "setsockopt") X(SENDMSG, "sendmsg") X(FANOTIFY_MARK, "fanotify_mark")        \
	X(IO_SETUP, "io_setup") X(PKEY_ALLOC, "pkey_alloc") X(MSEAL, "mseal")                      \
	X(SHMCTL, "shmctl") X(POLL, "poll") X(FTRUNCATE, "ftruncate") X(MSGSND, "msgsnd")          \
	X(SEMOP, "semop")
/* clang-format on */

enum call_id {
	CALL_NONE,
#define X(id, name) CALL_##id,
	MAP_CALLS(X) CALL_FD_FIRST,
	CALL_FD_BASE = CALL_FD_FIRST - 1,
	FD_CALLS(X) CALL_OTHER_FIRST,
	CALL_OTHER_BASE = CALL_OTHER_FIRST - 1,
	OTHER_CALLS(X)
#undef X
		CALL_MAX,
};

#define NR_MAP_CALLS 11
#define NR_FD_CALLS  22

_Static_assert(CALL_FD_BASE == NR_MAP_CALLS, "one counter a mapping call");
_Static_assert(CALL_OTHER_FIRST - CALL_FD_FIRST == NR_FD_CALLS, "one counter a descriptor call");

/*
 * Bucket i counts mapping sizes in [2^(i+12), 2^(i+13)) bytes; the last bucket also counts larger
 * sizes.
 */
#define NR_MAP_SIZES   32
#define MAP_SIZE_SHIFT 12

#endif

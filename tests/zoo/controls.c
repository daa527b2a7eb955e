/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Control tests. Some of the programs stay below a limit. The calls of other programs fail for
 * everyday reasons. faultscope must name a limit as the cause in neither case.
 */
#include "zoo.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define BLOCK_PAGES 8

static char *block;

/* Ends the process with an error unless the call has failed with this errno. */
static void fails(long ret, int error, const char *what)
{
	if (ret != -1 || errno != error)
		die("%s did not fail as %s but gave %ld", what, strerrorname_np(error), ret);
}

static void works(bool ok, const char *what)
{
	if (!ok)
		die("%s", what);
}

/* Control tests of programs within their limits */

static void one_below_count(void)
{
	ASK(mmap, 0, PAGE_BYTES, PROT_READ, PRIVATE_ANON, -1, 0);
	fill_maps(most_maps());
}

static void trims_at_count(void)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, RW, 0);
	fill_maps(most_maps() + 1);
}

/*
 * At the map count limit, a program can still unmap the start or the end of a mapping, or a whole
 * mapping. None of these needs a split.
 */
static long trims(void)
{
	works(!munmap(block, PAGE_BYTES), "munmap of a start");
	works(!munmap(block + (BLOCK_PAGES - 1) * PAGE_BYTES, PAGE_BYTES), "munmap of an end");
	works(!mprotect(block + PAGE_BYTES, (BLOCK_PAGES - 2) * PAGE_BYTES, PROT_READ | PROT_EXEC),
	      "mprotect of a whole");
	works(!munmap(block, BLOCK_PAGES * PAGE_BYTES), "munmap of a whole");
	return 0;
}

static void moves_below_count(void)
{
	block = map_anon(BLOCK_PAGES * PAGE_BYTES, RW, 0);
	if (mprotect(block + 4 * PAGE_BYTES, PAGE_BYTES, PROT_NONE))
		die("mprotect");
	ASK(mremap, P(block), 4 * PAGE_BYTES, 8 * PAGE_BYTES, MREMAP_MAYMOVE);
	fill_maps(most_maps() - 12);
}

static void fits_as(void)
{
	size_t bytes = some_bytes();

	ASK(mmap, 0, bytes, RW, PRIVATE_ANON, -1, 0);
	room_as(bytes);
}

static void fits_data(void)
{
	size_t bytes = some_bytes();

	ASK(mmap, 0, bytes, RW, PRIVATE_ANON, -1, 0);
	room_data(bytes);
}

static void shared_is_no_data(void)
{
	size_t bytes = some_bytes();

	ASK(mmap, 0, bytes, RW, SHARED_ANON, -1, 0);
	room_data(PAGE_BYTES);
}

static void protection_is_no_space(void)
{
	size_t bytes = some_bytes();

	ASK(mprotect, P(map_anon(bytes, PROT_READ, 0)), bytes, RW);
	room_as(0);
}

static void fits_memlock(void)
{
	size_t bytes = small_bytes();

	ASK(mlock, P(map_anon(bytes, RW, 0)), bytes);
	room_memlock(bytes);
}

/* Locks memory a second time. It counts only once towards the limit. */
static void locks_again(void)
{
	size_t bytes = small_bytes();

	block = map_anon(bytes, RW, 0);
	if (mlock(block, bytes))
		die("mlock");
	ASK(mlock, P(block), bytes);
	room_memlock(0);
}

static void heap_up_to_mapping(void)
{
	uintptr_t end = (syscall(SYS_brk, 0) + PAGE_BYTES - 1) & -PAGE_BYTES;
	void *at = (void *)(end + 100 * PAGE_BYTES);

	if (mmap(at, PAGE_BYTES, PROT_READ, PRIVATE_ANON | MAP_FIXED_NOREPLACE, -1, 0) != at)
		die("mmap at %p", at);
	ASK(brk, end + 99 * PAGE_BYTES);
}

/* Makes brk calls that return the end of the heap, and calls that grow or shrink the heap. */
static long asks_heap(void)
{
	long now = syscall(SYS_brk, 0);

	works(syscall(SYS_brk, 1) == now, "brk below the heap");
	works(syscall(SYS_brk, now + 8 * PAGE_BYTES) == now + 8 * PAGE_BYTES, "brk up");
	works(syscall(SYS_brk, now) == now, "brk down");
	return 0;
}

static void last_number(void)
{
	ASK(openat, AT_FDCWD, P("/dev/null"), O_RDONLY);
	leave_free(1);
}

static void last_two_numbers(void)
{
	static int pair[2];

	ASK(pipe2, P(pair), 0);
	leave_free(2);
}

static void last_chosen_number(void)
{
	ASK(dup2, STDOUT_FILENO, 99);
	soft_limit(RLIMIT_NOFILE, 100);
}

static void last_instance(void)
{
	enter_user_namespace();
	write_number("/proc/sys/user/max_inotify_instances", 2);
	if (inotify_init1(0) < 0)
		die("inotify_init1");
	ASK(inotify_init1, IN_CLOEXEC);
}

static void last_process(void)
{
	become_another_user();
	soft_limit(RLIMIT_NPROC, 2);
}

static void last_pid_of_group(void)
{
	cgroup_make("pids");
	cgroup_enter("pids", "/below");
	cgroup_set("pids", "/below", "pids.max", "2");
}

static void beyond_memory_unreserved(void)
{
	ASK(mmap, 0, beyond_memory(), RW, PRIVATE_ANON | MAP_NORESERVE, -1, 0);
}

/*
 * mmap first searches for an aligned address, which fails. Its second search, for any address,
 * succeeds, so the call succeeds as well.
 */
static void last_hole(void)
{
	fill_space(64 * MIB);
	ASK(mmap, 0, 64 * MIB, RW, PRIVATE_ANON, -1, 0);
}

static void taken_hint(void)
{
	ASK(mmap, P(map_anon(4 * PAGE_BYTES, RW, 0)), 4 * PAGE_BYTES, PROT_READ, PRIVATE_ANON, -1,
	    0);
}

static void nearly_full_tmpfs(void)
{
	enter_mount_namespace();
	if (mount("zoo", "/tmp", "tmpfs", 0, "size=128k"))
		skip("mount: %s", strerror(errno));
}

static long fills_tmpfs(void)
{
	int fd = open("/tmp/file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	works(fd >= 0 && !ftruncate(fd, 32 * PAGE_BYTES), "/tmp/file");
	write_pages(map_file(fd, 32 * PAGE_BYTES, RW, MAP_SHARED), 32);
	fails(pwrite(fd, "x", 1, 32 * PAGE_BYTES), ENOSPC, "write");
	return 0;
}

/* Control tests of everyday failures */

static long opens_in_vain(void)
{
	fails(open("/no/such/file", O_RDONLY), ENOENT, "open");
	fails(open("/dev/null/below", O_RDONLY), ENOTDIR, "open");
	fails(open("/", O_WRONLY), EISDIR, "open");
	fails(open("/proc/self/exe", O_CREAT | O_EXCL, 0600), EEXIST, "open");
	fails(open("", O_RDONLY), ENOENT, "open");
	fails(syscall(SYS_openat, -1, "x", O_RDONLY), EBADF, "openat");
	fails(syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0), EINVAL, "openat2");
	return 0;
}

static long opens_without_right(void)
{
	become_another_user();
	fails(open("/proc/1/mem", O_RDONLY), EACCES, "open");
	return 0;
}

static long sockets_in_vain(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), pair[2];

	works(fd >= 0, "socket");
	fails(socket(255, SOCK_STREAM, 0), EAFNOSUPPORT, "socket");
	fails(socket(AF_UNIX, 77, 0), EINVAL, "socket");
	fails(socketpair(AF_INET, SOCK_STREAM, 0, pair), EOPNOTSUPP, "socketpair");
	fails(accept4(fd, NULL, NULL, 0), EINVAL, "accept4");
	works(!bind(fd, (void *)&address, sizeof(address.sun_family)) && !listen(fd, 1), "listen");
	fails(accept4(fd, NULL, NULL, 0), EAGAIN, "accept4");
	works(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), "socketpair");
	fails(recv(pair[0], &fd, 1, MSG_DONTWAIT), EAGAIN, "recv");
	return 0;
}

static long uses_closed_numbers(void)
{
	int fd = dup(STDOUT_FILENO);

	close(fd);
	fails(close(fd), EBADF, "close");
	fails(dup(fd), EBADF, "dup");
	fails(dup2(fd, STDOUT_FILENO), EBADF, "dup2");
	fails(fcntl(fd, F_GETFD), EBADF, "F_GETFD");
	fails(fcntl(fd, F_DUPFD, 3), EBADF, "F_DUPFD");
	return 0;
}

static long advises_in_vain(void)
{
	block = map_anon(4 * PAGE_BYTES, RW, 0);
	fails(madvise(block, PAGE_BYTES, 12345), EINVAL, "madvise");
	fails(madvise(block + 1, PAGE_BYTES, MADV_DONTNEED), EINVAL, "madvise");
	fails(madvise(block, PAGE_BYTES, MADV_REMOVE), EINVAL, "madvise");
	return 0;
}

static long watches_in_vain(void)
{
	int notify = inotify_init1(0), poll = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN };
	int file = disk_file(PAGE_BYTES), ends[2];

	works(notify >= 0 && poll >= 0 && !pipe(ends), "inotify, epoll, pipe");
	fails(inotify_add_watch(notify, "/no/such/file", IN_CREATE), ENOENT, "inotify_add_watch");
	fails(inotify_add_watch(notify, "/", 0), EINVAL, "inotify_add_watch");
	fails(epoll_ctl(poll, EPOLL_CTL_ADD, file, &event), EPERM, "epoll_ctl");
	fails(epoll_ctl(poll, EPOLL_CTL_MOD, ends[0], &event), ENOENT, "epoll_ctl");
	works(!epoll_ctl(poll, EPOLL_CTL_ADD, ends[0], &event), "epoll_ctl");
	fails(epoll_ctl(poll, EPOLL_CTL_ADD, ends[0], &event), EEXIST, "epoll_ctl");
	fails(fcntl(file, F_SETPIPE_SZ, PAGE_BYTES), EBADF, "F_SETPIPE_SZ");
	return 0;
}

static long runs_in_vain(void)
{
	char *const words[] = { "x", NULL };

	fails(execve("/no/such/program", words, words + 1), ENOENT, "execve");
	fails(execve("/", words, words + 1), EACCES, "execve");
	fails(execve("/proc/self/maps", words, words + 1), EACCES, "execve");
	return 0;
}

static long asks_for_processes_in_vain(void)
{
	fails(syscall(SYS_pidfd_open, 0x3fffffff, 0), ESRCH, "pidfd_open");
	fails(syscall(SYS_pidfd_open, getpid(), 12345), EINVAL, "pidfd_open");
	fails(syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0), EINVAL, "clone");
	fails(kill(0x3fffffff, 0), ESRCH, "kill");
	return 0;
}

static long asks_the_kernel_in_vain(void)
{
	struct perf_event_attr attr = { .type = 12345, .size = sizeof(attr) };

	fails(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0), ENOENT, "perf_event_open");
	fails(syscall(SYS_bpf, 12345, &attr, 8), EINVAL, "bpf");
	fails(syscall(SYS_memfd_create, "x", 0x40000000), EINVAL, "memfd_create");
	fails(syscall(SYS_timerfd_create, 12345, 0), EINVAL, "timerfd_create");
	fails(syscall(SYS_eventfd2, 0, 12345), EINVAL, "eventfd2");
	fails(syscall(SYS_epoll_create, 0), EINVAL, "epoll_create");
	return 0;
}

static long has_no_rights(void)
{
	become_another_user();
	fails(unshare(CLONE_NEWNS), EPERM, "unshare");
	fails(fanotify_init(FAN_CLASS_CONTENT, O_RDONLY), EPERM, "fanotify_init");
	fails(syscall(SYS_clone, CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0), EPERM, "clone");
	return 0;
}

static long signals_itself(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	works(!sigaction(SIGSEGV, &ignore, NULL) && !sigaction(SIGBUS, &ignore, NULL),
	      "sigaction");
	works(!kill(getpid(), SIGSEGV) && !raise(SIGBUS), "kill");
	return 0;
}

static long lends_bad_pointers(void)
{
	int ends[2];

	works(!pipe(ends), "pipe");
	fails(syscall(SYS_write, ends[1], 0x10, 8), EFAULT, "write");
	fails(syscall(SYS_open, 0x20, O_RDONLY), EFAULT, "open");
	fails(syscall(SYS_pipe, 0x30), EFAULT, "pipe");
	return 0;
}

/* recvmsg drops file descriptors because the control buffer is too small. No limit is reached. */
static long receives_in_small_buffer(void)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control = { .head = { CMSG_LEN(4 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec text = { "x", 1 };
	struct msghdr message = {
		.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(4 * sizeof(int)),
	};
	char byte;
	int ends[2];

	for (int i = 0; i < 4; i++)
		((int *)CMSG_DATA(&control.head))[i] = STDOUT_FILENO;
	works(!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), "socketpair");
	works(sendmsg(ends[0], &message, 0) == 1, "sendmsg");
	text.iov_base = &byte;
	message.msg_controllen = CMSG_SPACE(sizeof(int));
	works(recvmsg(ends[1], &message, 0) == 1 && message.msg_flags & MSG_CTRUNC, "recvmsg");
	return 0;
}

/* shmat fails because the mode of another user's segment forbids access. No limit is reached. */
static long attaches_without_right(void)
{
	int segment = shmget(IPC_PRIVATE, PAGE_BYTES, 0600);

	works(segment >= 0 && shmat(segment, NULL, 0) != (void *)-1 &&
		      !shmctl(segment, IPC_RMID, NULL),
	      "shmget");
	become_another_user();
	fails(P(shmat(segment, NULL, 0)), EACCES, "shmat");
	return 0;
}

static long unmaps_nothing(void)
{
	block = map_anon(3 * PAGE_BYTES, RW, 0);
	works(!munmap(block + PAGE_BYTES, PAGE_BYTES), "munmap");
	works(!munmap(block, 3 * PAGE_BYTES), "munmap of a range with a hole");
	works(!munmap(block, 3 * PAGE_BYTES), "munmap of nothing");
	return 0;
}

#define WITHIN(prepare) { 0 }, prepare, NULL, .control = true
#define EVERYDAY(make_, allowed)                                                                   \
	{ .causes = allowed }, .make = make_, .control = true

const struct zoo_case control_cases[] = {
	{ "control-count", WITHIN(one_below_count) },
	{ "control-count-trims", { 0 }, trims_at_count, trims, .control = true },
	{ "control-count-mremap", WITHIN(moves_below_count) },
	{ "control-as", WITHIN(fits_as) },
	{ "control-data", WITHIN(fits_data) },
	{ "control-data-shared", WITHIN(shared_is_no_data) },
	{ "control-as-mprotect", WITHIN(protection_is_no_space) },
	{ "control-memlock", WITHIN(fits_memlock) },
	{ "control-memlock-again", WITHIN(locks_again) },
	{ "control-brk", WITHIN(heap_up_to_mapping) },
	{ "control-brk-asks", EVERYDAY(asks_heap, NULL) },
	{ "control-nofile", WITHIN(last_number) },
	{ "control-nofile-pipe", WITHIN(last_two_numbers) },
	{ "control-nofile-dup2", WITHIN(last_chosen_number) },
	{ "control-inotify", WITHIN(last_instance) },
	{ "control-nproc", { 0 }, last_process, make_fork, .control = true },
	{ "control-pids", { 0 }, last_pid_of_group, make_fork, .control = true },
	{ "control-noreserve", WITHIN(beyond_memory_unreserved) },
	{ "control-last-hole", WITHIN(last_hole) },
	{ "control-hint", WITHIN(taken_hint) },
	{ "control-tmpfs", { .causes = "tmpfs_size" }, nearly_full_tmpfs, fills_tmpfs,
	  .control = true },
	{ "control-open", EVERYDAY(opens_in_vain, "bad_argument|bad_descriptor") },
	{ "control-open-right", EVERYDAY(opens_without_right, NULL) },
	{ "control-socket", EVERYDAY(sockets_in_vain, "bad_argument") },
	{ "control-closed", EVERYDAY(uses_closed_numbers, "bad_descriptor") },
	{ "control-madvise", EVERYDAY(advises_in_vain, "bad_argument") },
	{ "control-watch", EVERYDAY(watches_in_vain, "bad_argument|bad_descriptor") },
	{ "control-exec", EVERYDAY(runs_in_vain, NULL) },
	{ "control-pidfd", EVERYDAY(asks_for_processes_in_vain, "bad_argument") },
	{ "control-kernel", EVERYDAY(asks_the_kernel_in_vain, "bad_argument") },
	{ "control-rights", EVERYDAY(has_no_rights, NULL) },
	{ "control-own-signal", EVERYDAY(signals_itself, NULL) },
	{ "control-pointer", EVERYDAY(lends_bad_pointers, "bad_argument") },
	{ "control-small-buffer", EVERYDAY(receives_in_small_buffer, "descriptors_dropped") },
	{ "control-shmat-right", EVERYDAY(attaches_without_right, "file_mode|unknown") },
	{ "control-munmap", EVERYDAY(unmaps_nothing, NULL) },
	{ 0 },
};

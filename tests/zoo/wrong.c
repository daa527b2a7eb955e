/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of calls with wrong arguments or objects. They fail with errnos that limits cause in
 * other cases.
 */
#include "zoo.h"

#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/stat.h>

#define BLOCK_PAGES 8
#define BLOCK	    (BLOCK_PAGES * PAGE_BYTES)
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static char *block;

static void some_block(void)
{
	block = map_anon(BLOCK, RW, 0);
}

/* Test cases of mmap */

static void shared_that_grows(void)
{
	ASK(mmap, 0, PAGE_BYTES, RW, SHARED_ANON | MAP_GROWSDOWN, -1, 0);
}

static void private_anon(void)
{
	ask.arg[3] = PRIVATE_ANON;
}

static void file_that_grows(void)
{
	ASK(mmap, 0, PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_GROWSDOWN, disk_file(PAGE_BYTES), 0);
}

static void file_that_stays(void)
{
	ask.arg[3] = MAP_PRIVATE;
}

/* An append-only file cannot be mapped writable, even if it is open for writing. */
static void append_only(void)
{
	int flags = FS_APPEND_FL, file = disk_file(PAGE_BYTES);

	if (ioctl(file, FS_IOC_SETFLAGS, &flags))
		skip("FS_IOC_SETFLAGS: %s", strerror(errno));
	ASK(mmap, 0, PAGE_BYTES, RW, MAP_SHARED, file, 0);
}

static void not_append_only(void)
{
	int flags = 0;

	if (ioctl(ask.arg[4], FS_IOC_SETFLAGS, &flags))
		die("FS_IOC_SETFLAGS");
}

/* Test cases of mremap */

static void remap_fixed_alone(void)
{
	some_block();
	ASK(mremap, P(block), BLOCK, BLOCK, MREMAP_FIXED, P(map_anon(BLOCK, PROT_NONE, 0)));
}

static void may_move(void)
{
	ask.arg[3] |= MREMAP_MAYMOVE;
}

static void remap_to_bent(void)
{
	some_block();
	ASK(mremap, P(block), BLOCK, BLOCK, MREMAP_MAYMOVE | MREMAP_FIXED,
	    P(map_anon(2 * BLOCK, PROT_NONE, 0)) + 100);
}

static void straighten_target(void)
{
	ask.arg[4] -= 100;
}

static void remap_past_user(void)
{
	some_block();
	ASK(mremap, P(block), BLOCK, BLOCK, MREMAP_MAYMOVE | MREMAP_FIXED,
	    USER_END - PAGE_BYTES);
}

static void below_user_end(void)
{
	ask.arg[4] = P(map_anon(BLOCK, PROT_NONE, 0));
}

static void keep_and_resize(void)
{
	some_block();
	ASK(mremap, P(block), BLOCK, 2 * BLOCK, MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
}

static void keep_size(void)
{
	ask.arg[2] = BLOCK;
}

/* mremap with old size 0 makes a second mapping, which is possible for shared mappings only. */
static void copy_private(void)
{
	some_block();
	ASK(mremap, P(block), 0, BLOCK, MREMAP_MAYMOVE);
}

static void old_size_told(void)
{
	ask.arg[1] = BLOCK;
}

/* MREMAP_DONTUNMAP keeps the old mapping, so RLIMIT_AS counts both mappings. */
static void keep_past_as(void)
{
	size_t bytes = some_bytes();

	ASK(mremap, P(map_anon(bytes, RW, 0)), bytes, bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
	room_as(bytes - PAGE_BYTES);
}

static void copy_shared_past_as(void)
{
	size_t bytes = some_bytes();

	ASK(mremap, P(mmap(NULL, bytes, RW, SHARED_ANON, -1, 0)), 0, bytes, MREMAP_MAYMOVE);
	room_as(bytes / 2);
}

/*
 * Shrinks a range in the middle of a mapping. The kernel unmaps a part of the range, and so splits
 * the mapping.
 */
static void shrink_middle_at_count(void)
{
	some_block();
	fill_maps(most_maps());
	ASK(mremap, P(block), 4 * PAGE_BYTES, PAGE_BYTES, 0);
}

/* Test cases of mprotect, madvise and mlock */

static void protect_wraps(void)
{
	some_block();
	ASK(mprotect, P(block), -PAGE_BYTES * 2, PROT_READ);
}

static void lock_wraps(void)
{
	some_block();
	ASK(mlock, P(block), -PAGE_BYTES * 2);
}

static void the_block(void)
{
	ask.arg[1] = BLOCK;
}

static void protect_both_ways(void)
{
	some_block();
	ASK(mprotect, P(block), BLOCK, PROT_READ | PROT_GROWSDOWN | PROT_GROWSUP);
}

static void protect_strange(void)
{
	some_block();
	ASK(mprotect, P(block), BLOCK, PROT_READ | 0x400);
}

static void protect_plain(void)
{
	ask.arg[2] = PROT_READ;
}

static void no_such_key(void)
{
	some_block();
	ASK(pkey_mprotect, P(block), BLOCK, PROT_READ, 7);
}

static void key_of_none(void)
{
	ask.arg[3] = -1;
}

/*
 * The pages cannot be populated, for one of two reasons: they are beyond the end of the file, or
 * the disk is full.
 */
static void lock_past_end(void)
{
	block = map_file(sized_memfd(PAGE_BYTES, 0), 2 * PAGE_BYTES, RW, MAP_SHARED);
	ASK(mlock, P(block), 2 * PAGE_BYTES);
}

static void lock_within_end(void)
{
	ask.arg[1] = PAGE_BYTES;
}

static void lock_of_full(void)
{
	int file, filler;
	char bytes[PAGE_BYTES] = "";

	enter_mount_namespace();
	if (mount("zoo", "/tmp", "tmpfs", 0, "size=64k"))
		skip("mount: %s", strerror(errno));
	file = disk_file(BLOCK);
	filler = disk_file(0);
	/* fill it without a write that fails, which would be a second failed call */
	for (long left = 64 * KIB; left > 0; left -= PAGE_BYTES)
		if (write(filler, bytes, sizeof(bytes)) != sizeof(bytes))
			die("write");
	block = map_file(file, BLOCK, RW, MAP_SHARED);
	ASK(mlock, P(block), BLOCK);
}

static void more_of_tmpfs(void)
{
	if (mount("zoo", "/tmp", NULL, MS_REMOUNT, "size=1m"))
		die("mount -o remount");
}

/* Test cases of System V shared memory */

static int segment;

static void remove_segment(void)
{
	shmctl(segment, IPC_RMID, NULL);
}

static void segment_of_another(void)
{
	segment = shmget(IPC_PRIVATE, BLOCK, 0600);
	if (segment < 0)
		skip("shmget: %s", strerror(errno));
	at_end(remove_segment);
	ASK(shmat, segment, 0, 0);
}

/* A child, which runs as another user, makes the call. */
static long attach_as_another(void)
{
	int status, report[2];
	pid_t child;

	if (pipe2(report, O_CLOEXEC))
		die("pipe2");
	child = fork_or_die();
	if (!child) {
		become_another_user();
		_exit(syscall(SYS_shmat, segment, 0, 0) == -1 ? errno : 0);
	}
	waitpid(child, &status, 0);
	close(report[0]);
	close(report[1]);
	errno = WEXITSTATUS(status);
	if (!errno)
		return 0;
	subject.pid = subject.tid = child;
	return -1;
}

static void let_all_attach(void)
{
	struct shmid_ds about;

	if (shmctl(segment, IPC_STAT, &about))
		die("shmctl");
	about.shm_perm.mode = 0666;
	if (shmctl(segment, IPC_SET, &about))
		die("shmctl");
}

/* Control test: calls with wrong arguments, such as execve of a file that is not executable. */
static long everyday_calls(void)
{
	static char *const none[] = { NULL };
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), ends[2];

	if (execve("/nonexistent/zoo", none, none) != -1 || errno != ENOENT)
		die("execve of nothing");
	if (execve("/proc/self/maps", none, none) != -1 || errno != EACCES)
		die("execve of what may not be run");
	if (syscall(SYS_dup3, fd, fd, 0) != -1 || errno != EINVAL)
		die("dup3 to itself");
	if (syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0) != -1 || errno != EINVAL)
		die("clone of half a thread");
	if (pipe2(ends, 0x7) != -1 || errno != EINVAL)
		die("pipe2 of strange flags");
	if (syscall(SYS_pipe2, 16, 0) != -1 || errno != EFAULT)
		die("pipe2 to nowhere");
	if (fcntl(fd, F_SETPIPE_SZ, 65536) != -1 || errno != EBADF)
		die("F_SETPIPE_SZ of a file");
	if (syscall(SYS_memfd_create, P("zoo"), 0xf0) != -1 || errno != EINVAL)
		die("memfd_create of strange flags");
	if (syscall(SYS_eventfd2, 0, 0xf) != -1 || errno != EINVAL)
		die("eventfd2 of strange flags");
	if (syscall(SYS_epoll_create, 0) != -1 || errno != EINVAL)
		die("epoll_create of nothing");
	if (syscall(SYS_timerfd_create, 99, 0) != -1 || errno != EINVAL)
		die("timerfd_create of no clock");
	if (syscall(SYS_close_range, 10, 5, 0) != -1 || errno != EINVAL)
		die("close_range from behind");
	if (syscall(SYS_pidfd_open, 0x7ffffff0, 0) != -1 || errno != ESRCH)
		die("pidfd_open of nobody");
	close(fd);
	return 0;
}

/*
 * Control test: madvise calls that the kernel or the mapping does not support. Programs make such
 * calls and ignore the failure.
 */
static long everyday_advice(void)
{
	char *file = map_file(disk_file(BLOCK), BLOCK, RW, MAP_PRIVATE);

	some_block();
	if (madvise(block, -2 * PAGE_BYTES, MADV_RANDOM) != -1 || errno != EINVAL)
		die("madvise of a range that wraps");
	if (madvise(block, BLOCK, 99) != -1 || errno != EINVAL)
		die("madvise of no advice");
	if (madvise(block, BLOCK, MADV_REMOVE) != -1 || errno != EINVAL)
		die("MADV_REMOVE of memory without a file");
	if (madvise(file, BLOCK, MADV_FREE) != -1 || errno != EINVAL)
		die("MADV_FREE of a file");
	if (msync(block, BLOCK, MS_SYNC | MS_ASYNC) != -1 || errno != EINVAL)
		die("msync in both ways");
	if (mlock(block, BLOCK))
		die("mlock");
	if (madvise(block, BLOCK, MADV_DONTNEED) != -1 || errno != EINVAL)
		die("MADV_DONTNEED of what is locked");
	return 0;
}

/* Control test: fcntl calls that fail with EPERM, EBUSY, EAGAIN or EINVAL, but not at a limit. */
static long everyday_fcntl(void)
{
	int sealed = memfd_create("zoo", MFD_CLOEXEC), ends[2];
	char text[3 * PAGE_BYTES] = "";

	if (fcntl(sealed, F_ADD_SEALS, F_SEAL_GROW) != -1 || errno != EPERM)
		die("F_ADD_SEALS of what may not be sealed");
	if (pipe2(ends, O_CLOEXEC) || write(ends[1], text, sizeof(text)) < 0)
		die("pipe2");
	if (fcntl(ends[0], F_SETPIPE_SZ, PAGE_BYTES) != -1 || errno != EBUSY)
		die("F_SETPIPE_SZ to less than is in it");
	if (fcntl(ends[0], F_SETPIPE_SZ, 0x80000001) != -1 || errno != EINVAL)
		die("F_SETPIPE_SZ to too much");
	if (fcntl(ends[0], F_SETSIG, 1000) != -1 || errno != EINVAL)
		die("F_SETSIG");
	return 0;
}

/* Control test: a hard limit cannot be raised without CAP_SYS_RESOURCE. */
static long raise_without_right(void)
{
	struct rlimit limit = { 100, 200 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
	drop_capability(CAP_SYS_RESOURCE);
	limit.rlim_max = 300;
	if (setrlimit(RLIMIT_NOFILE, &limit) != -1 || errno != EPERM)
		die("setrlimit without right");
	return 0;
}

#define BAD(call, error) { call, error, "bad_argument" }
#define CASE(prepare, lift) prepare, NULL, lift

const struct zoo_case wrong_cases[] = {
	{ "wrong-mmap-shared-grows", BAD("mmap", EINVAL), CASE(shared_that_grows, private_anon) },
	{ "wrong-mmap-file-grows", BAD("mmap", EINVAL), CASE(file_that_grows, file_that_stays) },
	{ "wrong-mmap-append-only",
	  { "mmap", EACCES, "file_mode|not_mappable|unknown", .undecidable = true },
	  CASE(append_only, not_append_only) },
	{ "wrong-mremap-fixed-alone", BAD("mremap", EINVAL), CASE(remap_fixed_alone, may_move) },
	{ "wrong-mremap-to-bent", BAD("mremap", EINVAL), CASE(remap_to_bent, straighten_target) },
	{ "wrong-mremap-past-user", { "mremap", EINVAL, "bad_argument|address_space" },
	  CASE(remap_past_user, below_user_end) },
	{ "wrong-mremap-keep-resize", BAD("mremap", EINVAL), CASE(keep_and_resize, keep_size) },
	{ "wrong-mremap-copy-private", BAD("mremap", EINVAL), CASE(copy_private, old_size_told) },
	{ "mremap-keep-as", { "mremap", ENOMEM, "rlimit_as" }, CASE(keep_past_as, restore_as) },
	{ "mremap-copy-as", { "mremap", ENOMEM, "rlimit_as" },
	  CASE(copy_shared_past_as, restore_as) },
	{ "count-mremap-shrink", { "mremap", ENOMEM, "max_map_count" },
	  CASE(shrink_middle_at_count, unmap_last_filler) },
	{ "wrong-mprotect-wraps",
	  { "mprotect", ENOMEM, "bad_argument|address_space|range_hole" },
	  CASE(protect_wraps, the_block) },
	{ "wrong-mlock-wraps", BAD("mlock", EINVAL), CASE(lock_wraps, the_block) },
	{ "wrong-mprotect-both-ways", BAD("mprotect", EINVAL),
	  CASE(protect_both_ways, protect_plain) },
	{ "wrong-mprotect-strange", BAD("mprotect", EINVAL),
	  CASE(protect_strange, protect_plain) },
	{ "wrong-mprotect-key", BAD("pkey_mprotect", EINVAL), CASE(no_such_key, key_of_none) },
	{ "mlock-past-end", { "mlock", ENOMEM, "unknown|bad_argument", .undecidable = true },
	  CASE(lock_past_end, lock_within_end) },
	{ "mlock-tmpfs-full", { "mlock", ENOMEM, "unknown|bad_argument", .undecidable = true },
	  CASE(lock_of_full, more_of_tmpfs) },
	{ "wrong-shmat-mode", { "shmat", EACCES, "file_mode|unknown|security_module",
	  .undecidable = true }, segment_of_another, attach_as_another, let_all_attach },
	{ "control-wrong", { .causes = "bad_argument|bad_descriptor|unknown|file_mode" }, NULL,
	  everyday_calls, .control = true },
	{ "control-advice", { .causes = "bad_argument" }, NULL, everyday_advice,
	  .control = true },
	{ "control-fcntl", { .causes = "bad_argument|unknown" }, NULL, everyday_fcntl,
	  .control = true },
	{ "control-setrlimit", { .causes = "unknown" }, NULL, raise_without_right,
	  .control = true },
	{ 0 },
};

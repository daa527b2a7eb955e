/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases of mmap and mprotect that fail because of a file's mode, mount, seals or type. */
#include "zoo.h"

#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8
#endif

static int good_fd;
static void *mapped;

static void ask_file(int fd, int protection, int flags)
{
	good_fd = sized_memfd(4 * PAGE_BYTES, 0);
	ASK(mmap, 0, vary(1, 4) * PAGE_BYTES, protection, flags, fd, 0);
}

static void another_fd(void)
{
	ask.arg[4] = good_fd;
}

/* Test cases of file descriptor numbers that are not open */

static void no_fd(void)
{
	ask_file(-1, PROT_READ, MAP_PRIVATE);
}

static void closed_fd(void)
{
	int fd = dup(STDOUT_FILENO);

	ask_file(fd, PROT_READ, MAP_SHARED);
	close(fd);
}

static void path_fd(void)
{
	ask_file(open("/", O_PATH | O_CLOEXEC), PROT_READ, MAP_PRIVATE);
}

/* Test cases of files that were opened in a mode which forbids the mapping */

static void write_only_fd(void)
{
	int fd = disk_file(4 * PAGE_BYTES);

	ask_file(reopen(fd, O_WRONLY), PROT_READ, MAP_SHARED);
	good_fd = fd;
}

static void write_only_private(void)
{
	int fd = sized_memfd(4 * PAGE_BYTES, 0);

	ask_file(reopen(fd, O_WRONLY), PROT_READ, MAP_PRIVATE);
	good_fd = fd;
}

static void read_only_fd(void)
{
	int fd = disk_file(4 * PAGE_BYTES);

	ask_file(reopen(fd, O_RDONLY), RW, MAP_SHARED);
	good_fd = fd;
}

static void read_only_validate(void)
{
	int fd = sized_memfd(4 * PAGE_BYTES, 0);

	ask_file(reopen(fd, O_RDONLY), PROT_WRITE, MAP_SHARED_VALIDATE);
	good_fd = fd;
}

static void ask_protect(void *at, int protection)
{
	ASK(mprotect, P(at), PAGE_BYTES, protection);
}

static void protect_read_only(void)
{
	int fd = sized_memfd(4 * PAGE_BYTES, 0);

	ask_protect(map_file(reopen(fd, O_RDONLY), PAGE_BYTES, PROT_READ, MAP_SHARED), RW);
	mapped = map_file(fd, PAGE_BYTES, PROT_READ, MAP_SHARED);
}

static void another_mapping(void)
{
	ask.arg[0] = P(mapped);
}

/* Test cases of mount options that forbid the mapping */

static int noexec_file(void)
{
	int fd;

	enter_mount_namespace();
	if (mount("zoo", "/tmp", "tmpfs", MS_NOEXEC, "size=256k"))
		skip("mount: %s", strerror(errno));
	fd = open("/tmp/file", O_RDWR | O_CREAT | O_CLOEXEC, 0755);
	if (fd < 0 || ftruncate(fd, 4 * PAGE_BYTES))
		die("/tmp/file");
	return fd;
}

static void noexec_map(void)
{
	ask_file(noexec_file(), RX, MAP_PRIVATE);
}

static void allow_exec(void)
{
	if (mount("zoo", "/tmp", NULL, MS_REMOUNT, NULL))
		die("mount -o remount,exec");
}

static void noexec_protect(void)
{
	int fd = noexec_file();

	ask_protect(map_file(fd, PAGE_BYTES, PROT_READ, MAP_PRIVATE), RX);
	allow_exec();
	mapped = map_file(fd, PAGE_BYTES, PROT_READ, MAP_PRIVATE);
	if (mount("zoo", "/tmp", NULL, MS_REMOUNT | MS_NOEXEC, NULL))
		die("mount -o remount,noexec");
}

/* Test cases of memfd seals that forbid the mapping */

static int sealed_memfd(int seals)
{
	int fd = sized_memfd(4 * PAGE_BYTES, MFD_ALLOW_SEALING);

	if (fcntl(fd, F_ADD_SEALS, seals))
		skip("seals %#x: %s", seals, strerror(errno));
	return fd;
}

static void sealed_write(void)
{
	ask_file(sealed_memfd(F_SEAL_WRITE), RW, MAP_SHARED);
}

static void sealed_future_write(void)
{
	ask_file(sealed_memfd(F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK), RW, MAP_SHARED);
}

static void sealed_protect(void)
{
	int fd = sealed_memfd(F_SEAL_FUTURE_WRITE);

	ask_protect(map_file(fd, PAGE_BYTES, PROT_READ, MAP_SHARED), RW);
	mapped = map_file(sized_memfd(PAGE_BYTES, 0), PAGE_BYTES, PROT_READ, MAP_SHARED);
}

/* Test cases of file types that cannot be mapped */

static void of_directory(void)
{
	ask_file(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), PROT_READ, MAP_PRIVATE);
}

static void of_pipe(void)
{
	int ends[2];

	if (pipe(ends))
		die("pipe");
	ask_file(ends[0], PROT_READ, MAP_PRIVATE);
}

static void of_socket(void)
{
	ask_file(socket(AF_UNIX, SOCK_STREAM, 0), PROT_READ, MAP_SHARED);
}

static void of_eventfd(void)
{
	ask_file(eventfd(0, 0), RW, MAP_SHARED);
}

static void of_epoll(void)
{
	ask_file(epoll_create1(0), PROT_READ, MAP_PRIVATE);
}

static void of_timerfd(void)
{
	ask_file(timerfd_create(CLOCK_MONOTONIC, 0), PROT_READ, MAP_SHARED);
}

static void of_proc(void)
{
	ask_file(open("/proc/self/status", O_RDONLY | O_CLOEXEC), PROT_READ, MAP_PRIVATE);
}

static void of_tty(void)
{
	ask_file(open("/dev/tty0", O_RDWR | O_NOCTTY | O_CLOEXEC), PROT_READ, MAP_SHARED);
	if ((int)ask.arg[4] < 0)
		skip("/dev/tty0: %s", strerror(errno));
}

/* Test cases of drivers with their own mmap */

static int perf_event(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		skip("perf_event_open: %s", strerror(errno));
	return fd;
}

/* A mapping of a perf event must have 2^n + 1 pages. */
static void of_perf_size(void)
{
	ask_file(perf_event(), RW, MAP_SHARED);
	ask.arg[1] = 4 * PAGE_BYTES;
}

static void perf_size_lifted(void)
{
	ask.arg[1] = 3 * PAGE_BYTES;
}

/* A perf event's mapping exceeds the memory that the user may lock, so mmap fails with EPERM. */
static void of_perf_locked(void)
{
	long free_pages = (read_number("/proc/sys/kernel/perf_event_mlock_kb") * KIB *
			   sysconf(_SC_NPROCESSORS_ONLN)) / PAGE_BYTES;
	long pages = 1;

	if (read_number("/proc/sys/kernel/perf_event_paranoid") > 2)
		skip("kernel.perf_event_paranoid forbids it");
	ask_file(perf_event(), RW, MAP_SHARED);
	become_another_user();
	while (pages < 2 * free_pages)
		pages *= 2;
	ask.arg[1] = (pages + 1) * PAGE_BYTES;
	soft_limit(RLIMIT_MEMLOCK, 16 * PAGE_BYTES);
}

static void of_io_uring(void)
{
	struct io_uring_params params = { 0 };
	int fd = syscall(SYS_io_uring_setup, 4, &params);

	if (fd < 0)
		skip("io_uring_setup: %s", strerror(errno));
	ask_file(fd, RW, MAP_SHARED);
	ask.arg[1] = PAGE_BYTES;
	ask.arg[5] = 0x70000000; /* an offset at which io_uring has no memory to map */
}

static void io_uring_lifted(void)
{
	ask.arg[5] = IORING_OFF_SQES;
}

static int bpf_map(enum bpf_map_type type, unsigned int flags)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = 4,
		.value_size = 8,
		.max_entries = 512,
		.map_flags = flags,
	};
	int fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));

	if (fd < 0)
		skip("bpf: %s", strerror(errno));
	return fd;
}

static void of_bpf_map(enum bpf_map_type type)
{
	ask_file(bpf_map(type, 0), PROT_READ, MAP_SHARED);
	ask.arg[1] = PAGE_BYTES;
	good_fd = bpf_map(BPF_MAP_TYPE_ARRAY, BPF_F_MMAPABLE);
}

/* mmap of a BPF map without BPF_F_MMAPABLE fails with EINVAL, although the arguments are right. */
static void of_bpf_array(void)
{
	of_bpf_map(BPF_MAP_TYPE_ARRAY);
}

static void of_bpf_hash(void)
{
	of_bpf_map(BPF_MAP_TYPE_HASH);
}


const struct zoo_case file_cases[] = {
	{ "mmap-no-fd", { "mmap", EBADF, "bad_descriptor" }, no_fd, NULL, another_fd },
	{ "mmap-closed-fd", { "mmap", EBADF, "bad_descriptor" }, closed_fd, NULL, another_fd },
	{ "mmap-path-fd", { "mmap", EBADF, "bad_descriptor" }, path_fd, NULL, another_fd },
	{ "mmap-write-only-fd", { "mmap", EACCES, "file_mode" }, write_only_fd, NULL, another_fd },
	{ "mmap-write-only-private", { "mmap", EACCES, "file_mode" }, write_only_private, NULL,
	  another_fd },
	{ "mmap-read-only-fd", { "mmap", EACCES, "file_mode" }, read_only_fd, NULL, another_fd },
	{ "mmap-read-only-validate", { "mmap", EACCES, "file_mode" }, read_only_validate, NULL,
	  another_fd },
	{ "mprotect-read-only-fd", { "mprotect", EACCES, "file_mode" }, protect_read_only, NULL,
	  another_mapping },
	{ "mmap-noexec", { "mmap", EPERM, "noexec_mount" }, noexec_map, NULL, allow_exec },
	{ "mprotect-noexec", { "mprotect", EACCES, "noexec_mount" }, noexec_protect, NULL,
	  another_mapping },
	{ "mmap-sealed-write", { "mmap", EPERM, "sealed" }, sealed_write, NULL, another_fd },
	{ "mmap-sealed-future-write", { "mmap", EPERM, "sealed" }, sealed_future_write, NULL,
	  another_fd },
	{ "mprotect-sealed-memfd", { "mprotect", EACCES, "sealed" }, sealed_protect, NULL,
	  another_mapping },
	{ "mmap-directory", { "mmap", ENODEV, "not_mappable" }, of_directory, NULL, another_fd },
	{ "mmap-pipe", { "mmap", ENODEV, "not_mappable" }, of_pipe, NULL, another_fd },
	{ "mmap-socket", { "mmap", ENODEV, "not_mappable|driver" }, of_socket, NULL, another_fd },
	{ "mmap-eventfd", { "mmap", ENODEV, "not_mappable" }, of_eventfd, NULL, another_fd },
	{ "mmap-epoll", { "mmap", ENODEV, "not_mappable" }, of_epoll, NULL, another_fd },
	{ "mmap-timerfd", { "mmap", ENODEV, "not_mappable" }, of_timerfd, NULL, another_fd },
	{ "mmap-proc", { "mmap", ENODEV, "not_mappable|driver" }, of_proc, NULL, another_fd },
	{ "mmap-tty", { "mmap", ENODEV, "not_mappable|driver" }, of_tty, NULL, another_fd },
	{ "mmap-perf-size", { "mmap", EINVAL, "driver|bad_argument" }, of_perf_size, NULL,
	  perf_size_lifted },
	{ "mmap-perf-locked", { "mmap", EPERM, "rlimit_memlock" }, of_perf_locked, NULL,
	  perf_size_lifted },
	{ "mmap-io-uring-offset",
	  { "mmap", EINVAL, "driver|bad_argument|unknown", .undecidable = true,
	    .or_error = ENOMEM },
	  of_io_uring, NULL, io_uring_lifted },
	{ "mmap-bpf-array", { "mmap", EINVAL, "driver|unknown" }, of_bpf_array, NULL, another_fd },
	{ "mmap-bpf-hash", { "mmap", ERROR_NOTSUPP, "driver|not_mappable" }, of_bpf_hash, NULL,
	  another_fd },
	{ 0 },
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of calls that need space in a file of tmpfs or hugetlbfs, and of calls that create
 * System V IPC objects.
 */
#include "zoo.h"

#include <linux/falloc.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/uio.h>

#define FEW 3

/* Files in a tmpfs of the case's own mount namespace */

static char place[] = "/tmp/zoo-tmpfs-XXXXXX";
static long room_bytes; /* size of the tmpfs */
static char *bytes;	/* memory to write from */

static void remove_place(void)
{
	umount2(place, MNT_DETACH);
	rmdir(place);
}

static void mount_place(const char *type, const char *options)
{
	enter_mount_namespace();
	if (!mkdtemp(place))
		die("mkdtemp");
	at_end(remove_place);
	if (mount("none", place, type, 0, options))
		skip("mount -t %s -o %s: %s", type, options, strerror(errno));
}

static int file_in_place(const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", place, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		die("open %s", path);
	return fd;
}

static void mount_tmpfs(void)
{
	char options[64];

	room_bytes = vary(256, 1024) * PAGE_BYTES;
	snprintf(options, sizeof(options), "size=%ld", room_bytes);
	mount_place("tmpfs", options);
	bytes = map_anon(room_bytes, RW, 0);
	memset(bytes, 1, room_bytes);
}

static void enlarge_place(void)
{
	if (mount("none", place, NULL, MS_REMOUNT, "size=64M"))
		die("mount -o remount,size=64M");
}

static void fill_place(long left)
{
	if (fallocate(file_in_place("other"), 0, 0, room_bytes - left))
		die("fallocate of %ld bytes", room_bytes - left);
}

static void empty_place(void)
{
	if (ftruncate(file_in_place("other"), 0))
		die("ftruncate");
}

static void reserves_more_than_all(void)
{
	mount_tmpfs();
	ASK(fallocate, file_in_place("file"), 0, 0, room_bytes * vary(2, 8));
}

static void reserves_more_than_rest(void)
{
	mount_tmpfs();
	fill_place(room_bytes / 4);
	ASK(fallocate, file_in_place("file"), 0, 0, room_bytes / 2);
}

/* The file already has a part of the space that the call asks for. */
static void reserves_more_for_file(void)
{
	int fd;

	mount_tmpfs();
	fd = file_in_place("file");
	if (fallocate(fd, 0, 0, room_bytes / 2))
		die("fallocate");
	ASK(fallocate, fd, FALLOC_FL_KEEP_SIZE, 0, room_bytes + room_bytes / 4);
}

static void writes_to_full(void)
{
	mount_tmpfs();
	fill_place(0);
	ASK(write, file_in_place("file"), P(bytes), vary(1, 100000));
}

static void writes_at_to_full(void)
{
	mount_tmpfs();
	fill_place(0);
	ASK(pwrite64, file_in_place("file"), P(bytes), vary(1, 100000), 123456);
}

static void writes_parts_to_full(void)
{
	static struct iovec part[2];

	mount_tmpfs();
	fill_place(0);
	part[0] = (struct iovec){ bytes, 1000 };
	part[1] = (struct iovec){ bytes, 2000 };
	ASK(writev, file_in_place("file"), P(part), 2);
}

static void copies_to_full(void)
{
	int from;

	mount_tmpfs();
	from = file_in_place("from");
	if (write(from, bytes, PAGE_BYTES) != PAGE_BYTES || lseek(from, 0, SEEK_SET))
		die("write");
	fill_place(PAGE_BYTES);
	ASK(copy_file_range, from, 0, file_in_place("file"), 0, 4096, 0);
}

static void sends_to_full(void)
{
	int from = disk_file(4 * PAGE_BYTES);

	mount_tmpfs();
	fill_place(0);
	ASK(sendfile, file_in_place("file"), from, 0, 4096);
}

static void splices_to_full(void)
{
	int ends[2];

	mount_tmpfs();
	fill_place(0);
	if (pipe(ends) || write(ends[1], bytes, 4096) != 4096)
		die("pipe");
	ASK(splice, ends[0], 0, file_in_place("file"), 0, 4096, 0);
}

/* Quotas of tmpfs exist since Linux 6.6. They do not apply to root. */
static void reserves_beyond_quota(void)
{
	mount_place("tmpfs", "size=64M,mode=1777,usrquota_block_hardlimit=1M");
	become_another_user();
	ASK(fallocate, file_in_place("file"), 0, 0, 4 * MIB);
}

static void ask_less(void)
{
	ask.arg[3] = 64 * KIB;
}

/* The kernel commits the pages of a memfd when it allocates them. */
static void reserves_beyond_commit(void)
{
	ASK(fallocate, sized_memfd(0, 0), 0, 0, 2 * GIB);
	machine_setting("/proc/sys/vm/overcommit_kbytes", 256 * KIB);
	machine_setting("/proc/sys/vm/overcommit_memory", 2);
}

static void allow_commit(void)
{
	machine_setting("/proc/sys/vm/overcommit_memory", 1);
	ask.arg[3] = 512 * MIB;
}

static void reserves_huge_pages(void)
{
	machine_setting("/proc/sys/vm/nr_hugepages", 2);
	mount_place("hugetlbfs", "pagesize=2M");
	ASK(fallocate, file_in_place("file"), 0, 0, 8 * MIB);
}

static void more_huge_pages(void)
{
	machine_setting("/proc/sys/vm/nr_hugepages", 16);
}

static void reserves_beyond_hugetlbfs(void)
{
	machine_setting("/proc/sys/vm/nr_hugepages", 16);
	mount_place("hugetlbfs", "pagesize=2M,size=4M");
	ASK(fallocate, file_in_place("file"), 0, 0, 8 * MIB);
}

static void ask_two_huge_pages(void)
{
	ask.arg[3] = 4 * MIB;
}

/* System V IPC objects in the case's own IPC namespace */

static int last_made;

static void too_many_segments(void)
{
	enter_ipc_namespace();
	write_number("/proc/sys/kernel/shmmni", FEW);
	for (int i = 0; i < FEW; i++)
		last_made = shmget(IPC_PRIVATE, PAGE_BYTES, IPC_CREAT | 0600);
	ASK(shmget, IPC_PRIVATE, PAGE_BYTES, IPC_CREAT | 0600);
}

static void remove_segment(void)
{
	if (shmctl(last_made, IPC_RMID, NULL))
		die("IPC_RMID");
}

static void too_many_segment_pages(void)
{
	long pages = vary(4, 40);

	enter_ipc_namespace();
	write_number("/proc/sys/kernel/shmall", pages);
	last_made = shmget(IPC_PRIVATE, pages / 2 * PAGE_BYTES, IPC_CREAT | 0600);
	ASK(shmget, IPC_PRIVATE, pages * PAGE_BYTES, IPC_CREAT | 0600);
}

static void too_large_segment(void)
{
	size_t size = some_bytes();

	enter_ipc_namespace();
	write_number("/proc/sys/kernel/shmmax", size - 1);
	ASK(shmget, IPC_PRIVATE, size, IPC_CREAT | 0600);
}

static void raise_segment_size(void)
{
	write_number("/proc/sys/kernel/shmmax", ask.arg[1]);
}

static void segment_beyond_memory(void)
{
	enter_ipc_namespace();
	ASK(shmget, IPC_PRIVATE, beyond_memory(), IPC_CREAT | 0600);
}

static void reserve_nothing(void)
{
	ask.arg[2] |= SHM_NORESERVE;
}

static void segment_of_huge_pages(void)
{
	enter_ipc_namespace();
	ASK(shmget, IPC_PRIVATE, 1 * GIB, IPC_CREAT | SHM_HUGETLB | 0600);
}

static void use_small_pages(void)
{
	ask.arg[2] &= ~SHM_HUGETLB;
}

static void set_semaphores(const char *numbers)
{
	enter_ipc_namespace();
	if (!write_text("/proc/sys/kernel/sem", numbers))
		die("kernel.sem");
}

static void too_many_sets(void)
{
	set_semaphores("250 32000 32 3");
	for (int i = 0; i < FEW; i++)
		last_made = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	ASK(semget, IPC_PRIVATE, 1, IPC_CREAT | 0600);
}

static void too_many_semaphores(void)
{
	set_semaphores("250 100 32 128");
	last_made = semget(IPC_PRIVATE, 60, IPC_CREAT | 0600);
	ASK(semget, IPC_PRIVATE, vary(41, 100), IPC_CREAT | 0600);
}

static void remove_set(void)
{
	if (semctl(last_made, 0, IPC_RMID))
		die("IPC_RMID");
}

static void too_large_set(void)
{
	set_semaphores("20 32000 32 128");
	ASK(semget, IPC_PRIVATE, vary(21, 100), IPC_CREAT | 0600);
}

static void smaller_set(void)
{
	ask.arg[1] = 20;
}

static void too_many_queues(void)
{
	enter_ipc_namespace();
	write_number("/proc/sys/kernel/msgmni", FEW);
	for (int i = 0; i < FEW; i++)
		last_made = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	ASK(msgget, IPC_PRIVATE, IPC_CREAT | 0600);
}

static void remove_queue(void)
{
	if (msgctl(last_made, IPC_RMID, NULL))
		die("IPC_RMID");
}

/* Control tests: calls that fail for everyday reasons */

static long fails_with(long ret, int error, const char *what)
{
	if (ret != -1 || errno != error)
		die("%s did not fail with %s, but returned %ld", what, strerrorname_np(error), ret);
	return 0;
}

static long writes_in_vain(void)
{
	int sealed = memfd_create("sealed", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	int segment = shmget(IPC_PRIVATE, PAGE_BYTES, IPC_CREAT | 0600);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	static char word[8];

	fails_with(write(full, word, sizeof(word)), ENOSPC, "a write to /dev/full");
	fails_with(write(-1, word, sizeof(word)), EBADF, "a write to no file");
	if (fcntl(sealed, F_ADD_SEALS, F_SEAL_GROW))
		die("F_ADD_SEALS");
	fails_with(fallocate(sealed, 0, 0, PAGE_BYTES), EPERM, "fallocate of a sealed file");
	fails_with(fallocate(full, 0, 0, PAGE_BYTES), ENODEV, "fallocate of a device");
	fails_with(shmget(IPC_PRIVATE, 0, IPC_CREAT | 0600), EINVAL, "shmget of no bytes");
	fails_with(semget(IPC_PRIVATE, 0, IPC_CREAT | 0600), EINVAL, "semget of no semaphores");
	fails_with(msgget(12345678, 0), ENOENT, "msgget of no queue");
	if (shmctl(segment, IPC_RMID, NULL))
		die("IPC_RMID");
	return 0;
}

#define TMPFS_SIZE(call) { call, ENOSPC, "tmpfs_size" }

const struct zoo_case room_cases[] = {
	{ "tmpfs-fallocate-more-than-all", TMPFS_SIZE("fallocate"), reserves_more_than_all, NULL,
	  enlarge_place },
	{ "tmpfs-fallocate-more-than-rest", TMPFS_SIZE("fallocate"), reserves_more_than_rest, NULL,
	  empty_place },
	{ "tmpfs-fallocate-more-for-file", TMPFS_SIZE("fallocate"), reserves_more_for_file, NULL,
	  enlarge_place },
	{ "tmpfs-write", TMPFS_SIZE("write"), writes_to_full, NULL, empty_place },
	{ "tmpfs-pwrite", TMPFS_SIZE("write"), writes_at_to_full, NULL, enlarge_place },
	{ "tmpfs-writev", TMPFS_SIZE("write"), writes_parts_to_full, NULL, empty_place },
	{ "tmpfs-copy_file_range", TMPFS_SIZE("write"), copies_to_full, NULL, empty_place },
	{ "tmpfs-sendfile", TMPFS_SIZE("write"), sends_to_full, NULL, empty_place },
	{ "tmpfs-splice", TMPFS_SIZE("write"), splices_to_full, NULL, enlarge_place },
	{ "tmpfs-quota", { "fallocate", EDQUOT, "tmpfs_quota" }, reserves_beyond_quota, NULL,
	  ask_less },
	{ "memfd-commit-limit", { "fallocate", ENOSPC, "overcommit_strict" },
	  reserves_beyond_commit, NULL, allow_commit, .guest = true },
	{ "hugetlbfs-pool", { "fallocate", ENOSPC, "hugetlb_pool", .or_error = ENOMEM },
	  reserves_huge_pages, NULL, more_huge_pages, .guest = true },
	{ "hugetlbfs-size", { "fallocate", ENOSPC, "hugetlbfs_size" }, reserves_beyond_hugetlbfs,
	  NULL, ask_two_huge_pages, .guest = true },
	{ "shmmni", { "shmget", ENOSPC, "shmmni" }, too_many_segments, NULL, remove_segment },
	{ "shmall", { "shmget", ENOSPC, "shmall" }, too_many_segment_pages, NULL, remove_segment },
	{ "shmmax", { "shmget", EINVAL, "shmmax" }, too_large_segment, NULL, raise_segment_size },
	{ "shmget-heuristic", { "shmget", ENOMEM, "overcommit_heuristic" }, segment_beyond_memory,
	  NULL, reserve_nothing },
	{ "shmget-hugetlb", { "shmget", ENOMEM, "hugetlb_pool" }, segment_of_huge_pages, NULL,
	  use_small_pages },
	{ "semmni", { "semget", ENOSPC, "semmni" }, too_many_sets, NULL, remove_set },
	{ "semmns", { "semget", ENOSPC, "semmns" }, too_many_semaphores, NULL, remove_set },
	{ "semmsl", { "semget", EINVAL, "semmsl" }, too_large_set, NULL, smaller_set },
	{ "msgmni", { "msgget", ENOSPC, "msgmni" }, too_many_queues, NULL, remove_queue },
	{ "control-room", .make = writes_in_vain, .control = true },
	{ NULL },
};

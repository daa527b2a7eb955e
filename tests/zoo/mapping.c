/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of mmap calls that exceed RLIMIT_AS, RLIMIT_DATA, RLIMIT_MEMLOCK, the commit limit, or
 * the number of huge pages.
 */
#include "zoo.h"

#include <linux/mman.h>

static void ask_anon(size_t bytes, int protection, int flags)
{
	ASK(mmap, 0, bytes, protection, PRIVATE_ANON | flags, -1, 0);
}

/* Test cases of RLIMIT_AS */

static void as_anon(void)
{
	size_t bytes = some_bytes();

	ask_anon(bytes, RW, 0);
	room_as(bytes - PAGE_BYTES);
}

static void as_reservation(void)
{
	ask_anon(vary(64, 512) * GIB, PROT_NONE, MAP_NORESERVE);
	room_as(vary(1, 32) * GIB);
}

static void as_file(void)
{
	size_t bytes = some_bytes();

	ASK(mmap, 0, bytes, PROT_READ, MAP_SHARED, sized_memfd(bytes, 0), 0);
	room_as(bytes / 2);
}

static void as_zero(void)
{
	ask_anon(PAGE_BYTES, PROT_READ, 0);
	room_as(0);
}

static void as_before_data(void)
{
	size_t bytes = some_bytes();

	ask_anon(bytes, RW, 0);
	room_as(bytes / 2);
	room_data(bytes / 4);
}

static void as_with_hint(void)
{
	size_t bytes = some_bytes();

	ASK(mmap, 0x200000000000, bytes, RW, PRIVATE_ANON | MAP_FIXED, -1, 0);
	room_as(bytes - PAGE_BYTES);
}

/*
 * mmap first searches for an aligned address, and finds none. Its second search, for any address,
 * finds one. So RLIMIT_AS is the only cause of the failure.
 */
static void as_in_last_hole(void)
{
	size_t bytes = 64 * MIB;

	fill_space(bytes);
	ask_anon(bytes, RW, 0);
	room_as(bytes / 2);
}

static void as_and_data_restored(void)
{
	restore_as();
	restore_data();
}

/* Test cases of RLIMIT_DATA */

static void data_anon(void)
{
	size_t bytes = some_bytes();

	ask_anon(bytes, RW, 0);
	room_data(bytes - PAGE_BYTES);
}

static void data_file(void)
{
	size_t bytes = some_bytes();

	ASK(mmap, 0, bytes, RW, MAP_PRIVATE, disk_file(bytes), 0);
	room_data(bytes / 2);
}

static void data_write_only(void)
{
	size_t bytes = some_bytes();

	ask_anon(bytes, PROT_WRITE, 0);
	room_data(bytes / 2);
}

static void data_noreserve(void)
{
	size_t bytes = some_bytes();

	ask_anon(bytes, RW, MAP_NORESERVE);
	room_data(bytes / 2);
}

/* Test cases of RLIMIT_MEMLOCK */

static void memlock_flag(void)
{
	size_t bytes = small_bytes();

	ask_anon(bytes, RW, MAP_LOCKED);
	room_memlock(bytes - PAGE_BYTES);
}

static void memlock_future(void)
{
	size_t bytes = small_bytes();

	if (mlockall(MCL_FUTURE))
		die("mlockall");
	ask_anon(bytes, RW, 0);
	room_memlock(bytes / 2);
}

static void memlock_future_file(void)
{
	size_t bytes = small_bytes();

	if (mlockall(MCL_FUTURE))
		die("mlockall");
	ASK(mmap, 0, bytes, PROT_READ, MAP_SHARED, sized_memfd(bytes, 0), 0);
	room_memlock(bytes / 2);
}

static void memlock_nothing(void)
{
	ask_anon(small_bytes(), RW, MAP_LOCKED);
	drop_capability(CAP_IPC_LOCK);
	soft_limit(RLIMIT_MEMLOCK, 0);
}

static void memlock_before_as(void)
{
	size_t bytes = small_bytes();

	ask_anon(bytes, RW, MAP_LOCKED);
	room_as(bytes / 2);
	room_memlock(bytes / 2);
}

static void memlock_before_as_lifted(void)
{
	restore_as();
	raise_ipc_lock();
}

static void memlock_secret(void)
{
	size_t bytes = small_bytes();
	int fd = syscall(SYS_memfd_secret, 0);

	if (fd < 0)
		skip("memfd_secret: %s", strerror(errno));
	if (ftruncate(fd, bytes))
		die("ftruncate");
	ASK(mmap, 0, bytes, RW, MAP_SHARED, fd, 0);
	room_memlock(bytes / 2);
}

/* Test cases of heuristic overcommit: one request is larger than all memory and swap together. */

static void heuristic_anon(void)
{
	ask_anon(beyond_memory(), RW, 0);
}

static void heuristic_shared(void)
{
	ASK(mmap, 0, beyond_memory(), RW, SHARED_ANON, -1, 0);
}

static void heuristic_file(void)
{
	ASK(mmap, 0, beyond_memory(), RW, MAP_PRIVATE, disk_file(PAGE_BYTES), 0);
}

static void heuristic_zero(void)
{
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		skip("/dev/zero: %s", strerror(errno));
	ASK(mmap, 0, beyond_memory(), RW, MAP_SHARED, fd, 0);
}

static void not_reserved(void)
{
	ask.arg[3] |= MAP_NORESERVE;
}

/* Test cases of huge pages */

static void no_huge_pages(void)
{
	if (read_number("/proc/sys/vm/nr_hugepages") ||
	    read_number("/proc/sys/vm/nr_overcommit_hugepages"))
		skip("there are huge pages");
}

static void hugetlb_flag(void)
{
	no_huge_pages();
	ask_anon(vary(1, 8) * 2 * MIB, RW, MAP_HUGETLB);
}

static void hugetlb_shared(void)
{
	no_huge_pages();
	ASK(mmap, 0, vary(1, 8) * 2 * MIB, RW, SHARED_ANON | MAP_HUGETLB, -1, 0);
}

/* Huge pages come from a memfd. mmap is called without MAP_HUGETLB. */
static void hugetlb_memfd(void)
{
	size_t bytes = vary(1, 8) * 2 * MIB;

	no_huge_pages();
	ASK(mmap, 0, bytes, RW, MAP_SHARED, sized_memfd(bytes, MFD_HUGETLB), 0);
}

static void hugetlb_size(void)
{
	ask_anon(2 * MIB, PROT_NONE, MAP_HUGETLB | 20 << MAP_HUGE_SHIFT | MAP_NORESERVE);
}

static void hugetlb_size_lifted(void)
{
	ask.arg[3] = PRIVATE_ANON | MAP_HUGETLB | MAP_HUGE_2MB | MAP_NORESERVE;
}

/* Test cases of memory that is both writable and executable (PR_SET_MDWE) */

static void write_and_exec(void)
{
	ask_anon(PAGE_BYTES, RW | PROT_EXEC, 0);
}

static void deny_write_exec(void)
{
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		skip("prctl PR_SET_MDWE: %s", strerror(errno));
}

const struct zoo_case mapping_cases[] = {
	{ "mmap-as", { "mmap", ENOMEM, "rlimit_as" }, as_anon, NULL, restore_as },
	{ "mmap-as-reservation", { "mmap", ENOMEM, "rlimit_as" }, as_reservation, NULL,
	  restore_as },
	{ "mmap-as-file", { "mmap", ENOMEM, "rlimit_as" }, as_file, NULL, restore_as },
	{ "mmap-as-one-page", { "mmap", ENOMEM, "rlimit_as" }, as_zero, NULL, restore_as },
	{ "mmap-as-fixed", { "mmap", ENOMEM, "rlimit_as" }, as_with_hint, NULL, restore_as },
	{ "mmap-as-before-data", { "mmap", ENOMEM, "rlimit_as", "rlimit_data" }, as_before_data,
	  NULL, as_and_data_restored },
	{ "mmap-as-in-last-hole", { "mmap", ENOMEM, "rlimit_as" }, as_in_last_hole, NULL,
	  restore_as },
	{ "mmap-data", { "mmap", ENOMEM, "rlimit_data" }, data_anon, NULL, restore_data },
	{ "mmap-data-file", { "mmap", ENOMEM, "rlimit_data" }, data_file, NULL, restore_data },
	{ "mmap-data-write-only", { "mmap", ENOMEM, "rlimit_data" }, data_write_only, NULL,
	  restore_data },
	{ "mmap-data-noreserve", { "mmap", ENOMEM, "rlimit_data" }, data_noreserve, NULL,
	  restore_data },
	{ "mmap-memlock", { "mmap", EAGAIN, "rlimit_memlock" }, memlock_flag, NULL,
	  raise_ipc_lock },
	{ "mmap-memlock-future", { "mmap", EAGAIN, "rlimit_memlock" }, memlock_future, NULL,
	  raise_ipc_lock },
	{ "mmap-memlock-future-file", { "mmap", EAGAIN, "rlimit_memlock" }, memlock_future_file,
	  NULL, raise_ipc_lock },
	{ "mmap-memlock-zero", { "mmap", EPERM, "rlimit_memlock" }, memlock_nothing, NULL,
	  raise_ipc_lock },
	{ "mmap-memlock-before-as", { "mmap", EAGAIN, "rlimit_memlock", "rlimit_as" },
	  memlock_before_as, NULL, memlock_before_as_lifted },
	{ "mmap-memlock-secret", { "mmap", EAGAIN, "rlimit_memlock" }, memlock_secret, NULL,
	  raise_ipc_lock },
	{ "mmap-heuristic", { "mmap", ENOMEM, "overcommit_heuristic" }, heuristic_anon, NULL,
	  not_reserved },
	{ "mmap-heuristic-shared", { "mmap", ENOMEM, "overcommit_heuristic" }, heuristic_shared,
	  NULL, not_reserved },
	{ "mmap-heuristic-file", { "mmap", ENOMEM, "overcommit_heuristic" }, heuristic_file, NULL,
	  not_reserved },
	{ "mmap-heuristic-dev-zero", { "mmap", ENOMEM, "overcommit_heuristic" }, heuristic_zero,
	  NULL, not_reserved },
	{ "mmap-hugetlb", { "mmap", ENOMEM, "hugetlb_pool" }, hugetlb_flag, NULL, not_reserved },
	{ "mmap-hugetlb-shared", { "mmap", ENOMEM, "hugetlb_pool" }, hugetlb_shared, NULL,
	  not_reserved },
	{ "mmap-hugetlb-memfd", { "mmap", ENOMEM, "hugetlb_pool" }, hugetlb_memfd, NULL,
	  not_reserved },
	{ "mmap-hugetlb-size", { "mmap", EINVAL, "bad_argument|hugetlb_pool" }, hugetlb_size, NULL,
	  hugetlb_size_lifted },
	{ "mmap-write-exec", { "mmap", EACCES, "write_exec_denied" }, write_and_exec, NULL, NULL,
	  .impose = deny_write_exec },
	{ 0 },
};

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which limit faultscope names as the cause if a call finds no space in a file of tmpfs or
 * hugetlbfs, or creates no System V IPC object. The checks and their order are those of mm/shmem.c,
 * mm/hugetlb.c and ipc/.
 */
#include <linux/magic.h>
#include <sys/shm.h>

#include "cause_fixture.h"

#define BLOCKS 100000 /* size of the tmpfs, much more than its counter may lag */
#define LAG    1024
#define HUGE   (2ULL << 20)

/* Begins a call that finds no space in a tmpfs of BLOCKS blocks, of which `used` are in use. */
static void begin_tmpfs(enum call_id call, uint64_t used)
{
	begin(call, ENOSPC);
	is_of(REGULAR, FMODE_READ | FMODE_WRITE, 0);
	r.file.magic = TMPFS_MAGIC;
	r.space.block_bytes = PAGE;
	r.space.limit = BLOCKS;
	r.space.used = used;
	r.space.device = 1;
	if (call == CALL_FALLOCATE)
		r.args[3] = PAGE;
}

static void test_tmpfs(void)
{
	begin_tmpfs(CALL_WRITE, BLOCKS);
	is_cause("tmpfs_size", true, "a write to a full tmpfs");
	is_str(v.evidence[0].field, "tmpfs space", "its evidence");
	is_u64(v.evidence[0].limit, BLOCKS * PAGE, "the size of the tmpfs");
	is_u64(v.need, BLOCKS + 1, "a write needs one more block");
	is_str(v.evidence[1].field, "file", "the file is named");
	NO_NEXT("a full tmpfs");
	r.space.used = BLOCKS + 1 - LAG;
	is_cause("tmpfs_size", true, "the counter may lag, and nothing else gives ENOSPC");
	l.overcommit_memory = 2;
	is_cause("tmpfs_size", false, "with strict accounting, it may be the commit limit");
	r.space.used = BLOCKS;
	is_cause("tmpfs_size", true, "strict accounting does not matter if the tmpfs is full");
	r.space.used = BLOCKS - LAG - 1;
	is_cause("unknown", false, "strict accounting, and the tmpfs has room");
	l.overcommit_memory = 0;
	is_cause("unknown", false, "a tmpfs that has room");
	begin_tmpfs(CALL_WRITE, BLOCKS);
	r.space.limit = 0;
	is_cause("unknown", false, "a tmpfs without a size");
	begin_tmpfs(CALL_WRITE, BLOCKS);
	r.error = EDQUOT;
	is_cause("tmpfs_quota", true, "a quota");
	begin_tmpfs(CALL_WRITE, BLOCKS);
	r.error = EIO;
	is_cause("unknown", false, "another error");
	begin_tmpfs(CALL_WRITE, BLOCKS);
	r.file.magic = HUGETLBFS_MAGIC;
	is_cause("unknown", false, "writes to hugetlbfs do not exist");
	begin_tmpfs(CALL_WRITE, BLOCKS);
	r.facts = FACT_FILTERED;
	is_cause("tmpfs_size", false, "a seccomp filter may have failed the call");
}

/* If fallocate() fails, the pages that it allocated are free again. */
static void test_fallocate(void)
{
	begin_tmpfs(CALL_FALLOCATE, 0);
	r.args[3] = (BLOCKS + 1) * PAGE;
	is_cause("tmpfs_size", true, "one block more than the size");
	is_u64(v.need, BLOCKS + 1, "needs one block more");
	r.args[2] = 1;
	r.args[3] = BLOCKS * PAGE;
	is_cause("tmpfs_size", true, "a range that touches one block more");
	r.args[2] = PAGE;
	r.args[3] = (BLOCKS - LAG) * PAGE;
	is_cause("unknown", false, "a range for which there is room");
	begin_tmpfs(CALL_FALLOCATE, BLOCKS / 2);
	r.args[3] = (BLOCKS / 2 + 1) * PAGE;
	is_cause("tmpfs_size", true, "more than the rest");
	is_u64(v.need, BLOCKS + 1, "the rest and one block");
	r.space.file_blocks = LAG + 2;
	is_cause("unknown", false, "the file has these blocks already");
	r.space.file_blocks = 1;
	is_cause("tmpfs_size", true, "the file has some of them");
	is_u64(v.need, BLOCKS, "which it does not need again");
	begin_tmpfs(CALL_FALLOCATE, 0);
	r.facts = FACT_COMPAT;
	r.args[2] = 0;
	r.args[3] = 1; /* a 32-bit offset of 4 GiB: low and high half */
	r.args[4] = 0;
	r.args[5] = 1;
	is_cause("tmpfs_size", true, "32-bit arguments in halves");
	is_u64(v.need, 1ULL << 32 >> 12, "with a length of 4 GiB");
	begin_tmpfs(CALL_FALLOCATE, 0);
	r.error = ENOMEM;
	r.memory.known = 1;
	r.memory.used = r.memory.limit = 1000;
	is_cause("cgroup_memory", false, "memory.max");
	begin_tmpfs(CALL_FALLOCATE, BLOCKS);
	r.space = (struct file_space){};
	is_cause("unknown", false, "a recording that lacks the size of a block");
}

static void test_commit(void)
{
	begin_tmpfs(CALL_FALLOCATE, 0);
	r.space.limit = 0;
	r.args[3] = 1ULL << 30;
	l.overcommit_memory = 2;
	l.commit_limit_bytes = 2ULL << 30;
	l.committed_bytes = 1ULL << 30;
	is_cause("overcommit_strict", false, "the commit limit");
	r.facts = FACT_SAID_COMMIT;
	is_cause("overcommit_strict", true, "the commit limit, in the kernel log");
	r.facts = 0;
	l.committed_bytes = 1 << 20;
	is_cause("unknown", false, "far below the commit limit");
	r.file.magic = HUGETLBFS_MAGIC;
	l.committed_bytes = 1ULL << 30;
	r.space.block_bytes = HUGE;
	l.huge_page_bytes = HUGE;
	l.huge_pages = l.huge_pages_free = 1000;
	is_cause("hugetlb_pool", false, "huge pages are not committed");
}

static void test_huge(void)
{
	begin_tmpfs(CALL_FALLOCATE, 4);
	r.file.magic = HUGETLBFS_MAGIC;
	r.space.block_bytes = HUGE;
	r.space.limit = 4;
	l.huge_page_bytes = HUGE;
	l.huge_pages = 10;
	l.huge_pages_free = 6;
	r.args[3] = 2 * HUGE;
	is_cause("hugetlbfs_size", true, "a full hugetlbfs");
	is_str(v.evidence[0].field, "hugetlbfs space", "its evidence");
	r.space.used = 3;
	is_cause("hugetlb_pool", false, "a hugetlbfs that has room, and a pool that has");
	l.huge_pages_free = 5;
	l.huge_pages_reserved = 4;
	is_cause("hugetlb_pool", true, "an empty pool");
	is_u64(v.need, 9 + 2, "needs the pages in use and two more");
	r.error = ENOMEM;
	is_cause("hugetlb_pool", true, "an empty pool, with ENOMEM");
	r.space.block_bytes = 1 << 30;
	is_cause("hugetlb_pool", false, "a pool of another page size");
}

static void begin_ipc(enum call_id call, int error, uint64_t size)
{
	begin(call, error);
	r.args[1] = size;
	r.ipc = (struct ipc_room){.used = 90,
				  .limit = 100,
				  .largest = 50 * PAGE,
				  .objects = 9,
				  .objects_max = 10,
				  .initial = 1};
}

static void test_segments(void)
{
	begin_ipc(CALL_SHMGET, EINVAL, 50 * PAGE);
	is_cause("unknown", false, "a segment of the largest size");
	r.args[1]++;
	is_cause("shmmax", true, "a byte more");
	is_u64(v.need, 50 * PAGE + 1, "needs as much");
	begin_ipc(CALL_SHMGET, ENOSPC, 10 * PAGE);
	is_cause("unknown", false, "all pages");
	r.args[1]++;
	is_cause("shmall", true, "a part of a page more");
	is_u64(v.need, 101, "is a page more");
	NO_NEXT("pages alone");
	r.ipc.objects = 10;
	is_cause("shmall", true, "the kernel checks pages first");
	NEXT("pages and segments", "shmmni");
	begin_ipc(CALL_SHMGET, ENOSPC, 1);
	r.ipc.objects = 10;
	is_cause("shmmni", true, "too many segments");
	is_u64(v.need, 11, "one more is needed");
	begin_ipc(CALL_SHMGET, ENOMEM, 10ULL << 40);
	r.ipc.limit = r.ipc.largest = UINT64_MAX;
	l.mem_total_bytes = 1ULL << 40;
	is_cause("overcommit_heuristic", true, "more than memory and swap");
	r.args[2] = SHM_NORESERVE;
	is_cause("unknown", false, "without a reservation");
	l.overcommit_memory = 2;
	l.commit_limit_bytes = 1ULL << 40;
	is_cause("overcommit_strict", false, "strict accounting ignores SHM_NORESERVE");
	begin_ipc(CALL_SHMGET, ENOMEM, 4 * HUGE);
	r.ipc.limit = r.ipc.largest = UINT64_MAX;
	r.args[2] = SHM_HUGETLB;
	l.huge_page_bytes = HUGE;
	l.huge_pages = l.huge_pages_free = 4;
	is_cause("hugetlb_pool", false, "as many huge pages as there are");
	l.huge_pages_free = 3;
	is_cause("hugetlb_pool", true, "one huge page is missing");
	is_u64(v.need, 5, "the pages in use and four");
	r.args[2] |= 30 << 26;
	is_cause("hugetlb_pool", false, "of another size");
}

static void test_semaphores_and_queues(void)
{
	begin_ipc(CALL_SEMGET, EINVAL, 50);
	r.ipc.largest = 50;
	is_cause("unknown", false, "a set of the largest size");
	r.args[1] = 51;
	is_cause("semmsl", true, "a semaphore more");
	begin_ipc(CALL_SEMGET, ENOSPC, 10);
	is_cause("unknown", false, "all semaphores");
	r.args[1] = 11;
	is_cause("semmns", true, "a semaphore more than all");
	r.ipc.objects = 10;
	is_cause("semmns", true, "the kernel checks semaphores first");
	NEXT("semaphores and sets", "semmni");
	r.args[1] = 1;
	is_cause("semmni", true, "too many sets");
	begin_ipc(CALL_MSGGET, ENOSPC, 0);
	is_cause("unknown", false, "one queue below the limit");
	r.ipc.objects = 10;
	is_cause("msgmni", true, "too many queues");
	is_str(v.evidence[0].field, "System V IPC objects of this kind", "its evidence");
}

int main(void)
{
	test_tmpfs();
	test_fallocate();
	test_commit();
	test_huge();
	test_segments();
	test_semaphores_and_queues();
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Checks of calls that need space in a file of tmpfs or hugetlbfs, or that create System V IPC
 * objects. Kernel sources: mm/shmem.c, mm/hugetlb.c, ipc/shm.c, ipc/sem.c, ipc/msg.c, ipc/util.c.
 */
#include <errno.h>
#include <linux/magic.h>

#include "rules/request.h"

#define SHM_HUGE       04000  /* SHM_HUGETLB of include/uapi/linux/shm.h */
#define SHM_NORESERVED 010000 /* SHM_NORESERVE */

/*
 * Returns the least number of blocks that the call needs in addition to those of the file; 1 if the
 * size of a block is not known.
 */
static uint64_t more_blocks(const struct request *q)
{
	const struct file_space *s = &q->r->space;
	const __u64 *a = q->r->args;
	uint64_t from = a[2], bytes = a[3], whole;

	if (q->r->call != CALL_FALLOCATE || !s->block_bytes)
		return 1; /* a write stops at the first block for which there is no space */
	if (has_fact(q, FACT_COMPAT)) {
		from = (uint32_t)a[2] | a[3] << 32;
		bytes = (uint32_t)a[4] | a[5] << 32;
	}
	whole = units_of(from + bytes, s->block_bytes) - from / s->block_bytes;
	return whole > s->file_blocks ? whole - s->file_blocks : 1;
}

static void say_space(const struct request *q, struct verdict *v, const char *field)
{
	const struct file_space *s = &q->r->space;
	uint64_t more = more_blocks(q);

	verdict_need(v, s->used, more);
	verdict_sum(v, field, IN_BYTES, s->used * s->block_bytes, more * s->block_bytes,
		    s->limit * s->block_bytes);
	verdict_text(v, "file", q->r->file.name);
}

/*
 * A full tmpfs is the only reason for ENOSPC, unless vm.overcommit_memory is 2. If fallocate()
 * fails, the kernel frees the pages that the call had allocated: the tmpfs is not full afterwards.
 */
bool past_tmpfs(const struct request *q, struct verdict *v, bool *ret_sure)
{
	const struct file_space *s = &q->r->space;
	uint64_t end;

	if (!s->block_bytes || !s->limit || q->r->file.magic != TMPFS_MAGIC)
		return false;
	end = s->used + more_blocks(q);
	if (end + TMPFS_LAG_PAGES <= s->limit)
		return false;
	*ret_sure = end > s->limit || q->l->overcommit_memory != 2;
	say_space(q, v, "tmpfs space");
	return true;
}

/* EDQUOT has no other reason: shmem_inode_acct_blocks() asks for the quota of user and group. */
bool past_tmpfs_quota(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (q->r->error != EDQUOT || !q->r->space.block_bytes || q->r->file.magic != TMPFS_MAGIC)
		return false;
	verdict_text(v, "file", q->r->file.name);
	return true;
}

/* Calls return EDQUOT only if a quota of the file system is used up: fs/quota/dquot.c. */
bool past_quota(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (q->r->error != EDQUOT)
		return false;
	if (q->r->file.name[0])
		verdict_text(v, "file", q->r->file.name);
	return true;
}

/* tmpfs commits each page when it allocates the page: shmem_acct_blocks(). */
bool past_commit_of_file(const struct request *q, struct verdict *v, bool *ret_sure)
{
	struct request file = *q;

	if (!q->r->space.block_bytes || q->r->file.magic != TMPFS_MAGIC)
		return false;
	file.accounted = true;
	file.pages = more_blocks(q) * (q->r->space.block_bytes / q->l->page_bytes);
	return past_commit(&file, v, ret_sure);
}

/* The mount option size= limits the huge pages of a hugetlbfs. */
bool past_hugetlbfs(const struct request *q, struct verdict *v, bool *ret_sure)
{
	const struct file_space *s = &q->r->space;

	if (!s->block_bytes || !s->limit || q->r->file.magic != HUGETLBFS_MAGIC ||
	    s->used < s->limit)
		return false;
	say_space(q, v, "hugetlbfs space");
	return true;
}

/* Returns how many huge pages of the default size are free, and not reserved. */
static uint64_t free_in_pool(const struct request *q)
{
	return q->l->huge_pages_free - q->l->huge_pages_reserved;
}

static void say_pool(const struct request *q, struct verdict *v, uint64_t asked)
{
	verdict_need(v, q->l->huge_pages - free_in_pool(q), asked);
	verdict_sum(v, "huge pages reserved and requested", IN_COUNT, q->l->huge_pages_reserved,
		    asked, q->l->huge_pages_free);
}

bool past_pool(const struct request *q, struct verdict *v, uint64_t flags, uint64_t bytes,
	       bool *ret_sure)
{
	uint64_t page = q->l->huge_page_bytes, shift = flags >> F_MAP_HUGE_SHIFT & 63;
	bool default_size = page && (!shift || 1ULL << shift == page);
	uint64_t asked = default_size ? units_of(bytes, page) : 0;

	*ret_sure = default_size && asked > free_in_pool(q);
	if (default_size)
		say_pool(q, v, asked);
	return true;
}

bool past_pool_of_file(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t more = more_blocks(q);

	if (!q->r->space.block_bytes || q->r->file.magic != HUGETLBFS_MAGIC)
		return false;
	*ret_sure = q->r->space.block_bytes == q->l->huge_page_bytes && more > free_in_pool(q);
	if (*ret_sure)
		say_pool(q, v, more);
	return true;
}

/* newseg() in ipc/shm.c */
bool past_segment_bytes(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t bytes = q->r->args[1];

	if (bytes <= q->r->ipc.largest)
		return false;
	verdict_need(v, 0, bytes);
	verdict_count(v, "bytes of the segment", IN_BYTES, bytes, q->r->ipc.largest);
	return true;
}

bool past_segment_pages(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t pages = pages_of(q, q->r->args[1]);

	if (q->r->ipc.used + pages <= q->r->ipc.limit)
		return false;
	verdict_need(v, q->r->ipc.used, pages);
	verdict_sum(v, "pages of all segments", IN_PAGES, q->r->ipc.used, pages, q->r->ipc.limit);
	return true;
}

/* ipc_addid() in ipc/util.c */
bool past_ipc_objects(const struct request *q, struct verdict *v, bool *ret_sure)
{
	const struct ipc_room *i = &q->r->ipc;

	if (i->objects < i->objects_max)
		return false;
	verdict_need(v, i->objects, 1);
	verdict_count(v, "System V IPC objects of this kind", IN_COUNT, i->objects, i->objects_max);
	return true;
}

/* newary() in ipc/sem.c */
bool past_semaphores(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t more = (uint32_t)q->r->args[1];

	if (q->r->ipc.used + more <= q->r->ipc.limit)
		return false;
	verdict_sum(v, "semaphores of all sets", IN_COUNT, q->r->ipc.used, more, q->r->ipc.limit);
	return true;
}

bool past_semaphores_of_set(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t more = (uint32_t)q->r->args[1];

	if (more <= q->r->ipc.largest)
		return false;
	verdict_count(v, "semaphores of the set", IN_COUNT, more, q->r->ipc.largest);
	return true;
}

static struct request request_of_segment(const struct request *q)
{
	struct request segment = *q;
	uint64_t flags = q->r->args[2];

	segment.pages = pages_of(q, q->r->args[1]);
	segment.hugetlb = flags & SHM_HUGE;
	segment.no_reserve = flags & SHM_NORESERVED;
	segment.accounted =
		!segment.hugetlb && (!segment.no_reserve || q->l->overcommit_memory == 2);
	return segment;
}

bool past_commit_of_segment(const struct request *q, struct verdict *v, bool *ret_sure)
{
	struct request segment = request_of_segment(q);

	return past_commit(&segment, v, ret_sure);
}

bool past_heuristic_of_segment(const struct request *q, struct verdict *v, bool *ret_sure)
{
	struct request segment = request_of_segment(q);

	return past_heuristic(&segment, v, ret_sure);
}

bool past_pool_of_segment(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t flags = q->r->args[2];

	return flags & SHM_HUGE && past_pool(q, v, flags, q->r->args[1], ret_sure);
}

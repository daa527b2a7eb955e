// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds why a call of the mmap family failed. Kernel sources: mm/mmap.c, vma.c, mprotect.c,
 * mremap.c, mlock.c, madvise.c, msync.c, util.c.
 */
#include <errno.h>
#include <linux/magic.h>
#include <string.h>

#include "rules/request.h"

/* Flags of include/linux/mm.h. */
#define VM_MAYWRITE  0x20
#define VM_MAYEXEC   0x40
#define VM_LOCKED    0x2000
#define VM_ACCOUNT   0x100000
#define VM_NORESERVE 0x200000
/*
 * VM_SEALED is bit 63 in Linux 6.10 to 6.16, and bit 42 since 6.17. Older kernels do not use bit
 * 42.
 */
#define VM_SEALED (1ULL << 63 | 1ULL << 42)

/* Constants of include/linux/fs.h, and of include/uapi/linux/fcntl.h and stat.h. */
#define FMODE_READ	     0x1
#define FMODE_WRITE	     0x2
#define FMODE_PATH	     0x4000
#define SEALS_AGAINST_WRITES (0x8 | 0x10)
#define KIND_CHARACTER	     0020000

/*
 * Future kernels may compare map_count with a value slightly below vm.max_map_count. A count that
 * is at most this much below the limit is therefore a possible, but uncertain cause.
 */
#define COUNT_LEEWAY 6

static bool counts(const struct request *q, struct verdict *v, uint64_t short_by)
{
	uint64_t count = q->r->map_count, max = q->l->max_map_count;

	if (!max || count + short_by <= max)
		return false;
	verdict_count(v, "map_count", IN_COUNT, count, max);
	return true;
}

/* do_mmap() and do_brk_flags() fail if map_count > vm.max_map_count. */
static bool past_count(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return counts(q, v, 0);
}

/* Returns the end of the call's address range, rounded up to a page as the kernel does. */
static uint64_t range_end(const struct request *q)
{
	uint64_t page = q->l->page_bytes, end = q->r->args[0] + q->r->args[1] + page - 1;

	return end - end % page;
}

/*
 * Returns true if the call had to split the mapping at which it failed. Also returns true if the
 * address range was not read, but the call may split a mapping. At the limit, munmap() can still
 * unmap the start or the end of a mapping: only a hole in the middle adds a mapping.
 */
static bool may_split(const struct request *q)
{
	const struct address_range *range = &q->r->range;
	bool front = range->start<q->r->args[0], back = range->end> range_end(q);

	if (!was_looked_at(q))
		return true;
	switch (q->r->call) {
	case CALL_MPROTECT:
	case CALL_MLOCK:
	case CALL_MUNLOCK:
		return range->end && (front || back);
	case CALL_MUNMAP:
		return front && back;
	}
	return true;
}

/* __split_vma() fails if map_count >= vm.max_map_count. */
bool past_count_split(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return may_split(q) && counts(q, v, 1);
}

/*
 * The map count is near the limit, but not above it, so it is an uncertain cause: MAP_FIXED may
 * have to split the mapping that it replaces, and future kernels may compare with another value
 * (COUNT_LEEWAY).
 */
static bool near_count(const struct request *q, struct verdict *v, bool *ret_sure)
{
	*ret_sure = false;
	return counts(q, v, q->replaces ? 1 : 0) || counts(q, v, COUNT_LEEWAY);
}

/* move_vma() fails if map_count >= vm.max_map_count - 3, because it may have to split mappings. */
static bool past_count_move(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return q->r->args[3] & F_MREMAP_MAYMOVE && counts(q, v, 4);
}

/*
 * With MREMAP_FIXED or MREMAP_DONTUNMAP, mremap() may have to split mappings in both ranges. It
 * fails if map_count >= vm.max_map_count - 5.
 */
static bool past_count_to(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return q->r->args[3] & (F_MREMAP_FIXED | F_MREMAP_DONTUNMAP) && counts(q, v, 6);
}

/* A shrinking mremap() unmaps the end of its range, which may split a mapping. */
static bool past_count_shrink(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return q->r->args[2] < q->r->args[1] && counts(q, v, 1);
}

static bool past_space(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t size = q->r->task_size_bytes, from = q->r->args[0];
	bool fixed = q->r->call == CALL_MMAP && q->replaces;

	if (has_fact(q, FACT_NO_AREA)) {
		*ret_sure = q->r->area_bytes >= q->length_bytes;
		verdict_figure(v, "no free address range of", IN_BYTES, q->r->area_bytes);
		verdict_figure(v, "total_vm_pages", IN_PAGES, q->r->total_vm_pages);
		return true;
	}
	if (fixed && size && (q->length_bytes > size || from > size - q->length_bytes)) {
		verdict_address(v, "end of the range", from + q->length_bytes);
		verdict_address(v, "end of the address space", size);
		return true;
	}
	if (q->length_bytes < q->space_bytes)
		return false;
	verdict_count(v, "length_bytes", IN_BYTES, q->length_bytes, q->space_bytes);
	return true;
}

static bool no_area(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return has_fact(q, FACT_NO_AREA) && past_space(q, v, ret_sure);
}

static void need_pages(const struct request *q, struct verdict *v, uint64_t held, uint64_t asked)
{
	uint64_t most = UINT64_MAX / 2 / q->l->page_bytes;

	verdict_need(v, held * q->l->page_bytes, (asked < most ? asked : most) * q->l->page_bytes);
}

static bool is_past_as(const struct request *q)
{
	uint64_t limit = limit_pages(q, q->r->as_limit_bytes);

	return limit != UINT64_MAX && q->r->total_vm_pages + q->more_pages > limit;
}

static bool past_as(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t limit = limit_pages(q, q->r->as_limit_bytes);

	if (!is_past_as(q))
		return false;
	*ret_sure = !q->replaces || was_looked_at(q);
	need_pages(q, v, q->r->total_vm_pages, q->more_pages);
	verdict_sum(v, "total_vm_pages", IN_PAGES, q->r->total_vm_pages, q->more_pages, limit);
	return true;
}

/* check_data_rlimit(): brk() compares RLIMIT_DATA with the bytes of the heap alone. */
static bool past_heap(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t limit = q->r->data_limit_bytes;
	uint64_t more = q->r->args[0] - (uint64_t)q->r->ret;

	if (limit == UINT64_MAX || q->r->heap_bytes + more <= limit)
		return false;
	verdict_need(v, q->r->heap_bytes, more);
	verdict_sum(v, "heap_bytes", IN_BYTES, q->r->heap_bytes, more, limit);
	return true;
}

/*
 * may_expand_vm() compares private writable memory with RLIMIT_DATA. If the soft limit is 0, the
 * kernel compares with the hard limit (for Valgrind), so the cause is uncertain.
 */
static bool past_data(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t limit = limit_pages(q, q->r->data_limit_bytes);

	if (!q->data || limit == UINT64_MAX || q->r->data_vm_pages + q->more_pages <= limit)
		return false;
	/* mprotect() skips this check for a process that is above RLIMIT_AS already */
	if (q->r->call == CALL_MPROTECT && is_past_as(q))
		return false;
	*ret_sure = limit && (!q->replaces || was_looked_at(q));
	need_pages(q, v, q->r->data_vm_pages, q->more_pages);
	verdict_sum(v, "data_vm_pages", IN_PAGES, q->r->data_vm_pages, q->more_pages, limit);
	return true;
}

/*
 * Returns the pages of the range that are locked already, which mlock() does not count again:
 * count_mm_mlocked_page_nr().
 */
static uint64_t locked_in_range(const struct request *q)
{
	uint64_t pages = q->r->range.locked_bytes / q->l->page_bytes;

	return pages < q->pages ? pages : q->pages;
}

/*
 * Stores the value of RLIMIT_MEMLOCK that the call needs. With MCL_FUTURE, the kernel also locks
 * all later mappings, so no finite limit is enough.
 */
static void need_locked(const struct request *q, struct verdict *v, uint64_t have, uint64_t asked)
{
	need_pages(q, v, have, asked);
	if (has_fact(q, FACT_LOCKS_FUTURE) ||
	    (q->r->call == CALL_MLOCKALL && q->r->args[0] & F_MCL_FUTURE))
		v->need = UINT64_MAX;
}

static bool past_memlock(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t limit = limit_pages(q, q->r->memlock_limit_bytes);
	/* mlockall() compares all mapped pages with RLIMIT_MEMLOCK */
	bool all = q->r->call == CALL_MLOCKALL;
	uint64_t have = all ? q->r->total_vm_pages : q->r->locked_vm_pages;
	uint64_t asked = q->pages;

	if (q->r->call == CALL_MLOCK) {
		uint64_t most = have < asked ? have : asked;

		/*
		 * if the range was not read, all pages that are already locked may be in the range
		 */
		*ret_sure = was_looked_at(q) || have + asked - most > limit;
		asked -= locked_in_range(q);
	}
	if (!q->locked || has_fact(q, FACT_IPC_LOCK) || limit == UINT64_MAX ||
	    have + asked <= limit)
		return false;
	need_locked(q, v, have, asked);
	verdict_sum(v, all ? "total_vm_pages" : "locked_vm_pages", IN_PAGES, have, asked, limit);
	return true;
}

/* can_do_mlock(): with an RLIMIT_MEMLOCK of 0 every attempt to lock fails at once. */
static bool may_not_lock(const struct request *q, struct verdict *v, bool *ret_sure)
{
	bool locks = q->r->call == CALL_MLOCK || q->r->call == CALL_MLOCKALL ||
		     (q->r->call == CALL_MMAP && q->r->args[3] & F_MAP_LOCKED);

	if (!locks || q->r->memlock_limit_bytes || has_fact(q, FACT_IPC_LOCK))
		return false;
	need_locked(q, v, q->r->locked_vm_pages,
		    q->r->call == CALL_MLOCKALL ? q->r->total_vm_pages : q->pages);
	verdict_count(v, "RLIMIT_MEMLOCK", IN_BYTES, 0, 0);
	return true;
}

static bool past_min_address(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!(q->r->args[3] & (F_MAP_FIXED | F_MAP_FIXED_NOREPLACE)) || has_fact(q, FACT_RAWIO) ||
	    q->r->args[0] >= q->l->mmap_min_addr)
		return false;
	verdict_address(v, "address", q->r->args[0]);
	verdict_address(v, "vm.mmap_min_addr", q->l->mmap_min_addr);
	return true;
}

static bool past_hugetlb(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return q->hugetlb && past_pool(q, v, q->r->args[3], q->length_bytes, ret_sure);
}

/* Checks of the file that is mapped */

static bool is_file(const struct request *q)
{
	return q->r->file.flags & FILE_KNOWN;
}

static bool writes_shared(const struct request *q)
{
	return (q->r->args[3] & F_MAP_TYPE) != F_MAP_PRIVATE && q->r->args[2] & F_PROT_WRITE;
}

static bool file_of_wrong_mode(const struct request *q, struct verdict *v, bool *ret_sure)
{
	bool reads = q->r->file.open_mode & FMODE_READ, writes = q->r->file.open_mode & FMODE_WRITE;

	if (!is_file(q) || (reads && (writes || !writes_shared(q))))
		return false;
	verdict_text(v, "file", q->r->file.name);
	verdict_text(v, "the file is open for", reads ? "reading only" : "writing only");
	return true;
}

/* mprotect(PROT_WRITE) fails on a shared mapping of a file that was opened only for reading. */
static bool range_of_wrong_mode(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!q->walked || !(q->r->args[2] & F_PROT_WRITE) || q->r->range.flags_all & VM_MAYWRITE)
		return false;
	/*
	 * a seal against writes clears VM_MAYWRITE too, and has a check of its own:
	 * range_of_sealed_file()
	 */
	if (q->r->file.seals & SEALS_AGAINST_WRITES)
		return false;
	verdict_text(v, "file", q->r->file.name);
	return true;
}

static bool range_of_sealed_file(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!q->walked || !(q->r->args[2] & F_PROT_WRITE) || q->r->range.flags_all & VM_MAYWRITE ||
	    !(q->r->file.seals & SEALS_AGAINST_WRITES))
		return false;
	verdict_text(v, "file", q->r->file.name);
	return true;
}

static bool range_of_noexec(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!q->walked || !(q->r->args[2] & F_PROT_EXEC) || q->r->range.flags_all & VM_MAYEXEC)
		return false;
	verdict_text(v, "file", q->r->file.name);
	return true;
}

static bool file_of_noexec(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!is_file(q) || !(q->r->args[2] & F_PROT_EXEC) || !(q->r->file.flags & FILE_NOEXEC))
		return false;
	verdict_text(v, "file", q->r->file.name);
	return true;
}

static bool file_is_sealed(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!is_file(q) || !writes_shared(q) || !(q->r->file.seals & SEALS_AGAINST_WRITES))
		return false;
	verdict_text(v, "file", q->r->file.name);
	verdict_figure(v, "seals", IN_COUNT, q->r->file.seals);
	return true;
}

static bool file_cannot_be_mapped(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!is_file(q) || q->r->file.flags & FILE_MAPPABLE)
		return false;
	verdict_text(v, "file", q->r->file.name);
	return true;
}

/* A call fails if mseal() sealed a page that the call would unmap, replace or change. */
static bool range_is_sealed(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!(q->r->range.flags_any & VM_SEALED))
		return false;
	verdict_text(v, "mapping", "sealed by mseal");
	return true;
}

/*
 * faultscope did not read the address range; it never reads the target range of MREMAP_FIXED. For
 * EPERM, the only possible causes are mseal() and a seccomp filter.
 */
static bool range_may_be_sealed(const struct request *q, struct verdict *v, bool *ret_sure)
{
	bool elsewhere = q->r->call == CALL_MREMAP && q->r->args[3] & F_MREMAP_FIXED;

	*ret_sure = false;
	return !was_looked_at(q) || elsewhere;
}

static bool file_is_closed(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!(q->r->file.flags & FILE_CLOSED) && !(q->r->file.open_mode & FMODE_PATH))
		return false;
	verdict_figure(v, "descriptor", IN_COUNT, (uint32_t)q->r->args[4]);
	return true;
}

/* Returns true if the file is not a regular file, so that a driver's mmap method decides. */
static bool file_of_driver(const struct request *q, struct verdict *v, bool *ret_sure)
{
	*ret_sure = false;
	if (!is_file(q) || !(q->r->file.flags & FILE_MAPPABLE) ||
	    KIND_OF(q->r->file.mode) == KIND_REGULAR)
		return false;
	verdict_text(v, "file", q->r->file.name);
	return true;
}

/*
 * perf_mmap() (kernel/events/core.c) fails with EPERM only at RLIMIT_MEMLOCK. Pages of the buffer
 * above kernel.perf_event_mlock_kb of each CPU count as pinned by the process. The record lacks the
 * number of pinned pages. As this number was within the limit, the limit plus the requested bytes
 * is enough.
 */
static bool past_memlock_of_perf(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!is_file(q) || q->r->file.magic != ANON_INODE_FS_MAGIC ||
	    strcmp(q->r->file.name, "[perf_event]") || q->r->memlock_limit_bytes == UINT64_MAX)
		return false;
	*ret_sure = !has_fact(q, FACT_IPC_LOCK);
	verdict_need(v, q->r->memlock_limit_bytes, q->pages * q->l->page_bytes);
	verdict_figure(v, "pages of the perf buffer", IN_PAGES, q->pages);
	verdict_figure(v, "RLIMIT_MEMLOCK", IN_BYTES, q->r->memlock_limit_bytes);
	verdict_text(v, "counts beyond", "kernel.perf_event_mlock_kb of each CPU");
	return true;
}

static bool writes_and_executes(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t prot = q->r->args[2];
	bool both = prot & F_PROT_EXEC && prot & F_PROT_WRITE;
	bool becomes = q->r->call == CALL_MPROTECT && prot & F_PROT_EXEC &&
		       !(q->r->range.flags_all & VM_EXEC);

	if (!has_fact(q, FACT_MDWE) || (!both && !becomes))
		return false;
	verdict_text(v, "prctl", "PR_SET_MDWE");
	return true;
}

/* Checks of the address range */

static bool has_hole(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!was_looked_at(q) && q->r->range.walk != WALK_CUT)
		return false;
	if (q->r->range.hole == UINT64_MAX)
		return false;
	verdict_address(v, "nothing is mapped at", q->r->range.hole);
	return true;
}

/*
 * The call failed at a hole in its address range. This is certain if every mapping before the hole
 * already has the requested state.
 */
static bool hole_is_next(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return !q->r->range.end && has_hole(q, v, ret_sure);
}

/*
 * The address range was not read. If no limit explains the failure, the range probably has a hole.
 */
static bool may_have_hole(const struct request *q, struct verdict *v, bool *ret_sure)
{
	*ret_sure = false;
	return !was_looked_at(q);
}

static bool cannot_grow(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (q->r->args[3] & F_MREMAP_MAYMOVE || q->r->args[2] <= q->r->args[1])
		return false;
	*ret_sure = q->r->range.above;
	if (q->r->range.above)
		verdict_address(v, "blocked by the mapping at", q->r->range.above);
	return true;
}

static bool heap_meets_mapping(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!q->r->range.above)
		return false;
	/*
	 * Below another mapping, brk() keeps one page above the new break free. Only below a stack
	 * is the gap larger, so a larger distance is uncertain.
	 */
	*ret_sure = q->r->range.above < q->r->args[0] + q->l->page_bytes;
	verdict_address(v, "blocked by the mapping at", q->r->range.above);
	return true;
}

static bool is_filtered(const struct request *q, struct verdict *v, bool *ret_sure)
{
	*ret_sure = false;
	return has_fact(q, FACT_FILTERED);
}

/* Checks of the arguments alone */

/* do_mprotect_pkey() fails if the end, rounded up to a page, is not above the start. */
static bool range_wraps(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!q->r->args[1] || range_end(q) > q->r->args[0])
		return false;
	verdict_address(v, "length", q->r->args[1]);
	return true;
}

static bool argument_is_wrong(const struct request *q, struct verdict *v, bool *ret_sure)
{
	const __u64 *a = q->r->args;
	uint64_t page = q->l->page_bytes, type = a[3] & F_MAP_TYPE;

	if (a[3] & F_MAP_ANONYMOUS)
		return true; /* EINVAL of an anonymous mmap() always means a bad argument */
	return !a[1] || a[5] % page || !type || type > F_MAP_SHARED_VALIDATE ||
	       (q->replaces && a[0] % page) || a[3] & F_MAP_GROWSDOWN;
}

static bool argument_may_be_wrong(const struct request *q, struct verdict *v, bool *ret_sure)
{
	*ret_sure = false;
	return true;
}

static bool always(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return true;
}

static const struct {
	enum call_id call;
	struct step step;
} checks[] = {
#define CHECK(call, ...) {CALL_##call, {__VA_ARGS__}},
#include "rules/mapping_checks.def"
};

/*
 * Checks for an mmap() failure that no limit explains. Their order does not follow the kernel. Only
 * the cause of an EINVAL can be certain.
 */
static const struct step rest_of_mmap[] = {
	{"bad_argument", argument_is_wrong, EINVAL},
	{"rlimit_memlock", past_memlock_of_perf, EPERM},
	{"driver", file_of_driver, ANY_ERROR},
	{"bad_argument", argument_may_be_wrong, EINVAL},
	{"max_map_count", near_count, ENOMEM},
	{"cgroup_memory", past_cgroup_memory, ENOMEM},
};

/* EPERM and EACCES without another cause may come from a seccomp filter of the process. */
static const struct step rest_of_rights[] = {
	{"security_module", is_filtered, EPERM},
	{"security_module", is_filtered, EACCES},
};

/* If no check explains the failure, stores the values that were compared as evidence. */
static void describe(const struct request *q, struct verdict *v)
{
	verdict_count(v, "map_count", IN_COUNT, q->r->map_count, q->l->max_map_count);
	verdict_sum(v, "total_vm_pages", IN_PAGES, q->r->total_vm_pages, q->more_pages,
		    limit_pages(q, q->r->as_limit_bytes));
	verdict_sum(v, "data_vm_pages", IN_PAGES, q->r->data_vm_pages, q->data ? q->more_pages : 0,
		    limit_pages(q, q->r->data_limit_bytes));
	if (q->r->memory.known && q->r->memory.limit != UINT64_MAX)
		verdict_count(v, "cgroup_memory_pages", IN_PAGES, q->r->memory.used,
			      q->r->memory.limit);
	if (q->accounted && q->l->overcommit_memory == 2)
		verdict_count(v, "committed_bytes", IN_BYTES, q->l->committed_bytes,
			      q->l->commit_limit_bytes);
	if (q->r->file.name[0])
		verdict_text(v, "file", q->r->file.name);
}

/*
 * Recognizes /dev/zero by name, because the device number is not in the record. A shared mapping of
 * /dev/zero is like a shared anonymous mapping: mmap_zero() in drivers/char/mem.c.
 */
static bool is_zero_device(const struct request *q)
{
	return is_file(q) && KIND_OF(q->r->file.mode) == KIND_CHARACTER &&
	       !strcmp(q->r->file.name, "zero");
}

static void read_mmap(struct request *q, uint64_t length, uint64_t prot, uint64_t flags)
{
	bool shared = (flags & F_MAP_TYPE) != F_MAP_PRIVATE;
	bool anonymous = flags & F_MAP_ANONYMOUS;
	bool zero = !anonymous && is_zero_device(q);

	q->length_bytes = length;
	q->pages = pages_of(q, length);
	q->data = !shared && prot & F_PROT_WRITE;
	q->hugetlb = anonymous ? flags & F_MAP_HUGETLB : q->r->file.magic == HUGETLBFS_MAGIC;
	q->replaces = flags & F_MAP_FIXED;
	/* shmem_file_setup() commits all of a shared anonymous mapping, even a read-only one */
	q->accounted = !q->hugetlb && (shared ? anonymous || zero : q->data);
	q->by_name = shared && zero;
	q->no_reserve = flags & F_MAP_NORESERVE;
	/* memfd_secret() memory is locked when it is mapped: secretmem_mmap() */
	q->locked = flags & F_MAP_LOCKED || (!anonymous && q->r->file.magic == SECRETMEM_MAGIC);
}

static void read_mremap(struct request *q, const __u64 *a)
{
	uint64_t flags = q->r->range.flags_all;

	q->length_bytes = a[2];
	q->pages = a[2] > a[1] ? pages_of(q, a[2]) - pages_of(q, a[1]) : 0;
	if (a[3] & F_MREMAP_DONTUNMAP) /* the old mapping stays, so the whole new size counts */
		q->pages = pages_of(q, a[1]);
	q->data = !q->walked || (flags & VM_WRITE && !(flags & VM_SHARED));
	q->accounted = !q->walked || flags & VM_ACCOUNT;
	q->locked = q->walked ? flags & VM_LOCKED
			      /* only the memlock limit makes mremap() fail with EAGAIN */
			      : q->r->error == EAGAIN;
}

/*
 * Counts only the mapping that mprotect() could not change. The kernel's counters already include
 * the mappings before it, and the call did not reach the mappings behind it. Private pages that
 * become writable count as data, and are committed unless they were before.
 */
static void read_mprotect(struct request *q, const __u64 *a)
{
	const struct address_range *range = &q->r->range;
	uint64_t from = range->start > a[0] ? range->start : a[0], flags = range->start_flags;
	uint64_t to = range->end < range_end(q) ? range->end : range_end(q);
	bool closed = !(flags & (VM_WRITE | VM_SHARED));

	if (was_looked_at(q))
		q->pages = range->end && closed && to > from ? (to - from) / q->l->page_bytes : 0;
	else
		q->pages = pages_of(q, a[1]);
	q->data = a[2] & F_PROT_WRITE && q->pages;
	q->accounted = q->data && !(q->walked && flags & (VM_ACCOUNT | VM_HUGETLB));
	q->no_reserve = q->walked && flags & VM_NORESERVE;
}

static void read_request(struct request *q)
{
	const __u64 *a = q->r->args;
	uint64_t mapped;

	q->walked = was_looked_at(q) && q->r->range.vmas;
	switch (q->r->call) {
	case CALL_MMAP:
		read_mmap(q, a[1], a[2], a[3]);
		break;
	case CALL_MREMAP:
		read_mremap(q, a);
		break;
	case CALL_SHMAT:
		q->length_bytes = q->r->asked.bytes;
		q->pages = pages_of(q, q->length_bytes);
		break;
	case CALL_BRK:
		q->pages = pages_of(q, a[0] - (uint64_t)q->r->ret);
		q->length_bytes = a[0] - (uint64_t)q->r->ret;
		q->data = q->accounted = true;
		break;
	case CALL_MPROTECT:
		read_mprotect(q, a);
		break;
	case CALL_MLOCK:
		q->pages = pages_of(q, a[1] + a[0] % q->l->page_bytes);
		q->locked = true;
		break;
	case CALL_MLOCKALL:
		q->locked = a[0] & F_MCL_CURRENT;
		break;
	}
	q->locked |= has_fact(q, FACT_LOCKS_FUTURE);
	/* MAP_FIXED unmaps the pages that are mapped in its range: subtract them */
	mapped = q->replaces && was_looked_at(q) ? q->r->range.mapped_bytes / q->l->page_bytes : 0;
	q->more_pages = q->pages - (mapped < q->pages ? mapped : q->pages);
}

/*
 * Returns true if the address range was not read. It may then have a hole, which also makes the
 * call fail with ENOMEM. A limit that seems to be the cause is therefore uncertain.
 */
static bool hole_is_open(const struct request *q)
{
	switch (q->r->call) {
	case CALL_MPROTECT:
	case CALL_MLOCK:
	case CALL_MUNLOCK:
		return !was_looked_at(q) && q->r->error == ENOMEM;
	}
	return false;
}

void cause_of_mapping(struct request *q, struct verdict *v)
{
	read_request(q);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (checks[i].call == q->r->call)
			run_steps(q, &checks[i].step, 1, v);
	if (!v->cause && q->r->call == CALL_MMAP)
		run_steps(q, rest_of_mmap, sizeof(rest_of_mmap) / sizeof(rest_of_mmap[0]), v);
	if (!v->cause)
		run_steps(q, rest_of_rights, sizeof(rest_of_rights) / sizeof(rest_of_rights[0]), v);
	/* mlock() checks RLIMIT_MEMLOCK before it walks the range */
	if (hole_is_open(q) &&
	    !(q->r->call == CALL_MLOCK && v->cause && !strcmp(v->cause, "rlimit_memlock")))
		v->certain = false;
	if (!v->cause)
		describe(q, v);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: code that the files of the cause engine share. It describes a failed call and what the
 * call requested. It runs the kernel's checks in their order, and fills the verdict.
 */
#ifndef FS_RULES_REQUEST_H
#define FS_RULES_REQUEST_H

#include "base/units.h"
#include "rules/cause.h"

/* Constants of include/linux/mm.h and include/uapi/linux/stat.h. */
#define VM_WRITE      0x2
#define VM_EXEC	      0x4
#define VM_SHARED     0x8
#define VM_HUGETLB    0x400000
#define KIND_OF(mode) ((mode)&0170000)
#define KIND_REGULAR  0100000

/* Flags of include/uapi/asm-generic/mman*.h: equal on every architecture faultscope supports. */
#define F_MAP_PRIVATE	      0x02
#define F_MAP_SHARED_VALIDATE 0x03
#define F_MAP_TYPE	      0x0f
#define F_MAP_FIXED	      0x10
#define F_MAP_ANONYMOUS	      0x20
#define F_MAP_GROWSDOWN	      0x100
#define F_MAP_LOCKED	      0x2000
#define F_MAP_NORESERVE	      0x4000
#define F_MAP_HUGETLB	      0x40000
#define F_MAP_FIXED_NOREPLACE 0x100000
#define F_MAP_HUGE_SHIFT      26
#define F_PROT_WRITE	      2
#define F_PROT_EXEC	      4
#define F_MREMAP_MAYMOVE      1
#define F_MREMAP_FIXED	      2
#define F_MREMAP_DONTUNMAP    4
#define F_MCL_CURRENT	      1
#define F_MCL_FUTURE	      2

#define ANY_ERROR (-1)

/*
 * tmpfs adds changes of its counter of used pages per CPU, 32 pages or more on each, before it adds
 * them to the counter that was read.
 */
#define TMPFS_LAG_PAGES 1024

/* A failed call, and how much it requested in addition to what its process had. */
struct request {
	const struct refused_record *r;
	const struct host_limits *l;
	uint64_t pages;
	uint64_t more_pages;   /* requested pages minus those of mappings that the call replaces */
	uint64_t length_bytes; /* length of the free range that the call needs; 0: none */
	/*
	 * Size in bytes of the address space in which the kernel places the mapping. It applies if
	 * the address hint of the call is not above this space. UINT64_MAX: not known.
	 */
	uint64_t space_bytes;
	bool data;	/* true: private writable memory, which RLIMIT_DATA limits */
	bool accounted; /* true: the memory counts towards the commit limit */
	bool by_name;	/* true: `accounted` is a guess from the name of the file */
	/* true: MAP_NORESERVE, which the kernel ignores if vm.overcommit_memory is 2 */
	bool no_reserve;
	bool locked; /* true: the memory counts towards RLIMIT_MEMLOCK */
	bool hugetlb;
	bool replaces; /* true: MAP_FIXED, which unmaps what is in its range */
	bool walked;   /* true: the whole range was read and something is mapped there */
};

/*
 * One check of the kernel. Returns true if the limit of this check makes the request fail, and adds
 * evidence to `v`. *ret_sure is true before the check. The check sets it to false if the known
 * values do not prove the failure.
 */
typedef bool check_fn(const struct request *q, struct verdict *v, bool *ret_sure);

/* A check, and the errno with which a call fails at it; ANY_ERROR: any errno. */
struct step {
	const char *cause;
	check_fn *refuses;
	int error;
};

/*
 * Runs the checks in order. A check is the cause if it fails the request with the call's errno: the
 * first such check is stored. Later checks that also fail name limits at which the call would have
 * failed next.
 */
void run_steps(const struct request *q, const struct step *steps, size_t n, struct verdict *v);

void verdict_set(struct verdict *v, const char *cause, bool certain);

/* Adds evidence, unless EVIDENCE_MAX is reached. A limit of UINT64_MAX means: no limit. */
void verdict_count(struct verdict *v, const char *field, enum evidence_unit unit, uint64_t value,
		   uint64_t limit);
void verdict_figure(struct verdict *v, const char *field, enum evidence_unit unit, uint64_t value);
void verdict_sum(struct verdict *v, const char *field, enum evidence_unit unit, uint64_t have,
		 uint64_t asked, uint64_t limit);
void verdict_text(struct verdict *v, const char *field, const char *value);
void verdict_address(struct verdict *v, const char *field, uint64_t address);

/*
 * Stores, in the unit of the limit, how much the process has and how much the call requested in
 * addition.
 */
void verdict_need(struct verdict *v, uint64_t held, uint64_t asked);

uint64_t limit_pages(const struct request *q, uint64_t bytes);

static inline uint64_t pages_of(const struct request *q, uint64_t bytes)
{
	return units_of(bytes, q->l->page_bytes);
}

static inline bool has_fact(const struct request *q, uint32_t fact)
{
	return q->r->facts & fact;
}

/* Returns true if the whole address range was read, so that its mappings are known. */
static inline bool was_looked_at(const struct request *q)
{
	return q->r->range.walk == WALK_DONE;
}

/* Checks that several families of calls share. */
check_fn past_commit, past_heuristic, past_cgroup_memory, past_nofile, past_file_max,
	past_count_split;

/* Checks of requests to drivers: cause_device.c. */
check_fn past_memlock_of_device, refused_by_driver, lacks_right_of_driver, is_driver_busy;

/* Checks of space in files and of System V IPC objects: cause_space.c. */
check_fn past_tmpfs, past_tmpfs_quota, past_quota, past_commit_of_file, past_hugetlbfs,
	past_pool_of_file, past_segment_bytes, past_segment_pages, past_commit_of_segment,
	past_heuristic_of_segment, past_pool_of_segment, past_ipc_objects, past_semaphores,
	past_semaphores_of_set;

/* A limit of objects that the kernel counts: a row of counted.def. */
struct counted_limit {
	int error;
	const char *cause;
	enum evidence_unit unit;
	const char *field, *words, *limit, *check, *fix;
};

/* Returns the sysctl, or --option of prlimit, that limits objects (enum counted_kind), or "". */
const char *counted_limit_name(uint32_t what);

/* Returns whether each user namespace limits these objects (enum counted_kind) for its users. */
bool counted_per_user(uint32_t what);

/* Returns the limit at which a failed call may have failed, or NULL. */
const struct counted_limit *counted_limit(const struct refused_record *r);

/* Returns the limit with this name of a cause, or NULL. */
const struct counted_limit *counted_limit_of(const char *cause);

/*
 * The check of the pool of huge pages, for a call that requested `bytes`. `flags` contain the size
 * of a page, as those of mmap() do. Always returns true. faultscope reads only the pool of the
 * default page size. For other page sizes, the cause is therefore uncertain.
 */
bool past_pool(const struct request *q, struct verdict *v, uint64_t flags, uint64_t bytes,
	       bool *ret_sure);

void cause_of_mapping(struct request *q, struct verdict *v);
void cause_of_descriptor(struct request *q, struct verdict *v);
void cause_of_other(struct request *q, struct verdict *v);
void cause_of_counted(struct request *q, struct verdict *v);

#endif

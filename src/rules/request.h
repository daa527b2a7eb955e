/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: what the parts of the cause engine share. A refused call as a request, checks of it in the
 * kernel's order, and the verdict that they fill.
 */
#ifndef FS_RULES_REQUEST_H
#define FS_RULES_REQUEST_H

#include "rules/cause.h"

/* include/linux/mm.h, include/uapi/linux/stat.h */
#define VM_WRITE      0x2
#define VM_EXEC	      0x4
#define VM_SHARED     0x8
#define VM_HUGETLB    0x400000
#define KIND_OF(mode) ((mode)&0170000)
#define KIND_REGULAR  0100000

/* include/uapi/asm-generic/mman*.h: the same on every architecture we run on */
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

/* What a call asks for on top of what there is. */
struct request {
	const struct refused_record *r;
	const struct host_limits *l;
	uint64_t pages;
	uint64_t more_pages;   /* less those that they take the place of */
	uint64_t length_bytes; /* to be found a place for; 0: none */
	uint64_t space_bytes;  /* of a process, without a hint above it; UINT64_MAX: not known */
	bool data;	       /* private and writable: RLIMIT_DATA bounds it */
	bool accounted;	       /* what may be written is promised: commit accounting */
	bool by_name;	 /* `accounted` follows from the name of its file, which may mislead */
	bool no_reserve; /* MAP_NORESERVE: taken back by overcommit mode 2 */
	bool locked;	 /* RLIMIT_MEMLOCK bounds it */
	bool hugetlb;
	bool replaces; /* MAP_FIXED: what it maps over is given back */
	bool walked;   /* its range was looked at, whole, and something is mapped there */
};

/*
 * A check of the kernel: whether its limit refuses the request. Evidence goes to `v`; `*ret_sure`,
 * true before, is cleared where what is known does not decide.
 */
typedef bool check_fn(const struct request *q, struct verdict *v, bool *ret_sure);

/* A check and the errno that the kernel then answers; ANY_ERROR where that does not matter. */
struct step {
	const char *cause;
	check_fn *refuses;
	int error;
};

/*
 * Runs steps in order: the first that refuses with the errno seen is the cause, later ones would
 * have refused the call after it.
 */
void run_steps(const struct request *q, const struct step *steps, size_t n, struct verdict *v);

void verdict_set(struct verdict *v, const char *cause, bool certain);

/* Adds evidence; what is beyond EVIDENCE_MAX is dropped. A limit of UINT64_MAX is no limit. */
void verdict_count(struct verdict *v, const char *field, enum evidence_unit unit, uint64_t value,
		   uint64_t limit);
void verdict_figure(struct verdict *v, const char *field, enum evidence_unit unit, uint64_t value);
void verdict_sum(struct verdict *v, const char *field, enum evidence_unit unit, uint64_t have,
		 uint64_t asked, uint64_t limit);
void verdict_text(struct verdict *v, const char *field, const char *value);
void verdict_address(struct verdict *v, const char *field, uint64_t address);

/* What is held and what is asked on top of it, in the unit of the limit that decides. */
void verdict_need(struct verdict *v, uint64_t held, uint64_t asked);

uint64_t limit_pages(const struct request *q, uint64_t bytes);
static inline bool has_fact(const struct request *q, uint32_t fact)
{
	return q->r->facts & fact;
}

/* Whether the whole range was looked at: what holds of it is known. */
static inline bool was_looked_at(const struct request *q)
{
	return q->r->range.walk == WALK_DONE;
}

/* Checks that several families of calls have. */
check_fn past_commit, past_heuristic, past_cgroup_memory, past_nofile, past_file_max,
	past_count_split;

void cause_of_mapping(struct request *q, struct verdict *v);
void cause_of_descriptor(struct request *q, struct verdict *v);
void cause_of_other(struct request *q, struct verdict *v);

#endif

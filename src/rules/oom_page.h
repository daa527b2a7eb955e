/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: the post-mortem of an OOM kill. From the records of a kill, finds which limit was reached,
 * which kind of memory filled it, who held this memory, who is to blame, and what would have
 * helped.
 */
#ifndef FS_RULES_OOM_PAGE_H
#define FS_RULES_OOM_PAGE_H

#include "base/buf.h"
#include "model/oom_kills.h"

#define OOM_ADVICE_MAX 6

/* Where memory ran out. */
enum oom_scope {
	OOM_SCOPE_UNKNOWN,
	OOM_SCOPE_CGROUP,
	OOM_SCOPE_HOST,
	OOM_SCOPE_NODES,  /* the NUMA nodes of a cpuset or a memory policy */
	OOM_SCOPE_DAEMON, /* nowhere: a program such as systemd-oomd sent a signal before */
};

/* What is to blame. */
enum oom_blame {
	OOM_BLAME_UNKNOWN,
	OOM_BLAME_VICTIM,  /* the killed process held the memory */
	OOM_BLAME_PROCESS, /* another process held the memory: `culprit` */
	OOM_BLAME_MANY,	   /* many processes together, none of which holds much */
	OOM_BLAME_TMPFS,   /* tmpfs files or shared memory that no process maps */
	OOM_BLAME_CACHE,   /* page cache that could not be dropped */
	OOM_BLAME_KERNEL,  /* kernel memory */
	OOM_BLAME_HUGETLB, /* hugetlb pages, which the kernel cannot use for anything else */
	NR_OOM_BLAMES,
};

struct oom_part {
	enum oom_memory kind;
	uint64_t bytes;
};

/* What would have helped, and a command for it (empty: none). */
struct oom_advice {
	char text[320];
	char command[160];
};

struct oom_page {
	const struct oom_kill *kill;
	uint64_t page_bytes;
	enum oom_scope scope;
	bool certain; /* the kernel's report says the scope; false: inferred from page counters */
	/* the limit in bytes, and the bytes in use; FIGURE_UNKNOWN: not known */
	uint64_t used, limit;
	bool by_memsw;		/* cgroup v1: the limit of memory and swap together was reached */
	const char *limit_file; /* file of the limit, such as "memory.max"; NULL: none */
	struct oom_part
		part[NR_OOM_KINDS]; /* kinds of memory, the largest first; empty ones last */
	size_t parts;
	bool kind_known;
	enum oom_memory kind; /* the kind that holds most; valid if `kind_known` */
	/* the process with the most memory of this kind; NULL: not known */
	const struct oom_holder_record *holder;
	enum oom_blame blame;
	const struct oom_holder_record
		*culprit;	 /* for OOM_BLAME_PROCESS and _VICTIM; may be NULL */
	uint64_t unmapped_bytes; /* shared memory and tmpfs files that no process maps; 0: none */
	/* true: before Linux 6.8 the kernel lists only resident memory, so it may be more */
	bool unmapped_at_least;
	uint64_t grown_bytes; /* by how much the culprit grew in `grown_ns`; 0: not known */
	uint64_t grown_ns;
	struct oom_advice advice[OOM_ADVICE_MAX];
	size_t advices;
};

/* Judges a kill. The page refers to `k`, which must stay valid. */
void oom_page_of(const struct oom_kill *k, uint64_t page_bytes, struct oom_page *ret);

const char *oom_kind_key(size_t kind);		 /* name in JSON and in metrics */
const char *oom_kind_text(enum oom_memory kind); /* description for people */
const char *oom_blame_key(enum oom_blame blame);
const char *oom_scope_key(enum oom_scope scope); /* cgroup, host, nodes, daemon or unknown */

const char *oom_source_key(uint32_t source); /* kernel_log, scan or none */

/* Returns how many points the curve of a scene has. */
size_t oom_curve_points(const struct oom_scene_record *s);

/* Writes "the killed process itself", "tmpfs files that no process maps" and so on. */
void oom_put_blame(struct buf *b, const struct oom_page *p);

/* Returns the memory of a process that is not reclaimable; FIGURE_UNKNOWN: not known. */
uint64_t oom_holder_kept(const struct oom_holder_record *h);

#endif

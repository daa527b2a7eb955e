/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: what is exported of a machine as a whole, and of processes what the census does not take
 * from their records: why calls were refused, signals, victims, and whose the last of each was.
 * Records come in, counts go to the census and stay here. Pure.
 */
#ifndef FS_MODEL_NODE_H
#define FS_MODEL_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pids.h"
#include "model/census.h"
#include "model/kernel_report.h"
#include "records/records.h"

#define NODE_PROCESSES_MAX CENSUS_PROCESSES_MAX
#define NODE_MODULES_MAX   64
#define NODE_EXEMPLARS	   512
#define NODE_OTHER_MODULE  "~other"
#define NODE_KERNEL	   "vmlinux"
#define NODE_NOWHERE	   "unknown"

/* The last event behind a counter. */
struct node_exemplar {
	char workload[LABEL_BYTES]; /* or a module */
	int counter;		    /* enum census_counter; -1: of a module */
	uint32_t pid;
	char comm[COMM_LEN];
	char site[64]; /* "symbol+0x1a4", a call, a class of faults; empty: not known */
	double value;
	uint64_t t_ns; /* CLOCK_MONOTONIC */
};

struct node_module {
	char name[64];
	uint64_t fixups;
	uint64_t reports[NR_REPORTS];
};

/* What is mapped where a fault goes. X(id, name): the name is the label. */
#define NODE_BACKINGS(X)                                                                           \
	X(ANON, "anon")                                                                            \
	X(FILE, "file")                                                                            \
	X(SHMEM, "shmem") X(STACK, "stack") X(HUGETLB, "hugetlb") X(OTHER, "othe"                  \
									   "r")

enum node_backing {
#define X(id, name) NODE_BACKING_##id,
	NODE_BACKINGS(X)
#undef X
		NR_BACKINGS,
};

/* A place in the kernel where a process touched bad addresses. */
#define NODE_SITES 256
struct node_site {
	struct process_key of;
	uint64_t ip, count;
};

struct node {
	struct census *census;
	uint64_t now_ns;	/* CLOCK_BOOTTIME, for the census; the caller's */
	uint64_t access[3][2];	/* user-mode faults by access, and whether the page was there */
	uint64_t kernel_user;	/* in kernel mode, at addresses of users: copies */
	uint64_t kernel_kernel; /* at others */
	uint64_t backing[NR_BACKINGS]; /* faults served, by their class */
	uint64_t latency[NR_ENDS][NR_LATENCY];
	uint64_t stall_ns[NR_ENDS];
	struct node_exemplar slowest[NR_ENDS]; /* of this collection, or before; pid 0: none */
	struct node_module module[NODE_MODULES_MAX];
	size_t modules; /* the kernel itself is the first */
	struct pending_report report;
	struct node_site site[NODE_SITES]; /* by hash */
	struct node_exemplar *exemplar;	   /* NODE_EXEMPLARS of them, by hash; owned */
	uint64_t processes_lost;	   /* beyond the cap */

	struct pids processes; /* the counts that were taken of each */
};

/* `census` is told what is counted; -ENOMEM. */
int node_init(struct node *n, struct census *census);
void node_free(struct node *n);

/* A process as it is now, after the census took it. -ENOMEM. */
int node_take(struct node *n, const struct process_record *r, const struct identity *id);

/* It is gone, though its last record did not come. */
void node_gone(struct node *n, const struct process_key *of);

/* Events. `reason` as rules/cause.h names it. */
void node_refused(struct node *n, const struct refused_record *r, const char *reason);
void node_pressure(struct node *n, const struct memory_wait_record *r);
/* `site`: what the bad access was; NULL where it is not known. */
void node_signal(struct node *n, const struct signal_record *r, const struct identity *id,
		 const char *site);
void node_oom(struct node *n, const struct oom_record *r, const struct identity *id);

/* `module` and `site` of the instruction; NULL where it is not known. */
void node_kernel_fault(struct node *n, const struct kernel_fault_record *r, const char *module,
		       const char *site);

/* A line of the kernel's log; and once in a while, for reports that do not say where they were. */
void node_report(struct node *n, const struct report_record *r);
void node_report_expire(struct node *n, uint64_t now_ns);

const char *node_backing_name(enum node_backing b);

/* Of a workload's counter, or for -1 of a module; NULL: none. */
const struct node_exemplar *node_exemplar(const struct node *n, const char *workload, int counter);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: counts of the whole machine, and counts of processes that come as event records. Event
 * records report reasons of failed calls, fatal signals, OOM kills, and the last event of each
 * counter. Counts go to the census or stay in struct node. Pure: no I/O, no clock.
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

/* The last event that raised a counter, exported as its OpenMetrics exemplar. */
struct node_exemplar {
	char workload[LABEL_BYTES]; /* name of a workload or of a kernel module */
	int counter;		    /* enum census_counter; -1: the counter of a kernel module */
	uint32_t pid;
	char comm[COMM_LEN];
	char site[64]; /* "symbol+0x1a4", system call, or fault class; empty: not known */
	double value;
	uint64_t t_ns; /* time of the event, CLOCK_MONOTONIC */
};

struct node_module {
	char name[64];
	uint64_t fixups;
	uint64_t reports[NR_REPORTS];
};

/* Kinds of memory at a fault's address. X(id, name): `name` is the value of the metric's label. */
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

/* A kernel instruction at which a process accessed bad addresses, and the number of accesses. */
#define NODE_SITES 256
struct node_site {
	struct process_key of;
	uint64_t ip, count;
};

struct node {
	struct census *census;
	uint64_t now_ns; /* current time of CLOCK_BOOTTIME, which the caller sets */
	/* User-mode faults by access (read, write, exec), and by whether the page was present. */
	uint64_t access[3][2];
	uint64_t kernel_user;	       /* kernel-mode faults at user addresses */
	uint64_t kernel_kernel;	       /* kernel-mode faults at kernel addresses */
	uint64_t backing[NR_BACKINGS]; /* handled faults by enum node_backing */
	uint64_t latency[NR_ENDS][NR_LATENCY];
	uint64_t stall_ns[NR_ENDS];
	struct node_exemplar slowest[NR_ENDS]; /* slowest fault so far; pid 0: none */
	struct node_module module[NODE_MODULES_MAX];
	size_t modules; /* number of modules; module[0] is the kernel itself */
	struct pending_report report;
	struct node_site site[NODE_SITES]; /* hash table of kernel instructions with bad accesses */
	struct node_exemplar *exemplar;	   /* hash table of NODE_EXEMPLARS entries; owned */
	uint64_t processes_lost;	   /* number of processes above NODE_PROCESSES_MAX */

	struct pids processes; /* per process, the counts that this struct already includes */
};

/* node_init() sets the census, which counts events of workloads. Returns 0 or -ENOMEM. */
int node_init(struct node *n, struct census *census);
void node_free(struct node *n);

/* Counts the events in a process record; call it after census_take(). Returns 0 or -ENOMEM. */
int node_take(struct node *n, const struct process_record *r, const struct identity *id);

/* Removes a process that has exited without a last record. */
void node_gone(struct node *n, const struct process_key *of);

/* node_refused() counts a failed call; `reason` names the cause as in rules/cause.h. */
void node_refused(struct node *n, const struct refused_record *r, const char *reason);
void node_pressure(struct node *n, const struct memory_wait_record *r);
/* Counts a signal. `site` describes the invalid memory access; NULL: not known. */
void node_signal(struct node *n, const struct signal_record *r, const struct identity *id,
		 const char *site);
void node_oom(struct node *n, const struct oom_record *r, const struct identity *id);
/* Counts a kill by its cause: one of the counters CENSUS_OOM_CAUSE_*. */
void node_oom_cause(struct node *n, const struct oom_record *r, const struct identity *id,
		    enum census_counter cause);

/* Counts a kernel fault. `module` and `site` are of the faulting instruction; NULL: not known. */
void node_kernel_fault(struct node *n, const struct kernel_fault_record *r, const char *module,
		       const char *site);

/* node_report_expire() counts reports without a location line; call it once per interval. */
void node_report(struct node *n, const struct report_record *r);
void node_report_expire(struct node *n, uint64_t now_ns);

const char *node_backing_name(enum node_backing b);

/*
 * Returns the last event that raised a counter of a workload, or NULL if there is none. If
 * `counter` is -1, `workload` is the name of a kernel module.
 */
const struct node_exemplar *node_exemplar(const struct node *n, const char *workload, int counter);

#endif

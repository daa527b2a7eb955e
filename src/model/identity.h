/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: the workload that a process belongs to, and its labels. Every label is valid UTF-8 without
 * control characters, at most 200 bytes long.
 */
#ifndef FS_MODEL_IDENTITY_H
#define FS_MODEL_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/collapse.h"
#include "model/workload.h"

#define KTHREADD_PID 2

/* Returns whether a process is kthreadd, or a kernel thread, which has kthreadd as its parent. */
static inline bool is_of_kthreadd(uint32_t pid, uint32_t ppid)
{
	return pid == KTHREADD_PID || ppid == KTHREADD_PID;
}

/* Kinds of workloads, of which the first one that applies is used. */
enum workload_kind {
	KIND_POD,
	KIND_CONTAINER,
	KIND_UNIT,
	KIND_SESSION,
	KIND_COMM,
	NR_WORKLOAD_KINDS,
};

struct identity {
	/*
	 * Hash of all other members, never 0. Identities with equal names differ in it: several
	 * pods of a set may have one name.
	 */
	uint64_t serial;
	enum workload_kind kind;
	char name[LABEL_BYTES]; /* value of label `workload`; never empty, never starts with '~' */
	char namespace[64];	/* Kubernetes namespace; empty: none, or not known */
	char pod[LABEL_BYTES];
	char pod_uid[40]; /* UID of the pod, or ID of the task of Amazon ECS */
	char container[LABEL_BYTES];
	char container_id[72];
	char cgroup[LABEL_BYTES];
};

/* Names of a workload that its cgroup path does not contain. */
struct identity_names {
	const char *namespace, *pod, *container; /* names from the runtime; NULL: not known */
	const char *comm;
	bool kernel_thread;
	const char *family; /* family of the definition of an ECS task; NULL: not known */
};

/*
 * Builds an identity from a parsed cgroup path and names from the container runtime. Sets all
 * members but `serial` and `cgroup`.
 */
void identity_make(const struct workload *w, const struct identity_names *names,
		   unsigned int collapse, struct identity *ret);

/*
 * Sets `serial`, a hash of all other members, which must be set before. An identity that is evicted
 * from a cache and built again has the same serial.
 */
void identity_seal(struct identity *id);

/* Replaces a workload's name by valid text of at most 200 bytes. */
void identity_rename(struct identity *id, const char *name);

/* Returns the most specific kind of a path: pod, then container, then unit. */
enum workload_kind workload_kind_of(const struct workload *w);

const char *workload_kind_name(enum workload_kind kind); /* returns a kind's name, such as "pod" */

/* Copies a text, cut to whole characters. Invalid UTF-8 and control characters become '?'. */
void label_copy(char *ret, size_t size, const char *s);

#endif

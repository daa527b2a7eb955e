/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: whose a process is: the workload it is counted for, and the labels that say more of it.
 * Every text here is valid UTF-8 without control characters, at most 200 bytes long.
 */
#ifndef FS_MODEL_IDENTITY_H
#define FS_MODEL_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/collapse.h"
#include "model/workload.h"

/* The first that fits: pod container, container, systemd unit, session of a user, program. */
enum workload_kind {
	KIND_POD,
	KIND_CONTAINER,
	KIND_UNIT,
	KIND_SESSION,
	KIND_COMM,
	NR_WORKLOAD_KINDS,
};

struct identity {
	uint64_t serial; /* a hash of all below; never 0. Differs where two share a name, as two
			    pods of a set do */
	enum workload_kind kind;
	char name[LABEL_BYTES]; /* the label `workload`; never empty, never begins with '~' */
	char namespace[64];	/* of Kubernetes; what does not apply or is not known is empty */
	char pod[LABEL_BYTES];
	char pod_uid[40];
	char container[LABEL_BYTES];
	char container_id[72];
	char cgroup[LABEL_BYTES];
};

/* What is known beside the path. */
struct identity_names {
	const char *namespace, *pod, *container; /* NULL: not known */
	const char *comm;
	bool kernel_thread;
};

/*
 * From what the path says (workload_of()) and the names beside it. Sets all but `serial` and
 * `cgroup`.
 */
void identity_make(const struct workload *w, const struct identity_names *names,
		   unsigned int collapse, struct identity *ret);

/*
 * Sets the serial, once all else is set. It is a hash of the content: an identity that is evicted
 * from a cache and made again is the same one to everybody who still holds its serial.
 */
void identity_seal(struct identity *id);

/* Another name for it, as far as it fits: made valid as all are. */
void identity_rename(struct identity *id, const char *name);

/* How much a path tells: a pod more than a container, that more than a unit. */
enum workload_kind workload_kind_of(const struct workload *w);

const char *workload_kind_name(enum workload_kind kind); /* "pod" */

/* Cut at size, at a character; what is no UTF-8, or a control character, becomes '?'. */
void label_copy(char *ret, size_t size, const char *s);

#endif

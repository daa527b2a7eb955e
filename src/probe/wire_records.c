// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/wire_records.h"

#include <string.h>

/* X(kind, type): each kind of record that BPF programs send through the ring. */
#define KERNEL_RECORDS(X)                                                                          \
	X(PROCESS, process_record)                                                                 \
	X(CROSSING, crossing_record)                                                               \
	X(REFUSED, refused_record)                                                                 \
	X(SIGNAL, signal_record)                                                                   \
	X(KERNEL_FAULT, kernel_fault_record)                                                       \
	X(FORK, fork_record)                                                                       \
	X(EXEC, exec_record)                                                                       \
	X(STACK, stack_record)                                                                     \
	X(OOM, oom_record)                                                                         \
	X(CGROUP, cgroup_path_record)                                                              \
	X(PRESSURE, memory_wait_record)                                                            \
	X(SLOW_FAULTS, slow_faults_record)                                                         \
	X(REPORT, report_record)                                                                   \
	X(SAMPLE, sample_record)                                                                   \
	X(RETRY, retry_record)                                                                     \
	X(WALK, walk_record)                                                                       \
	X(CODE, code_record)                                                                       \
	X(PYTHON_CODE, python_code_record)

#define X(kind, type) _Static_assert(sizeof(struct type) <= sizeof(union wire_record), #kind);
KERNEL_RECORDS(X)
#undef X

static size_t bytes_of(__u32 kind)
{
	switch (kind) {
#define X(kind, type)                                                                              \
	case RECORD_##kind:                                                                        \
		return sizeof(struct type);
		KERNEL_RECORDS(X)
#undef X
	}
	return 0;
}

struct record *record_of_wire(const void *data, size_t size, union wire_record *ret)
{
	const struct record *h = data;

	if (size < sizeof(*h) || h->len < sizeof(*h) || h->len > size || h->len > bytes_of(h->kind))
		return NULL;
	memcpy(ret, h, h->len);
	return &ret->h;
}

struct process_key *process_of_wire(union wire_record *r)
{
	return r->h.kind == RECORD_REPORT || r->h.kind == RECORD_CGROUP ? NULL
									: &r->process.subject;
}

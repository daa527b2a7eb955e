// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/wire_records.h"

#include <string.h>

/* X(kind, name): records that the kernel side makes. */
#define KERNEL_RECORDS(X)                                                                          \
	X(PROCESS, process_record, fs_process_record)                                              \
	X(CROSSING, crossing_record, fs_crossing_record)                                           \
	X(REFUSED, refused_record, fs_refused_record)                                              \
	X(SIGNAL, signal_record, fs_signal_record)                                                 \
	X(KERNEL_FAULT, kernel_fault_record, fs_kernel_fault_record)                               \
	X(FORK, fork_record, fs_fork_record)                                                       \
	X(EXEC, exec_record, fs_exec_record)                                                       \
	X(STACK, stack_record, fs_stack_record)                                                    \
	X(OOM, oom_record, fs_oom_record)                                                          \
	X(CGROUP, cgroup_path_record, fs_cgroup_record)                                            \
	X(PRESSURE, memory_wait_record, fs_pressure_record)                                        \
	X(SLOW_FAULTS, slow_faults_record, fs_slow_faults_record)                                  \
	X(REPORT, report_record, fs_report_record)                                                 \
	X(SAMPLE, sample_record, fs_sample_record)                                                 \
	X(RETRY, retry_record, fs_retry_record)

/* Behind the header both have the same members, each where the compiler puts it. */
#define BODY(type, head) (sizeof(struct type) - sizeof(struct head))
#define X(kind, type, wire)                                                                        \
	_Static_assert(BODY(type, record) == BODY(wire, fs_header) &&                              \
			       sizeof(struct type) <= WIRE_RECORD_MAX,                             \
		       #kind);
KERNEL_RECORDS(X)
#undef X
_Static_assert(sizeof(struct counters) == sizeof(struct fs_counters), "counters");
_Static_assert(sizeof(struct losses) == sizeof(struct fs_losses), "losses");
_Static_assert(sizeof(struct growth) == sizeof(struct fs_growth), "growth");
_Static_assert(BODY(precursor_record, record) == BODY(fs_precursor_record, fs_header), "precursor");

static size_t bytes_of(__u32 kind)
{
	switch (kind) {
#define X(kind, record, wire)                                                                      \
	case RECORD_##kind:                                                                        \
		return sizeof(struct wire);
		KERNEL_RECORDS(X)
#undef X
	}
	return 0;
}

struct record *record_of_wire(const void *data, size_t size, union wire_record *ret)
{
	const struct fs_header *h = data;

	if (size < sizeof(*h) || h->len < sizeof(*h) || h->len > size || h->len > bytes_of(h->kind))
		return NULL;
	ret->h = (struct record){
		.kind = h->kind,
		.len = h->len - sizeof(*h) + sizeof(ret->h),
		.t_ns = h->t_ns,
	};
	memcpy(&ret->h + 1, h + 1, h->len - sizeof(*h));
	return &ret->h;
}

void counters_of_wire(const struct fs_counters *c, struct counters *ret)
{
	memcpy(ret, c, sizeof(*ret));
}

void losses_of_wire(const struct fs_losses *l, struct losses *ret)
{
	memcpy(ret, l, sizeof(*ret));
}

void growth_of_wire(const struct fs_growth *g, struct growth *ret)
{
	memcpy(ret, g, sizeof(*ret));
}

bool precursor_of_wire(const void *data, size_t size, struct precursor_record *ret)
{
	const struct fs_precursor_record *r = data;

	if (size < sizeof(*r))
		return false;
	ret->h = (struct record){.kind = r->h.kind, .len = sizeof(*ret), .t_ns = r->h.t_ns};
	memcpy(&ret->h + 1, &r->h + 1, sizeof(*r) - sizeof(r->h));
	return true;
}

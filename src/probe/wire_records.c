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

#define X(kind, record, wire)                                                                      \
	_Static_assert(sizeof(struct record) == sizeof(struct wire) &&                             \
			       sizeof(struct record) <= WIRE_RECORD_MAX,                           \
		       #kind);
KERNEL_RECORDS(X)
#undef X
_Static_assert(sizeof(struct counters) == sizeof(struct fs_counters), "counters");
_Static_assert(sizeof(struct losses) == sizeof(struct fs_losses), "losses");
_Static_assert(sizeof(struct growth) == sizeof(struct fs_growth), "growth");
_Static_assert(sizeof(struct precursor_record) == sizeof(struct fs_precursor_record), "precursor");

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

	if (size < sizeof(*h) || h->len > size || h->len > bytes_of(h->kind))
		return NULL;
	memcpy(ret, data, h->len);
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
	if (size < sizeof(*ret))
		return false;
	memcpy(ret, data, sizeof(*ret));
	return true;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/wire_records.h"

#include <string.h>

#include "probe/counter_parts.h"

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
	X(CODE, code_record)

/* Records that BPF programs send without the parts that they do not use. */
#define PACKED_RECORDS(X)                                                                          \
	X(WALK, walk_record)                                                                       \
	X(PYTHON_CODE, python_code_record)

#define X(kind, type) _Static_assert(sizeof(struct type) <= sizeof(union wire_record), #kind);
KERNEL_RECORDS(X)
PACKED_RECORDS(X)
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

/* Converts a RECORD_PACKED_WALK of `size` bytes. Returns false if the record is damaged. */
static bool unpack_walk(const struct fs_packed_walk *packed, size_t size, struct walk_record *ret)
{
	size_t addresses, python;

	if (size < sizeof(*packed) || packed->room > WALK_FRAMES ||
	    packed->python_room > WALK_PYTHON)
		return false;
	addresses = packed->room * sizeof(ret->ip[0]);
	python = packed->python_room * sizeof(ret->python[0]);
	if (size != sizeof(*packed) + 2 * addresses + python ||
	    (packed->frames > packed->room && packed->room < WALK_FRAMES) ||
	    (packed->pythons > packed->python_room && packed->python_room < WALK_PYTHON))
		return false;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, packed, offsetof(struct fs_packed_walk, pythons));
	ret->pythons = packed->pythons;
	ret->python_cut = packed->python_cut;
	memcpy(ret->ip, packed->data, addresses);
	memcpy(ret->sp, packed->data + addresses, addresses);
	memcpy(ret->python, packed->data + 2 * addresses, python);
	ret->h.kind = RECORD_WALK;
	ret->h.len = sizeof(*ret);
	return true;
}

_Static_assert(offsetof(struct fs_packed_walk, pythons) == offsetof(struct walk_record, ip),
	       "both begin alike");

/* Copies the names and the line table of a code object, whose record ends after the table. */
static bool take_code(const struct python_code_record *code, size_t size,
		      struct python_code_record *ret)
{
	const size_t begin = offsetof(struct python_code_record, table);

	if (size < begin || size > sizeof(*code) || code->table_bytes > size - begin)
		return false;
	memcpy(ret, code, size);
	memset((char *)ret + size, 0, sizeof(*ret) - size);
	ret->h.len = sizeof(*ret);
	return true;
}

struct record *record_of_wire(const void *data, size_t size, union wire_record *ret)
{
	const struct record *h = data;

	if (size < sizeof(*h) || h->len < sizeof(*h) || h->len > size)
		return NULL;
	if (h->kind == RECORD_PACKED_PROCESS)
		return counters_unpack(data, h->len, &ret->process) ? &ret->h : NULL;
	if (h->kind == RECORD_PACKED_WALK)
		return unpack_walk(data, h->len, (struct walk_record *)ret) ? &ret->h : NULL;
	if (h->kind == RECORD_PYTHON_CODE)
		return take_code(data, h->len, (struct python_code_record *)ret) ? &ret->h : NULL;
	if (h->len > bytes_of(h->kind))
		return NULL;
	memcpy(ret, h, h->len);
	return &ret->h;
}

struct process_key *process_of_wire(union wire_record *r)
{
	return r->h.kind == RECORD_REPORT || r->h.kind == RECORD_CGROUP ? NULL
									: &r->process.subject;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests records from the ring buffer: which are accepted, and how many bytes are copied. */
#include <string.h>

#include "probe/wire_records.h"
#include "tap.h"

static const struct {
	__u32 kind, bytes;
	bool of_process;
} kinds[] = {
	{RECORD_PROCESS, sizeof(struct process_record), true},
	{RECORD_CROSSING, sizeof(struct crossing_record), true},
	{RECORD_REFUSED, sizeof(struct refused_record), true},
	{RECORD_SIGNAL, sizeof(struct signal_record), true},
	{RECORD_KERNEL_FAULT, sizeof(struct kernel_fault_record), true},
	{RECORD_FORK, sizeof(struct fork_record), true},
	{RECORD_EXEC, sizeof(struct exec_record), true},
	{RECORD_STACK, sizeof(struct stack_record), true},
	{RECORD_OOM, sizeof(struct oom_record), true},
	{RECORD_CGROUP, sizeof(struct cgroup_path_record), false},
	{RECORD_PRESSURE, sizeof(struct memory_wait_record), true},
	{RECORD_SLOW_FAULTS, sizeof(struct slow_faults_record), true},
	{RECORD_REPORT, sizeof(struct report_record), false},
	{RECORD_SAMPLE, sizeof(struct sample_record), true},
	{RECORD_RETRY, sizeof(struct retry_record), true},
	{RECORD_WALK, sizeof(struct walk_record), true},
	{RECORD_CODE, sizeof(struct code_record), true},
	{RECORD_PYTHON_CODE, sizeof(struct python_code_record), true},
};

static unsigned char ring[WIRE_RECORD_MAX + 8] __attribute__((aligned(8)));
static union wire_record copy;

/* Writes a record into a simulated ring buffer. Other bytes follow the record. */
static const struct record *put(__u32 kind, __u32 len)
{
	struct record *h = (struct record *)ring;

	memset(ring, 0xa5, sizeof(ring));
	memset(&copy, 0, sizeof(copy));
	*h = (struct record){.kind = kind, .len = len, .t_ns = 77};
	return h;
}

static bool is_copied(__u32 len)
{
	return !memcmp(&copy, ring, len) && (len == sizeof(copy.bytes) || copy.bytes[len] == 0);
}

static void test_kinds(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		__u32 kind = kinds[i].kind, bytes = kinds[i].bytes;

		put(kind, bytes);
		ok(record_of_wire(ring, bytes, &copy) == &copy.h && is_copied(bytes),
		   "kind %u: a whole record is copied, and nothing behind it", kind);
		ok(process_of_wire(&copy) == (kinds[i].of_process ? &copy.process.subject : NULL),
		   "kind %u: whether it names a process", kind);
		put(kind, bytes);
		ok(!record_of_wire(ring, bytes - 1, &copy), "kind %u: the ring has less", kind);
		put(kind, bytes + 1);
		ok(!record_of_wire(ring, bytes + 1, &copy), "kind %u: longer than its struct",
		   kind);
	}
}

static void test_others(void)
{
	__u32 brief = offsetof(struct process_record, c);

	put(RECORD_PROCESS, brief);
	ok(record_of_wire(ring, brief, &copy) && is_copied(brief),
	   "a process without counters ends early");
	put(RECORD_PROCESS, sizeof(struct record) - 1);
	ok(!record_of_wire(ring, sizeof(struct process_record), &copy), "shorter than a header");
	put(RECORD_PROCESS, sizeof(struct record));
	ok(!record_of_wire(ring, sizeof(struct record) - 1, &copy),
	   "less than a header in the ring");
	put(0, sizeof(struct record));
	ok(!record_of_wire(ring, sizeof(ring), &copy), "kind 0");
	put(RECORD_TICK, sizeof(struct tick_record));
	ok(!record_of_wire(ring, sizeof(ring), &copy), "a kind that user space makes");
	put(~0u, sizeof(struct record));
	ok(!record_of_wire(ring, sizeof(ring), &copy), "a kind that is not known");
}

int main(void)
{
	test_kinds();
	test_others();
	return tap_done();
}

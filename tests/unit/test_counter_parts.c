// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how a thread's last fault, whose time is known after its record, is added to counters. */
#include <string.h>

#include "probe/counter_parts.h"
#include "tap.h"

#define NS 5000

static struct fs_pending fault(void)
{
	return (struct fs_pending){.ns = NS,
				   .end = END_MAJOR,
				   .bucket = 12,
				   .class = CLASS_FILE_MAJOR,
				   .read_bytes = 4096,
				   .waited_ns = {7, 8}};
}

static bool counts(const struct fs_pending *p)
{
	struct counters c = {}, none = {};

	counters_add_pending(&c, p);
	return memcmp(&c, &none, sizeof(c)) != 0;
}

static void test_fault(void)
{
	struct fs_pending p = fault();
	struct counters c = {};

	counters_add_pending(&c, &p);
	is_u64(c.latency[END_MAJOR][12], 1, "the bucket of its time");
	is_u64(c.stall_ns[END_MAJOR], NS, "its time");
	is_u64(c.latency_max_ns[END_MAJOR], NS, "the longest time");
	is_u64(c.served[CLASS_FILE_MAJOR].band[12 / BAND_STEP], 1, "the band of its class");
	is_u64(c.served[CLASS_FILE_MAJOR].stall_ns, NS, "the time of its class");
	is_u64(c.served_max_ns[CLASS_FILE_MAJOR], NS, "the longest time of its class");
	is_u64(c.fault_read_bytes, 4096, "what it read");
	ok(c.wait[0].in_faults_ns == 7 && c.wait[1].in_faults_ns == 8, "what it waited for");
	p.ns = NS / 2;
	counters_add_pending(&c, &p);
	is_u64(c.latency_max_ns[END_MAJOR], NS, "a shorter one is not the longest");
	is_u64(c.served_max_ns[CLASS_FILE_MAJOR], NS, "nor in its class");
	is_u64(c.stall_ns[END_MAJOR], NS + NS / 2, "the sum of both");
}

static void test_bounds(void)
{
	struct fs_pending p = fault();
	struct counters c = {};

	p.ns = 0;
	ok(!counts(&p), "without a time");
	p = fault();
	p.end = NR_ENDS;
	ok(!counts(&p), "of no kind");
	p = fault();
	p.bucket = NR_LATENCY;
	ok(!counts(&p), "of no bucket");
	p.bucket = NR_LATENCY - 1;
	counters_add_pending(&c, &p);
	is_u64(c.latency[END_MAJOR][NR_LATENCY - 1], 1, "the last bucket");
	is_u64(c.served[CLASS_FILE_MAJOR].band[NR_BANDS - 1], 1, "the last band");
	for (uint32_t bucket = 0; bucket < NR_LATENCY; bucket++) {
		uint32_t band = bucket / BAND_STEP < NR_BANDS ? bucket / BAND_STEP : NR_BANDS - 1;

		memset(&c, 0, sizeof(c));
		p.bucket = bucket;
		counters_add_pending(&c, &p);
		ok(c.latency[END_MAJOR][bucket] == 1 &&
			   c.served[CLASS_FILE_MAJOR].band[band] == 1 &&
			   c.served[CLASS_FILE_MAJOR].stall_ns == NS,
		   "bucket %u is in band %u", bucket, band);
	}
	p = fault();
	p.class = NR_CLASSES;
	memset(&c, 0, sizeof(c));
	counters_add_pending(&c, &p);
	is_u64(c.stall_ns[END_MAJOR], NS, "a fault that was not classified has a time");
	ok(!c.fault_read_bytes && !c.wait[0].in_faults_ns, "but nothing else");
	p = fault();
	p.end = END_MINOR;
	memset(&c, 0, sizeof(c));
	counters_add_pending(&c, &p);
	is_u64(c.fault_read_bytes, 0, "a minor fault reads nothing");
	is_u64(c.wait[0].in_faults_ns, 7, "but may wait");
}

int main(void)
{
	test_fault();
	test_bounds();
	return tap_done();
}

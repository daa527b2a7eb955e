// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests when a recording in memory begins a new group with a copy of the state, and when it drops
 * the oldest one: by time and by size, to the second and to the byte. Also tests what is lost if
 * the state cannot be told.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "failing_memory.h"
#include "fixture.h"
#include "probe/record_ring.h"
#include "tap.h"

static struct record_ring *ring;
static unsigned int told;	/* how often the state was asked for */
static size_t state_records;	/* number of records of the state */
static unsigned int tell_fails; /* the next so many calls fail */
static uint64_t seed;

/* A record of a process whose counters cannot be packed. */
static struct process_record unpackable(uint64_t t_ns)
{
	struct process_record r = process_record(42, 1, t_ns);
	uint64_t *counter = (uint64_t *)&r.c;

	for (size_t i = 0; i < sizeof(r.c) / sizeof(*counter); i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		counter[i] = seed >> 8;
	}
	return r;
}

static int tell(void *ctx, const struct sink *sink)
{
	int err = 0;

	if (ctx != &ring)
		abort();
	told++;
	if (tell_fails) {
		tell_fails--;
		return -EIO;
	}
	for (size_t i = 0; i < state_records && !err; i++) {
		struct process_record one = unpackable(1);

		err = sink->take(sink->ctx, &one.h);
	}
	return err;
}

static void begin(uint64_t bytes, uint64_t ns)
{
	const struct ring_bounds bounds = {.bytes = bytes, .ns = ns};

	record_ring_free(ring);
	ring = NULL;
	told = tell_fails = 0;
	state_records = 0;
	seed = 1;
	if (record_ring_make(&bounds, tell, &ring, &ring))
		abort();
}

static void tick(uint64_t s)
{
	struct tick_record r = tick_record(s * SECOND);

	record_ring_take(ring, &r.h);
}

static void event(uint64_t s)
{
	struct process_record r = unpackable(s * SECOND);

	record_ring_take(ring, &r.h);
}

static struct ring_use used(void)
{
	return record_ring_use(ring);
}

/* A chunk has two scans, which are 60 s apart. A group has at least 120 s, an eighth of 960. */
static void test_time(void)
{
	static const struct {
		uint64_t s, from_s, dropped;
		unsigned int told;
	} rows[] = {
		{60, 60, 0, 0},	   {120, 60, 0, 0},   {180, 60, 0, 0},	  {240, 60, 0, 1},
		{300, 60, 0, 1},   {360, 60, 0, 2},   {1080, 60, 0, 8},	  {1140, 60, 0, 8},
		{1200, 240, 1, 9}, {1260, 240, 1, 9}, {1320, 360, 2, 10}, {1440, 480, 3, 11},
	};
	size_t row = 0;

	begin(0, 960 * SECOND);
	for (uint64_t s = 60; s <= 1440; s += 60) {
		tick(s);
		if (rows[row].s != s)
			continue;
		printf("# after %llu s\n", (unsigned long long)s);
		is_u64(told, rows[row].told, "groups that were begun with the state");
		is_u64(used().from_ns, rows[row].from_s * SECOND, "begin of the oldest");
		is_u64(used().until_ns, s * SECOND, "time of the newest record");
		is_u64(used().dropped, rows[row].dropped, "groups that were dropped");
		row++;
	}
	is_u64(row, sizeof(rows) / sizeof(rows[0]), "all moments are tested");
	is_u64(used().lost, 0, "nothing was lost");
}

/* A second more or less of the bound moves a group by one chunk. */
static void test_second(void)
{
	begin(0, 968 * SECOND);
	for (uint64_t s = 60; s <= 360; s += 60)
		tick(s);
	is_u64(told, 1, "a group of 121 s does not end after 120");
	begin(0, 952 * SECOND);
	for (uint64_t s = 60; s <= 360; s += 60)
		tick(s);
	is_u64(told, 2, "a group of 119 s does");
}

/* Without a scan, no group begins by its age: its state belongs to no scan. */
static void test_no_scan(void)
{
	begin(0, 8 * SECOND);
	for (uint64_t s = 1; s <= 400; s++)
		event(s);
	ok(!told && !used().from_ns, "a group has no begin before the first scan");
	tick(500);
	is_u64(told, 0, "the first scan begins the group");
	is_u64(used().from_ns, 500 * SECOND, "it is its begin");
	event(505);
	tick(600);
	is_u64(told, 1, "then it is old enough");
}

/* Returns the bytes of the first chunk and its group. */
static uint64_t bytes_of_first(void)
{
	begin(0, 0);
	tick(60);
	event(61);
	tick(120);
	return used().bytes;
}

static unsigned int told_at(uint64_t bytes)
{
	begin(bytes, 0);
	tick(60);
	event(61);
	tick(120);
	return told;
}

static void test_bytes(void)
{
	const uint64_t first = bytes_of_first();

	ok(first > 500, "a chunk and its group have %llu bytes", (unsigned long long)first);
	is_u64(told, 0, "without bounds, no group begins");
	is_u64(told_at(8 * first), 1, "an eighth of the bound begins a group");
	is_u64(told_at(8 * first + 7), 1, "rounded down");
	is_u64(told_at(8 * first + 8), 0, "a byte less does not");
	begin(first, 0);
	tick(60);
	event(61);
	tick(120);
	is_u64(used().dropped, 1, "one group has all bytes: the next one drops it");
	ok(used().bytes < first && used().from_ns == 120 * SECOND, "and is left alone");
}

/* A state takes at most half of a group, whatever the bound is. */
static void test_large_state(void)
{
	unsigned int chunks = 0;

	begin(8, 0);
	state_records = 20;
	tick(60);
	tick(120);
	is_u64(told, 1, "a first group without a state is full at once");
	for (uint64_t s = 180; told == 1 && s < 6000; s += 120) {
		for (int i = 0; i < 4; i++)
			event(s + i);
		tick(s + 60);
		chunks++;
	}
	is_u64(chunks, 5, "20 records of state want about as many others behind them");
	is_u64(used().dropped, 2, "older groups are dropped");
}

static void test_lost(void)
{
	begin(0, 8 * SECOND);
	tell_fails = 1;
	tick(60);
	tick(120);
	is_u64(used().lost, 1, "a state that cannot be told");
	is_u64(told, 2, "is asked for again");
	is_u64(used().from_ns, 120 * SECOND, "the recording begins anew");
	is_u64(used().dropped, 0, "this is no group that was dropped for its bounds");
	begin(0, 8 * SECOND);
	tell_fails = 2;
	tick(60);
	tick(120);
	is_u64(used().lost, 2, "twice");
	is_u64(told, 2, "then it is not asked again");
	tick(180);
	tick(240);
	is_u64(used().lost, 2, "the next group");
	ok(told == 3 && used().from_ns == 120 * SECOND, "has a state");
}

/* A record that cannot be stored makes the recording begin anew. */
static void test_no_memory(void)
{
	unsigned int failed = 0;

	for (long i = 0; i < 100; i++) {
		begin(0, 0);
		tick(60);
		event(61);
		memory_fail_after(i);
		tick(120);
		if (!memory_recovers())
			break;
		failed++;
		is_u64(used().lost, told, "what was lost is told");
		ok(told >= 1 && used().until_ns == 120 * SECOND, "the state was asked for");
		tick(180);
		is_u64(used().until_ns, 180 * SECOND, "it goes on");
	}
	ok(failed > 0, "%u allocations fail", failed);
}

static void test_ignored(void)
{
	struct record none = {RECORD_END, sizeof(none), 77 * SECOND};

	begin(0, 0);
	tick(60);
	record_ring_take(ring, &none);
	is_u64(used().until_ns, 60 * SECOND, "a record that recordings do not contain");
	is_u64(used().lost, 0, "is no loss");
}

static void test_writing(void)
{
	struct incident_record head = RECORD(incident_record, RECORD_INCIDENT, 5);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	begin(0, 0);
	tick(60);
	is_u64(-record_ring_write(ring, NULL, full), ENOSPC, "a disk that is full");
	is_u64(-record_ring_write(ring, &head.h, full), ENOSPC, "also with a head");
	is_u64(used().lost, 0, "the recording in memory is whole");
	close(full);
}

int main(void)
{
	test_time();
	test_second();
	test_no_scan();
	test_bytes();
	test_large_state();
	test_lost();
	test_no_memory();
	test_ignored();
	test_writing();
	record_ring_free(ring);
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests a recording in memory at its bounds: the length and age of a chunk, the size and age of a
 * group, and the time and bytes that the ring keeps. A new group is told by a call for the state.
 */
#include <errno.h>

#include "fixture.h"
#include "probe/record_packing.h"
#include "probe/record_ring.h"
#include "tap.h"

#define KIB   1024
#define BEGIN (1000 * SECOND) /* time of the first record */

static struct record_ring *ring;
static struct packer *twin; /* it is given the same records, and shows how long they are */
static char letter;	    /* of the last text */
static size_t failures;	    /* number of times that no state can be told */
static size_t told;	    /* number of groups that began with a copy of the state */

static int tell(void *ctx, const struct sink *sink)
{
	struct tick_record tick = tick_record(*(const uint64_t *)ctx);

	told++;
	if (failures) {
		failures--;
		return -ENOMEM;
	}
	return sink->take(sink->ctx, &tick.h);
}

static void begin(uint64_t bytes, uint64_t ns)
{
	static uint64_t t_ns = BEGIN;
	const struct ring_bounds bounds = {.bytes = bytes, .ns = ns};

	told = 0;
	letter = 'a';
	if (record_ring_make(&bounds, tell, &t_ns, &ring) || packer_make(&twin))
		abort();
}

static void end(void)
{
	record_ring_free(ring);
	packer_free(twin);
}

static void take(const struct record *h)
{
	record_ring_take(ring, h);
	if (packer_add(twin, h))
		abort();
}

static void tick(uint64_t t_ns)
{
	struct tick_record r = tick_record(t_ns);

	take(&r.h);
}

/* Adds a record whose text has `n` characters, and differs from the text before. */
static void text(uint64_t t_ns, size_t n)
{
	struct symbol_record r = RECORD(symbol_record, RECORD_SYMBOL, t_ns);

	letter = letter == 'a' ? 'b' : 'a';
	memset(r.symbol, letter, n);
	take(&r.h);
}

/* Adds records until the chunk has `bytes` bytes. */
static void fill(size_t bytes)
{
	size_t before, rest, fixed;

	text(BEGIN, 1);
	before = packer_bytes(twin);
	text(BEGIN, 1);
	fixed = packer_bytes(twin) - before - 1; /* bytes of a record without its text */
	while ((rest = bytes - packer_bytes(twin)))
		text(BEGIN, rest > 2 * (fixed + 60) ? 60
			    : rest > fixed + 60	    ? rest / 2 - fixed
						    : rest - fixed);
}

/* Returns how many bytes a scan adds to a chunk of texts. */
static size_t bytes_of_tick(void)
{
	size_t before;

	begin(1, 0);
	fill(KIB);
	before = packer_bytes(twin);
	tick(BEGIN);
	before = packer_bytes(twin) - before;
	end();
	return before;
}

/* In a ring of 8 bytes, each chunk ends a group. */
static void test_bytes_of_chunk(void)
{
	size_t scan = bytes_of_tick();

	begin(8, 0);
	fill(48 * KIB - scan - 1);
	tick(BEGIN);
	is_u64(packer_bytes(twin), 48 * KIB - 1, "a scan in a chunk of nearly 48 KiB");
	is_u64(told, 0, "the chunk goes on");
	end();
	begin(8, 0);
	fill(48 * KIB - scan);
	is_u64(told, 0, "before the scan, a chunk goes on");
	tick(BEGIN);
	is_u64(packer_bytes(twin), 48 * KIB, "a scan in a chunk of 48 KiB");
	is_u64(told, 1, "the chunk ends");
	end();
	begin(8, 0);
	fill(192 * KIB - 1);
	is_u64(told, 0, "without a scan, a chunk of nearly 192 KiB goes on");
	end();
	begin(8, 0);
	fill(192 * KIB);
	is_u64(told, 1, "with 192 KiB, it ends");
	end();
}

static void test_age_of_chunk(void)
{
	begin(8, 0);
	text(BEGIN, 1);
	tick(BEGIN + 60 * SECOND - 1);
	is_u64(told, 0, "a scan just before a minute has passed");
	tick(BEGIN + 60 * SECOND);
	is_u64(told, 1, "and one after a minute");
	end();
}

/* A ring that is bounded by time has groups of an eighth of this time. */
static void test_age_of_group(void)
{
	const uint64_t eighth = 130 * SECOND;

	for (uint64_t early = 0; early < 2; early++) {
		begin(0, 8 * eighth);
		tick(BEGIN);
		tick(BEGIN + 60 * SECOND);
		text(BEGIN + 60 * SECOND, 1);
		tick(BEGIN + eighth - early);
		is_u64(told, 1 - early, early ? "a group that is nearly old" : "an old group");
		end();
	}
	/* the first group has no age before its first scan */
	begin(0, 8 * SECOND);
	text(BEGIN, 1);
	for (size_t i = 0; i < 5000; i++)
		text(BEGIN + 600 * SECOND, 60);
	is_u64(told, 0, "chunks without a scan");
	is_u64(record_ring_use(ring).from_ns, 0, "have no time from which state is known");
	end();
}

static void test_bytes_of_group(void)
{
	uint64_t bytes = 0;

	for (int round = 0; round < 3; round++) {
		begin(round == 0 ? 1 << 30 : 8 * (bytes + (round == 2)), 0);
		tick(BEGIN);
		tick(BEGIN + 60 * SECOND);
		if (!round)
			bytes = record_ring_use(ring).bytes;
		is_u64(told, round == 1,
		       round == 0   ? "a large ring"
		       : round == 1 ? "a group with an eighth of the ring's bytes"
				    : "a group that has less");
		end();
	}
}

/* The ring keeps 480 s: its groups begin at the scans of 60 s, 120 s and so on. */
static void test_time(void)
{
	for (uint64_t early = 0; early < 2; early++) {
		struct ring_use use;

		begin(0, 480 * SECOND);
		tick(BEGIN);
		for (uint64_t s = 60; s <= 480; s += 60) {
			tick(BEGIN + s * SECOND);
			text(BEGIN + (s - 1) * SECOND, 1); /* the next chunk begins */
		}
		is_u64(record_ring_use(ring).dropped, 0, "nothing is dropped yet");
		is_u64(record_ring_use(ring).from_ns, BEGIN, "the first scan is there");
		tick(BEGIN + 540 * SECOND - early);
		use = record_ring_use(ring);
		is_u64(use.dropped, 1 - early,
		       early ? "the second group is not yet 480 s old" : "now it is");
		is_u64(use.from_ns, BEGIN + (early ? 0 : 60 * SECOND), "the first scan");
		is_u64(use.until_ns, BEGIN + 540 * SECOND - early, "the last record");
		is_u64(use.lost, 0, "nothing was lost");
		end();
	}
}

/* Returns the size of a ring with this bound after some chunks, and how many groups it dropped. */
static uint64_t size_after(uint64_t chunks, uint64_t bound, uint64_t *ret_dropped)
{
	struct ring_use use;

	begin(bound, 0);
	for (uint64_t t_ns = BEGIN; t_ns < BEGIN + chunks * 60 * SECOND; t_ns += 60 * SECOND) {
		text(t_ns, 60);
		tick(t_ns + 60 * SECOND);
	}
	use = record_ring_use(ring);
	*ret_dropped = use.dropped;
	end();
	return use.bytes;
}

/* A ring may have exactly as many bytes as its bound permits. */
static void test_bytes(void)
{
	uint64_t bound = 0, chunks = 20, dropped;
	bool fits = false;

	/*
	 * A smaller bound makes smaller groups, and each has a copy of the state. Search for a
	 * bound that is equal to the size of the ring with this bound.
	 */
	for (; !fits && chunks < 60; chunks += !fits) {
		bound = size_after(chunks, 1 << 20, &dropped);
		for (int i = 0; i < 20 && !fits; i++) {
			uint64_t size = size_after(chunks, bound, &dropped);

			fits = told && size == bound && !dropped;
			if (!fits)
				bound = dropped ? bound + bound / 25 : size;
		}
	}
	is_u64(size_after(chunks, bound, &dropped), bound, "a ring is as large as its bound");
	is_u64(dropped, 0, "no group is dropped");
	ok(told > 0, "of %zu", told + 1);
	ok(size_after(chunks, bound - 1, &dropped) < bound && dropped, "with a byte less, one is");
}

/* Without a state, a group cannot be continued: the ring forgets all groups and begins anew. */
static void test_failures(void)
{
	uint64_t bytes;

	begin(1, 0);
	tick(BEGIN);
	tick(BEGIN + 60 * SECOND);
	bytes = record_ring_use(ring).bytes; /* of a group that has only its state */
	end();
	for (size_t n = 1; n < 3; n++) {
		struct ring_use use;

		begin(0, 480 * SECOND);
		tick(BEGIN);
		for (uint64_t s = 60; s <= 240; s += 60) {
			failures = s == 240 ? n : 0;
			tick(BEGIN + s * SECOND);
			text(BEGIN + s * SECOND, 1);
		}
		use = record_ring_use(ring);
		is_u64(use.lost, n,
		       n == 1 ? "a state that cannot be told" : "also when it is retried");
		is_u64(use.from_ns, BEGIN + 240 * SECOND, "the ring begins at that time");
		is_u64(use.dropped, 0, "no group was dropped for want of room");
		failures = 0;
		tick(BEGIN + 300 * SECOND);
		is_u64(record_ring_use(ring).from_ns, BEGIN + 240 * SECOND, "and goes on");
		end();
	}
	begin(0, 480 * SECOND);
	tick(BEGIN);
	tick(BEGIN + 60 * SECOND);
	text(BEGIN + 60 * SECOND, 1);
	failures = 1;
	tick(BEGIN + 120 * SECOND);
	is_u64(record_ring_use(ring).bytes, bytes, "it has one group with the state");
	end();
}

int main(void)
{
	test_failures();
	test_bytes_of_chunk();
	test_age_of_chunk();
	test_age_of_group();
	test_bytes_of_group();
	test_time();
	test_bytes();
	return tap_done();
}

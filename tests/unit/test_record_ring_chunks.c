// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests where the chunks of a recording in memory end: at a scan, if the chunk is old or large
 * enough, and without a scan only if it is very large.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "fixture.h"
#include "probe/record_packing.h"
#include "probe/record_ring.h"
#include "probe/recording.h"
#include "tap.h"

#define CHUNKS 64
#define KIB    1024

static struct record_ring *ring;
static struct chunk_header chunk[CHUNKS];
static size_t chunks;
static uint64_t seed = 1;

static int tell_nothing(void *ctx, const struct sink *sink)
{
	(void)ctx, (void)sink;
	return 0;
}

static void begin(void)
{
	const struct ring_bounds bounds = {.bytes = 64 << 20};
	struct host_record host = host_record(SECOND);

	if (record_ring_make(&bounds, tell_nothing, NULL, &ring))
		abort();
	record_ring_take(ring, &host.h);
}

static void tick(uint64_t t_ns)
{
	struct tick_record r = tick_record(t_ns);

	record_ring_take(ring, &r.h);
}

/* Adds a record of a process whose counters cannot be packed. */
static void event(uint64_t t_ns)
{
	struct process_record r = process_record(42, 1, t_ns);
	uint64_t *counter = (uint64_t *)&r.c;

	for (size_t i = 0; i < sizeof(r.c) / sizeof(*counter); i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		counter[i] = seed >> 8;
	}
	record_ring_take(ring, &r.h);
}

/* Reads the headers of all chunks, without those of the fields and of the end. */
static void read_chunks(void)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	off_t at = RECORDING_HEADER_BYTES;
	struct chunk_header ch;

	chunks = 0;
	if (record_ring_write(ring, NULL, fd))
		abort();
	for (; pread(fd, &ch, sizeof(ch), at) == sizeof(ch); at += sizeof(ch) + ch.packed_bytes)
		if (!(ch.flags & CHUNK_FIELDS) && chunks < CHUNKS)
			chunk[chunks++] = ch;
	chunks--;
	close(fd);
	record_ring_free(ring);
}

static void test_age(void)
{
	begin();
	for (uint64_t s = 2; s <= 200; s += 10) {
		tick(s * SECOND);
		event(s * SECOND + SECOND);
		event((s + 9) * SECOND);
	}
	read_chunks();
	is_u64(chunks, 3, "chunks of 200 s");
	is_u64(chunk[0].t_ns, 62 * SECOND, "the first scan after a minute ends the first");
	is_u64(chunk[1].t_ns, 132 * SECOND, "the next one begins with the event after it");
	is_u64(chunk[2].t_ns, 201 * SECOND, "the last one has the rest");
}

static void test_bytes(void)
{
	uint64_t t = 2 * SECOND;
	size_t events = 0;

	begin();
	for (; events < 300; events++) {
		t += SECOND / 100;
		event(t);
		tick(t);
	}
	read_chunks();
	ok(chunks > 1, "%zu chunks of %zu events", chunks, events);
	for (size_t i = 0; i + 1 < chunks; i++)
		ok(chunk[i].raw_bytes >= 48 * KIB && chunk[i].raw_bytes < 54 * KIB,
		   "a scan ends a chunk of %u bytes", chunk[i].raw_bytes);
}

static void test_storm(void)
{
	begin();
	tick(2 * SECOND);
	for (size_t i = 0; i < 300; i++)
		event(3 * SECOND + i);
	read_chunks();
	ok(chunks > 2, "%zu chunks", chunks);
	for (size_t i = 0; i + 1 < chunks; i++)
		ok(chunk[i].raw_bytes >= 192 * KIB && chunk[i].raw_bytes < 198 * KIB,
		   "without a scan, a chunk has %u bytes", chunk[i].raw_bytes);
}

int main(void)
{
	test_age();
	test_bytes();
	test_storm();
	return tap_done();
}

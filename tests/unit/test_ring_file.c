// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the ring file of the flight recorder: sizes, the end of the ring, and failed writes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "recorder/record_sinks.h"
#include "tap.h"

#define FIRST_SLOT 3 /* behind the header and two heartbeats */
#define LEAST	   (RING_BYTES_LEAST / RING_SLOT)

static char place[64], path[128];

/* Makes a file of `bytes` bytes with a correct header, and without records. */
static void make(off_t bytes)
{
	uint8_t head[RING_SLOT] = "FSringv1";
	uint64_t slots = bytes / RING_SLOT;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint32_t crc;

	memcpy(head + 8, &slots, sizeof(slots));
	crc = crc32c(0, head, 16);
	memcpy(head + 16, &crc, sizeof(crc));
	if (fd < 0 || ftruncate(fd, bytes) || pwrite(fd, head, sizeof(head), 0) != sizeof(head))
		abort();
	close(fd);
}

static int opens(struct ring_file *r)
{
	int err = ring_file_open(r, path, RING_BYTES_LEAST);

	if (err)
		is_u64(r->fd, (uint64_t)-1, "nothing is open after an error");
	return err;
}

static void test_sizes(void)
{
	static const struct {
		off_t bytes;
		bool good;
		const char *name;
	} sizes[] = {
		{RING_BYTES_LEAST, true, "the smallest file"},
		{RING_BYTES_LEAST - RING_SLOT, false, "a file that is smaller"},
		{RING_BYTES_LEAST + 1, false, "a file whose last slot is cut"},
		{RING_BYTES_LEAST + RING_SLOT, true, "a file of one more slot"},
		{RING_BYTES_MOST, true, "the largest file"},
		{RING_BYTES_MOST + RING_SLOT, false, "a file that is larger"},
	};
	struct ring_file r;
	uint8_t byte = 'x';
	int fd;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		make(sizes[i].bytes);
		is_u64(opens(&r), sizes[i].good ? 0 : (uint64_t)-EEXIST, sizes[i].name);
		if (sizes[i].good)
			ok(r.slots == (uint64_t)sizes[i].bytes / RING_SLOT &&
				   r.slot == FIRST_SLOT && !r.sequence,
			   "its slots are empty");
		ring_file_close(&r);
	}
	make(RING_BYTES_LEAST);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (pwrite(fd, &byte, 1, RING_SLOT - 1) != 1)
		abort();
	close(fd);
	is_u64(opens(&r), (uint64_t)-EEXIST, "a header that is not known");
	unlink(path);
	is_u64(opens(&r), 0, "a new file");
	is_u64(r.slots, LEAST, "its slots");
	ring_file_close(&r);
	make(RING_BYTES_LEAST);
	is_u64(opens(&r), 0, "a header as it is described");
	ring_file_close(&r);
}

/* Adds records with these sequence numbers, and does not flush them. */
static void add(struct ring_file *r, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i <= to; i++) {
		struct bb_record one = {.sequence = i, .class = BB_FAULT};

		if (ring_file_add(r, &one))
			abort();
	}
}

/* Returns the sequence number of the record in a slot; 0: there is none. */
static uint64_t in_slot(uint64_t slot)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t bytes[RING_SLOT];
	struct bb_record r = {};

	if (pread(fd, bytes, RING_SLOT, slot * RING_SLOT) != RING_SLOT ||
	    bb_decode(bytes, RING_SLOT, &r) < 0)
		r.sequence = 0;
	close(fd);
	return r.sequence;
}

static void test_queue(void)
{
	struct ring_file r;

	make(RING_BYTES_DEFAULT);
	opens(&r);
	add(&r, 1, RING_PENDING - 1);
	is_u64(in_slot(FIRST_SLOT), 0, "records wait for a flush");
	add(&r, RING_PENDING, RING_PENDING);
	is_u64(in_slot(FIRST_SLOT), 1, "a full queue is written");
	is_u64(in_slot(FIRST_SLOT + RING_PENDING - 1), RING_PENDING, "up to the last record");
	is_u64(r.n, 0, "the queue is empty");
	is_u64(ring_file_flush(&r), 0, "a flush of an empty queue");
	is_u64(r.slot, FIRST_SLOT + RING_PENDING, "writes nothing");
	ring_file_close(&r);
}

static void test_end(void)
{
	const uint64_t n = LEAST - FIRST_SLOT; /* records of the ring */
	struct ring_file r;

	make(RING_BYTES_LEAST);
	opens(&r);
	add(&r, 1, n - 1);
	is_u64(in_slot(FIRST_SLOT), 0, "a ring that is nearly full is not written yet");
	add(&r, n, n);
	is_u64(in_slot(LEAST - 1), n, "a full ring is written");
	is_u64(r.slot, FIRST_SLOT, "and goes on at its begin");
	ring_file_close(&r);
	opens(&r);
	ok(r.slot == FIRST_SLOT && r.sequence == n, "also when it is opened again");
	add(&r, n + 1, n + 1);
	ring_file_flush(&r);
	is_u64(in_slot(FIRST_SLOT), n + 1, "the oldest record is replaced");
	is_u64(in_slot(FIRST_SLOT + 1), 2, "and no other");
	ring_file_close(&r);
	opens(&r);
	ok(r.slot == FIRST_SLOT + 1 && r.sequence == n + 1, "the next one follows the newest");
	add(&r, n + 2, 2 * n - 1);
	ring_file_flush(&r);
	ring_file_close(&r);
	opens(&r);
	ok(r.slot == LEAST - 1 && r.sequence == 2 * n - 1, "up to the last slot");
	ring_file_close(&r);
}

/* Records without a number are not written over when the file is opened again. */
static void test_equal_numbers(void)
{
	struct ring_file r;

	make(RING_BYTES_LEAST);
	opens(&r);
	add(&r, 0, 0);
	add(&r, 0, 0);
	ring_file_flush(&r);
	ring_file_close(&r);
	opens(&r);
	is_u64(r.slot, FIRST_SLOT + 2, "the next record follows both");
	ring_file_close(&r);
}

static void test_beats(void)
{
	struct bb_record beat = {.class = BB_HEARTBEAT};
	struct ring_file r;

	make(RING_BYTES_LEAST);
	opens(&r);
	for (beat.sequence = 7; beat.sequence < 10; beat.sequence++)
		is_u64(ring_file_beat(&r, &beat), 0, "a heartbeat");
	ok(in_slot(1) == 9 && in_slot(2) == 8 && !in_slot(3), "two slots are used in turn");
	ring_file_close(&r);
	opens(&r);
	is_u64(r.sequence, 0, "heartbeats are no records of the ring");
	ring_file_close(&r);
}

/* Each record and each heartbeat that a write lost is counted once. */
static void test_failures(void)
{
	struct sink_options o = {.record_sinks = 1u << SINK_FILE, .file = path};
	struct bb_record one = {.class = BB_REPORT}, beat = {};
	struct record_sinks s;
	const struct record_sink *k = &s.record_sink[SINK_FILE];
	struct rlimit was;

	make(RING_BYTES_LEAST);
	sinks_open(&s, &o);
	ok(k->on, "the file is in use");
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){RING_SLOT, was.rlim_max});
	sinks_beat(&s, &beat);
	is_u64(k->failed, 1, "a heartbeat that fails");
	sinks_write(&s, &one);
	sinks_flush(&s);
	is_u64(k->failed, 2, "and a record");
	is_u64(k->error, EFBIG, "for this reason");
	sinks_write(&s, &one);
	sinks_write(&s, &one);
	sinks_write(&s, &one);
	sinks_flush(&s);
	is_u64(k->failed, 5, "more records fail, and each is counted");
	setrlimit(RLIMIT_FSIZE, &was);
	sinks_write(&s, &one);
	sinks_flush(&s);
	is_u64(k->failed, 5, "then records are written again");
	is_u64(in_slot(s.ring.slot - 1), s.sequence, "behind the lost ones");
	sinks_close(&s);
}

int main(void)
{
	strcpy(place, "/tmp/test_ring_file.XXXXXX");
	if (!mkdtemp(place))
		return 1;
	snprintf(path, sizeof(path), "%s/ring", place);
	test_sizes();
	test_queue();
	test_end();
	test_equal_numbers();
	test_beats();
	test_failures();
	unlink(path);
	rmdir(place);
	return tap_done();
}
